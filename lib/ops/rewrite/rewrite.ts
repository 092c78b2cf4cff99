/**
 * The rewriter: applies rules to the calls of a functional graph, which it changes. Invariant: a node is replaced
 * only by one of the same type, shape and strides; calls that depend on strides that a constant does not share are
 * inferred again.
 */
import { bisection, type BisectPart } from "../../base/bisect.ts";
import { DynError } from "../../base/errors.ts";
import { isContiguous, type TensorMeta } from "../../graph/meta.ts";
import { type Graph, Node } from "../../graph/node.ts";
import { placeOfNode } from "../../graph/place.ts";
import { provablyEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { GraphBuilder, listOf, placeOf } from "../graph_builder.ts";
import { OPS } from "../table.ts";
import { outputsOf } from "./contract.ts";
import { refreshMeta } from "./metadata.ts";
import type { Rewrite, Rule } from "./rules.ts";

/** Maximum number of rounds: a rule may enable another one. */
const MOST_ROUNDS = 8;

/** The rules to apply, and how. */
export interface RewriteOptions {
  readonly rules: readonly Rule[];
  /** The name of one application in a bisection. */
  readonly part: BisectPart;
  /** Returns whether a call stays although nothing reads it; default: whether it has effects. */
  readonly kept?: (node: Node) => boolean;
}

/** Applies rules until none fits; returns whether any did. */
export function rewrite(graph: Graph, { rules, part, kept }: RewriteOptions): boolean {
  const byTarget = Map.groupBy(
    rules.flatMap((rule) => rule.targets.map((target) => ({ target, rule }))),
    ({ target }) => target,
  );
  let changed = false;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let again = false;
    for (const node of [...graph.nodes]) {
      const { value } = node.meta;
      const fitting = node.op === "call_function" ? byTarget.get(node.target) : undefined;
      if (!fitting || node.users.size === 0 || value.kind !== "tensor") continue;
      again = fitting.some(({ rule }) => {
        const found = rule.apply(node, value.tensor);
        if (found === undefined) return false;
        if (!bisection.allows(part, () => `${rule.name} on ${placeOfNode(node)}`)) return false;
        return replace(graph, node, { found, meta: value.tensor });
      }) || again;
    }
    if (!again) break;
    changed = true;
    graph.eliminateDeadCode(kept);
  }
  return changed;
}

function replace(graph: Graph, node: Node, { found, meta }: { found: Rewrite; meta: TensorMeta }): boolean {
  if (found instanceof Node) {
    const { value } = found.meta;
    if (value.kind !== "tensor" || !sameLayout(value.tensor, meta)) return false;
    node.replaceAllUsesWith(found);
    return true;
  }
  if ("target" in found) {
    node.replaceAllUsesWith(graph.create("call_function", found.target, {
      args: found.args,
      name: node.name,
      meta: { ...node.meta },
      before: node,
    }));
    return true;
  }
  return replaceByConstant(graph, node, { meta, value: found.constant });
}

/**
 * Replaces a node by a constant, which is row-major even if the replaced view is not, so that users may get other
 * strides. Results must keep the promised strides; if one would not, nothing is replaced.
 */
function replaceByConstant(graph: Graph, node: Node, by: { meta: TensorMeta; value: number }): boolean {
  const constant = makeFull(graph, node, by);
  if (isContiguous(by.meta)) {
    node.replaceAllUsesWith(constant);
    return true;
  }
  const results = () => outputsOf(graph).map((each) => each instanceof Node ? each.meta.value : each);
  const promised = results();
  let isAccepted = true;
  try {
    for (const user of node.replaceAllUsesWith(constant)) refreshMeta(user);
  } catch (error) {
    if (!(error instanceof DynError)) throw error;
    // A view that the strides of the program allow
    isAccepted = false;
  }
  if (isAccepted && results().every((value, k) => value === promised[k])) return true;
  for (const user of constant.replaceAllUsesWith(node)) refreshMeta(user);
  graph.erase(constant);
  return false;
}

function makeFull(graph: Graph, node: Node, { meta, value }: { meta: TensorMeta; value: number }): Node {
  const builder = new GraphBuilder(graph, node);
  builder.shared = placeOf(node);
  const { shape, dtype, device } = meta;
  const args = { size: shape, fillValue: value, dtype, device };
  const [made] = listOf(builder.call({ definition: OPS.full, args }));
  return made?.node ?? node;
}

function sameLayout(a: TensorMeta, b: TensorMeta): boolean {
  return a.dtype === b.dtype && a.device === b.device && equalDims(a.shape, b.shape) &&
    equalDims(a.strides, b.strides);
}

/** Equality that records no guard. */
function equalDims(a: readonly Dim[], b: readonly Dim[]): boolean {
  return a.length === b.length && a.every((size, d) => provablyEqual(size, b[d] ?? -1) === true);
}
