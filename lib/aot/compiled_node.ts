/**
 * Compiled calls on the tape. Gradients of the inputs come from the compiled backward graph where it computes what
 * the tape would, else from differentiating the captured graph op by op. Invariant: only saved values are kept, and
 * they are released once no result can be differentiated any more.
 */
import { DynError, InternalError, invariant } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { flatten } from "../base/tree.ts";
import { grad as gradientsOf } from "../autograd/asked.ts";
import {
  type ApplyOptions,
  gradientEdge,
  type InsideGradients,
  type InsideOptions,
  Node,
  setHistory,
  upcomingSequence,
} from "../autograd/node.ts";
import { forwardGradients } from "../autograd/forwarding.ts";
import { releasedError, SavedTensor } from "../autograd/saved.ts";
import { isDense } from "../graph/meta.ts";
import { tensor } from "../tensor/creation.ts";
import { ops } from "../tensor/eager.ts";
import { readElements } from "../tensor/host.ts";
import { type Layout, liesApart } from "../tensor/layout.ts";
import { ambient, enableGrad } from "../tensor/modes.ts";
import { defaultGenerator } from "../tensor/random.ts";
import { isTensor, modes, type Tensor, viewOf } from "../tensor/tensor.ts";
import {
  type CompiledBackward,
  type CompiledGraph,
  type CompiledPair,
  listOf,
  type SavedLayout,
  tensorAt,
} from "./compiled_pair.ts";
import { evaluate, type Sym } from "../sym/expr.ts";
import { placesOf, type Reading } from "./connections.ts";
import type { RuntimePlan } from "./joint.ts";

/** The history of a result whose backward pass would read released values. */
export class LostNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly Layout[];

  /** `behind`: the tensors that a pass would reach, so that it fails when they are differentiated. */
  constructor(readonly error: DynError, behind: readonly Tensor[]) {
    super(behind.map(gradientEdge));
    this.inputs = behind.map(({ layout }) => layout);
  }

  apply(): never {
    throw new DynError(this.error.message);
  }

  release(): void {}
}

/** The inputs, results and saved values of a call. */
interface CallValues {
  readonly inputs: readonly unknown[];
  /** Elements that the call has overwritten and that the graph would need to be made again, by input. */
  readonly former: ReadonlyMap<number, Tensor>;
  readonly outputs: readonly unknown[];
}

