/**
 * Replays captured graphs as calls of core ops on values without aliasing: the first step after capture, before any
 * analysis of dependences. The result is a graph of pure ops and a tape of versioned values. Invariant: a node's
 * value is what its tensor holds after the nodes replayed so far, and its history includes every write through any
 * alias.
 */
import { DynError, InternalError, invariant } from "../base/errors.ts";
import { mapTree } from "../base/tree.ts";
import { CUSTOM_GRADIENT, customGradientOf } from "../graph/custom_gradient.ts";
import { type GradientCall, gradientCallOf, takesGradients } from "../graph/gradient_call.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import { isContiguous, type TensorMeta } from "../graph/meta.ts";
import { type Argument, Graph, mapLeaves, Node, type NodeValue, type Region } from "../graph/node.ts";
import type { OpApi } from "../ops/generated.ts";
import { graphApi } from "../ops/graph_api.ts";
import {
  argumentsOfNode,
  GraphBuilder,
  GraphValue,
  mapArguments,
  type OpCall,
  type Results,
  type SharedMeta,
} from "../ops/graph_builder.ts";
import { findTarget } from "../ops/table.ts";
import { specialize } from "../sym/decide.ts";
import { Sym } from "../sym/expr.ts";
import { isTensor, Tensor } from "../tensor/tensor.ts";
import { Functionalizer, FunctionalTensor, isFunctional, NotFunctional } from "./functional.ts";
import {
  differentiate,
  type FoundGradient,
  type GradientSums,
  reachableCalls,
  reachableHistory,
  type RecordedCall,
  type Seed,
} from "./gradient_tape.ts";
import { makeFx } from "./make_fx.ts";
import { nodeNameOf } from "./op_node.ts";
import { Recorder } from "./recorder.ts";
import { overwrittenError, releasedError } from "./saved.ts";
import { hasElements, HistoryLost, LostValue, savedBy, WatchedValue } from "./saved_values.ts";
import { recordCustom } from "./custom_gradients.ts";
import { callShared } from "./shared_calls.ts";
import { isConstant, sharedOpNamed } from "./shared_ops.ts";
import { recordTaped } from "./taped_calls.ts";

/** An input of the new graph. */
export interface ReplayedInput {
  readonly node: Node;
  /** The tensor in the captured program, if it is one. */
  readonly tensor?: FunctionalTensor;
  /** The tensor's initial value. */
  readonly value?: GraphValue;
  readonly requiresGrad: boolean;
}

/** Appends the call of a random op. */
type RandomCalls = (replay: GraphReplay, call: OpCall<GraphValue>) => Results;

/** Appends the call of a region; null: the region's calls are replayed instead. */
export type RegionCalls = (
  replay: GraphReplay,
  call: { readonly node: Node; readonly region: Region; readonly args: readonly unknown[] },
) => readonly FunctionalTensor[] | null;

/**
 * Returns the nodes of a captured graph that draw random numbers, including inside compositions. Throws NotFunctional.
 */
export function drawingNodes(
  { graph, attributes }: Pick<GraphModule, "graph" | "attributes">,
): ReadonlySet<Node> {
  const found = new Set<Node>();
  let current: Node | null = null;
  const replay = new GraphReplay(({ builder }, call) => {
    if (current) found.add(current);
    return builder.call(call);
  });
  for (current of graph.nodes) {
    if (current.op === "placeholder") replay.input(current);
    else replay.replay(current, attributes);
  }
  return found;
}

/** The ops that compute gradients, and callbacks about them. */
interface Watchers {
  /** The ops that compute gradients; default: not recorded. */
  readonly api?: OpApi<GraphValue>;
  /** Called when a call is differentiated. */
  readonly visit?: (call: RecordedCall<GraphValue>) => void;
  /** Called when a call's rule reads saved elements. */
  readonly read?: (call: RecordedCall<GraphValue>) => void;
  /** How gradients of several seeds are summed. */
  readonly sums?: GradientSums<GraphValue>;
}

