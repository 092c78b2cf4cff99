/**
 * The joint graph: forward and backward of a captured graph in one, over values without aliasing. It returns forward
 * results, then gradients; a plan tells the runtime how to turn forward results into the results of the captured
 * program. Invariant: the forward part does not depend on tangents; every forward result is a node of its own and none
 * is an input.
 */
import { type DynError, InternalError } from "../base/errors.ts";
import type { TreeSpec } from "../base/tree.ts";
import { contiguousMeta, isDense, type TensorMeta } from "../graph/meta.ts";
import { type Argument, type Graph, isList, Node } from "../graph/node.ts";
import type { MutatedInput } from "../graph/signature.ts";
import { GraphValue } from "../ops/graph_builder.ts";
import type { RecordedCall } from "../autograd/gradient_tape.ts";
import type { GraphReplay } from "../autograd/graph_replay.ts";
import { Sym } from "../sym/expr.ts";
import { type FunctionalTensor, isFunctional, NotFunctional, type ViewStep } from "../autograd/functional.ts";
import { laidOut } from "../ops/rewrite/contract.ts";
import { memoryRoot } from "../ops/rewrite/memory_root.ts";
import { Arrivals } from "./arrivals.ts";
import { type Connections, connectionsOf, historyOf } from "./connections.ts";
import type { ForwardTrace } from "./trace.ts";

/** How one leaf of the captured result is built at run time. */
export type OutputPlan =
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "size"; readonly size: Sym }
  /** An input itself, after write-back. */
  | { readonly kind: "input"; readonly input: number }
  /** A view of an input, recreated so that it aliases the caller's tensor. */
  | { readonly kind: "inputView"; readonly input: number; readonly steps: readonly ViewStep[] }
  | { readonly kind: "result"; readonly output: number }
  /**
   * A view of an intermediate, recreated if other results alias the intermediate, if its elements are not dense, or if
   * it has a history of its own: in-place writes give views and bases different histories.
   */
  | { readonly kind: "resultView"; readonly output: number; readonly steps: readonly ViewStep[] }
  /** A view of another leaf's memory, so that gradients of one flow through the other. */
  | { readonly kind: "leafView"; readonly leaf: number; readonly steps: readonly ViewStep[] }
  /** The same tensor as an earlier leaf. */
  | { readonly kind: "same"; readonly leaf: number };

/** A result of a compiled call on the tape. */
export type TapeResult =
  | { readonly kind: "output"; readonly output: number }
  /**
   * A leaf that is recreated as a view, and from which other results are computed: they must not go through the view's
   * own node.
   */
  | { readonly kind: "view"; readonly leaf: number };

/** A mutated input, and whether a gradient flows through the write. */
export interface Mutation extends MutatedInput {
  readonly differentiable: boolean;
}

/** A result whose backward pass must fail. */
export interface LostResult {
  readonly output: number;
  readonly error: DynError;
  /** Inputs that the pass would reach. */
  readonly inputs: readonly number[];
  /** Other results that the pass would reach on the way, and leaves that are recreated as views. */
  readonly through: readonly number[];
  readonly throughViews: readonly number[];
  /** Whether passes inside the graph have already released everything that it would read. */
  readonly isUsedUp: boolean;
}

/** The work of the runtime around the compiled graphs. */
export interface RuntimePlan {
  readonly outputs: readonly OutputPlan[];
  readonly tree: TreeSpec;
  readonly mutations: readonly Mutation[];
  /** Results that require a gradient, starting with all forward results that do. */
  readonly differentiable: readonly TapeResult[];
  /** Their dependences, by position among them. */
  readonly connections: Connections;
  /** Forward results whose backward pass must fail as on the tape; those that depend on others come last. */
  readonly lost: readonly LostResult[];
  /** Inputs that are overwritten although results that require a gradient depend on their former elements. */
  readonly overwritten: readonly number[];
  /** Inputs whose memory a view addresses from its beginning. */
  readonly addressed: readonly number[];
  readonly lifted: readonly unknown[];
  /** Number of random ops, whose keys are the last input; 0: there is no such input. */
  readonly randomOps: number;
  /** Placeholders of the forward graph. */
  readonly inputCount: number;
  /**
   * Whether calls are recorded even where gradients are switched off: the graph was captured there, and its
   * differentiable parts switched them on themselves.
   */
  readonly recordsAlways: boolean;
}

/** The origin of a gradient on the tape. */
export type GradientOrigin =
  /** An incoming gradient, passed on. */
  | { readonly kind: "tangent"; readonly tangent: number }
  /** An output of the backward graph; gradients that are one tensor share the position. */
  | { readonly kind: "output"; readonly output: number };

