/**
 * Captured graphs in which equal parameter updates are calls of one region, which writes to its arguments. The target of
 * such a call ends in an underscore, like those of in-place ops. Invariant: with the calls inlined, a graph has the traced
 * operations in order, under the same names; that is the graph that backends see unless they ask for the calls.
 */
import { copyGraph } from "./copy.ts";
import { GraphModule } from "./graph_module.ts";
import type { Attributes, Runner } from "./interpreter.ts";
import {
  type Argument,
  Graph,
  mapNodes,
  mapOperands,
  type Node,
  type NodeMeta,
  type Region,
} from "./node.ts";

/** The minimum number of operations that calls must save: kernels are not fused across the ends of a call. */
const SAVED = 48;
/**
 * The minimum average number of calls of a region. With a learning rate for each layer there are many regions with few
 * calls each; outlining whole layers, with the rates as arguments, then shares more.
 */
const FEWEST = 4;

/** Creates the module of a captured graph, which may contain calls. */
export function capturedModule(graph: Graph, attributes: Attributes, runner: Runner): GraphModule {
  const regions = graph.nodes.flatMap(({ meta }) => meta.region ?? []);
  if (regions.length === 0) return new GraphModule(graph, attributes, runner);
  const distinct = new Set(regions),
    isWorthy = regions.length >= FEWEST * distinct.size &&
      operationsOf(regions) - operationsOf(distinct) >= SAVED;
  return new GraphModule(() => inlined(graph), attributes, runner, undefined, isWorthy ? graph : undefined);
}

/** Creates a module with a copy of a captured graph for a backend, which may rewrite it. */
export function rewritable(captured: GraphModule): GraphModule {
  const { attributes, runner, signature, calling } = captured;
  return new GraphModule(() => copyGraph(captured.graph), attributes, runner, signature, calling);
}

const operationsOf = (regions: Iterable<Region>): number =>
  Iterator.from(regions).reduce((sum, { graph }) => sum + graph.nodes.length - graph.placeholders.length, 0);

/** Appends a call, or inserts it before a node. */
export function appendCall(
  graph: Graph,
  region: Region,
  { args, before, ...marks }: Pick<NodeMeta, "stack" | "regionCall" | "recomputed"> & {
    readonly args: readonly Node[];
    readonly before?: Node;
  },
): Node {
  return graph.create("call_function", "update_", {
    args,
    meta: { value: { kind: "tensors", tensors: [], requiresGrad: false }, region, ...marks },
    ...before ? { before } : {},
  });
}

/**
 * An update as a region, with the traced operations and their inputs. The output node of the region's graph holds the
 * stack of the call; the stacks of the operations extend it.
 */
export interface TracedUpdate {
  readonly region: Region;
  readonly nodes: readonly Node[];
  readonly args: readonly Node[];
}

/** Replaces the operations of updates with calls, unless other nodes use their results. */
export function callInstead(graph: Graph, updates: Iterable<TracedUpdate>): void {
  const replaced = new Set<Node>();
  for (const { region, nodes, args } of updates) {
    const [before] = nodes, own = new Set(nodes);
    if (!before || nodes.some(({ users }) => users.keys().some((user) => !own.has(user)))) continue;
    appendCall(graph, region, {
      args,
      before,
      ...marksOf(before.meta),
      stack: region.graph.output.meta.stack,
    });
    for (const node of nodes) replaced.add(node);
  }
  if (replaced.size > 0) graph.eliminateDeadCode((node) => !replaced.has(node));
}

/** The marks that a call and its operations share. */
const marksOf = ({ regionCall, recomputed }: NodeMeta) => ({
  ...regionCall === undefined ? {} : { regionCall },
  ...recomputed === undefined ? {} : { recomputed },
});

/** Returns a copy of a graph with all calls inlined. */
function inlined(graph: Graph): Graph {
  const copy = new Graph(), made = new Map<Node, Argument>();
  const move = (node: Node): Argument => made.get(node) ?? node;
  const append = (node: Node, meta: NodeMeta): void => {
    const { op, target, name } = node, base = name.replace(/_\d+$/, "");
    const operands = mapOperands(node, move);
    // Numbers the names as if there had been no calls
    const wanted = op !== "placeholder" && base === target ? base : name;
    made.set(node, copy.create(op, target, { ...operands, name: wanted, meta }));
  };
  for (const node of graph.nodes) {
    const { meta, args } = node;
    if (!meta.region) {
      append(node, { ...meta });
      continue;
    }
    const { placeholders, nodes, output: { meta: { stack } } } = meta.region.graph;
    for (const [at, each] of placeholders.entries()) made.set(each, mapNodes(args[at], move));
    for (const each of nodes) {
      if (each.op === "placeholder" || each.op === "output") continue;
      const lines = meta.stack === stack
        ? each.meta.stack
        : [...meta.stack, ...each.meta.stack.slice(stack.length)];
      append(each, { ...each.meta, ...marksOf(meta), stack: lines });
    }
  }
  return copy;
}
