/**
 * Runs compiled graphs as the captured program: tensors in, tensors out, with mutations, aliases and gradients as
 * if every op had run by itself. Input: compiled forward and backward, and the plan; output: a function over the
 * captured graph's inputs. Invariant: only saved values are kept for the backward, and they are let go once it
 * has run; a compiled call is one node of the autograd graph, which can be differentiated again.
 */
import { DynError, InternalError, isUndone, noteUndone } from "../base/errors.ts";
import { flatten, unflatten } from "../base/tree.ts";
import type { GraphModule } from "../graph/graph_module.ts";
import type { Graph } from "../graph/node.ts";
import { readBinding, sizeBindings } from "../graph/sizes.ts";
import { grad as gradientsOf } from "../autograd/engine.ts";
import {
  type ApplyOptions,
  gradientEdge,
  type InsideGradients,
  type InsideOptions,
  Node,
  setHistory,
} from "../autograd/node.ts";
import { releasedError, SavedTensor } from "../autograd/saved.ts";
import { callResolved, ops } from "../tensor/eager.ts";
import { checkLeaf } from "../tensor/inplace.ts";
import { drawKeys } from "./keys.ts";
import { readElements } from "../tensor/host.ts";
import type { Layout } from "../tensor/layout.ts";
import { ambient, enableGrad, noGrad } from "../tensor/modes.ts";
import { defaultGenerator } from "../tensor/random.ts";
import { isTensor, recordsGrad, Tensor } from "../tensor/tensor.ts";
import { evaluate, Sym } from "../sym/expr.ts";
import type { ViewStep } from "../autograd/functional.ts";
import type { Mutation, OutputPlan, RuntimePlan } from "./joint.ts";
import type { SavedValue } from "./partition.ts";

/** A compiled graph: takes the placeholders' values, returns the output list. */
export type CompiledGraph = (...args: unknown[]) => unknown;

/** The compiled halves and what is between them. */
export interface CompiledPair {
  readonly plan: RuntimePlan;
  readonly forward: CompiledGraph;
  /** The graph as it was captured: what is differentiated when gradients of gradients are asked for. */
  readonly captured: GraphModule;
  /** The functional graph behind `forward`. */
  readonly functional: Graph;
  /** Absent: nothing to differentiate. */
  readonly backward?: CompiledBackward;
}

/** The compiled backward. */
export interface CompiledBackward {
  readonly run: CompiledGraph;
  readonly saved: readonly SavedValue[];
  readonly sizes: readonly Sym[];
  /** Forward outputs from this index on are made for the backward only. */
  readonly savedFrom: number;
  /** How the backward expects what is saved, where sizes are known. */
  readonly layouts: readonly (Layout | undefined)[];
  /** For each gradient, the positions of the tangents that it comes from. */
  readonly reached: readonly (readonly number[])[];
}

/** The function that stands for the captured graph. */
export function runtimeOf(pair: CompiledPair): (...args: unknown[]) => unknown {
  const { plan, forward, backward, captured, functional } = pair;
  const bindings = new Map(sizeBindings(functional).map((binding) => [binding.symbol, binding]));
  const capturedCount = plan.inputCount - plan.lifted.length - (plan.randomOps > 0 ? 1 : 0);
  // Nothing that the program sees is written before the forward graph has run.
  const run = <R>(body: () => R, takeBack: () => void): R => {
    try {
      return body();
    } catch (error) {
      takeBack();
      throw isUndone(error, functional) ? noteUndone(error, captured.graph) : error;
    }
  };
  return (...args) => {
    if (args.length !== capturedCount) {
      throw new DynError(`Expected ${capturedCount} arguments but found ${args.length}`);
    }
    const inputs = [...args, ...plan.lifted], random = defaultGenerator.state;
    refuseLeaves(pair, inputs);
    if (plan.randomOps > 0) inputs.push(drawKeys(plan.randomOps, deviceOf(functional)));
    const tensors = inputs.map((input) => isTensor(input) ? input : null);
    const sizeOf = (symbol: Sym): number => {
      const binding = bindings.get(symbol);
      if (!binding) throw new InternalError(`Expected an input that gives the size ${symbol}`);
      return readBinding(binding, inputs);
    };
    const outputs = run(() => listOf(noGrad(() => forward(...inputs))), () => {
      defaultGenerator.state = random;
    });
    noteWrites(plan, inputs, outputs);
    let node: CompiledNode | null = null;
    if (backward && records(plan, tensors)) {
      const sizes = backward.sizes.map(sizeOf);
      node = new CompiledNode({ pair, backward, inputs, outputs, sizes, random });
      for (const [at, output] of plan.differentiable.entries()) {
        setHistory(tensorAt(outputs, output), node, at);
      }
      node.save();
    } else if (backward) {
      releaseUnshared(inputs, outputs, backward.savedFrom);
    }
    if (ambient.gradEnabled) markLost(plan, outputs);
    writeBack(pair, tensors, { outputs, node });
    const leaves: unknown[] = [];
    for (const output of plan.outputs) leaves.push(resultOf(output, { inputs, outputs, leaves, sizeOf }));
    return unflatten(plan.tree, leaves);
  };
}

