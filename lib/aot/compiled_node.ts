/**
 * Compiled calls on the tape. Gradients of the inputs come from the compiled backward graph if it computes what the
 * tape would, else from differentiating the captured graph op by op. Invariant: only saved values are kept, and they
 * are released once no result can be differentiated any more.
 */
import { DynError, InternalError, invariant } from "../base/errors.ts";
import { sameList } from "../base/lists.ts";
import { flatten } from "../base/tree.ts";
import { grad as gradientsOf } from "../autograd/entry_points.ts";
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
import { withoutHooks } from "../autograd/saved_hooks.ts";
import { isDense } from "../graph/meta.ts";
import { tensor } from "../tensor/creation.ts";
import { ops } from "../tensor/eager.ts";
import { readElements } from "../tensor/host.ts";
import { hasDistinctElements, type Layout } from "../tensor/layout.ts";
import { ambient, enableGrad } from "../tensor/modes.ts";
import { defaultGenerator } from "../tensor/random.ts";
import { isTensor, modes, type Tensor } from "../tensor/tensor.ts";
import { viewOf } from "../tensor/view_state.ts";
import {
  type CompiledBackward,
  type CompiledPair,
  listOf,
  type SavedLayout,
  tensorAt,
} from "./compiled_pair.ts";
import type { BackwardCall } from "./backward_calls.ts";
import { evaluate, type Sym } from "../sym/expr.ts";
import { placesOf, type Reading } from "./connections.ts";
import type { RuntimePlan } from "./joint.ts";
import { savedReads } from "./saved_reads.ts";

/** The history of a result whose backward pass would read released values. */
export class LostNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly Layout[];
  readonly isLost = true;

  /** `behind`: the tensors that a backward pass would reach; the pass fails if it differentiates one of them. */
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
  /** Elements that the call has overwritten and that running the graph again needs, by input. */
  readonly former: ReadonlyMap<number, Tensor>;
  readonly outputs: readonly unknown[];
}

/** A compiled call on the tape. */
export class CompiledNode extends Node {
  readonly name = "CompiledFunctionBackward";
  readonly inputs: readonly (Layout | null)[];
  /** Compiled kernels may retain their temporaries. */
  override readonly ownsTemporaries = false;
  override readonly isOpaque = true;
  readonly #pair: CompiledPair;
  readonly #backward: CompiledBackward;
  readonly #callBackward: BackwardCall;
  readonly #sizes: readonly number[];
  /** State of the generator before the call. */
  readonly #random: typeof defaultGenerator.state;
  /** Layouts of its results on the tape, by position. */
  readonly #layouts: Layout[] = [];
  #values: CallValues | null;
  #saved: readonly unknown[] | null = null;
  /** The forward's inputs, for differentiating a second time. */
  #primals: readonly unknown[] | null = null;
  #lent: Tensor[] = [];
  /** The saved values that the latest pass has read. */
  #read: readonly Reading[] = [];
  /** Saved values that an earlier pass has released. */
  readonly #spent = new Set<Reading>();

