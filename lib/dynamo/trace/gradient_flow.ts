/** Derives from the graph's nodes to which tensors gradients flow in a trace. */
import { ComputedFrom } from "../../ops/computed_from.ts";
import { breakGraph } from "../break_reasons.ts";
import { constant, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { BuiltinModel, Interpreter } from "./interpreter.ts";
import { allElements } from "./contents.ts";

function tensorsIn(m: Interpreter, list: Value | undefined): readonly TensorValue[] {
  if (list?.kind !== "object" || list.exotic.kind !== "array") return breakGraph("builtin", "flowsBeyond");
  return allElements(m, list).flatMap((each) => each.kind === "tensor" ? [each] : []);
}

/** The tensor below all runs over batches. */
function beneath({ batch }: Interpreter, tensor: TensorValue): TensorValue {
  let below = tensor;
  for (let at = batch; at; at = at.outer) below = at.wholeOf(below) ?? below;
  return below;
}

/**
 * Returns whether nodes that outputs are computed from lead to tensors that require a gradient, inputs or those of outer
 * transforms, other than the given ones. Other histories within the trace are not considered: gradients have none
 * unless requested.
 */
export const traceFlowsBeyond: BuiltinModel = (m, { args: [outputs, tensors] }) => {
  const { output } = m;
  const given = tensorsIn(m, tensors).map((each) => beneath(m, each));
  const roots = tensorsIn(m, outputs).map((each) => beneath(m, each));
  if (given.some(({ real }) => real)) {
    breakGraph("gradientState", "a history that began outside of the graph");
  }
  // Inputs that nothing has used yet have no node
  if (roots.some((root) => !root.node && root.requiresGrad && !given.includes(root))) return constant(true);
  const met = new Set(given.flatMap(({ node }) => node ?? []));
  const open = roots.flatMap(({ node }) => node ?? []);
  const begun = new Set(
    output.begun.map(({ node }) => node).filter((node) => node && !output.ended.has(node)),
  );
  const computed = new ComputedFrom(output.graph);
  for (const node of [...open]) open.push(...computed.writtenInto(node));
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (begun.has(node) || (node.op === "placeholder" && output.tensors.get(node)?.requiresGrad)) {
      return constant(true);
    }
    if (node.target !== "detach") open.push(...computed.of(node));
  }
  return constant(false);
};

/** `endTransform(leaves)`: what they lead to no longer counts. */
export const traceEndTransform: BuiltinModel = (m, { args: [leaves] }) => {
  const { copiesOfLeaves, ended } = m.output;
  for (const { node } of tensorsIn(m, leaves).map((each) => beneath(m, each))) {
    const leaf = node && copiesOfLeaves.has(node) ? [...node.inputs()][0] : node;
    if (leaf) ended.add(leaf);
  }
  return UNDEFINED;
};
