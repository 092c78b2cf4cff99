/** Programs that train models and programs whose sizes change, compiled and uncompiled. */
import { dynamic } from "./programs/dynamic.ts";
import { training } from "./programs/training.ts";
import { register } from "./support/programs.ts";

register(training, ["inductor"]);
register(dynamic, ["inductor"]);
