/** Gradients that programs take inside: in the graph where all of the way lies in it, by the tape elsewhere. */
import { assertEquals } from "@std/assert";
import { observe } from "../cli/fuzz/language/observation.ts";
import { compile, compiler } from "../mod.ts";
import { helped, whole } from "./programs/asked_gradients.ts";
import { register } from "./support/programs.ts";

const BACKENDS = ["eager", "aot_eager", "inductor"];

register(whole, BACKENDS, [3, 7, 12, 20]);
register(helped, BACKENDS, [3, 7, 12, 20]);

for (const [name, program] of Object.entries(whole)) {
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