/** A joint graph, with the meaning of its inputs and outputs. */
export interface JointGraph {
  readonly graph: Graph;
  readonly plan: RuntimePlan;
  /** Results of the forward part: the first entries of the output list. Inputs that updates write to come last. */
  readonly results: readonly Argument[];
  /** Number of the results that are not such inputs. */
  readonly ownResults: number;
  /** Placeholders of gradients of results, parallel to `plan.differentiable`. */
  readonly tangents: readonly Node[];
  /** Placeholders after these that flag which have arrived. */
  readonly arrivals: readonly Node[];
  /** Whether a rule receives zeros for a result whose tangent does not arrive, together with gradients of others. */
  readonly fills: boolean;
  /** Gradients by input; null: not requested, or no path. Empty: nothing to differentiate. */
  readonly gradients: readonly (Node | null)[];
  /**
   * Positions of the tangents that each gradient depends on: if none of them arrives, eager execution returns no
   * gradient rather than zeros.
   */
  readonly reached: readonly (readonly number[])[];
  /**
   * The origin of each gradient, null if there is none. Passes may make other gradients equal, but do not make them the
   * same tensor.
   */
  readonly origins: readonly (GradientOrigin | null)[];
}

/**
 * Completes a replayed graph with forward results and, if requested, their gradients. `gradEnabled`: whether gradients
 * were recorded around the captured program.
 */
export function buildJoint(
  trace: ForwardTrace,
  { gradEnabled }: { readonly gradEnabled: boolean },
): JointGraph {
  const { graph, recorder, inputs, builder } = trace.replay;
  const results = new Results(trace.replay);
  const outputs = planOutputs(trace, results);
  const mutations: Mutation[] = [];
  for (const [input, { tensor }] of inputs.entries()) {
    if (!tensor || tensor.storage.version === 0 || tensor.storage.updatedLast) continue;
    const { storage } = tensor;
    const differentiable = storage.recordedWrites > 0 && recorder.requiring.has(storage.value);
    mutations.push({ input, output: results.add(storage.value, storage.meta), differentiable });
  }
  const { values } = results, returned = values.length;
  const updated = inputs.flatMap(({ tensor, node }, input) =>
    tensor?.storage.updatedLast ? [{ input, node }] : []
  );
  for (const [k, { input }] of updated.entries()) {
    mutations.push({ input, output: returned + k, differentiable: false });
  }
  const passedOn = new Set(mutations.filter((m) => !m.differentiable).map((m) => m.output));
  const requiring = [...values.keys()].slice(0, returned).filter((index) => {
    const value = values[index];
    return value !== undefined && recorder.requiring.has(value) && !passedOn.has(index);
  });
  const lost = requiring.flatMap((output) => {
    const value = values[output], loss = value && trace.replay.lostHistoryOf(value);
    if (!loss) return [];
    const { cause: error } = loss, inputs = trace.replay.reachableInputs(value);
    const history = historyOf(recorder, [value]);
    const through = requiring.filter((other) => values[other] !== value && inHistory(values[other], history));
    const views = viewLeaves(trace, outputs).filter((view) =>
      view.value !== value && history.has(view.value)
    );
    refuseReadable(trace.replay, value, [...at(values, through), ...views.map((view) => view.value)]);
    const throughViews = views.map(({ leaf }) => leaf), isUsedUp = trace.replay.isUsedUp(value);
    return [{ output, error, inputs, through, throughViews, isUsedUp }];
  }).toSorted((a, b) => a.through.length - b.through.length);
  const differentiable = requiring.filter((index) => lost.every(({ output }) => output !== index));
  const views = sourceViews(trace, outputs, at(values, differentiable));
  const seeds = [...at(values, differentiable), ...views.map(({ value }) => value)];
  const wanted = inputs.flatMap(({ value, requiresGrad }) => value && requiresGrad ? [value] : []);
  const inputCount = graph.placeholders.length;
  const training = differentiable.length > 0 && wanted.length > 0;
  if (training && updated.length > 0) throw new NotFunctional("Expected no updates before a backward pass");
  const { tangents, arrivals, fills, gradients, reached, reading } = training
    ? appendBackward(trace.replay, seeds)
    : { tangents: [], arrivals: [], fills: false, gradients: [], reached: [], reading: new Set<never>() };
  const listing = [...values, ...updated].map(({ node }) => node);
  builder.output([...listing, ...gradients]);
  const plan: RuntimePlan = {
    outputs,
    tree: trace.outputTree,
    mutations,
    differentiable: training
      ? [
        ...differentiable.map((output) => ({ kind: "output", output }) as const),
        ...views.map(({ leaf }) => ({ kind: "view", leaf }) as const),
      ]
      : [],
    connections: connectionsOf(recorder, {
      inputs: inputs.map(({ value, requiresGrad }) => requiresGrad ? value : undefined),
      results: training ? seeds : [],
      reading,
    }),
    lost,
    overwritten: overwrittenInputs(trace.replay, mutations, at(values, differentiable)),
    addressed: inputs.flatMap(({ tensor }, input) => tensor?.storage.addressed ? [input] : []),
    lifted: trace.replay.lifted,
    randomOps: trace.randomOps,
    inputCount,
    recordsAlways: !gradEnabled,
  };
  const listed = (): readonly Argument[] => {
    const [list = null] = graph.output.args;
    return isList(list) ? list : [];
  };
  return {
    graph,
    plan,
    tangents,
    arrivals,
    fills,
    reached,
    origins: originsOf({ gradients, tangents }),
    // Derived from the output node, since passes replace nodes.
    get results() {
      return listed().slice(0, listing.length);
    },
    ownResults: returned,
    get gradients() {
      return listed().slice(listing.length).map((node) => node instanceof Node ? node : null);
    },
  };
}

