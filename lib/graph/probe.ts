/**
 * Instruments graphs to return intermediate values: the new graph also returns the value of each node that is one
 * tensor. Invariant: the values are those right after the node, even if they are written in place later; the tape
 * does not see the extra outputs.
 */
import { copyNodes } from "./copy.ts";
import { GraphModule } from "./graph_module.ts";
import { type Graph, mapNodes, type Node } from "./node.ts";

/** A graph with additional results. */
export interface Probe {
  /** Returns the values of `nodes`; with `keepsResults`, the original results first. */
  readonly module: GraphModule;
  readonly nodes: readonly Node[];
}

/** Returns the calls whose result is one tensor, in order. */
export function tensorCalls(graph: Graph): Node[] {
  return graph.nodes.filter(({ op, meta }) =>
    (op === "call_function" || op === "call_method") && meta.value.kind === "tensor"
  );
}

/**
 * Builds the graph that returns intermediate values: as copies, or as aliases, whose elements (not metadata) later
 * writes may change.
 */
export function probeGraph(
  { graph, attributes, runner, signature }: GraphModule,
  { as, keepsResults }: { readonly as: "clone" | "detach"; readonly keepsResults: boolean },
): Probe {
  const { copy, made } = copyNodes(graph, { output: false });
  const nodes: Node[] = [], seen: Node[] = [];
  for (const node of tensorCalls(graph)) {
    const value = made.get(node);
    if (!value) continue;
    const after = copy.nodes[copy.nodes.indexOf(value) + 1];
    nodes.push(node);
    seen.push(copy.create("call_function", as, {
      args: [value],
      meta: { ...node.meta, noGrad: true },
      ...(after ? { before: after } : {}),
    }));
  }
  const results = mapNodes(graph.output.args[0], (node) => made.get(node) ?? node);
  copy.create("output", "output", { args: [keepsResults ? [results, seen] : seen] });
  const outer = signature && { role: signature.role, mutatedInputs: [], ownResults: 0 };
  return { module: new GraphModule(copy, attributes, runner, outer), nodes };
}