/** Whether a call has to be on the tape. */
function records({ recordsAlways }: RuntimePlan, tensors: readonly (Tensor | null)[]): boolean {
  return recordsAlways ? tensors.some((tensor) => tensor?.requiresGrad) : recordsGrad(tensors);
}

/** Results require a gradient also where a backward pass from them must fail. */
function markLost({ lost }: RuntimePlan, outputs: readonly unknown[]): void {
  for (const { output, error } of lost) setHistory(tensorAt(outputs, output), new LostNode(error), 0);
}

/** The history of a result whose backward pass would read what is no longer there. */
class LostNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly Layout[] = [];

  constructor(readonly error: DynError) {
    super([]);
  }

  apply(): never {
    throw new DynError(this.error.message);
  }

  release(): void {}
}

/** Frees what was made for a backward that will not come. */
function releaseUnshared(inputs: readonly unknown[], outputs: readonly unknown[], savedFrom: number): void {
  for (const { storage } of madeForBackward(inputs, outputs, savedFrom)) storage.release();
}

/** The saved outputs whose memory no input or result shares. */
function madeForBackward(
  inputs: readonly unknown[],
  outputs: readonly unknown[],
  savedFrom: number,
): Tensor[] {
  const shown = new Set(
    [...inputs, ...outputs.slice(0, savedFrom)].map((each) => isTensor(each) && each.storage),
  );
  return outputs.slice(savedFrom).filter(isTensor).filter(({ storage }) => !shown.has(storage));
}

/** The device on which a graph's random keys live: that of the placeholder for them. */
function deviceOf(graph: Graph): string {
  const { value } = graph.placeholders.at(-1)?.meta ?? {};
  return value?.kind === "tensor" ? value.tensor.device : "cpu";
}

/** Throws, before anything has happened, where a leaf that requires grad would be written to. */
function refuseLeaves({ plan, captured }: CompiledPair, inputs: readonly unknown[]): void {
  if (!ambient.gradEnabled) return;
  for (const { input, differentiable } of plan.mutations) {
    const target = inputs[input];
    if (!differentiable || !isTensor(target)) continue;
    try {
      checkLeaf(target);
    } catch (error) {
      throw error instanceof DynError ? noteUndone(error, captured.graph) : error;
    }
  }
}

/** Inputs that the compiler wrote to in place are at a new version, before anything is saved. */
function noteWrites(plan: RuntimePlan, inputs: readonly unknown[], outputs: readonly unknown[]): void {
  for (const { input, output } of plan.mutations) {
    const target = inputs[input];
    if (isTensor(target) && outputs[output] === target) target.storage.version++;
  }
}

/** Puts the new values of mutated inputs into the caller's tensors. */
function writeBack(
  { plan, backward }: CompiledPair,
  inputs: readonly (Tensor | null)[],
  { outputs, node }: { readonly outputs: readonly unknown[]; readonly node: CompiledNode | null },
): void {
  for (const { input, output, differentiable } of plan.mutations) {
    const target = inputs[input], value = tensorAt(outputs, output);
    if (!target) throw new InternalError(`Expected a tensor at input ${input}`);
    if (value === target) continue;
    if (differentiable && ambient.gradEnabled) {
      const place = plan.differentiable.indexOf(output);
      if (node === null || place < 0 || target.viewState !== null) target.copy_(value);
      else {
        // The same place of the tape, so that gradients of other results flow through it
        noGrad(() => target.copy_(value));
        setHistory(target, node, place);
      }
      continue;
    }
    noGrad(() => target.copy_(value));
    const others = [...inputs, ...outputs.filter((_, at) => at !== output)];
    const shared = others.some((other) => isTensor(other) && other.storage === value.storage) ||
      backward?.saved.some((saved) => saved.kind === "output" && saved.output === output);
    if (!shared) value.storage.release();
  }
}

