/** Backward passes behind sizes and numbers that only elements say belong to the graph. */
import { assertEquals } from "@std/assert";
import { observe } from "../cli/fuzz/language/observation.ts";
import { compile, compiler } from "../mod.ts";
import { brokenLateBackward, lateBackward } from "./programs/late_backward.ts";
import { register } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(lateBackward, BACKENDS, [9, 17]);
register(brokenLateBackward, BACKENDS, [9, 17]);

for (const [name, program] of Object.entries(lateBackward)) {
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
