/**
 * Legalises library calls: those that a target's library lacks become loops, and epilogues that it does not run
 * become separate kernels.
 */
import type { DType } from "../base/dtype.ts";
import type { BufferId, ExternKernel, Kernel, Program } from "../loops/ir.ts";
import { externAsLoops } from "./extern_loops.ts";
import { isRegion } from "../loops/regions.ts";
import { product } from "../sym/expr.ts";
import { recordLowered } from "../loops/nest.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import type { Target } from "./target.ts";

/** Legalises the library calls of a program for a target. */
export function libraryCalls(program: Program, target: Target): Program {
  const typeOf = (id: BufferId): DType => program.buffers[id]?.dtype ?? "float32";
  return replaceWithTemporaries(
    program,
    (kernel, temporary) =>
      kernel.kind === "loops" || isRegion(kernel)
        ? [kernel]
        : expanded(kernel, { target, typeOf, temporary }),
  );
}

interface Context {
  readonly target: Target;
  readonly typeOf: (id: BufferId) => DType;
  readonly temporary: MakeTemporary;
}

function expanded(kernel: ExternKernel, context: Context): readonly Kernel[] {
  const { target, typeOf } = context;
  const dtypes = new Set([...kernel.inputs, ...kernel.outputs].map(({ buffer }) => typeOf(buffer)));
  const support = target.supports(kernel, dtypes), { epilogue, ...call } = kernel;
  if (support !== "none" && (support.epilogue || !epilogue)) return [kernel];
  const calls = support === "none" ? asLoops(kernel, context) : [call];
  return [...calls, ...(epilogue ? [epilogue] : [])];
}

/** The call as loops. Sorts write all elements to a temporary, from which the first ones are copied. */
function asLoops(kernel: ExternKernel, { typeOf, temporary }: Context): readonly Kernel[] {
  const [input] = kernel.inputs, [first] = kernel.outputs;
  const partly = kernel.call.op === "sort" && input !== undefined && first !== undefined &&
    input.shape.at(-1) !== first.shape.at(-1);
  if (!partly) return [externAsLoops(kernel, typeOf)];
  const { shape } = input;
  const whole = kernel.outputs.map(({ buffer }) => {
    const dtype = typeOf(buffer);
    return { ...rowMajor(temporary(dtype, product(shape)), shape), dtype };
  });
  const typeOfAll = (id: BufferId): DType => whole.find(({ buffer }) => buffer === id)?.dtype ?? typeOf(id);
  const copies = kernel.outputs.map((to, k) => {
    const from = whole[k], dtype = typeOf(to.buffer);
    return recordLowered(
      {
        kind: "pointwise",
        shape: to.shape,
        dtype,
        element: (o, index) => from ? o.load(from, index) : o.constant(0, dtype),
      },
      [{ ...to, dtype }],
      { name: `${kernel.name}_first` },
    );
  });
  return [externAsLoops({ ...kernel, outputs: whole }, typeOfAll), ...copies];
}
