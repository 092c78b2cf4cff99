/** Programs about objects, compiled and uncompiled. */
import { objects } from "./programs/objects.ts";
import { FORCED, register } from "./support/programs.ts";

register(objects, ["eager"], FORCED);
