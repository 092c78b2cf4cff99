/** Programs about the language, compiled and uncompiled. */
import { language, scripts } from "./programs/language.ts";
import { FORCED, register } from "./support/programs.ts";

register(language, ["eager"], FORCED);
register(scripts, ["eager"], FORCED);
