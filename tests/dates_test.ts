/** Dates are traced, and made anew where they leave a compiled function. */
import { assertEquals } from "@std/assert";
import { observe } from "../cli/fuzz/language/observation.ts";
import { compile, compiler } from "../mod.ts";
import { brokenDates, dates } from "./programs/dates.ts";
import { register } from "./support/programs.ts";

const FORCED = [4, 9, 14, 19, 24, 29];

register(dates, ["eager"], FORCED);
register(brokenDates, ["eager"], FORCED);

for (const [name, program] of Object.entries(dates)) {
  Deno.test(`no break: ${name}`, async () => {
    const made: object[] = [];
    await observe(program, (fn) => {
      const run = compile(fn, { backend: "eager" });
      made.push(run);
      return run;
    });
    assertEquals(made.map((run) => compiler.status(run).graphBreaks), made.map(() => 0));
  });
}
