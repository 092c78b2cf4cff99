/**
 * Disables, for `dyn bisect`, the compilation of whole graphs and of ops of functional graphs: only the first ops of
 * such a graph are compiled, the rest run one by one. Invariant: without a bisection nothing changes.
 */
import { roleOf } from "../graph/signature.ts";
import { currentTitle } from "../base/compile_times.ts";
import { bisection } from "../base/bisect.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import type { GraphCompiler, Interposer } from "../graph/interpose.ts";
import { type Argument, Graph, mapNodes, Node } from "../graph/node.ts";
import { placeOfNode, positionText, userPosition } from "../graph/place.ts";

/** Wraps compilers with the limits of a bisection. */
export const bisectInterposer: Interposer = {
  captured: (backend) => (gm, examples) => {
    if (bisection.allows("graphs", () => graphText(gm))) return backend(gm, examples);
    return (...args) => gm.forward(...args);
  },
  functional: (compiler) => (gm, examples) => {
    if (!bisection.active) return compiler(gm, examples);
    const calls = gm.graph.nodes.filter(({ op, target }) => op === "call_function" && target !== "getitem");
    const allowed = calls.filter((node) => bisection.allows("ops", () => placeOfNode(node)));
    if (allowed.length === calls.length) return compiler(gm, examples);
    const last = allowed.at(-1);
    return last ? compiledUpTo(gm, last, { compiler, examples }) : (...args) => gm.forward(...args);
  },
};

/** Describes a captured graph on one line: its function, and the lines that it covers. */
function graphText({ graph }: GraphModule): string {
  const [first] = graph.nodes.filter(({ op }) => op.startsWith("call_")).flatMap((n) =>
    userPosition(n) ?? []
  );
  return `a graph of ${currentTitle()}${first ? `, from ${positionText(first)}` : ""}`;
}

/** Compiles the nodes of a graph up to one; the others are interpreted. */
function compiledUpTo(
  gm: GraphModule,
  last: Node,
  { compiler, examples }: { readonly compiler: GraphCompiler; readonly examples: readonly unknown[] },
): CompiledFunction {
  const { nodes, placeholders, output } = gm.graph;
  const end = nodes.indexOf(last);
  // A getitem of the last compiled op's results is compiled too
  const isFirst = (node: Node, at: number) =>
    at <= end ||
    (node.target === "getitem" && [...node.inputs()].every((input) => nodes.indexOf(input) <= end));
  const first = new Set(nodes.filter((node, at) => node.op !== "output" && isFirst(node, at)));
  const crossing = [...first].filter((node) =>
    node.op !== "placeholder" && node.meta.value.kind === "tensor" &&
    [...node.users.keys()].some((user) => !first.has(user))
  );
  const front = new Graph(), back = new Graph();
  const inFront = new Map<Node, Node>(), inBack = new Map<Node, Node>();
  for (const node of placeholders) {
    copyInto(front, node, inFront);
    copyInto(back, node, inBack);
  }
  for (const node of crossing) {
    const { value, stack } = node.meta;
    inBack.set(node, back.create("placeholder", node.name, { name: node.name, meta: { value, stack } }));
  }
  for (const node of nodes) {
    if (node.op === "placeholder" || node.op === "output") continue;
    copyInto(first.has(node) ? front : back, node, first.has(node) ? inFront : inBack);
  }
  front.create("output", "output", { args: [crossing.map((node) => inFront.get(node) ?? node)] });
  back.create("output", "output", { args: output.args.map((each) => moved(each, inBack)) });
  const role = roleOf(gm);
  const signature = { role, mutatedInputs: [], ownResults: 0 };
  const compiled = compiler(new GraphModule(front, gm.attributes, gm.runner, signature), examples);
  const rest = new GraphModule(back, gm.attributes, gm.runner);
  return (...args) => {
    const values = compiled(...args);
    return rest.forward(...args, ...Array.isArray(values) ? values : []);
  };
}

function copyInto(into: Graph, node: Node, made: Map<Node, Node>): void {
  made.set(
    node,
    into.create(node.op, node.target, {
      name: node.name,
      args: node.args.map((each) => moved(each, made)),
      kwargs: Object.fromEntries(Object.entries(node.kwargs).map(([key, each]) => [key, moved(each, made)])),
      meta: { ...node.meta },
    }),
  );
}

function moved(argument: Argument, made: ReadonlyMap<Node, Node>): Argument {
  return mapNodes(argument, (node) => made.get(node) ?? node);
}
