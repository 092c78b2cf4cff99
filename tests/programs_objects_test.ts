/** Programs about objects, compiled and uncompiled. */
import { objects } from "./programs/objects.ts";
import { properties } from "./programs/properties.ts";
import { FORCED, register } from "./support/programs.ts";

register(objects, ["eager"], FORCED);
register(properties, ["eager"], FORCED);