/**
 * Throws NotFunctional if a gradient flows from a result to others before it reaches a lost one: a single node on the
 * tape either fails or does not.
 */
function refuseReadable(replay: GraphReplay, value: GraphValue, others: readonly GraphValue[]): void {
  if (others.some((other) => replay.flows(value, other))) {
    throw new NotFunctional(
      "Expected results whose gradients are lost as a whole but found one with a gradient in another result",
    );
  }
}

function inHistory(value: GraphValue | undefined, history: ReadonlySet<GraphValue>): boolean {
  return value !== undefined && history.has(value);
}

function originsOf({ gradients, tangents }: Pick<Backward, "gradients" | "tangents">): JointGraph["origins"] {
  return gradients.map((grad): GradientOrigin | null => {
    if (grad === null) return null;
    const tangent = tangents.indexOf(grad);
    return tangent < 0 ? { kind: "output", output: gradients.indexOf(grad) } : { kind: "tangent", tangent };
  });
}

function overwrittenInputs(
  { inputs }: GraphReplay,
  mutations: readonly Mutation[],
  differentiable: readonly GraphValue[],
): number[] {
  const read = ancestorsOf(differentiable);
  return mutations.flatMap(({ input }) => {
    const node = inputs[input]?.node;
    return node !== undefined && read.has(node) ? [input] : [];
  });
}

interface ViewLeaf {
  readonly leaf: number;
  readonly value: GraphValue;
}

/** Leaves that are recreated as views, and their values. */
function viewLeaves({ outputs }: ForwardTrace, plans: readonly OutputPlan[]): ViewLeaf[] {
  return plans.flatMap(({ kind }, leaf) => {
    const tensor = outputs[leaf],
      isView = kind === "inputView" || kind === "resultView" || kind === "leafView";
    return isView && isFunctional(tensor) ? [{ leaf, value: tensor.value() }] : [];
  });
}

/** Returns the values from which others among them are computed. */
function sourceViews(
  trace: ForwardTrace,
  plans: readonly OutputPlan[],
  values: readonly GraphValue[],
): ViewLeaf[] {
  const views = viewLeaves(trace, plans), { replay } = trace;
  if (views.length === 0) return [];
  const history = historyOf(replay.recorder, values);
  return views.filter(({ value }) =>
    history.has(value) && !values.includes(value) && replay.lostHistoryOf(value) === null
  );
}

/** The nodes of values, and all nodes that they depend on. */
function ancestorsOf(values: readonly GraphValue[]): Set<Node> {
  const found = new Set(values.map(({ node }) => node));
  for (const node of found) for (const input of node.inputs()) found.add(input);
  return found;
}

interface Backward {
  readonly tangents: readonly Node[];
  readonly arrivals: readonly Node[];
  readonly fills: boolean;
  readonly gradients: readonly (Node | null)[];
  readonly reached: readonly (readonly number[])[];
  /** Calls whose gradients read saved values. */
  readonly reading: ReadonlySet<RecordedCall<GraphValue>>;
}

