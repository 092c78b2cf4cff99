/**
 * The graph passes of the inductor, by name and in order. Input: a functional graph, which is left as it is;
 * output: a cleaned copy. Invariant: a pass keeps the number, order and metadata of inputs and outputs, and
 * outputs stay tensors of their own.
 */
import { type Argument, Graph, mapNodes, Node } from "../../graph/node.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { eliminateCommonSubexpressions, isResult } from "../../graph/passes.ts";
import { printGraph } from "../../graph/print.ts";
import { provablyEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { type Rewrite, type Rule, RULES } from "./rules.ts";

/** One pass; tells whether it changed anything. */
export interface Pass {
  readonly name: string;
  readonly run: (graph: Graph) => boolean;
}

/** All passes in order. */
export const PASSES: readonly Pass[] = [
  { name: "eliminate_dead_code", run: (graph) => graph.eliminateDeadCode() },
  { name: "eliminate_common_subexpressions", run: eliminateCommonSubexpressions },
  { name: "rewrite_patterns", run: rewritePatterns },
];

/** Runs all passes on a copy; `observe` sees the graph after each that changed it. */
export function runPasses(graph: Graph, observe: (stage: string, text: () => string) => void): Graph {
  const copy = copyGraph(graph);
  for (const pass of PASSES) {
    if (pass.run(copy)) observe(`graph_after_${pass.name}`, () => printGraph(copy));
  }
  return copy;
}

/** The same nodes in a new graph. */
export function copyGraph(graph: Graph): Graph {
  const copy = new Graph();
  const made = new Map<Node, Node>();
  const moved = (argument: Argument) => mapNodes(argument, (node) => made.get(node) ?? node);
  for (const node of graph.nodes) {
    made.set(
      node,
      copy.create(node.op, node.target, {
        args: node.args.map(moved),
        kwargs: Object.fromEntries(Object.entries(node.kwargs).map(([name, each]) => [name, moved(each)])),
        name: node.name,
        meta: { ...node.meta },
      }),
    );
  }
  return copy;
}

const BY_TARGET = new Map<string, Rule[]>();
for (const rule of RULES) {
  for (const target of rule.targets) BY_TARGET.set(target, [...BY_TARGET.get(target) ?? [], rule]);
}

/** Applies the rules until none fits. */
function rewritePatterns(graph: Graph): boolean {
  let changed = false;
  for (let round = 0; round < 4; round++) {
    let again = false;
    for (const node of [...graph.nodes]) {
      if (node.op !== "call_function" || node.users.size === 0) continue;
      const { value } = node.meta;
      if (value.kind !== "tensor") continue;
      for (const rule of BY_TARGET.get(node.target) ?? []) {
        const found = rule.apply(node, value.tensor);
        if (found && replace(graph, node, { found, meta: value.tensor })) {
          again = true;
          break;
        }
      }
    }
    if (!again) break;
    changed = true;
    graph.eliminateDeadCode();
  }
  return changed;
}

function replace(graph: Graph, node: Node, { found, meta }: { found: Rewrite; meta: TensorMeta }): boolean {
  if (!(found instanceof Node)) {
    node.replaceAllUsesWith(graph.create("call_function", found.target, {
      args: found.args,
      name: node.name,
      meta: { ...node.meta },
      before: node,
    }));
    return true;
  }
  const { value } = found.meta;
  if (value.kind !== "tensor" || !sameLayout(value.tensor, meta)) return false;
  // An output must not become an input or another output, or a view of one
  const replacement = isResult(node)
    ? graph.create("call_function", "clone", {
      args: [found],
      name: node.name,
      meta: { ...node.meta },
      before: node,
    })
    : found;
  node.replaceAllUsesWith(replacement);
  return true;
}

function sameLayout(a: TensorMeta, b: TensorMeta): boolean {
  const equal = (x: readonly Dim[], y: readonly Dim[]) =>
    x.length === y.length && x.every((size, d) => size === y[d] || provablyEqual(size, y[d] ?? -1) === true);
  return a.dtype === b.dtype && a.device === b.device && equal(a.shape, b.shape) &&
    equal(a.strides, b.strides);
}
