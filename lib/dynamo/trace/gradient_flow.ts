/** Derives from the graph's nodes to which tensors gradients flow in a trace. */
import type { Node } from "../../graph/node.ts";
import { ComputedFrom } from "../../ops/computed_from.ts";
import { breakGraph } from "../break_reasons.ts";
import { constant, type TensorValue, type Value } from "../variables/value.ts";
import type { BuiltinModel, Interpreter } from "./interpreter.ts";
import { allElements } from "./contents.ts";

function tensorsIn(m: Interpreter, list: Value | undefined): readonly TensorValue[] {
  if (list?.kind !== "object" || list.exotic.kind !== "array") return breakGraph("builtin", "flowsBeyond");
  return allElements(m, list).flatMap((each) => each.kind === "tensor" ? [each] : []);
}

/**
 * Returns whether nodes that outputs are computed from lead to inputs that require a gradient, other than the tensors.
 * Histories within the trace are not considered: gradients have none unless requested.
 */
export const traceFlowsBeyond: BuiltinModel = (m, { args: [outputs, tensors] }) => {
  const met = new Set<Node>(tensorsIn(m, tensors).flatMap(({ node }) => node ? [node] : []));
  const open = tensorsIn(m, outputs).flatMap(({ node }) => node ? [node] : []);
  const computed = new ComputedFrom(m.output.graph);
  for (const node of [...open]) open.push(...computed.writtenInto(node));
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (node.op === "placeholder" && m.output.tensors.get(node)?.requiresGrad) return constant(true);
    if (node.target !== "detach") open.push(...computed.of(node));
  }
  return constant(false);
};
