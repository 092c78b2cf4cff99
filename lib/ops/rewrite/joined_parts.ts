/**
 * The gradient of a tensor that was taken apart is a sum of tensors that are zero but for one part each: put together
 * again, every element is read once instead of once for each part. Input: a functional graph, which is changed; output:
 * whether it was. Invariant: exact; a negative zero becomes one of several terms, as in the sum.
 */
import { sameList } from "../../base/lists.ts";
import { isFloat } from "../../base/dtype.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { type Graph, Node } from "../../graph/node.ts";
import { normalizeDim } from "../shapes.ts";
import { GraphBuilder, listOf, placeOf, valueOfNode } from "../graph_builder.ts";
import { OPS } from "../table.ts";
import type { GraphPass } from "./passes.ts";

/** Fewer parts stay a sum. */
const MANY = 8;

/** Puts parts together. */
export const JOINED_PARTS: GraphPass = { name: "join_parts", run: joinParts };

/** Parts along a dimension, in their order. */
interface Parts {
  readonly dim: number;
  readonly sources: readonly Node[];
}

function joinParts(graph: Graph): boolean {
  const seen = new Set<Node>();
  let changed = false;
  for (const node of graph.nodes.toReversed()) {
    if (!isSum(node) || seen.has(node)) continue;
    const terms: Node[] = [];
    // A part of a sum is no sum of its own
    const visit = (each: Node): void => {
      const inside = isSum(each) && (each === node || each.users.size === 1);
      if (!inside) return void terms.push(each);
      seen.add(each);
      for (const term of each.args) if (term instanceof Node) visit(term);
    };
    visit(node);
    const { value } = node.meta, parts = value.kind === "tensor" ? partsOf(terms, value.tensor) : undefined;
    if (!parts) continue;
    put(graph, node, parts);
    changed = true;
  }
  if (changed) graph.eliminateDeadCode();
  return changed;
}

const isSum = ({ op, target, args, kwargs, meta: { value } }: Node): boolean =>
  op === "call_function" && target === "add" && args.length === 2 && Object.keys(kwargs).length === 0 &&
  value.kind === "tensor" && isFloat(value.tensor.dtype) && args.every((each) => isLike(each, value.tensor));

/** Whether something is a tensor of this type and shape. */
function isLike(of: unknown, { dtype, shape }: TensorMeta): boolean {
  if (!(of instanceof Node) || of.meta.value.kind !== "tensor") return false;
  const { tensor } = of.meta.value;
  return tensor.dtype === dtype && sameList(tensor.shape, shape);
}

/** The parts that terms put into zeros, where they are all parts of a dimension and each comes once. */
function partsOf(terms: readonly Node[], { shape, dtype }: TensorMeta): Parts | undefined {
  const [first] = terms, given = first?.args[2];
  if (terms.length < MANY || typeof given !== "number") return undefined;
  const dim = normalizeDim(given, shape.length), sources = new Map<number, Node>();
  if (shape[dim] !== terms.length) return undefined;
  for (const { target, args: [zeros, source, at, index], kwargs } of terms) {
    if (target !== "selectScatter" || Object.keys(kwargs).length > 0 || !isZero(zeros)) return undefined;
    if (typeof at !== "number" || normalizeDim(at, shape.length) !== dim) return undefined;
    if (!(source instanceof Node) || typeof index !== "number") return undefined;
    const { value } = source.meta;
    if (value.kind !== "tensor" || value.tensor.dtype !== dtype) return undefined;
    sources.set(index < 0 ? index + terms.length : index, source);
  }
  if (sources.size !== terms.length) return undefined;
  return { dim, sources: [...sources].toSorted(([a], [b]) => a - b).map(([, source]) => source) };
}

const isZero = (of: unknown): boolean => of instanceof Node && of.target === "full" && of.args[1] === 0;

function put(graph: Graph, node: Node, { dim, sources }: Parts): void {
  const builder = new GraphBuilder(graph, node);
  builder.shared = placeOf(node);
  const rows = sources.flatMap((source) =>
    listOf(builder.call({ definition: OPS.unsqueeze, args: { self: valueOfNode(source), dim } }))
  );
  const [joined] = listOf(builder.call({ definition: OPS.cat, args: { tensors: rows, dim } }));
  // −0 + 0 is 0
  const [made] = joined
    ? listOf(builder.call({ definition: OPS.add, args: { self: joined, other: 0, alpha: 1 } }))
    : [];
  if (made) node.replaceAllUsesWith(made.node);
}
