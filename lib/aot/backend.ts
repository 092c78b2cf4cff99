/**
 * Ahead-of-time autograd as a backend: passes functional, decomposed, partitioned graphs to compilers for forward and
 * backward graphs, and runs the compiled functions. Invariant: a compiler sees each graph once, at compile time;
 * nothing is compiled during a backward pass, so that all guards on sizes are known when compilation ends.
 */
import { DynError } from "../base/errors.ts";
import { checkFunction, checkOptions, refuseSurplus } from "../base/checked_input.ts";
import { bisection } from "../base/bisect.ts";
import { counters, logs } from "../base/logs.ts";
import { onDemand } from "../base/on_demand.ts";
import { recording } from "../base/recording.ts";
import type { CompiledFunction, GraphBackend } from "../graph/backend.ts";
import { GraphModule } from "../graph/graph_module.ts";
import { type GraphCompiler, interposedCompiler } from "../graph/interpose.ts";
import type { Graph, Node } from "../graph/node.ts";
import type { GraphSignature } from "../graph/signature.ts";
import { hasDistinctElements, layoutOf } from "../tensor/layout.ts";
import { graphRunner } from "../tensor/graph_runner.ts";
import { keepingResults } from "../tensor/kept_memory.ts";
import { ambient } from "../tensor/modes.ts";
import { anyShareStorage } from "../tensor/shared_storage.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { questionsOf } from "../sym/decide.ts";
import { GraphContract } from "../ops/rewrite/contract.ts";
import { checkedCompiler } from "./backward_calls.ts";
import type { CompiledPair, SavedLayout } from "./compiled_pair.ts";
import { isContiguous } from "../graph/meta.ts";
import { exampleOf } from "./examples.ts";
import { buildJoint, type JointGraph, metaOf, type RuntimePlan } from "./joint.ts";
import { type CachedCompilations, CachedPair } from "./cached_pairs.ts";
import { NotFunctional } from "../autograd/functional.ts";
import { bucketEnds } from "./bucket_ends.ts";
import { minCutPartition, type Partitioner, savingPartition } from "./partition.ts";
import { rematerialize } from "./rematerialize.ts";
import { runtimeOf } from "./runtime.ts";
import { jointOfRegions } from "./regions.ts";
import type { SharedStep } from "./shared_steps.ts";
import { simplify } from "./simplify.ts";
import { inStages, needsStages } from "./stages.ts";
import { traceForward } from "./trace.ts";
import { noticeUnrolling } from "./unrolled.ts";

/** Steps that are cut: at collectives, or at ops of the host. */
const shared = onDemand(import.meta.url, "./shared_steps.ts", () => import("./shared_steps.ts"));

/** Options of `aotAutograd`. */
export interface AotOptions {
  /** Compiles forward graphs, and graphs that need no gradient. */
  readonly fwCompiler: GraphCompiler;
  /** Compiles backward graphs; default `fwCompiler`. */
  readonly bwCompiler?: GraphCompiler | undefined;
  /** Cuts joint graphs; by default with a minimum cut. */
  readonly partition?: Partitioner | undefined;
  /** The same option under PyTorch's name. */
  readonly partitionFn?: Partitioner | undefined;
  /**
   * Whether repeated parts of a graph, such as layers, become one region that compilers see once, and calls of it
   * (nodes with `meta.region`); by default they do not.
   */
  readonly regions?: boolean | undefined;
  /**
   * Whether the compilers' functions return new tensors in each call, and refer to none of them afterwards: dyn frees
   * them where the program cannot reach them. By default they are left to the collector.
   *
   * @internal
   */
  readonly keepsNothing?: boolean | undefined;
}

/**
 * A backend that differentiates ahead of time, as `torch._dynamo.backends.common.aot_autograd`. `kept`: how compiled
 * graphs are cached between processes; by default they are not.
 */
export function aotAutograd(options: AotOptions, kept?: CachedCompilations): GraphBackend {
  if (arguments.length > 2) refuseSurplus("aotAutograd", 2, arguments);
  checkOptions("aotAutograd", {
    fwCompiler: ["function"],
    bwCompiler: ["function"],
    partition: ["function"],
    partitionFn: ["function"],
    regions: ["boolean"],
    keepsNothing: ["boolean"],
  }, options);
  checkFunction(options.fwCompiler, "that compiles graphs as fwCompiler");
  const { regions = false, keepsNothing = false } = options;
  const checked = (compiler: GraphCompiler, name: string) =>
    keepsNothing ? compiler : keepingResults(checkedCompiler(compiler, name));
  const fwCompiler = checked(options.fwCompiler, "fwCompiler");
  const bwCompiler = options.bwCompiler ? checked(options.bwCompiler, "bwCompiler") : fwCompiler;
  if (options.partition && options.partitionFn) {
    throw new DynError("Expected one of partition and partitionFn but found both");
  }
  const partition = options.partition ?? options.partitionFn ?? minCutPartition;
  const backend: GraphBackend = (captured, exampleInputs) => {
    try {
      if (needsStages(captured.calling)) {
        const step = shared().sharedStepOf(captured);
        return step
          ? guardAliases(captured, stepped(captured, step, fwCompiler))
          : inStages(captured, backend);
      }
      const ends = bucketEnds(captured, exampleInputs);
      if (ends.size > 0) return inStages(captured, backend, ends);
      return guardAliases(
        captured,
        runnable(
          pairOf(captured, { exampleInputs, fwCompiler, bwCompiler, partition, regions, kept }),
          keepsNothing,
        ),
      );
    } catch (error) {
      if (!(error instanceof NotFunctional)) throw error;
      logs.emit("perf_hints", `A graph runs op by op: ${error.message}`);
      return (...inputs) => captured.forward(...inputs);
    }
  };
  functionalCompilers.set(backend, { fwCompiler, bwCompiler, kept });
  return backend;
}

