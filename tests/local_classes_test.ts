/** Classes that functions define, and symbols that they create, are traced. */
import { brokenClasses, localClasses } from "./programs/local_classes.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [4, 9, 14, 19, 24, 29, 34];

register(brokenClasses, ["eager"], FORCED);
registerUnbroken(localClasses, ["eager"], FORCED);
