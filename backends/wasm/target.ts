/**
 * WebAssembly as a target: vectors of 128 bits, a library for float32 and sorting, and multiply-adds, which round once
 * in some engines; in others, a function of lib/loops/math computes them.
 */
import { ALONE, type CallSupport, type Target } from "../../lib/codegen/target.ts";
import { type DType, isSmall } from "../../lib/base/dtype.ts";
import type { ExternKernel } from "../../lib/loops/ir.ts";
import { ModuleWriter } from "./binary.ts";
import { FunctionBody } from "./function_body.ts";

/** Sizes and positions below this fit into few bits; kernels are printed a second time for larger ones. */
export const SIZE_LIMIT = 2 ** 28;

/** Returns the target of WebAssembly for sizes below a limit. */
export function wasmTarget(sizeLimit: number): Target {
  return {
    name: "wasm",
    supports,
    lanes: true,
    runs: false,
    threads: "outermost",
    grid: null,
    blockBytes: 1 << 19,
    rowsInPlace: 0,
    im2col: true,
    kernelBuffers: Infinity,
    // Equal kernels are one function whatever their lengths, and calling it costs little
    tables: false,
    integers: 64,
    sizeLimit,
    unrolls: 400,
    streams: false,
  };
}

function supports({ call }: ExternKernel, dtypes: ReadonlySet<DType>): CallSupport {
  if (call.op === "sort") return [...dtypes].some(isSmall) ? "none" : ALONE;
  return dtypes.size === 1 && dtypes.has("float32") ? ALONE : "none";
}

let fusing: boolean | undefined;

/** Returns whether the relaxed instructions of this engine round once. */
export function engineFuses(): boolean {
  return fusing ??= tryFusing();
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