/** A compiled call on the tape. */
export class CompiledNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly (Layout | null)[];
  /** Compiled kernels may keep what they allocate. */
  override readonly ownsTemporaries = false;
  override readonly isOpaque = true;
  readonly #pair: CompiledPair;
  readonly #backward: CompiledBackward;
  readonly #sizes: readonly number[];
  /** State of the generator before the call. */
  readonly #random: typeof defaultGenerator.state;
  /** Of its results on the tape, by position. */
  readonly #layouts: Layout[] = [];
  #values: CallValues | null;
  #saved: readonly unknown[] | null = null;
  /** The forward's inputs, for differentiating again. */
  #primals: readonly unknown[] | null = null;
  #lent: Tensor[] = [];
  /** The saved values that the latest pass has read. */
  #read: readonly Reading[] = [];
  /** Saved values that an earlier pass has released. */
  readonly #spent = new Set<Reading>();

  constructor(
    { pair, backward, values, sizes, random }: {
      readonly pair: CompiledPair;
      readonly backward: CompiledBackward;
      readonly values: CallValues;
      readonly sizes: readonly number[];
      readonly random: typeof defaultGenerator.state;
    },
  ) {
    const { inputs } = values;
    const edges = inputs.map((input) => isTensor(input) ? gradientEdge(input) : null);
    super(edges);
    this.#pair = pair;
    this.#backward = backward;
    this.#sizes = sizes;
    this.#random = random;
    this.inputs = inputs.map((input, k) => edges[k] && isTensor(input) ? input.layout : null);
    this.#values = values;
  }

  /** Gives a result its history. */
  makes(result: Tensor, place: number): void {
    setHistory(result, this, place);
    this.#layouts[place] = result.layout;
  }

  /** Saves what the backward reads; after the forward results know their history. `sizeOf`: the call's sizes. */
  save(sizeOf: (symbol: Sym) => number): void {
    if (!this.#values) throw releasedError();
    const { inputs, outputs, former } = this.#values;
    const { saved, savedFrom, layouts } = this.#backward;
    this.#saved = saved.map((value, at) => {
      const found = value.kind === "input"
        ? inputs[value.input]
        : laidOut(outputs[value.output], layouts[at], sizeOf);
      return isTensor(found) ? new SavedTensor(found) : found;
    });
    this.#lent = madeForBackward(inputs, outputs, savedFrom);
    const written = new Set(this.#pair.plan.mutations.map(({ input }) => input));
    this.#primals = inputs.map((input, k) => {
      if (!isTensor(input)) return input;
      const kept = former.get(k);
      if (kept) return new SavedTensor(kept, gradientEdge(input));
      return written.has(k) ? new StandIn(input.layout) : new SavedTensor(input);
    });
    this.#values = null;
  }

  apply(grads: readonly (Tensor | null)[], options: ApplyOptions): readonly (Tensor | null)[] {
    const leads = this.edges.map((_, k) =>
      options.wanted(k) && (this.#backward.reached[k] ?? []).some((at) => grads[at])
    );
    // Edges are the node's, where on the tape each result would have its own
    if (!leads.includes(true)) {
      this.#read = [];
      return this.edges.map(() => null);
    }
    this.#noteArrival(grads, { ...options, results: [] });
    const again = () => this.#differentiate(grads, { ...options, results: [] }).edges;
    const saved = this.#saved;
    // The tape may not need what the graph has saved and the program has overwritten
    const overwritten = saved?.some((each) => each instanceof SavedTensor && each.overwritten);
    if (ambient.gradEnabled || saved === null || overwritten) return again();
    const results = this.#compiled(saved, { grads, leads });
    // Zeros in place of what has not arrived may have met what is infinite
    const exact = !this.#backward.fills ||
      results.every((grad, k) =>
        !grad || (this.#backward.reached[k] ?? []).every((at) => grads[at]) || isFinite(grad)
      );
    if (!exact) return again();
    // A gradient that is returned is no longer the node's to free.
    const handedOn = new Set(results.map((grad) => grad?.storage));
    this.#lent = this.#lent.filter(({ storage }) => !handedOn.has(storage));
    return results;
  }

  /** Runs the compiled backward graph, for the edges that need gradients. */
  #compiled(
    saved: readonly unknown[],
    { grads, leads }: { readonly grads: readonly (Tensor | null)[]; readonly leads: readonly boolean[] },
  ): (Tensor | null)[] {
    const { origins, merged, run: compiled, functional } = this.#backward;
    const run: CompiledGraph = modes.top?.inlines ? functional.forward : compiled;
    const originOf = (k: number) => leads[k] && this.edges[k] ? origins[k] ?? null : null;
    const asked = new Set(this.edges.flatMap((_, k) => {
      const origin = originOf(k);
      return origin?.kind === "output" ? [origin.output] : [];
    }));
    const given = asked.size === 0
      ? []
      : listOf(run(...saved.map((each) => this.#unpack(each)), ...this.#sizes, ...this.#given(grads)));
    const found = new Map([...asked].map((output) => {
      const grad = tensorAt(given, output);
      return [output, merged.has(output) ? ops.clone(grad) : grad];
    }));
    return this.edges.map((_, k) => {
      const origin = originOf(k);
      if (origin === null) return null;
      return (origin.kind === "output" ? found.get(origin.output) : grads[origin.tangent]) ?? null;
    });
  }

  override reaches(output: number, edge: number): boolean {
    return this.#backward.reached[edge]?.includes(output) ?? false;
  }

  override dependents(output: number): readonly number[] {
    return this.#pair.plan.connections.dependents[output] ?? [];
  }

  /** On the tape, operations without saved values in common keep them apart. */
  release(): void {
    for (const each of this.#read) this.#spent.add(each);
    const { readings } = this.#pair.plan.connections;
    if (readings.length > 0 && this.#spent.size === readings.length) this.#free();
  }

  #free(): void {
    this.#saved?.forEach((each) => each instanceof SavedTensor && each.release());
    for (const tensor of this.#lent) tensor.storage.release();
    this.#saved = null;
    this.#primals = this.#primals?.map((each) => {
      if (!(each instanceof SavedTensor)) return each;
      each.release();
      return new StandIn(each.layout);
    }) ?? null;
    this.#lent = [];
  }

  /** Notes the saved values that a pass is going to read. Throws if an earlier pass has released them. */
  #noteArrival(grads: readonly (Tensor | null)[], { wanted, results }: InsideOptions): void {
    const from = placesOf(grads.flatMap((grad, k) => grad ? [k] : []));
    const inputs = placesOf(this.edges.flatMap((edge, k) => edge && wanted(k) ? [k] : [])),
      inside = placesOf(results);
    this.#read = this.#pair.plan.connections.readings.filter((each) =>
      (each.from & from) !== 0n && ((each.inputs & inputs) !== 0n || (each.results & inside) !== 0n)
    );
    if (this.#read.some((each) => this.#spent.has(each))) throw releasedError();
  }

  override applyInside(grads: readonly (Tensor | null)[], options: InsideOptions): InsideGradients {
    this.#noteArrival(grads, options);
    return this.#differentiate(grads, options);
  }

  /**
   * Differentiates op by op: runs the captured graph again, on aliases of its inputs, and differentiates that, past
   * the hooks of the requested results.
   */
  #differentiate(grads: readonly (Tensor | null)[], options: InsideOptions): InsideGradients {
    const count = this.#pair.captured.graph.placeholders.length;
    // Attributes of the graph, which come after its inputs, stand for themselves
    if (this.#primals === null) throw releasedError();
    const since = upcomingSequence();
    const aliases = this.#primals.map((each, k) => {
      const primal = this.#unpack(each);
      if (!isTensor(primal) || !this.edges[k] || k >= count) return primal;
      // A stand-in for elements that are gone has no history, but keeps the input's place on the tape
      if (!primal.requiresGrad) primal.requiresGrad = true;
      return enableGrad(() => ops.viewAs(primal, primal));
    });
    const results = this.#runAgain(aliases.slice(0, count));
    const roots = results.flatMap((root, k) => {
      const tangent = grads[k];
      return tangent ? [{ root, tangent }] : [];
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
    if (ambient.gradEnabled) this.#standFor(results, { found, since });
    const edges = new Array<Tensor | null>(this.edges.length).fill(null);
    asked.forEach(({ k }, at) => edges[k] = found[shown.length + at] ?? null);
    const inside = new Map<number, Tensor>();
    shown.forEach(({ k }, at) => {
      const grad = found[at];
      if (grad) inside.set(k, grad);
    });
    return { edges, results: inside };
  }

  /** Later passes through results that were made again come to the program's own, where hooks and others ask. */
  #standFor(
    results: readonly Tensor[],
    { found, since }: { readonly found: readonly (Tensor | null)[]; readonly since: number },
  ): void {
    const standIns = results.flatMap((result, output) => {
      const is = gradientEdge(result);
      return is ? [{ of: { node: this, output }, is }] : [];
    });
    const reached = found.flatMap((grad) => (grad && gradientEdge(grad)?.node) ?? []);
    forwardGradients(standIns, { from: [...standIns.map(({ is }) => is.node), ...reached], since });
  }

  /** The results that can be differentiated, with the random numbers of the first time; no input is written to. */
  #runAgain(aliases: readonly unknown[]): Tensor[] {
    const { plan, captured } = this.#pair;
    const written = new Set(plan.mutations.map(({ input }) => input));
    const inputs = aliases.map((alias, k) =>
      isTensor(alias) && written.has(k) ? enableGrad(() => cloneAsItLies(alias)) : alias
    );
    const former = defaultGenerator.state;
    defaultGenerator.state = this.#random;
    try {
      const { leaves } = flatten(enableGrad(() => captured.forward(...inputs)), isTensor);
      return plan.differentiable.map((result, place) => {
        const made = result.kind === "view"
          ? tensorAt(leaves, result.leaf)
          : rootOf(plan, result.output, { leaves, inputs });
        const expected = this.#layouts[place]?.shape ?? [];
        invariant(
          sameList(made.shape, expected),
          `Expected shape [${expected}] for result ${place} made again but found [${made.shape}]`,
        );
        return made;
      });
    } finally {
      defaultGenerator.state = former;
    }
  }

  /**
   * Gradients of the results as the backward graph expects them: row-major, zeros where none arrived; and where they
   * did.
   */
  #given(grads: readonly (Tensor | null)[]): Tensor[] {
    const tangents = this.#layouts.map(({ shape, dtype, device }, k) => {
      const grad = grads[k];
      if (!grad) return ops.zeros(shape, { dtype, device });
      const cast = grad.dtype === dtype ? grad : ops.to(grad, dtype);
      return cast.isContiguous() ? cast : ops.contiguous(cast);
    });
    const arrivals = this.#backward.arrivals.map((device) =>
      tensor(this.#layouts.map((_, k) => Boolean(grads[k])), { device })
    );
    return [...tangents, ...arrivals];
  }

  #unpack(value: unknown): unknown {
    if (value instanceof StandIn) return value.make();
    return value instanceof SavedTensor ? value.unpack(this.name) : value;
  }
}

