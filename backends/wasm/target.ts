/** WebAssembly as a target: vectors of 128 bits, and a library for float32 and sorting. */
import { ALONE, type CallSupport, type Target } from "../../lib/codegen/target.ts";
import { type DType, isSmall } from "../../lib/base/dtype.ts";
import type { ExternKernel } from "../../lib/loops/ir.ts";

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
