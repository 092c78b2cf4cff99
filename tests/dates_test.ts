/** Dates are traced, and created again where they leave a compiled function. */
import { brokenDates, dates } from "./programs/dates.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [4, 9, 14, 19, 24, 29];

register(brokenDates, ["eager"], FORCED);
registerUnbroken(dates, ["eager"], FORCED);
