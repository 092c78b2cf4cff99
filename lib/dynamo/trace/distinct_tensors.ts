/**
 * Guards that tensors which a trace treats as different are different. Invariant: only tensors that satisfy the same
 * other guards are compared.
 */
import type { Source } from "../source.ts";
import type { TensorValue } from "../variables/value.ts";
import type { OutputGraph } from "./output_graph.ts";

/** Relies on tensors being different from each other and from all of the others. */
export function guardDistinctTensors(
  output: OutputGraph,
  members: readonly TensorValue[],
  others: readonly TensorValue[] = [],
): void {
  const alike = Map.groupBy(others, guardedForm);
  for (const [form, group] of Map.groupBy(members, guardedForm)) {
    if (form !== "") output.guardDistinct(sourcesOf(group), sourcesOf(alike.get(form) ?? []));
  }
}

const sourcesOf = (tensors: readonly TensorValue[]): Source[] =>
  tensors.flatMap(({ source }) => source ?? []);

/** The properties of a tensor of the program that its guards require: tensors with other ones are different. */
const guardedForm = ({ real }: TensorValue): string =>
  real ? `${real.requiresGrad} ${real.dtype} ${real.ndim}` : "";