/** The compilers of functional graphs behind backends. */
const functionalCompilers = new WeakMap<
  GraphBackend,
  Pick<Compilation, "fwCompiler" | "bwCompiler" | "kept">
>();

/** Returns the compiler of functional graphs of a backend made by `aotAutograd`; undefined for others. */
export function functionalCompilerOf(
  backend: GraphBackend,
  role: GraphSignature["role"],
): GraphCompiler | undefined {
  const found = functionalCompilers.get(backend);
  return role === "backward" ? found?.bwCompiler : found?.fwCompiler;
}

/** Returns how a backend caches its compilations; undefined if it does not. */
export function cachedCompilationsOf(backend: GraphBackend): CachedCompilations | undefined {
  return functionalCompilers.get(backend)?.kept;
}

/** Interprets a functional graph eagerly: a compiler that compiles nothing. */
export const interpretGraph: GraphCompiler = (gm) => (...args) => gm.forward(...args);

interface Compilation {
  readonly exampleInputs: readonly unknown[];
  readonly fwCompiler: GraphCompiler;
  readonly bwCompiler: GraphCompiler;
  readonly partition: Partitioner;
  readonly kept: CachedCompilations | undefined;
  readonly regions: boolean;
}

interface Compiled {
  readonly run: CompiledFunction;
  /** Inputs that the program writes to. */
  readonly mutated: readonly number[];
  readonly addressed: RuntimePlan["addressed"];
}

/** `isOwn`: dyn itself has compiled the halves. */
function runnable(pair: CompiledPair, isOwn: boolean): Compiled {
  const { mutations, addressed } = pair.plan;
  return { run: runtimeOf(pair, isOwn), mutated: mutations.map(({ input }) => input), addressed };
}

/** A step with collectives, as one function. */
function stepped(captured: GraphModule, step: SharedStep, compiler: GraphCompiler): Compiled {
  counters.add("aot", "joint_graphs");
  const { functional, plan } = step, forward = shared().compileStep(step, compiler);
  return runnable({ plan, forward, captured, functional }, true);
}

/** The halves of a graph, restored from the cache or compiled. */
function pairOf(captured: GraphModule, compilation: Compilation): CompiledPair {
  const { kept, fwCompiler, bwCompiler, exampleInputs } = compilation;
  const place = kept && CachedPair.of(captured, kept);
  if (!kept || !place) return compilePair(captured, compilation);
  const found = recording.phase(
    "kept_graph",
    () => place.find((gm, form) => kept.restore(gm, form, place.symbols)),
  );
  if (found) return found;
  const { result, questions } = questionsOf(() =>
    compilePair(captured, {
      ...compilation,
      exampleInputs,
      fwCompiler: place.noting(fwCompiler),
      bwCompiler: place.noting(bwCompiler),
    })
  );
  recording.phase("keep_graph", () => place.keep(result, questions));
  return result;
}

