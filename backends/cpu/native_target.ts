/** Native code as a target: the C++ compiler's vectors, and the runtime library. */
import { ALONE, type CallSupport, type Target } from "../../lib/codegen/target.ts";
import type { DType } from "../../lib/base/dtype.ts";
import type { ExternKernel } from "../../lib/loops/ir.ts";

/** The capabilities of printed C++. */
export const nativeTarget: Target = {
  name: "native",
  supports,
  lanes: true,
  runs: true,
  threads: "nest",
  grid: null,
  blockBytes: 1 << 19,
  rowsInPlace: 128,
  im2col: false,
  kernelBuffers: Infinity,
  tables: true,
  integers: 64,
  sizeLimit: Infinity,
  unrolls: 400,
  streams: true,
};

function supports({ call, outputs }: ExternKernel, dtypes: ReadonlySet<DType>): CallSupport {
  const rank = outputs[0]?.shape.length ?? 0;
  const floats = dtypes.size === 1 && (dtypes.has("float32") || dtypes.has("float64"));
  switch (call.op) {
    case "matmul":
      // The library handles one batch dimension; the others are loops around it, which have no epilogue
      return floats ? (rank > 3 ? ALONE : { prologues: true, epilogue: true }) : "none";
    case "convForward":
    case "convBackwardInput":
      return floats ? { prologues: false, epilogue: rank === 4 } : "none";
    case "convBackwardWeight":
      return floats ? ALONE : "none";
    case "sort":
      return ALONE;
    case "region":
      return "none";
    default:
      return call satisfies never;
  }
}
