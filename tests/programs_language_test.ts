/** Programs about the language, compiled and uncompiled. */
import { language, scriptPrograms } from "./programs/language.ts";
import { FORCED, register } from "./support/programs.ts";

register(language, ["eager"], FORCED);
register(scriptPrograms, ["eager"], FORCED);