interface ResultContext {
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
  readonly leaves: readonly unknown[];
  readonly sizeOf: (symbol: Sym) => number;
}

function resultOf(plan: OutputPlan, { inputs, outputs, leaves, sizeOf }: ResultContext): unknown {
  switch (plan.kind) {
    case "constant":
      return plan.value;
    case "size":
      return evaluate(plan.size, sizeOf);
    case "input":
      return inputs[plan.input];
    case "inputView":
      return replay(tensorAt(inputs, plan.input), plan.steps, sizeOf);
    case "result":
      return outputs[plan.output];
    case "resultView":
      return replay(tensorAt(outputs, plan.output), plan.steps, sizeOf);
    case "same":
      return leaves[plan.leaf];
    default:
      return plan satisfies never;
  }
}

/** Makes views again on a real tensor. */
function replay(base: Tensor, steps: readonly ViewStep[], sizeOf: (symbol: Sym) => number): Tensor {
  let tensor = base;
  for (const { definition, args, of, index, recorded } of steps) {
    const given: Record<string, Parameters<typeof callResolved>[1][string]> = {};
    for (const [name, value] of Object.entries(args)) {
      const known = concrete(name === of ? null : isPlain(value) ? value : null, sizeOf);
      given[name] = known;
    }
    given[of] = tensor;
    const run = () => callResolved(definition, given);
    const result = recorded ? run() : noGrad(run);
    const found = isTensor(result) ? result : result[index ?? 0];
    if (!found) throw new InternalError(`Expected result ${index} of ${definition.name}`);
    tensor = found;
  }
  return tensor;
}

type PlainArgument = null | number | bigint | boolean | string | Sym | readonly (number | Sym)[];

/** Views take no tensors besides the one that they view. */
function isPlain(value: unknown): value is PlainArgument {
  if (Array.isArray(value)) return value.every((each) => typeof each === "number" || each instanceof Sym);
  return value === null || value instanceof Sym || typeof value !== "object";
}

function concrete(value: PlainArgument, sizeOf: (symbol: Sym) => number) {
  if (value instanceof Sym) return evaluate(value, sizeOf);
  if (Array.isArray(value)) return value.map((each) => each instanceof Sym ? evaluate(each, sizeOf) : each);
  return value;
}

