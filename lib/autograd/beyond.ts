/** What a computation depends on besides its arguments. Input: tensors with histories; output: whether gradients leave them, and for what leaves. */
import { AccumulateGrad, gradientEdge, type Node } from "./node.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Whether gradients of outputs flow to more than these tensors: to what the computation has met besides. */
export function flowsBeyond(outputs: readonly Tensor[], tensors: readonly Tensor[]): boolean {
  const nodesOf = (list: readonly Tensor[]): Node[] =>
    list.flatMap((tensor) => gradientEdge(tensor)?.node ?? []);
  const met = new Set(nodesOf(tensors)), open = nodesOf(outputs);
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (node instanceof AccumulateGrad) return true;
    for (const edge of node.edges) if (edge) open.push(edge.node);
  }
  return false;
}

/** All leaves to whose gradients a backward pass from outputs comes. */
export function leavesBehind(outputs: readonly Tensor[]): Set<Tensor> {
  const found = new Set<Tensor>(), met = new Set<Node>();
  const open = outputs.flatMap((tensor) => gradientEdge(tensor)?.node ?? []);
  for (let node = open.pop(); node; node = open.pop()) {
    if (met.has(node)) continue;
    met.add(node);
    if (node instanceof AccumulateGrad) found.add(node.variable);
    for (const edge of node.edges) if (edge) open.push(edge.node);
  }
  return found;
}