function compilePair(
  captured: GraphModule,
  { exampleInputs, fwCompiler, bwCompiler, partition, regions }: Compilation,
): CompiledPair {
  counters.add("aot", "joint_graphs");
  const cut = bisection.allows("joint_passes", () => "the choice of what is saved for the backward")
    ? partition
    : savingPartition;
  const joint = recording.phase("joint", () => {
    const built = (regions ? jointOfRegions(captured, cut) : null) ??
      buildJoint(traceForward(captured), { gradEnabled: ambient.gradEnabled });
    simplify(built);
    if (built.tangents.length === 0) rematerialize(built);
    if (regions) noticeUnrolling(captured.calling, built.graph);
    return built;
  });
  const { plan } = joint, { placeholders } = joint.graph;
  for (const { input } of plan.mutations) refuseFolded(placeholders[input]);
  // If a gradient flows through a write, the tape must see it, so the runtime copies.
  const mutatedInputs = plan.mutations.filter(({ differentiable }) => !differentiable);
  const compile = (compiler: GraphCompiler, gm: GraphModule, given: readonly unknown[]) => {
    const role = gm.signature?.role;
    logs.emit("aot_graphs", () => gm.readable(role), role ? { part: role } : {});
    return recording.phase(`compile_${role}`, () => interposedCompiler(compiler)(gm, given));
  };
  if (joint.tangents.length === 0) {
    const functional = module(joint.graph, {
      role: "inference",
      mutatedInputs,
      ownResults: joint.ownResults,
    });
    const forward = compile(fwCompiler, functional, withExamples(functional.graph, exampleInputs));
    return { plan, forward, captured, functional };
  }
  logs.emit("aot_joint_graph", () => module(joint.graph, undefined).readable("joint"), { part: "joint" });
  const parts = recording.phase("partition", () => cut(joint));
  new GraphContract(parts.forward, { ownResults: parts.savedFrom }).verify("the partition");
  new GraphContract(parts.backward, { ownResults: 0 }).verify("the partition");
  const functional = module(parts.forward, {
    role: "forward",
    mutatedInputs,
    ownResults: parts.savedFrom,
  });
  const backward = module(parts.backward, {
    role: "backward",
    mutatedInputs: [],
    ownResults: 0,
  });
  return {
    plan,
    forward: compile(fwCompiler, functional, withExamples(functional.graph, exampleInputs)),
    captured,
    functional,
    backward: {
      run: compile(bwCompiler, backward, withExamples(backward.graph, [])),
      functional: backward,
      saved: parts.saved,
      sizes: parts.sizes,
      savedFrom: parts.savedFrom,
      arrivals: joint.arrivals.map((node) => metaOf(node).device),
      fills: joint.fills,
      reached: joint.reached,
      origins: joint.origins,
      merged: mergedGradients(joint),
      layouts: parts.backward.placeholders.slice(0, parts.saved.length).map(savedLayout),
    },
  };
}

/** Throws for an input whose indices share elements: it cannot be written back as a whole. */
function refuseFolded(input: Node | undefined): void {
  if (input?.meta.value.kind !== "tensor") return;
  const { shape, strides } = input.meta.value.tensor;
  if (shape.some((size, d) => size !== 1 && strides[d] === 0)) {
    throw new NotFunctional(`Expected distinct elements in ${input.name}, which is written to`);
  }
}

function module(graph: Graph, signature: GraphSignature | undefined): GraphModule {
  return new GraphModule(graph, {}, graphRunner, signature);
}

function mergedGradients({ gradients, tangents, origins }: JointGraph): Set<number> {
  const seen = new Set<Node>(tangents), merged = new Set<number>();
  gradients.forEach((grad, k) => {
    const origin = origins[k];
    if (!grad || origin?.kind !== "output" || origin.output !== k) return;
    if (seen.has(grad)) merged.add(k);
    seen.add(grad);
  });
  return merged;
}

/** Returns the layout in which a graph expects one of its inputs. */
function savedLayout({ meta: { value } }: Node): SavedLayout {
  if (value.kind !== "tensor") return { kind: "any" };
  const { shape, strides } = value.tensor;
  if ([...shape, ...strides].every((d) => typeof d === "number")) {
    return { kind: "known", layout: layoutOf(value.tensor) };
  }
  return isContiguous(value.tensor) ? { kind: "rowMajor" } : { kind: "strides", strides };
}

/** Example values for a graph's placeholders: those of the call if known, else tensors without elements. */
export function withExamples(graph: Graph, known: readonly unknown[]): unknown[] {
  return graph.placeholders.map((node, at) => at < known.length ? known[at] : exampleOf(node));
}

/**
 * Functional graphs assume that inputs share no memory and that the elements of each are distinct. If a call writes to
 * an input whose memory another input shares, or whose indices share elements, or addresses memory before an input, the
 * captured graph runs op by op instead.
 */
function guardAliases(captured: GraphModule, { run, mutated, addressed }: Compiled): CompiledFunction {
  if (mutated.length === 0 && addressed.length === 0) return run;
  const isElsewhere = (input: unknown) => isTensor(input) && input.offset !== 0;
  return (...inputs) => {
    const together = anyShareStorage(inputs);
    const shares = addressed.some((at) => isElsewhere(inputs[at])) || mutated.some((at) => {
      const input = inputs[at];
      if (isTensor(input) && !hasDistinctElements(input.layout)) return true;
      return together && inputs.some((other, k) => k !== at && overlap(input, other));
    });
    return shares ? captured.forward(...inputs) : run(...inputs);
  };
}

/** Returns whether two inputs may share elements: their ranges of one storage overlap. */
function overlap(a: unknown, b: unknown): boolean {
  if (!isTensor(a) || !isTensor(b) || a.storage !== b.storage) return false;
  const start = (tensor: Tensor) => tensor.offset * tensor.elementSize();
  const end = (tensor: Tensor) => start(tensor) + tensor.layout.byteLength;
  return start(a) < end(b) && start(b) < end(a);
}