/** A compiled call on the tape. */
class CompiledNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly (Layout | null)[];
  /** Compiled kernels may keep what they allocate. */
  override readonly ownsTemporaries = false;
  readonly #pair: CompiledPair;
  readonly #backward: CompiledBackward;
  readonly #sizes: readonly number[];
  /** Where the generator stood before the call. */
  readonly #random: typeof defaultGenerator.state;
  readonly #layouts: readonly Layout[];
  #values: { readonly inputs: readonly unknown[]; readonly outputs: readonly unknown[] } | null;
  #saved: readonly unknown[] | null = null;
  /** The forward's inputs, for differentiating again. */
  #primals: readonly unknown[] | null = null;
  #lent: Tensor[] = [];
  /** Results to which the latest pass has brought gradients, by position. */
  #arrived: readonly number[] = [];
  /** Results that cannot be differentiated any more. */
  readonly #spent = new Set<number>();

  constructor(
    { pair, backward, inputs, outputs, sizes, random }: {
      readonly pair: CompiledPair;
      readonly backward: CompiledBackward;
      readonly inputs: readonly unknown[];
      readonly outputs: readonly unknown[];
      readonly sizes: readonly number[];
      readonly random: typeof defaultGenerator.state;
    },
  ) {
    const edges = inputs.map((input) => isTensor(input) ? gradientEdge(input) : null);
    super(edges);
    this.#pair = pair;
    this.#backward = backward;
    this.#sizes = sizes;
    this.#random = random;
    this.inputs = inputs.map((input, k) => edges[k] && isTensor(input) ? input.layout : null);
    this.#layouts = pair.plan.differentiable.map((output) => tensorAt(outputs, output).layout);
    this.#values = { inputs, outputs };
  }

  /** Saves what the backward reads; after the results know their history. */
  save(): void {
    if (!this.#values) throw releasedError();
    const { inputs, outputs } = this.#values;
    const { saved, savedFrom, layouts } = this.#backward;
    this.#saved = saved.map((value, at) => {
      const found = value.kind === "input"
        ? inputs[value.input]
        : laidOut(outputs[value.output], layouts[at]);
      return isTensor(found) ? new SavedTensor(found) : found;
    });
    this.#lent = madeForBackward(inputs, outputs, savedFrom);
    // What the runtime is about to write back overwrites elements that the graph would need to be made again
    const { overwritten: written } = this.#pair.plan;
    const overwritten = new Set(
      written.flatMap(({ input, differentiable }) => differentiable ? [input] : []),
    );
    this.#primals = inputs.map((input, k) => {
      if (!isTensor(input)) return input;
      return overwritten.has(k)
        ? new SavedTensor(noGrad(() => ops.clone(input)), gradientEdge(input))
        : new SavedTensor(input);
    });
    this.#values = null;
  }

  apply(grads: readonly (Tensor | null)[], options: ApplyOptions): readonly (Tensor | null)[] {
    const arrived = grads.flatMap((grad, k) => grad ? [k] : []);
    const leads = this.edges.map((_, k) =>
      options.wanted(k) && (this.#backward.reached[k] ?? []).some((at) => grads[at])
    );
    // Edges are the node's, where on the tape each result would have its own
    if (!leads.includes(true)) {
      this.#arrived = [];
      return this.edges.map(() => null);
    }
    this.#arrived = arrived;
    if (arrived.some((k) => this.#spent.has(k))) throw releasedError();
    const again = () => this.#differentiate(grads, { ...options, results: [] }).edges;
    if (ambient.gradEnabled) return again();
    const tangents = this.#tangents(grads);
    const saved = this.#unpack(this.#saved);
    const found = listOf(this.#backward.run(...saved, ...this.#sizes, ...tangents));
    const results = this.edges.map((edge, k) => {
      const grad = found[k];
      return edge && leads[k] && isTensor(grad) ? grad : null;
    });
    // Where no gradient has arrived the graph has multiplied zeros, by what may be infinite
    const exact = results.every((grad, k) =>
      !grad || (this.#backward.reached[k] ?? []).every((at) => grads[at]) || isFinite(grad)
    );
    if (!exact && !this.#overwritten) return again();
    // What is handed on as a gradient is no longer the node's to free.
    this.#lent = this.#lent.filter((tensor) => results.every((grad) => grad?.storage !== tensor.storage));
    return results;
  }

  /** An input on which results depend, and into whose memory the compiled graph wrote without its being kept. */
  get #overwritten(): Mutation | undefined {
    return this.#pair.plan.overwritten.find(({ differentiable }) => !differentiable);
  }

  override dependents(output: number): readonly number[] {
    return this.#pair.plan.connections.dependents[output] ?? [];
  }

  /** On the tape, results without operations in common keep their histories apart. */
  release(): void {
    const { differentiable, connections } = this.#pair.plan;
    for (const k of this.#arrived) for (const other of connections.sharing[k] ?? []) this.#spent.add(other);
    if (this.#spent.size === differentiable.length) this.#free();
  }

  #free(): void {
    this.#saved?.forEach((each) => each instanceof SavedTensor && each.release());
    this.#primals?.forEach((each) => each instanceof SavedTensor && each.release());
    for (const tensor of this.#lent) tensor.storage.release();
    this.#saved = null;
    this.#primals = null;
    this.#lent = [];
  }

  override applyInside(grads: readonly (Tensor | null)[], options: InsideOptions): InsideGradients {
    this.#arrived = grads.flatMap((grad, k) => grad ? [k] : []);
    if (this.#arrived.some((k) => this.#spent.has(k))) throw releasedError();
    return this.#differentiate(grads, options);
  }

  /**
   * What differentiating op by op gives: runs the captured graph again, on aliases of its inputs, and differentiates
   * that, past the hooks of the results that are asked for.
   */
  #differentiate(grads: readonly (Tensor | null)[], options: InsideOptions): InsideGradients {
    const count = this.#pair.captured.graph.placeholders.length;
    const overwritten = this.#overwritten;
    if (overwritten !== undefined) {
      throw new DynError(
        "Expected a compiled call that can be made again, for gradients of gradients or of its own results, but it " +
          `has written to input ${overwritten.input}, on which its results depend`,
      );
    }
    // Attributes of the graph, which come after its inputs, stand for themselves
    const aliases = this.#unpack(this.#primals).map((primal, k) =>
      isTensor(primal) && this.edges[k] && k < count ? enableGrad(() => ops.viewAs(primal, primal)) : primal
    );
    const tangents = this.#tangents(grads), results = this.#runAgain(aliases.slice(0, count));
    const roots = results.flatMap((root, k) => {
      const tangent = tangents[k];
      return grads[k] && tangent ? [{ root, tangent }] : [];
    });
    const shown = options.results.map((k) => ({ k, tensor: tensorAt(results, k) }));
    for (const { k, tensor } of shown) {
      for (const hook of this.hooks.get(k)?.values() ?? []) tensor.registerHook(hook);
    }
    const asked = aliases.flatMap((alias, k) =>
      isTensor(alias) && this.edges[k] && options.wanted(k) ? [{ alias, k }] : []
    );
    const found = gradientsOf(
      roots.map(({ root }) => root),
      [...shown.map(({ tensor }) => tensor), ...asked.map(({ alias }) => alias)],
      roots.map(({ tangent }) => tangent),
      { createGraph: ambient.gradEnabled, allowUnused: true },
    );
    const edges = new Array<Tensor | null>(this.edges.length).fill(null);
    asked.forEach(({ k }, at) => edges[k] = found[shown.length + at] ?? null);
    const inside = new Map<number, Tensor>();
    shown.forEach(({ k }, at) => {
      const grad = found[at];
      if (grad) inside.set(k, grad);
    });
    return { edges, results: inside };
  }

  /** The results that can be differentiated, with the random numbers of the first time; no input is written to. */
  #runAgain(aliases: readonly unknown[]): Tensor[] {
    const { plan, captured } = this.#pair;
    const written = new Set(plan.mutations.map(({ input }) => input));
    const inputs = aliases.map((alias, k) =>
      isTensor(alias) && written.has(k) ? enableGrad(() => ops.clone(alias)) : alias
    );
    const former = defaultGenerator.state;
    defaultGenerator.state = this.#random;
    try {
      const { leaves } = flatten(enableGrad(() => captured.forward(...inputs)), isTensor);
      return plan.differentiable.map((output) => rootOf(plan, output, { leaves, inputs }));
    } finally {
      defaultGenerator.state = former;
    }
  }

  /** Gradients of the results as the backward graph expects them: row-major, zeros where none arrived. */
  #tangents(grads: readonly (Tensor | null)[]): Tensor[] {
    return this.#layouts.map(({ shape, dtype, device }, k) => {
      const grad = grads[k];
      if (!grad) return ops.zeros(shape, { dtype, device });
      const cast = grad.dtype === dtype ? grad : ops.to(grad, dtype);
      return cast.isContiguous() ? cast : ops.contiguous(cast);
    });
  }

  #unpack(values: readonly unknown[] | null): unknown[] {
    if (values === null) throw releasedError();
    return values.map((each) => each instanceof SavedTensor ? each.unpack(this.name) : each);
  }
}

