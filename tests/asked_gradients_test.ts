/** Gradients taken inside compiled functions: in the graph if the whole path is in it, by the tape otherwise. */
import { helped, whole } from "./programs/asked_gradients.ts";
import "./support/turns/programs.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(whole, BACKENDS, [3, 7, 12, 20]);
register(helped, BACKENDS, [3, 7, 12, 20]);
registerUnbroken(whole);
