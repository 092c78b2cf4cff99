/** Classes that functions define, and symbols that they make, are traced. */
import { assertEquals } from "@std/assert";
import { observe } from "../cli/fuzz/language/observation.ts";
import { compile, compiler } from "../mod.ts";
import { brokenClasses, localClasses } from "./programs/local_classes.ts";
import { register } from "./support/programs.ts";

const FORCED = [4, 9, 14, 19, 24, 29, 34];

register(localClasses, ["eager"], FORCED);
register(brokenClasses, ["eager"], FORCED);

for (const [name, program] of Object.entries(localClasses)) {
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
