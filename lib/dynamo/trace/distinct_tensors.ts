/**
 * Guards that tensors which a trace treats as different are different. Invariant: only tensors that satisfy the same
 * other guards are compared.
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
    [source],
    others.flatMap((other) => other !== tensor && mayBeOne(tensor, other) ? other.source ?? [] : []),
  );
}

/** Relies on all of these tensors being different. */
export function guardAllDistinct(output: OutputGraph, tensors: readonly TensorValue[]): void {
  for (const alike of Map.groupBy(tensors, guardedForm).values()) {
    output.guardDistinct(alike.flatMap(({ source }) => source ?? []));
  }
}

/**
 * Returns whether two tensors, as the program passed them in, satisfy the same guards, so that they could be the same
 * tensor.
 */
function mayBeOne({ source, real: a }: TensorValue, { source: other, real: b }: TensorValue): boolean {
  if (!a || !b || (source?.kind === "known" && other?.kind === "known")) return false;
  return a.requiresGrad === b.requiresGrad && a.dtype === b.dtype && a.ndim === b.ndim;
}

/** Tensors that may be the same have the same form. */
export const guardedForm = ({ real }: TensorValue): string =>
  real ? `${real.requiresGrad} ${real.dtype} ${real.ndim}` : "";