/** Appends the backward part: one tangent per result, one gradient per input that requires one. */
function appendBackward(replay: GraphReplay, results: readonly GraphValue[]): Backward {
  const { builder, core, inputs } = replay, sums = new Arrivals(core, builder, results.length);
  const seeds = results.map((value, position) => {
    const meta = contiguousMeta(value.shape, value.dtype, value.device);
    return { value, grad: builder.tensor(`tangents_${position}`, meta, { partition: "backward" }) };
  });
  builder.shared = { partition: "backward" };
  const wanted = inputs.flatMap(({ value, requiresGrad }) => value && requiresGrad ? [value] : []);
  const reading = new Set<RecordedCall<GraphValue>>();
  const found = replay.gradients(seeds, wanted, { read: (call) => reading.add(call), sums });
  const byInput = inputs.map(({ value, requiresGrad }) =>
    value && requiresGrad ? found[wanted.indexOf(value)] : undefined
  );
  const gradients = byInput.map((each) => each?.grad.node ?? null);
  const reached = byInput.map((each) => [...each?.seeds ?? []]);
  const arrivals = [...sums.flags.values()].map(({ node }) => node);
  return {
    tangents: seeds.map(({ grad }) => grad.node),
    arrivals,
    fills: sums.fills,
    gradients,
    reached,
    reading,
  };
}

function at(values: readonly GraphValue[], places: readonly number[]): GraphValue[] {
  return places.map((index) => {
    const value = values[index];
    if (!value) throw new InternalError(`Expected a result at ${index}`);
    return value;
  });
}

/** Collects the forward results, each a node of its own. */
class Results {
  readonly values: GraphValue[] = [];
  readonly #roots = new Set<Node>();

  constructor(readonly replay: GraphReplay) {}

  /**
   * Adds a result in the layout of the captured program's tensor, and returns its index. A result that aliases an input
   * or another result is copied.
   */
  add(value: GraphValue, meta: TensorMeta): number {
    const { recorder } = this.replay;
    recorder.enabled = true;
    const fitting = laidOut(recorder.api, value, meta);
    const root = memoryRoot(fitting.node);
    const taken = root.op === "placeholder" || this.#roots.has(root);
    const own = taken ? laidOut(recorder.api, recorder.api.clone(fitting), meta) : fitting;
    this.#roots.add(memoryRoot(own.node));
    this.values.push(own);
    return this.values.length - 1;
  }
}

function planOutputs(
  { outputs, replay: { inputs, recorder } }: ForwardTrace,
  results: Results,
): OutputPlan[] {
  const leafOf = new Map<FunctionalTensor, number>();
  const sharing = Map.groupBy(new Set(outputs.filter(isFunctional)), ({ storage }) => storage);
  const baseOf = new Map<FunctionalTensor["storage"], number>();
  return outputs.map((leaf, index): OutputPlan => {
    if (leaf instanceof Sym) return { kind: "size", size: leaf };
    if (!isFunctional(leaf)) return { kind: "constant", value: leaf };
    const seen = leafOf.get(leaf);
    if (seen !== undefined) return { kind: "same", leaf: seen };
    leafOf.set(leaf, index);
    const { storage, steps } = leaf, tensors = sharing.get(storage) ?? [];
    const shown = longestPrefix(leaf, tensors);
    if (shown) {
      return { kind: "leafView", leaf: outputs.indexOf(shown), steps: steps.slice(shown.steps.length) };
    }
    if (storage.input !== undefined) {
      const itself = inputs[storage.input]?.tensor === leaf;
      return itself
        ? { kind: "input", input: storage.input }
        : { kind: "inputView", input: storage.input, steps };
    }
    const shared = tensors.length > 1;
    const value = leaf.value(), isView = steps.length > 0 && recorder.requiring.has(value);
    if (!shared && !isView && isDense(leaf.meta)) {
      return { kind: "result", output: results.add(value, leaf.meta) };
    }
    const output = baseOf.get(storage) ?? results.add(storage.value, storage.meta);
    baseOf.set(storage, output);
    return steps.length === 0 ? { kind: "result", output } : { kind: "resultView", output, steps };
  });
}

/**
 * The tensor with the longest chain of views, among some of the same memory, that another is a view of. A write gives a
 * view the history of its base, past other views.
 */
function longestPrefix(
  { storage, steps, madeAt }: FunctionalTensor,
  tensors: readonly FunctionalTensor[],
): FunctionalTensor | undefined {
  if (madeAt !== storage.refreshes) return undefined;
  const shown = tensors.filter((other) =>
    other.steps.length > 0 && other.steps.length < steps.length &&
    other.steps.every((step, k) => step === steps[k])
  );
  return shown.toSorted((a, b) => b.steps.length - a.steps.length)[0];
}

/** Metadata of a tensor node. Throws InternalError for others. */
export function metaOf(node: Node): TensorMeta {
  const { value } = node.meta;
  if (value.kind !== "tensor") {
    throw new InternalError(`Expected a tensor at ${node.name} but found ${value.kind}`);
  }
  return value.tensor;
}
