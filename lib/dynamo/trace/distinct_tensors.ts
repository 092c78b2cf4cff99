/**
 * Tensors that a trace takes to be different ones. Input: a tensor and others of the same trace; output: guards.
 * Invariant: only tensors of which the other guards hold alike are compared.
 */
import type { TensorValue } from "../variables/value.ts";
import type { OutputGraph } from "./output_graph.ts";

/** Relies on a tensor being none of the others. */
export function guardDistinctTensors(
  output: OutputGraph,
  tensor: TensorValue,
  others: readonly TensorValue[],
): void {
  const { source } = tensor;
  if (!source) return;
  output.guardDistinct(
    source,
    others.flatMap((other) => other !== tensor && mayBeOne(tensor, other) ? other.source ?? [] : []),
  );
}

/** Whether what the guards say of two tensors, as the program handed them in, holds of one tensor, too. */
function mayBeOne({ source, real: a }: TensorValue, { source: other, real: b }: TensorValue): boolean {
  if (!a || !b || (source?.kind === "known" && other?.kind === "known")) return false;
  return a.requiresGrad === b.requiresGrad && a.dtype === b.dtype && a.ndim === b.ndim;
}
