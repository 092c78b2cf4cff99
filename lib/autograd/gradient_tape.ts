/**
 * Reverse-mode differentiation of a tape of recorded calls, over any kind of tensor value, through an op interface.
 * Serves graphs; the eager tape has its own engine with hooks and freeing. Invariant: entries are visited in reverse
 * order, each at most once, and only those on a path from a wanted input to an output.
 */
import { isDifferentiable } from "../base/dtype.ts";
import { invariant } from "../base/errors.ts";
import type { OpDefinition, TensorLike } from "../ops/definition.ts";
import type { OpApi } from "../ops/generated.ts";
import { mapArguments, type TensorArgument, tensorArguments } from "../ops/graph_builder.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import { reduceTo } from "../ops/pointwise.ts";
import { sameShape } from "../ops/shapes.ts";

/** A differentiable call on a tape. */
export interface RecordedCall<T> {
  readonly kind: "call";
  readonly definition: OpDefinition;
  readonly args: ArgsOf<Params, T>;
  readonly outs: readonly T[];
  /** Called before the gradients of this call are computed; its result is called afterwards. */
  readonly around?: () => () => void;
  /**
   * Computes the gradients of this call if its definition has no rule: from those of the results, in the order of
   * `args`.
   */
  readonly own?: OwnGradient<T>;
  /** The values that such a gradient reads, if they are known; else it may read any argument and result. */
  readonly saved?: readonly T[];
}

/** Differentiates one call; `read` returns an argument or result as saved. */
export type OwnGradient<T> = (
  grads: readonly (T | null)[],
  read: (value: T) => T,
) => readonly (T | null)[];

/** One step of a tape. */
export type TapeEntry<T> =
  | RecordedCall<T>
  /** `to` has the gradient of `from`: both are the same value. */
  | { readonly kind: "same"; readonly from: T; readonly to: T };

/** A value and its gradient. */
export interface Seed<T> {
  readonly value: T;
  readonly grad: T;
}

/** The arguments of `differentiate`. Values are distinguished by identity. */
interface Differentiation<T extends TensorLike> {
  readonly api: OpApi<T>;
  readonly tape: readonly TapeEntry<T>[];
  readonly seeds: readonly Seed<T>[];
  readonly inputs: readonly T[];
  /** Called for each recorded call that a gradient passes through, before it does. */
  readonly visit?: (entry: RecordedCall<T>) => void;
  /** Returns what a call's rule receives for an argument or result; default: the value itself. */
  readonly unpack?: (entry: RecordedCall<T>, value: T) => T;
  /** How gradients from several seeds are summed; default: as if all seeds had gradients. */
  readonly sums?: GradientSums<T>;
}

/** Sums of gradients when some seeds may not arrive. */
export interface GradientSums<T> {
  /** The sum of two gradients of one value that come from different seeds. */
  add(a: FoundGradient<T>, b: FoundGradient<T>): T;
  /** The gradient of one result of a call that has several: zeros if it has none. */
  beside(found: FoundGradient<T>): T;
}

/** A gradient, and the positions of the seeds that it comes from. */
export interface FoundGradient<T> {
  readonly grad: T;
  readonly seeds: ReadonlySet<number>;
}

/** Returns gradients of `inputs`, null if no path leads from an input to a seed. */
export function differentiate<T extends TensorLike>(
  { api, tape, seeds, inputs, visit, unpack = (_, value) => value, sums }: Differentiation<T>,
): (FoundGradient<T> | null)[] {
  const wanted = new Set<T>(inputs);
  for (const entry of tape) {
    if (entry.kind === "same") {
      if (wanted.has(entry.from)) wanted.add(entry.to);
    } else if (hasGradient(entry) && reads(entry.args, wanted)) {
      for (const out of differentiableResults(entry.definition, entry.outs)) wanted.add(out);
    }
  }
  const grads = new Map<T, FoundGradient<T>>();
  const accumulate = (value: T, found: FoundGradient<T>) => {
    if (!wanted.has(value)) return;
    const before = grads.get(value);
    if (!before) {
      grads.set(value, found);
      return;
    }
    const together = !sums || sameSeeds(before, found);
    const grad = together ? api.add(before.grad, found.grad) : sums.add(before, found);
    grads.set(value, { grad, seeds: before.seeds.union(found.seeds) });
  };
  for (const [at, { value, grad }] of seeds.entries()) accumulate(value, { grad, seeds: new Set([at]) });
  for (const entry of tape.toReversed()) {
    if (entry.kind === "same") {
      const found = grads.get(entry.to);
      if (found) accumulate(entry.from, found);
      continue;
    }
    const incoming = entry.outs.map((out) => grads.get(out) ?? null);
    if (incoming.every((found) => found === null)) continue;
    const done = entry.around?.();
    propagate(api, entry, { incoming, wanted, accumulate, visit, unpack, sums });
    done?.();
  }
  return inputs.map((input) => grads.get(input) ?? null);
}

function sameSeeds<T>(a: FoundGradient<T>, b: FoundGradient<T>): boolean {
  return a.seeds.size === b.seeds.size && a.seeds.isSubsetOf(b.seeds);
}

