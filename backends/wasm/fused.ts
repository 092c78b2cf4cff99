/**
 * Tests whether the engine's relaxed multiply-adds round once. If they do not, a function of lib/loops/math computes
 * them.
 */
import { ModuleWriter } from "./binary.ts";
import { FunctionBody } from "./function_body.ts";

let known: boolean | undefined;

/** Returns whether the relaxed instructions of this engine round once. */
export function engineFuses(): boolean {
  return known ??= tryFusing();
}

/** (1 + ε)² − (1 + 2ε) is ε², or 0 if the product is rounded. */
function tryFusing(): boolean {
  const writer = new ModuleWriter({ shared: false, maximum: 1 });
  const body = new FunctionBody(["f64", "f64", "f64"], ["i32"]);
  for (const operand of [0, 1, 2]) body.get(operand).simd("f64Splat");
  body.simd("f64Madd").lane("f64Extract", 0).f64(0).op("f64Ne");
  writer.export(writer.add(body), "double");
  const single = new FunctionBody(["f32", "f32", "f32"], ["i32"]);
  for (const operand of [0, 1, 2]) single.get(operand).simd("f32Splat");
  single.simd("f32Madd").lane("f32Extract", 0).f32(0).op("f32Ne");
  writer.export(writer.add(single), "single");
  try {
    const module = new WebAssembly.Module(writer.finish());
    const memory = new WebAssembly.Memory({ initial: 1 });
    const { exports } = new WebAssembly.Instance(module, { host: { memory } });
    const holds = (name: string, epsilon: number): boolean => {
      const test: unknown = exports[name];
      if (typeof test !== "function") return false;
      return Reflect.apply(test, undefined, [1 + epsilon, 1 + epsilon, -(1 + 2 * epsilon)]) === 1;
    };
    return holds("single", 2 ** -23) && holds("double", 2 ** -52);
  } catch (thrown) {
    if (thrown instanceof WebAssembly.CompileError) return false;
    throw thrown;
  }
}