/** A replay in progress. */
export class GraphReplay {
  readonly graph: Graph = new Graph();
  readonly builder: GraphBuilder = new GraphBuilder(this.graph);
  /** The ops that compute gradients: decomposed, not recorded. */
  readonly core: OpApi<GraphValue> = graphApi((call) => this.#lower(call));
  readonly recorder: Recorder = new Recorder((call) => this.#lower(call), () => this.#context());
  readonly functional: Functionalizer = new Functionalizer(this.recorder);
  readonly inputs: ReplayedInput[] = [];
  /** Values of tensors that start a history, by node. */
  readonly historyStarts: Map<Node, GraphValue> = new Map();
  /** Values of attributes that became inputs. */
  readonly lifted: unknown[] = [];
  /** The functions of collectives, by the names under which the new graph calls them. */
  readonly shared: Record<string, unknown> = {};
  /** Tensors, lists of tensors, sizes and constants by captured node. */
  readonly #values = new Map<Node, unknown>();
  /** Inputs by the attribute that they hold. */
  readonly #attributes = new Map<unknown, unknown>();
  /** Calls whose saved tensors a gradient inside the graph has released. */
  readonly #released = new Set<RecordedCall<GraphValue>>();
  /** Whether the gradients that are being appended are recorded. */
  #recordsPass = false;
  /** The user-written gradient that is being replayed: the marks of its calls, and whether they are recorded. */
  #within: { readonly shared: SharedMeta; readonly isRecorded: boolean } | null = null;

  constructor(
    readonly random: RandomCalls = (replay, call) => replay.builder.call(call),
    readonly regions: RegionCalls = () => null,
  ) {}

  /** Creates an input of the new graph for a captured one. */
  input(node: Node): void {
    const { value, stack, source, held } = node.meta;
    const made = this.builder.placeholder(node.name, value, {
      stack,
      ...(source ? { source } : {}),
      ...(held ? { held } : {}),
    });
    this.#values.set(node, this.#inputValue(made, value));
  }

  /** Replays all nodes of a captured graph except its inputs and its output. */
  replayAll({ graph, attributes }: Pick<GraphModule, "graph" | "attributes">): void {
    for (const node of graph.nodes) this.replay(node, attributes);
  }

  /** Replays one call or attribute; `attributes` also has the functions that captured graphs call by name. */
  replay(node: Node, attributes: Readonly<Record<string, unknown>>): void {
    if (node.op === "call_module") {
      throw new NotFunctional(`Expected a graph of ops but found a call of the module ${node.target}`);
    }
    if (node.op === "get_attr") {
      this.#values.set(node, this.attribute(node.target, attributes[node.target]));
      return;
    }
    if (node.op !== "call_function" && node.op !== "call_method") return;
    if (node.meta.onHost) return this.#onHost(node, attributes);
    if (node.meta.region) {
      this.#values.set(node, this.#region(node, node.meta.region, attributes));
      return;
    }
    if (node.target === CUSTOM_GRADIENT) return this.#giveHistory(node);
    const own = Object.hasOwn(attributes, node.target) ? attributes[node.target] : undefined;
    this.#values.set(
      node,
      typeof own === "function"
        ? this.#inline(node, (...args) => Reflect.apply(own, undefined, args))
        : takesGradients(node)
        ? this.#gradients(node)
        : this.#call(node),
    );
  }

  /** Returns an attribute's value; tensors become inputs, so that graphs hold no data. */
  attribute(name: string, value: unknown): unknown {
    if (this.#attributes.has(value)) return this.#attributes.get(value);
    let result = value;
    if (isTensor(value)) {
      const { meta, requiresGrad } = value;
      const known: NodeValue = { kind: "tensor", tensor: meta, requiresGrad };
      result = this.#inputValue(this.builder.placeholder(name, known), known);
      this.lifted.push(value);
    }
    this.#attributes.set(value, result);
    return result;
  }

  /** Lets a tensor stand for a captured node that is not replayed. */
  represent(node: Node, tensor: FunctionalTensor): void {
    this.#values.set(node, tensor);
  }

  /** Resolves an argument of the captured graph: nodes become functional tensors. */
  resolve(argument: Argument): unknown {
    return mapLeaves(argument, (leaf): unknown => leaf instanceof Node ? this.#valueOf(leaf) : leaf);
  }

  /** Returns the tensor of a captured node. */
  tensor(node: Node): FunctionalTensor {
    const found = this.#valueOf(node);
    if (isFunctional(found)) return found;
    throw new NotFunctional(`Expected a tensor at ${node.name} to differentiate`);
  }

  /** Returns whether a gradient can reach a captured tensor in its current state. */
  requiresGrad(node: Node): boolean {
    return this.recorder.requiring.has(this.tensor(node).value());
  }

  /** Returns the inputs that require grad that a backward pass from a value reaches. */
  reachableInputs(value: GraphValue): number[] {
    const { values } = reachableHistory(this.recorder.tape, [value]);
    return this.inputs.flatMap(({ value: held, requiresGrad }, at) =>
      held && requiresGrad && values.has(held) ? [at] : []
    );
  }

  /** Returns the nodes that start the histories that a backward pass from a value reaches. */
  reachableStarts(value: GraphValue): Node[] {
    if (this.historyStarts.size === 0) return [];
    const { values } = reachableHistory(this.recorder.tape, [value]);
    return [...this.historyStarts].flatMap(([node, held]) => values.has(held) ? [node] : []);
  }

  /** Returns the recorded calls that a backward pass from captured tensors reaches, in its order. */
  reachableCalls(nodes: readonly Node[]): RecordedCall<GraphValue>[] {
    return reachableCalls(this.recorder.tape, nodes.map((node) => this.tensor(node).value()));
  }

  /** Returns the error of a backward pass from a value that reads a lost value; null: none. */
  lostHistoryOf(value: GraphValue): HistoryLost | null {
    const calls = reachableCalls(this.recorder.tape, [value]);
    const suspect = calls.some((call) =>
      this.#released.has(call) || savedBy(call).some((saved) => this.functional.overwritten(call, saved))
    );
    if (!suspect) return null;
    try {
      this.gradients([{ value, grad: this.core.onesLike(value) }], this.leaves);
      return null;
    } catch (error) {
      if (error instanceof HistoryLost) return error;
      throw error;
    }
  }

  /** Returns whether a gradient flows from a value to another one without meeting lost history. */
  flows(from: GraphValue, to: GraphValue): boolean {
    try {
      const [found] = this.gradients([{ value: from, grad: this.core.onesLike(from) }], [to]);
      return Boolean(found);
    } catch (error) {
      if (error instanceof HistoryLost) return false;
      throw error;
    }
  }

  /** Returns whether backward passes have used up the whole history of a value. */
  isUsedUp(value: GraphValue): boolean {
    return reachableCalls(this.recorder.tape, [value]).every((call) => this.#released.has(call));
  }

  /** Initial values of the inputs that require grad, and values at which histories start. */
  get leaves(): GraphValue[] {
    const given = this.inputs.flatMap(({ value, requiresGrad }) => value && requiresGrad ? [value] : []);
    return [...given, ...this.historyStarts.values()];
  }

  /** Returns gradients of inputs, null for those without. Throws HistoryLost, and NotFunctional if a rule refuses. */
  gradients(
    seeds: readonly Seed<GraphValue>[],
    inputs: readonly GraphValue[],
    { api = this.core, visit, read, sums }: Watchers = {},
  ): (FoundGradient<GraphValue> | null)[] {
    const unpack = (call: RecordedCall<GraphValue>, value: GraphValue) => {
      // A tensor without elements is never read
      if (!savedBy(call).includes(value) || value.shape.includes(0) || !hasElements(call)) return value;
      if (this.#released.has(call)) {
        return new LostValue(value, () => new HistoryLost("released", releasedError()));
      }
      const watched = (each: GraphValue) => read ? new WatchedValue(each, () => read(call)) : each;
      if (this.functional.isCopied(call, value)) return watched(this.recorder.apart(value));
      const versions = this.functional.overwritten(call, value);
      if (!versions) return watched(value);
      const at = { node: nodeNameOf(call.definition), ...versions };
      // Any of its ops may have saved the value
      if (call.own && !call.saved) throw new HistoryLost("overwritten", overwrittenError(value, at));
      return new LostValue(value, () => new HistoryLost("overwritten", overwrittenError(value, at)));
    };
    const { tape } = this.recorder, outer = this.#recordsPass;
    this.#recordsPass = api !== this.core;
    try {
      return differentiate({
        api,
        tape,
        seeds,
        inputs,
        unpack,
        ...(visit ? { visit } : {}),
        ...(sums ? { sums } : {}),
      });
    } catch (error) {
      if (!(error instanceof DynError) || error instanceof NotFunctional) throw error;
      // A rule must refuse when a pass reaches it, not when the program is compiled
      throw new NotFunctional(error.message);
    } finally {
      this.#recordsPass = outer;
    }
  }

  /** Returns the gradients of a captured call, null for inputs without. Throws HistoryLost. */
  differentiate(
    { outputs, tangents, retainGraph, createGraph }: Omit<GradientCall, "inputs" | "complete">,
    inputs: readonly GraphValue[],
  ): (GraphValue | null)[] {
    const seeds = outputs.map((output, k) => {
      const value = this.tensor(output).value(), tangent = tangents[k];
      return { value, grad: tangent ? this.tensor(tangent).value() : this.core.onesLike(value) };
    });
    const passed: RecordedCall<GraphValue>[] = [];
    const former = this.recorder.enabled;
    this.recorder.enabled = createGraph;
    const api = createGraph ? this.recorder.api : this.core;
    try {
      const found = this.gradients(seeds, inputs, { api, visit: (call) => passed.push(call) });
      if (!retainGraph) { for (const call of passed) this.#released.add(call); }
      return found.map((each) => each?.grad ?? null);
    } finally {
      this.recorder.enabled = former;
    }
  }

  /** Defines the results of a captured node: row-major tensors with memory of their own. */
  defineGradients(node: Node, found: readonly GraphValue[]): void {
    const former = this.recorder.enabled;
    this.recorder.enabled = gradientCallOf(node).createGraph;
    const tensors = found.map((value) =>
      this.functional.fresh(isContiguous(value.meta) ? value : this.recorder.api.contiguous(value))
    );
    this.recorder.enabled = former;
    this.#values.set(node, tensors);
  }

  #gradients(node: Node): unknown {
    const call = gradientCallOf(node);
    this.builder.shared = { ...sharedBy(node), ofPass: true };
    const wanted = call.inputs.map((each) => this.historyOf(this.tensor(each)));
    // A gradient that the captured program does not pass on would be lost silently
    const asked = new Set(wanted),
      others = call.complete ? this.leaves.filter((leaf) => !asked.has(leaf)) : [];
    const found = this.differentiate(call, [...wanted, ...others]);
    const lost = others.find((_, k) => found[wanted.length + k]);
    if (lost) throw new InternalError(`Expected ${lost.node.name} among the inputs of ${node.name}`);
    const grads = wanted.map((value, k) => {
      const grad = found[k];
      if (!grad) throw new InternalError(`Expected a gradient of ${value.node.name} in ${node.name}`);
      return grad;
    });
    this.defineGradients(node, grads);
    return this.#values.get(node);
  }

  /**
   * Returns the value whose gradient is that of a tensor: an input's initial value, or another tensor's current one.
   */
  historyOf(tensor: FunctionalTensor): GraphValue {
    const input = this.inputs[tensor.storage.input ?? -1];
    return input?.tensor === tensor && input.requiresGrad && input.value ? input.value : tensor.value();
  }

  #inputValue(node: Node, value: NodeValue): unknown {
    if (value.kind !== "tensor") {
      this.inputs.push({ node, requiresGrad: false });
      return value.kind === "size" ? value.size : undefined;
    }
    const { tensor: meta, requiresGrad } = value;
    const held = this.builder.valueOf(node, meta);
    if (requiresGrad) this.recorder.requiring.add(held);
    const tensor = this.functional.fresh(held, { input: this.inputs.length });
    this.inputs.push({ node, tensor, value: held, requiresGrad });
    return tensor;
  }

  /** Traces a function that was captured as one call, at the sizes of this call. */
  #inline(node: Node, fn: (...args: unknown[]) => unknown): unknown {
    const args = node.args.map((each) => this.resolve(each));
    const recorded = !node.meta.noGrad;
    const given: FunctionalTensor[] = [];
    const fakes = mapTree(args, (leaf) => {
      if (!isFunctional(leaf)) return leaf instanceof Sym ? specialize(leaf) : leaf;
      given.push(leaf);
      return fakeTensor(leaf.meta, recorded && this.recorder.requiring.has(leaf.value()));
    }, isFunctional);
    if (!Array.isArray(fakes)) throw new InternalError("Expected a list of arguments");
    const traced = makeFx(fn)(...fakes);
    traced.graph.placeholders.forEach((placeholder, at) => this.#values.set(placeholder, given[at]));
    this.replayAll(traced);
    return this.resolve(traced.graph.output.args[0]);
  }

  /** Gives the results of a call the history of its own gradient. */
  #giveHistory(node: Node): void {
    const call = customGradientOf(node);
    if (!call) throw new NotFunctional(`Expected the gradient of ${node.name}, which is being traced`);
    const { gradient: { graph, written } } = call, { placeholders } = graph;
    this.recorder.enabled = !node.meta.noGrad;
    const results = recordCustom(this, {
      inputs: call.inputs.map((each) => this.tensor(each)),
      results: call.results.map((each) => this.tensor(each)),
      saved: call.saved.map((each) => this.resolve(each)),
      written,
      gradient: (given) => {
        placeholders.forEach((placeholder, at) => this.#values.set(placeholder, given[at]));
        const { enabled } = this.recorder, { shared } = this.builder, outer = this.#within;
        this.#within = { shared, isRecorded: this.#recordsPass };
        try {
          this.replayAll({ graph, attributes: {} });
        } finally {
          this.#within = outer;
          this.builder.shared = shared;
          this.recorder.enabled = enabled;
        }
        const found = this.resolve(graph.output.args[0]);
        if (!Array.isArray(found)) throw new InternalError(`Expected a list of gradients in ${node.name}`);
        return found.map((each: unknown) => isFunctional(each) ? each.value() : null);
      },
    });
    this.#values.set(node, results);
  }

  /** Prepares the call of a node: its marks, and whether it is recorded. */
  #begin(node: Node): void {
    const { stack, noGrad } = node.meta, within = this.#within;
    this.builder.shared = within ? { ...within.shared, stack } : sharedBy(node);
    this.recorder.enabled = !noGrad && within?.isRecorded !== false;
  }

  #region(node: Node, region: Region, attributes: Readonly<Record<string, unknown>>): unknown {
    const args = node.args.map((each) => this.resolve(each));
    this.builder.shared = sharedBy(node);
    this.recorder.enabled = true;
    const made = this.regions(this, { node, region, args });
    if (made) return made;
    const { graph } = region;
    graph.placeholders.forEach((placeholder, at) => this.#values.set(placeholder, args[at]));
    this.replayAll({ graph, attributes });
    return this.resolve(graph.output.args[0]);
  }

  #call(node: Node): unknown {
    if (node.target === "getitem") {
      const [list, index] = node.args.map((each) => this.resolve(each));
      if (Array.isArray(list) && typeof index === "number") return list[index];
    }
    const found = findTarget(node.target);
    if (!found) throw new DynError(`Expected an op of the table but found ${node.target}`);
    const { definition, inplace } = found;
    const args = argumentsOfNode(node, definition, (input) => this.#valueOf(input), isFunctional);
    this.#begin(node);
    const result = this.functional.call({ definition, args, inplace });
    if (node.meta.leaf && isFunctional(result)) {
      const value = result.value();
      this.recorder.requiring.add(value);
      this.historyStarts.set(node, value);
    }
    return result;
  }

  /** Values computed on the host become inputs */
  #onHost(node: Node, attributes: Readonly<Record<string, unknown>>): void {
    const { value, begins } = node.meta;
    if (begins) return void this.#values.set(node, this.#begun(node, attributes));
    if (value.kind !== "tensor") return;
    const held = this.builder.valueOf(this.builder.placeholder(node.name, value), value.tensor);
    if (value.requiresGrad) this.recorder.requiring.add(held);
    this.#values.set(node, this.functional.fresh(held));
    const [source] = node.inputs(), call = node.target === "getitem" ? source : node;
    if (call?.meta.taped && value.requiresGrad) {
      const given = [...call.inputs()].map((input) => this.#values.get(input)).filter(isFunctional);
      recordTaped(this, { name: node.name, inputs: given.map((each) => each.value()), out: held });
    }
  }

  /** The start of a collective becomes a call of the new graph. */
  #begun(node: Node, attributes: Readonly<Record<string, unknown>>): unknown {
    if (node.meta.value.kind === "tensor") return this.#call(node);
    const [first, ...rest] = node.args, op = sharedOpNamed(node.target, attributes);
    if (!op || !(first instanceof Node)) throw new InternalError(`Expected a shared op at ${node.name}`);
    this.builder.shared = sharedBy(node);
    this.recorder.enabled = !node.meta.noGrad;
    const input = this.tensor(first).value();
    return [this.functional.fresh(callShared(this, { node, op, input, rest: rest.filter(isConstant) }))];
  }

  #valueOf(node: Node): unknown {
    if (!this.#values.has(node)) {
      if (node.meta.onHost) {
        throw new NotFunctional(`Expected no use of ${node.name}, which the host computes`);
      }
      throw new InternalError(`Expected ${node.name} before its first use`);
    }
    return this.#values.get(node);
  }

