/** Dates are traced, and made anew where they leave a compiled function. */
import { brokenDates, dates } from "./programs/dates.ts";
import { assertEquals } from "@std/assert";
import { compiler, type Tensor, tensor } from "../mod.ts";
import { register, registerUnbroken } from "./support/programs.ts";

const FORCED = [4, 9, 14, 19, 24, 29];

register(dates, ["eager"], FORCED);
register(brokenDates, ["eager"], FORCED);
registerUnbroken(dates);

Deno.test("each method of a date from outside is one break, at its line", () => {
  const began = new Date(2020, 1, 1);
  const { breakReasons } = compiler.explain((x: Tensor) => [x.add(began.getFullYear()), began.getTime()])(
    tensor([1]),
  );
  assertEquals(breakReasons.length, 2, `${breakReasons}`);
});
