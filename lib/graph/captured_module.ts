/**
 * Captured graphs in which equal updates of parameters are calls of one region that writes to its arguments. The
 * target of such a call ends in an underscore, as those of in-place ops. Invariant: in line, a graph is the one that
 * was traced, operation by operation, under the same names; who does not ask for the calls sees that.
 */
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

/** Operations that calls have to save, since kernels do not span their ends. */
const SAVED = 48;
/** Calls of each region, on average: where rates differ from layer to layer, stretches of layers have more in common. */
const FEWEST = 4;

/** A captured graph, which may have calls, as a module. */
export function capturedModule(graph: Graph, attributes: Attributes, runner: Runner): GraphModule {
  const regions = graph.nodes.flatMap(({ meta }) => meta.region ?? []);
  if (regions.length === 0) return new GraphModule(graph, attributes, runner);
  const distinct = new Set(regions),
    isWorthy = regions.length >= FEWEST * distinct.size &&
      operationsOf(regions) - operationsOf(distinct) >= SAVED;
  return new GraphModule(() => inlined(graph), attributes, runner, undefined, isWorthy ? graph : undefined);
}

const operationsOf = (regions: Iterable<Region>): number =>
  Iterator.from(regions).reduce((sum, { graph }) => sum + graph.nodes.length - graph.placeholders.length, 0);

/** Appends a call, or puts it before a node. */
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
 * An update as a region: the operations that it was made of, and what they were given. The output of its graph has the
 * lines that lead to the update, with which those of its operations begin.
 */
export interface TracedUpdate {
  readonly region: Region;
  readonly nodes: readonly Node[];
  readonly args: readonly Node[];
}

/** Puts a call in place of the operations of an update, unless others read their results. */
export function callInstead(graph: Graph, { region, nodes, args }: TracedUpdate): void {
  const [before] = nodes, own = new Set(nodes);
  if (!before || nodes.some(({ users }) => users.keys().some((user) => !own.has(user)))) return;
  appendCall(graph, region, { args, before, ...marksOf(before.meta), stack: region.graph.output.meta.stack });
  for (const node of nodes.toReversed()) graph.erase(node);
}

/** Marks of a call, which are those of its operations. */
const marksOf = ({ regionCall, recomputed }: NodeMeta) => ({
  ...regionCall === undefined ? {} : { regionCall },
  ...recomputed === undefined ? {} : { recomputed },
});

/** A copy of a graph with the operations in line. */
function inlined(graph: Graph): Graph {
  const copy = new Graph(), made = new Map<Node, Argument>();
  const move = (node: Node): Argument => made.get(node) ?? node;
  const append = (node: Node, meta: NodeMeta): void => {
    const { op, target, name } = node, base = name.replace(/_\d+$/, "");
    const operands = mapOperands(node, move);
    // Names are counted on as if the calls had not been
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
