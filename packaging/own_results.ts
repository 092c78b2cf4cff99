/**
 * A functional graph for packaging whose results are separate row-major tensors, including new values of inputs.
 * Invariant: the plan around the graph only returns the outputs.
 */
import { type FunctionalGraph, functionalOf } from "../lib/aot/functional_graph.ts";
import type { RuntimePlan } from "../lib/aot/joint.ts";
import { DynError } from "../lib/base/errors.ts";
import type { ExportedParts } from "../lib/export/capture.ts";
import { copyGraph } from "../lib/graph/copy.ts";
import { GraphModule } from "../lib/graph/graph_module.ts";
import { isContiguous } from "../lib/graph/meta.ts";
import { type Argument, type Graph, isList, Node } from "../lib/graph/node.ts";
import { graphNameOf } from "../lib/ops/graph_builder.ts";
import { graphRunner } from "../lib/tensor/graph_runner.ts";

/** A graph and its outputs: the leaves of the program's results, then new values of inputs. */
export interface OwnResults {
  readonly functional: GraphModule;
  readonly mutations: readonly { readonly input: number; readonly result: number }[];
}

type Steps = Extract<RuntimePlan["outputs"][number], { readonly kind: "inputView" }>["steps"];

/** Creates such a graph. Throws DynError for programs that draw random numbers. */
export function ownResults({ functional: given, plan, call }: ExportedParts): OwnResults {
  if (plan.randomOps > 0) {
    throw new DynError(
      `Expected a program without random numbers but found some in ${call.name}; modules that drop elements have eval()`,
    );
  }
  let copied: ReadonlySet<number> = new Set();
  for (;;) {
    const { graph, mutations } = withoutPlan(given.graph, plan, copied);
    const found = functionalOf(new GraphModule(graph, {}, graphRunner));
    const more = found.plan.outputs.flatMap((output, at) =>
      output.kind === "result" && isContiguousAt(found, output.output) ? [] : [at]
    );
    if (more.length === 0) return { functional: inOrder(found), mutations };
    if (more.every((at) => copied.has(at))) {
      throw new DynError(
        `Expected results of ${call.name} of their own but found views at ${more.join(", ")}`,
      );
    }
    copied = new Set([...copied, ...more]);
  }
}

function isContiguousAt({ functional }: FunctionalGraph, at: number): boolean {
  const node = listed(functional.graph)[at];
  return node instanceof Node && node.meta.value.kind === "tensor" && isContiguous(node.meta.value.tensor);
}

function listed(graph: Graph): readonly Argument[] {
  const [list = null] = graph.output.args;
  return isList(list) ? list : [];
}

/** The graph with its outputs in the order of the plan's. */
function inOrder({ functional, plan }: FunctionalGraph): GraphModule {
  const outputs = listed(functional.graph);
  functional.graph.output.args = [
    plan.outputs.map((output) => output.kind === "result" ? outputs[output.output] ?? null : null),
  ];
  functional.recompile();
  return functional;
}

/** The graph with views and new values as nodes; results at the given positions are copies. */
function withoutPlan(
  given: Graph,
  plan: RuntimePlan,
  copied: ReadonlySet<number>,
): { readonly graph: Graph; readonly mutations: OwnResults["mutations"] } {
  const graph = copyGraph(given);
  // Clears gradient marks
  for (const { meta } of graph.nodes) {
    if (meta.value.kind === "tensor" || meta.value.kind === "tensors") {
      meta.value = { ...meta.value, requiresGrad: false };
    }
  }
  const outputs = listed(graph), inputs = graph.placeholders, { output } = graph;
  const nodeAt = (list: readonly Argument[], at: number): Node => {
    const found = list[at];
    if (found instanceof Node) return found;
    throw new DynError(`Expected a tensor at ${at} but found ${typeof found}`);
  };
  // Views of inputs see writes to them
  const current = (input: number): Node => {
    const written = plan.mutations.find((each) => each.input === input);
    return written ? nodeAt(outputs, written.output) : nodeAt(inputs, input);
  };
  const viewed = (base: Node, steps: Steps): Node =>
    steps.reduce((node, { definition, args, of, index }) => {
      const kwargs: Record<string, Argument> = {};
      for (const [name, value] of Object.entries(args)) if (name !== of) kwargs[name] = value as Argument;
      const view = graph.create("call_function", graphNameOf(definition), {
        args: [],
        kwargs: { ...kwargs, [of]: node },
        before: output,
      });
      if (index === undefined) return view;
      return graph.create("call_function", "getitem", { args: [view, index], before: output });
    }, base);
  const leaves: Node[] = [];
  for (const each of plan.outputs) leaves.push(leafOf(each));
  function leafOf(each: RuntimePlan["outputs"][number]): Node {
    switch (each.kind) {
      case "result":
        return nodeAt(outputs, each.output);
      case "resultView":
        return viewed(nodeAt(outputs, each.output), each.steps);
      case "input":
        return current(each.input);
      case "inputView":
        return viewed(current(each.input), each.steps);
      case "leafView":
        return viewed(nodeAt(leaves, each.leaf), each.steps);
      case "same":
        return nodeAt(leaves, each.leaf);
      case "size":
      case "constant":
        throw new DynError(`Expected tensors as results but found a ${each.kind}`);
      default:
        return each satisfies never;
    }
  }
  const mutations = plan.mutations.map(({ input }, at) => ({ input, result: leaves.length + at }));
  const all = [...leaves, ...plan.mutations.map((each) => nodeAt(outputs, each.output))];
  const own = all.map((node, at) => {
    if (!copied.has(at)) return node;
    const row = graph.create("call_function", "contiguous", { args: [node], before: output });
    return graph.create("call_function", "clone", { args: [row], before: output });
  });
  output.args = [own];
  return { graph, mutations };
}
