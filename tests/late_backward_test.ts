/** Backward passes behind sizes and numbers that only elements say belong to the graph. */
import { brokenLateBackward, lateBackward } from "./programs/late_backward.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(lateBackward, BACKENDS, [9, 17]);
register(brokenLateBackward, BACKENDS, [9, 17]);
registerUnbroken(lateBackward);
