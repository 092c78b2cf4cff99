/**
 * The terms of sums in a functional graph: each sum of floats that is not part of another one, with its terms.
 * Invariant: all terms have the type and the shape of the sum, and nothing else reads the inner sums.
 */
import { sameList } from "../../base/lists.ts";
import { isFloat } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type Graph, Node } from "../../graph/node.ts";
import { isCall } from "./calls.ts";

/** A sum of two or more terms. */
export interface Sum {
  readonly node: Node;
  readonly meta: TensorMeta;
  /** In the order in which they are added. */
  readonly terms: readonly Node[];
}

/** The outermost sums of a graph with at least `least` terms, the last first. */
export function sumsOf(graph: Graph, least: number): readonly Sum[] {
  const seen = new Set<Node>(), sums: Sum[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!isSum(node) || seen.has(node)) continue;
    const terms: Node[] = [];
    // A part of a sum is not listed separately
    const visit = (each: Node): void => {
      const inside = isSum(each) && (each === node || each.users.size === 1);
      if (!inside) return void terms.push(each);
      seen.add(each);
      for (const term of each.args) if (term instanceof Node) visit(term);
    };
    visit(node);
    const { value } = node.meta;
    if (terms.length >= least && value.kind === "tensor") sums.push({ node, meta: value.tensor, terms });
  }
  return sums;
}

const isSum = (node: Node): boolean => {
  const { args, meta: { value } } = node;
  return isCall(node, "add") && args.length === 2 && value.kind === "tensor" && isFloat(value.tensor.dtype) &&
    args.every((each) => isLike(each, value.tensor));
};

/** Returns whether a value is a tensor of this type and shape. */
function isLike(of: unknown, { dtype, shape }: TensorMeta): boolean {
  if (!(of instanceof Node) || of.meta.value.kind !== "tensor") return false;
  const { tensor } = of.meta.value;
  return tensor.dtype === dtype && sameList(tensor.shape, shape);
}
