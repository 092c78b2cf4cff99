/**
 * A program for tests of failing compilers: `graphs.ts <folder> <mode>…` compiles one new graph for each mode, which
 * it writes to `<folder>/mode` for the compiler of compiler.sh; `eager` multiplies matrices without a graph instead.
 * It prints one JSON line each: the result, native libraries made and fallbacks.
 */
import { counters } from "../../lib/base/logs.ts";
import { compile, compiler, config, fromTypedArray, type Tensor, tensor } from "../../mod.ts";
import { pauses } from "../support/pauses.ts";

const [folder, ...modes] = Deno.args;
const side = 64, ones = fromTypedArray(new Float32Array(side * side).fill(1), [side, side]);
modes.forEach((mode, i) => {
  // A product's library would take the compiler ten seconds, and none of it is used
  Deno.writeTextFileSync(`${folder}/mode`, mode === "eager" ? "garbage" : mode);
  config.inductor.cppTimeout = mode === "hangs" ? 1 : 60;
  const f = compile((x: Tensor) => x.mul(i + 2).sum());
  const before = counters.total("fallback");
  // One op alone, which may be asked of the compiler at any call
  const elements = (x: Tensor) => Array.from<number | bigint, number>(x.toTypedArray(), Number);
  const product = () => elements(ones.matmul(ones)).reduce((sum, each) => sum + each, 0);
  // Eager calls do not wait for the compiler, so they hear of its fault later
  const eager = () => {
    for (const pause = pauses(); counters.total("fallback") === before; pause()) product();
    return product();
  };
  const result = mode === "eager" ? eager() : f(tensor([0, 1])).item();
  const fallbacks = mode === "eager" ? counters.total("fallback") - before : compiler.status(f).fallbacks;
  console.log(JSON.stringify([mode, result, counters.get("cached_libraries", "compiled"), fallbacks]));
});