  /** Makes a call of an op, decomposing compositions. */
  #lower(call: OpCall<GraphValue>): Results {
    const { definition, args } = call;
    const { implementation, fills } = definition;
    if (fills !== undefined) {
      // Lost elements are fine if they are not read
      const [made] = [definition.infer(mapArguments(args, ({ meta }) => meta))].flat();
      invariant(made, `Expected a result of ${definition.name}`);
      return this.core.full(made.shape, fills, { dtype: made.dtype, device: made.device });
    }
    switch (implementation.kind) {
      case "composite":
        return implementation.compose(this.core, args);
      case "random":
        return this.random(this, call);
      case "lower":
      case "view":
        return this.builder.call(call);
      case "host":
        throw new NotFunctional(
          `Expected ops that can be compiled but found ${definition.name}, which runs on the host`,
        );
      default:
        return implementation satisfies never;
    }
  }

  /** Returns a scope in which gradient calls inherit the user's lines of the call. */
  #context(): () => () => void {
    const { stack } = this.builder.shared;
    return () => {
      const former = this.builder.shared;
      this.builder.shared = { ...former, ...(stack ? { stack } : {}) };
      return () => this.builder.shared = former;
    };
  }
}

/** Metadata that the replacements of a node inherit. */
function sharedBy({ meta: { stack, recomputed } }: Node): SharedMeta {
  return { stack, partition: "forward", ...recomputed === undefined ? {} : { recomputed } };
}

/** Creates a tensor without elements, of known sizes. */
function fakeTensor({ shape, strides, offset, dtype, device }: TensorMeta, requiresGrad: boolean): Tensor {
  const layout = { shape: shape.map(specialize), strides: strides.map(specialize), dtype, device };
  return Tensor.elementless({ ...layout, offset: specialize(offset) }).requiresGrad_(requiresGrad);
}
