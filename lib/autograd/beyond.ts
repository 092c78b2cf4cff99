/** What a computation depends on besides its arguments. Input: tensors with histories; output: whether gradients leave them. */
import { AccumulateGrad, gradientEdge, type Node } from "./node.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Whether gradients of outputs flow to more than these tensors: to what the computation has met besides. */
export function flowsBeyond(outputs: readonly Tensor[], tensors: readonly Tensor[]): boolean {
  const met = new Set<Node>(), open: Node[] = [];
  const meet = (node: Node | undefined): void => {
    if (!node || met.has(node)) return;
    met.add(node);
    open.push(node);
  };
  for (const tensor of tensors) meet(gradientEdge(tensor)?.node);
  open.length = 0;
  for (const output of outputs) meet(gradientEdge(output)?.node);
  for (let node = open.pop(); node; node = open.pop()) {
    if (node instanceof AccumulateGrad) return true;
    for (const edge of node.edges) meet(edge?.node);
  }
  return false;
}
