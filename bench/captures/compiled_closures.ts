/**
 * Compiles the given number of closures, calls each twice and drops it, and prints milliseconds of processor time for
 * each. Fails if a result is not that of the uncompiled closure.
 *
 *   deno run -A --preload=preload.ts --v8-flags=--jit-fuzzing,--stress-flush-code bench/captures/compiled_closures.ts 10000
 */
import { compile, tensor } from "../../mod.ts";
import { closureOf, expectSame, timed } from "./frames.ts";

const count = Number(Deno.args[0] ?? 10_000), x = tensor([1.5, 2]);
const each = timed(count, (turn) => {
  const step = compile(closureOf(turn), { backend: "eager" }), twin = closureOf(turn);
  for (let call = 0; call < 2; call++) expectSame(step(x).tolist(), twin(x).tolist());
});
console.log(`${count} closures compiled and called twice, ${each.toFixed(3)} ms each`);