  constructor(
    { pair, backward, callBackward, values, sizes, random }: {
      readonly pair: CompiledPair;
      readonly backward: CompiledBackward;
      readonly callBackward: BackwardCall;
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
    this.#callBackward = callBackward;
    this.#sizes = sizes;
    this.#random = random;
    this.inputs = inputs.map((input, k) => edges[k] && isTensor(input) ? input.layout : null);
    this.#values = values;
  }

  /** Makes this node the history of a result. */
  makes(result: Tensor, place: number): void {
    setHistory(result, this, place);
    this.#layouts[place] = result.layout;
  }

  /** Saves what the backward reads, once the forward results have their history. `sizeOf`: the call's sizes. */
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
    // The node's edges are those of all its results, whereas the tape has separate ones for each
    if (!leads.includes(true)) {
      this.#read = [];
      return this.edges.map(() => null);
    }
    this.#noteArrival(grads, { ...options, results: [] });
    const again = () => this.#differentiate(grads, { ...options, results: [] }).edges;
    const saved = this.#saved;
    // The tape may not need a value that the graph has saved and the program has overwritten
    if (ambient.gradEnabled || saved === null || this.#readsOverwritten(saved, leads)) return again();
    const results = this.#compiled(saved, { grads, leads });
    if (results === null) return again();
    // Zeros that replaced missing tangents may have been multiplied by infinities
    const exact = !this.#backward.fills ||
      results.every((grad, k) =>
        !grad || (this.#backward.reached[k] ?? []).every((at) => grads[at]) || isFinite(grad)
      );
    if (!exact) return again();
    // A gradient that is returned must not be freed here.
    const handedOn = new Set(results.map((grad) => grad?.storage));
    this.#lent = this.#lent.filter(({ storage }) => !handedOn.has(storage));
    return results;
  }

  /** Runs the compiled backward graph, for the edges that need gradients; null if that has failed. */
  #compiled(
    saved: readonly unknown[],
    { grads, leads }: { readonly grads: readonly (Tensor | null)[]; readonly leads: readonly boolean[] },
  ): (Tensor | null)[] | null {
    const { origins, merged, functional } = this.#backward;
    const run: BackwardCall = modes.top?.inlines
      ? (...args) => listOf(functional.forward(...args))
      : this.#callBackward;
    const originOf = (k: number) => leads[k] && this.edges[k] ? origins[k] ?? null : null;
    const asked = this.#asked(leads);
    // None of the gradients that are asked for is computed from elements that the program has overwritten
    const valueOf = (each: unknown) =>
      each instanceof SavedTensor && each.overwritten ? each.present : this.#unpack(each);
    const given = asked.size === 0 ? [] : run(...saved.map(valueOf), ...this.#sizes, ...this.#given(grads));
    if (given === null) return null;
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

  /** The outputs of the backward graph that are gradients of some edges. */
  #asked(leads: readonly boolean[]): Set<number> {
    const { origins } = this.#backward;
    return new Set(this.edges.flatMap((edge, k) => {
      const origin = leads[k] && edge ? origins[k] : null;
      return origin?.kind === "output" ? [origin.output] : [];
    }));
  }

  /** Returns whether gradients of some edges are computed from saved values that were written in place since. */
  #readsOverwritten(saved: readonly unknown[], leads: readonly boolean[]): boolean {
    const overwritten = saved.flatMap((each, at) =>
      each instanceof SavedTensor && each.overwritten ? [{ at, each }] : []
    );
    if (overwritten.length === 0) return false;
    const read = savedReads(this.#backward, this.#asked(leads));
    return overwritten.some(({ at, each }) => read.has(at) || each.present?.layout !== each.layout);
  }

  override reaches(output: number, edge: number): boolean {
    return this.#backward.reached[edge]?.includes(output) ?? false;
  }

  override dependents(output: number): readonly number[] {
    return this.#pair.plan.connections.dependents[output] ?? [];
  }

  /** Operations on the tape that share no saved values are released separately. */
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

  /** Marks the saved values that a pass is going to read. Throws if an earlier pass has released them. */
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
   * Differentiates op by op: runs the captured graph again, on aliases of its inputs, and differentiates the results
   * without running the hooks of requested ones.
   */
  #differentiate(grads: readonly (Tensor | null)[], options: InsideOptions): InsideGradients {
    const count = this.#pair.captured.graph.placeholders.length;
    // Attributes of the graph, which follow its inputs, are passed as they are
    if (this.#primals === null) throw releasedError();
    const since = upcomingSequence();
    const aliases = this.#primals.map((each, k) => {
      const primal = this.#unpack(each);
      if (!isTensor(primal) || !this.edges[k] || k >= count) return primal;
      // A stand-in for released elements has no history, but takes the input's place on the tape
      if (!primal.requiresGrad) primal.requiresGrad = true;
      return enableGrad(() => ops.viewAs(primal, primal));
    });
    // What the call saved passed the hooks of its own region, not of the one where its gradients are computed
    const results = withoutHooks(() => this.#runAgain(aliases.slice(0, count)));
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

  /** Redirects later passes from recomputed results to the program's own results, which have the hooks. */
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

  /** Recomputes the differentiable results with the random numbers of the first run; writes to no input. */
  #runAgain(aliases: readonly unknown[]): Tensor[] {
    const { plan, captured } = this.#pair;
    const written = new Set(plan.mutations.map(({ input }) => input));
    const inputs = aliases.map((alias, k) =>
      isTensor(alias) && written.has(k) ? enableGrad(() => cloneWithStrides(alias)) : alias
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
          `Expected shape [${expected}] for recomputed result ${place} but found [${made.shape}]`,
        );
        return made;
      });
    } finally {
      defaultGenerator.state = former;
    }
  }

  /**
   * Gradients of the results as the backward graph expects them: row-major, with zeros for those that did not arrive;
   * and flags of those that did.
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

/** Replaces an input whose elements no pass reads, or will read again. */
class StandIn {
  constructor(readonly layout: Layout) {}

  /** Has the layout of the input, which decides whether an op returns a view or a copy. */
  make(): Tensor {
    const { shape, strides, extent, contiguous, dtype, device } = this.layout;
    if (contiguous) return ops.zeros(shape, { dtype, device });
    return ops.detach(ops.asStrided(ops.zeros([extent], { dtype, device }), shape, strides));
  }
}

/** A copy with the strides of its source, even if there are gaps between the elements. */
export function cloneWithStrides(tensor: Tensor): Tensor {
  const { layout } = tensor;
  if (isDense(layout.meta) || !hasDistinctElements(layout)) return ops.clone(tensor);
  return new StandIn(layout).make().copy_(tensor);
}

/** Returns whether all elements are finite. */
function isFinite(tensor: Tensor): boolean {
  const elements = readElements(tensor);
  // Only finite numbers times 0 are 0; all others are NaN, which sums preserve
  let sum = 0;
  for (let i = 0; i < elements.length; i++) sum += Number(elements[i]) * 0;
  return sum === 0;
}

/** The tensor of a result of the functional graph, among those that the captured graph returned and wrote to. */
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
  throw new InternalError(`Expected result ${output} among the results of the captured graph`);
}

/** A saved value in the layout that the backward expects: a value written in place has the caller's layout. */
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

/** A dense copy of a tensor in the order of these strides; the tensor itself if these are its own. */
function withStrides(value: Tensor, strides: readonly number[]): Tensor {
  // Strides of dimensions of size 1 do not matter
  if (value.shape.every((size, d) => size === 1 || value.strides[d] === strides[d])) return value;
  const order = [...strides.keys()].sort((a, b) => (strides[b] ?? 0) - (strides[a] ?? 0) || a - b);
  const dense = ops.contiguous(ops.permute(value, order));
  return ops.permute(dense, order.map((_, d) => order.indexOf(d)));
}

/** The saved outputs that share no memory with inputs or results. */
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
