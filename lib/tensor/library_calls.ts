/**
 * Kernels of one lowering for eager programs. Invariant: library calls compute with value types, so that operands of
 * small types are widened before one and its results are rounded once after it.
 */
import { isSmall, type ValueType, valueType } from "../base/dtype.ts";
import type { Lowered, Operand } from "../loops/body.ts";
import type { Kernel } from "../loops/ir.ts";
import { recordLowered } from "../loops/nest.ts";
import type { BufferOperand } from "../loops/record.ts";
import type { Dim } from "../sym/expr.ts";

/** Makes a row-major temporary of the program. */
export type MakeTemporary = (shape: readonly Dim[], dtype: ValueType) => BufferOperand;

/** The kernels that compute a lowering into its targets. */
export function recordKernels(
  lowered: Lowered,
  targets: readonly BufferOperand[],
  { name, temporary }: { readonly name: string; readonly temporary: MakeTemporary },
): readonly Kernel[] {
  if (lowered.kind !== "extern") return [recordLowered(lowered, targets, { name })];
  const before: Kernel[] = [], after: Kernel[] = [];
  const converted = (from: Operand, to: BufferOperand): Kernel =>
    recordLowered(
      { kind: "pointwise", shape: to.shape, dtype: to.dtype, element: (o, index) => o.load(from, index) },
      [to],
      { name: `${name}_convert` },
    );
  const inputs = lowered.inputs.map((input) => {
    if (!isSmall(input.dtype)) return input;
    const wide = temporary(input.shape, valueType(input.dtype));
    before.push(converted(input, wide));
    return wide;
  });
  const outputs = targets.map((target) => {
    if (!isSmall(target.dtype)) return target;
    const wide = temporary(target.shape, valueType(target.dtype));
    after.push(converted(wide, target));
    return wide;
  });
  return [...before, recordLowered({ ...lowered, inputs }, outputs, { name }), ...after];
}