/** Returns the recorded calls through which gradients of values would pass. */
export function reachableCalls<T extends TensorLike>(
  tape: readonly TapeEntry<T>[],
  values: Iterable<T>,
): RecordedCall<T>[] {
  return reachableHistory(tape, values).calls;
}

/** Returns the calls that a backward pass from some values reaches, latest first, and all values on its path. */
export function reachableHistory<T extends TensorLike>(
  tape: readonly TapeEntry<T>[],
  from: Iterable<T>,
): { readonly calls: RecordedCall<T>[]; readonly values: ReadonlySet<T> } {
  const behind = new Set<T>(from);
  const found: RecordedCall<T>[] = [];
  for (const entry of tape.toReversed()) {
    if (entry.kind === "same") {
      if (behind.has(entry.to)) behind.add(entry.from);
    } else if (differentiableResults(entry.definition, entry.outs).some((out) => behind.has(out))) {
      found.push(entry);
      mapArguments(entry.args, (value) => (behind.add(value), value));
    }
  }
  return { calls: found, values: behind };
}

/** Returns the results of a call that have gradients: of floating type, and not merely saved for the backward. */
export function differentiableResults<T extends TensorLike>(
  definition: OpDefinition,
  outs: readonly T[],
): T[] {
  const { results = [], auxiliary = [] } = definition;
  return outs.filter((out, k) => isDifferentiable(out.dtype) && !auxiliary.includes(results[k] ?? ""));
}

interface Propagation<T> {
  readonly incoming: readonly (FoundGradient<T> | null)[];
  readonly wanted: ReadonlySet<T>;
  readonly accumulate: (value: T, found: FoundGradient<T>) => void;
  readonly visit: ((entry: RecordedCall<T>) => void) | undefined;
  readonly unpack: (entry: RecordedCall<T>, value: T) => T;
  readonly sums: GradientSums<T> | undefined;
}

const hasGradient = <T>({ definition, own }: RecordedCall<T>): boolean =>
  own !== undefined || definition.gradient.kind === "rule";

/** Runs one gradient rule and passes its results on. */
function propagate<T extends TensorLike>(
  api: OpApi<T>,
  entry: RecordedCall<T>,
  { incoming, wanted, accumulate, visit, unpack, sums }: Propagation<T>,
): void {
  const { definition, args } = entry;
  if (!hasGradient(entry)) return;
  const tensors = tensorArguments(args);
  const needed = new Set(tensors.filter(({ value }) => wanted.has(value)).map(({ param }) => param));
  if (needed.size === 0) return;
  visit?.(entry);
  const arriving = incoming.filter((each) => each !== null), [first] = arriving;
  const together = !sums || !first || arriving.every((each) => sameSeeds(first, each));
  const grads = incoming.map((each) => each && (together ? each.grad : sums.beside(each)));
  const seeds = incoming.reduce<ReadonlySet<number>>(
    (all, each) => each ? all.union(each.seeds) : all,
    new Set(),
  );
  const read = (value: T) => unpack(entry, value);
  const found = gradientsOf(api, entry, { grads, read, needs: (param) => needed.has(param) });
  for (const argument of tensors) {
    const { param, value } = argument;
    if (!wanted.has(value)) continue;
    const grad = found(argument);
    if (grad === undefined || grad === null) continue;
    invariant(!isMany(grad), `Expected one gradient for ${param} of ${definition.name} but found several`);
    // a rule may leave broadcasting and conversion to this function
    const fits = grad.dtype === value.dtype && sameShape(grad.shape, value.shape);
    accumulate(value, { grad: fits ? grad : reduceTo(api, grad, value), seeds });
  }
}

/** Returns the gradients of a call for each of its tensors. */
function gradientsOf<T extends TensorLike>(
  api: OpApi<T>,
  { definition: { gradient }, args, outs, own }: RecordedCall<T>,
  { grads, read, needs }: {
    readonly grads: readonly (T | null)[];
    readonly read: (value: T) => T;
    readonly needs: (param: string) => boolean;
  },
): (argument: TensorArgument<T>) => T | null | undefined | readonly (T | null)[] {
  if (own) {
    const found = own(grads, read), tensors = tensorArguments(args);
    return ({ param, index }) => found[tensors.findIndex((t) => t.param === param && t.index === index)];
  }
  if (gradient.kind !== "rule") return () => null;
  const found = gradient.rule(api, { args: mapArguments(args, read), out: outs.map(read), grads, needs });
  return ({ param, index }) => {
    const given = found[param];
    return index === undefined ? given : isMany(given) ? given[index] : undefined;
  };
}

function isMany<T>(given: T | null | undefined | readonly (T | null)[]): given is readonly (T | null)[] {
  return Array.isArray(given);
}

function reads<T extends TensorLike>(args: ArgsOf<Params, T>, values: ReadonlySet<T>): boolean {
  let found = false;
  mapArguments(args, (value) => {
    if (values.has(value)) found = true;
    return value;
  });
  return found;
}
