/** Programs about objects, compiled and uncompiled. */
import { inheritedElements } from "./programs/inherited_elements.ts";
import { objects } from "./programs/objects.ts";
import { properties } from "./programs/properties.ts";
import { FORCED, register } from "./support/programs.ts";

register(objects, ["eager"], FORCED);
register(properties, ["eager"], FORCED);
register(inheritedElements, ["eager"]);
