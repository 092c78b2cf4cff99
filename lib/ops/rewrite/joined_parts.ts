/**
 * Joins the gradient of a tensor that was split. That gradient is a sum of tensors that are zero except for one part
 * each: joined, every element is read once instead of once for each part. Invariant: exact; a negative zero becomes
 * one of several terms, as in the sum.
 */
import type { TensorMeta } from "../../graph/meta.ts";
import { type Graph, Node } from "../../graph/node.ts";
import type { Dim } from "../../sym/expr.ts";
import { normalizeDim } from "../shapes.ts";
import { GraphBuilder, listOf, placeOf, valueOfNode } from "../graph_builder.ts";
import { OPS } from "../table.ts";
import type { GraphPass } from "./passes.ts";
import { sumsOf } from "./sum_terms.ts";

/** Fewer parts of one index each stay a sum. */
const MANY = 8;

/** Joins parts. */
export const JOINED_PARTS: GraphPass = { name: "join_parts", run: joinParts };

/** Parts along a dimension, in their order. */
interface Parts {
  readonly dim: number;
  /** Whether each is one index of the dimension, which it does not have itself. */
  readonly isIndex: boolean;
  readonly sources: readonly Node[];
}

function joinParts(graph: Graph): boolean {
  let changed = false;
  for (const { node, meta, terms } of sumsOf(graph, 2)) {
    const parts = partsOf(terms, meta);
    if (!parts) continue;
    put(graph, node, parts);
    changed = true;
  }
  if (changed) graph.eliminateDeadCode();
  return changed;
}

/** The parts that terms write into zeros, if they are all parts of a dimension, each exactly once. */
function partsOf(terms: readonly Node[], { shape, dtype }: TensorMeta): Parts | undefined {
  const parts = terms.map((term) => partOf(term, shape)), [first] = parts;
  const size = first ? shape[first.dim] : undefined, sources: Node[] = [];
  if (!first || typeof size !== "number" || (first.isIndex && terms.length < MANY)) return undefined;
  let end = 0;
  for (const part of parts.toSorted((a, b) => (a?.start ?? 0) - (b?.start ?? 0))) {
    if (!part || part.dim !== first.dim || part.isIndex !== first.isIndex) return undefined;
    const { value } = part.source.meta;
    if (value.kind !== "tensor" || value.tensor.dtype !== dtype || part.start !== end) return undefined;
    const length = part.isIndex ? 1 : value.tensor.shape[part.dim];
    if (typeof length !== "number") return undefined;
    end += length;
    sources.push(part.source);
  }
  return end === size ? { dim: first.dim, isIndex: first.isIndex, sources } : undefined;
}

/** A part written into zeros: at one index of a dimension, or from that index on. */
interface Part {
  readonly dim: number;
  readonly isIndex: boolean;
  readonly source: Node;
  readonly start: number;
}

function partOf({ target, args, kwargs }: Node, shape: readonly Dim[]): Part | undefined {
  const [zeros, source, given, start, , step = 1] = args, isIndex = target === "selectScatter";
  if ((!isIndex && target !== "sliceScatter") || Object.keys(kwargs).length > 0 || step !== 1) {
    return undefined;
  }
  if (!isZero(zeros) || !(source instanceof Node)) return undefined;
  if (typeof given !== "number" || typeof start !== "number") return undefined;
  const dim = normalizeDim(given, shape.length), size = shape[dim];
  return { dim, isIndex, source, start: start < 0 && typeof size === "number" ? start + size : start };
}

const isZero = (of: unknown): boolean => of instanceof Node && of.target === "full" && of.args[1] === 0;

function put(graph: Graph, node: Node, { dim, isIndex, sources }: Parts): void {
  const builder = new GraphBuilder(graph, node);
  builder.shared = placeOf(node);
  const rows = sources.flatMap((source) =>
    isIndex
      ? listOf(builder.call({ definition: OPS.unsqueeze, args: { self: valueOfNode(source), dim } }))
      : [valueOfNode(source)]
  );
  const [joined] = listOf(builder.call({ definition: OPS.cat, args: { tensors: rows, dim } }));
  // −0 + 0 is 0
  const [made] = joined
    ? listOf(builder.call({ definition: OPS.add, args: { self: joined, other: 0, alpha: 1 } }))
    : [];
  if (made) node.replaceAllUsesWith(made.node);
}
