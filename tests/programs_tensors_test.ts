/** Programs about tensors, compiled and uncompiled. */
import { elementErrors, tensors } from "./programs/tensors.ts";
import { FORCED, register } from "./support/programs.ts";

register(tensors, ["aot_eager", "inductor"], FORCED);
register(elementErrors, ["eager", "aot_eager"]);
