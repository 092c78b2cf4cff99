/**
 * Steps with collectives, compiled as a whole: differentiated first and then cut at the calls, so that gradients flow
 * through them, and collectives of a backward pass start while the rest of it runs. Invariants: collectives keep their
 * order, on all processes; only the last part writes to memory that existed before the call.
 */
import { orNull } from "../base/errors.ts";
import { NotFunctional } from "../autograd/functional.ts";
import { sharedOpNamed } from "../autograd/shared_ops.ts";
import { logs } from "../base/logs.ts";
import { recording } from "../base/recording.ts";
import type { CompiledFunction } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { type GraphCompiler, interposedCompiler } from "../graph/interpose.ts";
import { type Graph, Node } from "../graph/node.ts";
import { symbolsOf } from "../graph/sizes.ts";
import { outputsOf } from "../ops/rewrite/contract.ts";
import { memoryRoot, viewChain } from "../ops/rewrite/memory_root.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { ambient } from "../tensor/modes.ts";
import { FunctionalPart } from "./functional_part.ts";
import { buildJoint, type RuntimePlan } from "./joint.ts";
import { computedLate } from "./late_nodes.ts";
import { joinSharedCalls } from "./joined_calls.ts";
import { rematerialize } from "./rematerialize.ts";
import { mergeSmallParts } from "./small_parts.ts";
import { beginsWork } from "./shared_calls.ts";
import { SharedPart } from "./shared_part.ts";
import { simplify } from "./simplify.ts";
import { cut, runStages, stagesBetween } from "./stages.ts";
import { traceForward } from "./trace.ts";

/** A step in functional form. */
export interface SharedStep {
  readonly functional: GraphModule;
  readonly plan: RuntimePlan;
  /** The nodes to which collectives write their results. */
  readonly written: readonly Node[];
}

/** Returns whether a graph is cut at collectives only, all of which can be differentiated here. */
function isCutByCallsAlone({ graph, attributes }: GraphModule): boolean {
  const onHost = graph.nodes.filter(({ meta }) => meta.onHost), calls = onHost.filter(beginsWork);
  return calls.length > 0 && onHost.every(({ meta }) => meta.begins) &&
    calls.every(({ target }) => sharedOpNamed(target, attributes)) &&
    ![...symbolsOf(graph.nodes)].some(({ node }) => node.kind === "symbol" && node.role.kind === "unbacked");
}

/** A captured graph as such a step; null if something else cuts it, or the tape has to differentiate its results. */
export function sharedStepOf(captured: GraphModule): SharedStep | null {
  if (!isCutByCallsAlone(captured)) return null;
  return orNull(NotFunctional, () =>
    recording.phase("joint", () => {
      const trace = traceForward(captured), attributes = trace.replay.shared;
      const joint = buildJoint(trace, { gradEnabled: ambient.gradEnabled });
      const { graph, plan, results: { length: ownResults }, tangents } = joint;
      if (tangents.length > 0) return null;
      simplify(joint);
      rematerialize(joint);
      joinSharedCalls(graph, { ownResults, attributes });
      const written = writeInPlace(graph, attributes);
      const signature = { role: "inference", mutatedInputs: [], ownResults } as const;
      return { plan, written, functional: new GraphModule(graph, attributes, graphRunner, signature) };
    }));
}

/** The forward function of a step, in parts that `compiler` compiles. */
export function compileStep(
  { functional, plan, written }: SharedStep,
  compiler: GraphCompiler,
): CompiledFunction {
  const { graph } = functional, outputs = outputsOf(graph);
  logs.emit("aot_graphs", () => functional.readable("step"), { part: "step" });
  const results = outputs.flatMap((each) => each instanceof Node ? [memoryRoot(each)] : []);
  const own = new Set([...results, ...written]);
  const mutated = new Map(plan.mutations.flatMap(({ input, output }) => {
    const value = outputs[output], target = graph.placeholders[input];
    return value instanceof Node && target ? [[value, target] as const] : [];
  }));
  const groups = mergeSmallParts(computedLate(cut(functional), new Set(mutated.keys())));
  // Views are recreated where they are read: values passed between parts have memory of their own
  const repeated = groups.map(({ nodes, kind }) => kind === "begins" ? [] : viewsFrom(nodes));
  const compile: GraphCompiler = (gm, examples) => {
    logs.emit("aot_graphs", () => gm.readable("inference"), { part: "inference" });
    return recording.phase("compile_inference", () => interposedCompiler(compiler)(gm, examples));
  };
  const stages = stagesBetween(graph, { groups, repeated, late: new Map() }, (group, parts) => {
    if (group.kind !== "compiled") return new SharedPart(functional, parts);
    const isLast = group === groups.at(-1);
    return new FunctionalPart(functional, parts, { compile, own, mutated: isLast ? mutated : new Map() });
  });
  return runStages(graph, stages);
}

/** The views of earlier groups' values that some nodes read, in their original order. */
function viewsFrom(nodes: readonly Node[]): Node[] {
  const own = new Set(nodes), found = new Set<Node>();
  const add = (node: Node): void => {
    if (own.has(node) || found.has(node) || viewChain(node).length === 1) return;
    for (const input of node.inputs()) add(input);
    found.add(node);
  };
  for (const node of nodes) for (const input of node.inputs()) add(input);
  return [...found];
}

/** Makes calls write to the tensors that they send if nothing else reads those; returns these tensors. */
function writeInPlace(graph: Graph, attributes: Record<string, unknown>): Node[] {
  return graph.nodes.filter(beginsWork).flatMap((call) => {
    const { target, args: [sent] } = call, run = sharedOpNamed(target, attributes)?.runInPlace;
    const isOwn = sent instanceof Node && sent.op === "call_function" && sent.target !== "getitem" &&
      sent.users.size === 1 && memoryRoot(sent) === sent;
    if (!run || !isOwn) return [];
    call.target = `${target}_in_place`;
    attributes[call.target] = run;
    return [sent];
  });
}