/** An input whose elements no pass reads any more, or none ever did. */
class StandIn {
  constructor(readonly layout: Layout) {}

  /** Laid out as the input was: whether an op gives a view or a copy depends on it. */
  make(): Tensor {
    const { shape, strides, extent, contiguous, dtype, device } = this.layout;
    if (contiguous) return ops.zeros(shape, { dtype, device });
    return ops.detach(ops.asStrided(ops.zeros([extent], { dtype, device }), shape, strides));
  }
}

/** A copy with the strides of what it is copied from, also where memory lies between its elements. */
export function cloneAsItLies(tensor: Tensor): Tensor {
  const { layout } = tensor;
  if (isDense(layout.meta) || !liesApart(layout)) return ops.clone(tensor);
  return new StandIn(layout).make().copy_(tensor);
}

/** Returns whether all elements are finite. */
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
  const viewState = viewOf(tensorAt(leaves, view));
  if (viewState) return viewState.base;
  throw new InternalError(`Expected result ${output} among what the captured graph gives`);
}

/** A saved value as the backward expects it: what a graph has written in place lies as the caller's tensor does. */
function laidOut(
  value: unknown,
  expected: SavedLayout | undefined,
  sizeOf: (symbol: Sym) => number,
): unknown {
  if (!isTensor(value) || !expected) return value;
  switch (expected.kind) {
    case "any":
      return value;
    case "known":
      return value.layout === expected.layout ? value : withStrides(value, expected.layout.strides);
    case "rowMajor":
      return ops.contiguous(value);
    case "strides":
      return withStrides(value, expected.strides.map((stride) => evaluate(stride, sizeOf)));
  }
}

/** A tensor with the elements of another, densely in the order of these strides; itself where they are its own. */
function withStrides(value: Tensor, strides: readonly number[]): Tensor {
  // Strides of dimensions of size 1 do not matter
  if (value.shape.every((size, d) => size === 1 || value.strides[d] === strides[d])) return value;
  const order = [...strides.keys()].sort((a, b) => (strides[b] ?? 0) - (strides[a] ?? 0) || a - b);
  const dense = ops.contiguous(ops.permute(value, order));
  return ops.permute(dense, order.map((_, d) => order.indexOf(d)));
}

/** The saved outputs whose memory no input or result shares. */
export function madeForBackward(
  inputs: readonly unknown[],
  outputs: readonly unknown[],
  savedFrom: number,
): Tensor[] {
  const shown = new Set(
    [...inputs, ...outputs.slice(0, savedFrom)].map((each) => isTensor(each) && each.storage),
  );
  return outputs.slice(savedFrom).filter(isTensor).filter(({ storage }) => !shown.has(storage));
}
