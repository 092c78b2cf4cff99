/**
 * Turns a captured graph into one functional graph without gradients, for runners elsewhere, with the runtime plan and
 * its compiled form. Invariant: tensors that the captured graph holds become inputs after its placeholders, in the
 * order of `lifted`.
 */
import { DynError } from "../base/errors.ts";
import type { CompiledFunction, GraphBackend } from "../graph/backend.ts";
import type { Graph } from "../graph/node.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { interposedCompiler } from "../graph/interpose.ts";
import { placeOfNode } from "../graph/place.ts";
import { type Question, questionsOf } from "../sym/decide.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { noGrad } from "../tensor/modes.ts";
import { functionalCompilerOf, interpretGraph, withExamples } from "./backend.ts";
import { buildJoint, type RuntimePlan } from "./joint.ts";
import { runtimeOf } from "./runtime.ts";
import { simplify } from "./simplify.ts";
import { needsStages } from "./stages.ts";
import { traceForward } from "./trace.ts";

/** A functional graph and its runtime plan. */
export interface FunctionalGraph {
  readonly functional: GraphModule;
  readonly plan: RuntimePlan;
}

/**
 * Makes a captured graph functional. Throws DynError for sizes that depend on elements and for operations that the host
 * computes, NotFunctional if the graph cannot be made functional.
 */
export function functionalOf(captured: GraphModule): FunctionalGraph {
  refuseStages(captured.graph);
  return noGrad(() => {
    const joint = buildJoint(traceForward(captured), { gradEnabled: false });
    simplify(joint);
    const { plan, graph, results } = joint;
    return { plan, functional: inferenceModule(graph, { plan, ownResults: results.length }) };
  });
}

/** Throws DynError for a graph with sizes that depend on elements, or with operations that the host computes. */
function refuseStages(graph: Graph): void {
  const onHost = graph.nodes.find(({ meta: { onHost, value } }) => onHost && value.kind !== "unknown");
  if (onHost) {
    throw new DynError(
      `Expected operations that kernels compute but found one that the host computes: ${placeOfNode(onHost)}`,
    );
  }
  if (needsStages(graph)) {
    throw new DynError("Expected sizes that follow from sizes of inputs but found some that elements decide");
  }
}

/** A functional graph without gradients, in the form that backends receive. */
export function inferenceModule(
  graph: GraphModule["graph"],
  { plan: { mutations }, ownResults }: { readonly plan: RuntimePlan; readonly ownResults: number },
): GraphModule {
  const mutatedInputs = mutations.map(({ input, output }) => ({ input, output }));
  return new GraphModule(graph, {}, graphRunner, { role: "inference", mutatedInputs, ownResults });
}

/** The function of a graph, interpreted or run by `forward`; no gradients are recorded. */
export function runFunctional(
  { functional, plan }: FunctionalGraph,
  forward: CompiledFunction = interpretGraph(functional, []),
): CompiledFunction {
  const run = runtimeOf({ plan, forward, captured: functional, functional }, true);
  return (...inputs) => noGrad(() => run(...inputs));
}

/** Compiles a functional graph with a backend that differentiates ahead of time; also returns the guards on sizes. */
export function compileFunctional(functional: GraphModule, backend: GraphBackend): {
  readonly forward: CompiledFunction;
  readonly questions: readonly Question[];
} {
  const compiler = functionalCompilerOf(backend, "inference");
  if (!compiler) {
    throw new DynError("Expected a backend that compiles functional graphs but found another");
  }
  const { result, questions } = questionsOf(() =>
    noGrad(() => interposedCompiler(compiler)(functional, withExamples(functional.graph, [])))
  );
  return { forward: result, questions };
}
