/**
 * Locates the first op with a wrong result in a compiled graph, given a call whose results differ. Invariant: the
 * graph is unchanged, and the program observes nothing.
 *
 * A graph that also returns every intermediate value shows the first wrong one directly. Returning values changes
 * fusion, which may hide the fault; then, and for gradients, the graph is truncated after one node or another until
 * the shortest failing part is found.
 */
import { logs } from "../../base/logs.ts";
import type { CompiledFunction } from "../../graph/backend.ts";
import { copyNodes } from "../../graph/copy.ts";
import { GraphModule } from "../../graph/graph_module.ts";
import { type Argument, type Graph, isList, Node } from "../../graph/node.ts";
import { probeGraph, tensorCalls } from "../../graph/probe.ts";
import { check, type Finding } from "./verdict.ts";

/** Compiles a graph for a call with given arguments; null if the graph is to be interpreted. */
type CompileGraph = (gm: GraphModule, args: readonly unknown[]) => CompiledFunction | null;

/** The node at which results begin to differ. */
export interface Culprit {
  /** The node, in the original graph. */
  readonly node: Node;
  /** The part of the graph up to there, which returns only that node and fails like the graph. */
  readonly part: GraphModule | null;
}

/** Finds the first wrong op; null if no part of the graph fails by itself. */
export function locate(
  { gm, finding, compile }: {
    readonly gm: GraphModule;
    readonly finding: Finding;
    readonly compile: CompileGraph;
  },
  args: readonly unknown[],
): Culprit | null {
  return logs.capture("", () => {}, () => new Search(gm, compile, { finding, args }).run());
}

/** A graph with the outputs of another. */
function moduleLike(gm: GraphModule, graph: Graph): GraphModule {
  const signature = gm.signature ? { role: gm.signature.role, mutatedInputs: [], ownResults: 0 } : undefined;
  return new GraphModule(graph, gm.attributes, gm.runner, signature);
}

/**
 * Returns the part of a graph that ends with one node and returns it; with `withResults` it also returns the earlier
 * results of the graph, so that the same values are saved for the backward.
 */
function partUpTo(gm: GraphModule, last: Node, withResults: boolean): GraphModule {
  const { copy, made } = copyNodes(gm.graph, { output: false });
  const end = made.get(last);
  const order = [...copy.nodes];
  const kept = new Set(order.slice(0, end ? order.indexOf(end) : 0));
  const earlier = withResults
    ? resultsOf(gm.graph).flatMap((each) => {
      const found = each instanceof Node ? made.get(each) : undefined;
      return found && kept.has(found) ? [found] : [];
    })
    : [];
  for (const node of order.slice(end ? order.indexOf(end) + 1 : order.length).toReversed()) copy.erase(node);
  copy.create("output", "output", { args: [[end ?? null, ...earlier]] });
  copy.eliminateDeadCode();
  return moduleLike(gm, copy);
}

function resultsOf({ output }: Graph): readonly Argument[] {
  const [list = null] = output.args;
  return isList(list) ? list : [list];
}

class Search {
  readonly #finding: Finding;
  readonly #args: readonly unknown[];

  constructor(
    readonly gm: GraphModule,
    readonly compile: CompileGraph,
    { finding, args }: { readonly finding: Finding; readonly args: readonly unknown[] },
  ) {
    this.#finding = finding;
    this.#args = args;
  }

  run(): Culprit | null {
    if (this.#finding.part === "forward" && this.#finding.kind === "values") {
      const { module, nodes } = probeGraph(this.gm, { as: "clone", keepsResults: false });
      const found = this.#check(module);
      const node = found?.result === undefined ? undefined : nodes[found.result];
      if (found?.part === "forward" && node) return { node, part: this.#failing(node, false) };
    }
    for (const withResults of [false, true]) {
      for (const end of this.#ends()) {
        const found = this.#shortest(end, withResults);
        if (found) return found;
      }
    }
    return null;
  }

  /** Results that may be wrong, the most likely first. */
  #ends(): readonly Node[] {
    const results = resultsOf(this.gm.graph);
    const { result } = this.#finding;
    const first = result === undefined ? undefined : results[result];
    const all = [first, ...results, tensorCalls(this.gm.graph).at(-1)];
    return [...new Set(all.filter((each) => each instanceof Node))].filter((node) =>
      node.op !== "placeholder"
    );
  }

  /** Finds the shortest failing part of the nodes that lead to a node, by halving; null if the whole does not fail. */
  #shortest(end: Node, withResults: boolean): Culprit | null {
    let failing = this.#failing(end, withResults);
    if (!failing) return null;
    const needed = new Set<Node>([end]);
    for (const node of this.gm.graph.nodes.toReversed()) {
      if (needed.has(node)) { for (const input of node.inputs()) needed.add(input); }
    }
    const steps = tensorCalls(this.gm.graph).filter((node) => needed.has(node));
    let low = -1, high = steps.indexOf(end);
    while (high - low > 1) {
      const middle = low + high >> 1, node = steps[middle];
      const part = node ? this.#failing(node, withResults) : null;
      if (part) {
        high = middle;
        failing = part;
      } else low = middle;
    }
    return { node: steps[high] ?? end, part: failing };
  }

  /** Returns the part up to a node if it fails like the graph. */
  #failing(node: Node, withResults: boolean): GraphModule | null {
    const part = partUpTo(this.gm, node, withResults);
    const found = this.#check(part);
    return found && found.part === this.#finding.part && found.kind === this.#finding.kind ? part : null;
  }

  /** Returns the difference of a graph; null also when it cannot be compiled. */
  #check(gm: GraphModule): Finding | null {
    try {
      gm.graph.lint();
      const compiled = this.compile(gm, this.#args);
      return compiled && check({ compiled, gm }, this.#args);
    } catch {
      return null;
    }
  }
}