/** Whether all elements are finite. */
function isFinite(tensor: Tensor): boolean {
  const elements = readElements(tensor);
  // Anything but a finite number times 0 is NaN, which no sum loses
  let sum = 0;
  for (let i = 0; i < elements.length; i++) sum += Number(elements[i]) * 0;
  return sum === 0;
}

/** The tensor that became a result of the functional graph, among what the captured graph gave and wrote to. */
function rootOf(
  { outputs, mutations }: RuntimePlan,
  output: number,
  { leaves, inputs }: { readonly leaves: readonly unknown[]; readonly inputs: readonly unknown[] },
): Tensor {
  const mutation = mutations.find((each) => each.output === output);
  if (mutation) return tensorAt(inputs, mutation.input);
  const at = outputs.findIndex((each) => each.kind === "result" && each.output === output);
  if (at >= 0) return tensorAt(leaves, at);
  const view = outputs.findIndex((each) => each.kind === "resultView" && each.output === output);
  const { viewState } = tensorAt(leaves, view);
  if (viewState) return viewState.base;
  throw new InternalError(`Expected result ${output} among what the captured graph gives`);
}

/** A saved value in the layout that the backward was compiled for. */
function laidOut(value: unknown, layout: Layout | undefined): unknown {
  if (!isTensor(value) || !layout || value.layout === layout || equalStrides(value.layout, layout)) {
    return value;
  }
  if (layout.contiguous) return ops.contiguous(value);
  throw new InternalError(
    `Expected strides [${layout.strides}] of a saved value but found [${value.strides}]`,
  );
}

/** Strides of dimensions of size 1 do not matter. */
function equalStrides(a: Layout, b: Layout): boolean {
  return a.shape.every((size, d) => size === 1 || a.strides[d] === b.strides[d]);
}

function tensorAt(values: readonly unknown[], index: number): Tensor {
  const found = values[index];
  if (isTensor(found)) return found;
  throw new InternalError(`Expected a tensor at ${index} but found ${typeof found}`);
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new DynError(`Expected a list of outputs from a compiled graph but found ${typeof value}`);
}
