/**
 * Prepares the arguments with respect to which a function is differentiated: replaces the selected ones by tensors that
 * are tracked. Invariant: gradients of an outer transform flow through; the caller's arguments are not changed.
 */
import { refuseValue } from "../base/checked_input.ts";
import { isDifferentiable } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { flatten, flattenLike, leafCount, type TreeSpec, unflatten } from "../base/tree.ts";
import { isTraced, ownHistory } from "../autograd/batches/over_batch.ts";
import { requiresGradBeneath } from "../tensor/levels.ts";
import { refusingWrites } from "../tensor/inplace.ts";
import { carryTangents } from "../tensor/tangents.ts";
import { enableGrad, isGradEnabled } from "../tensor/modes.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** One argument, or several, by position. */
export type Positions = number | readonly number[];

/** The arguments at the positions, in their form: one, or a list of them. */
export type Chosen<A extends readonly unknown[], P extends Positions> = P extends number
  ? `${P}` extends keyof A ? A[P] : unknown
  : { -readonly [K in keyof P]: P[K] extends number ? Chosen<A, P[K]> : never };

/** The arguments of a call, with those to differentiate replaced. */
interface Primals {
  readonly args: readonly unknown[];
  readonly tensors: readonly Tensor[];
  /** Whether gradients reach the given arguments: not under `noGrad`. */
  readonly isInner: boolean;
  /** Arranges values for the tensors in the structure of the selected arguments. */
  readonly arranged: (values: readonly unknown[]) => unknown;
}

/** Returns the places of selected arguments. Throws DynError for none, for one twice, and for one out of range. */
export function placesOf(owner: string, positions: Positions, count: number): readonly number[] {
  const places = [positions].flat().map((position) => {
    const at = position < 0 ? position + count : position;
    if (Number.isInteger(at) && at >= 0 && at < count) return at;
    throw new DynError(`Expected argnums of ${owner} below ${count} but found ${position}`);
  });
  if (places.length > 0 && new Set(places).size === places.length) return places;
  throw new DynError(`Expected different argnums of ${owner}, at least one, but found [${positions}]`);
}

/**
 * Selects and replaces arguments. Throws DynError for positions out of range, and for arguments without tensors of
 * floats.
 */
export function primalsOf(owner: string, given: readonly unknown[], positions: Positions): Primals {
  const args = [...given], tensors: Tensor[] = [], specs: TreeSpec[] = [];
  const places = placesOf(owner, positions, given.length);
  for (const at of places) {
    const { leaves, spec } = flatten(given[at], isTensor);
    const own = leaves.map((leaf): Tensor => {
      if (!isTensor(leaf) || !isDifferentiable(leaf.dtype)) {
        const found = isTensor(leaf) ? `a tensor of ${leaf.dtype}` : typeof leaf;
        throw new DynError(`Expected tensors of floats to differentiate by in ${owner} but found ${found}`);
      }
      if (!requiresGradBeneath(leaf)) return withTangents(leaf, leaf.detach()).requiresGrad_();
      // Gradients flow on through the view: to the leaf, or to the whole batch that it represents
      return refusingWrites(ownHistory(enableGrad(() => leaf.viewAs(leaf))));
    });
    args[at] = unflatten(spec, own);
    tensors.push(...own);
    specs.push(spec);
  }
  const arranged = (values: readonly unknown[]): unknown => {
    let from = 0;
    const parts: unknown[] = [];
    for (const spec of specs) {
      const count = leafCount(spec);
      parts.push(unflatten(spec, values.slice(from, from + count)));
      from += count;
    }
    return typeof positions === "number" ? parts[0] : parts;
  };
  // The original arguments, rather than their replacements, decide whether gradients flow on
  const isInner = isGradEnabled() && places.some((at) => requiresGradIn(given[at]));
  return { args, tensors, isInner, arranged };
}

/** Copies the tangents of `from` to `to`, which has the same elements: detaching preserves forward derivatives. */
export function withTangents(from: Tensor, to: Tensor): Tensor {
  return isTraced() ? to : carryTangents(from, to);
}

/**
 * The tensors of a value in the order of a structure, whichever order its keys have. Throws DynError for another number
 * of tensors, or another structure; `of`: as "tangents for jvp".
 */
export function tensorsLike(spec: TreeSpec, value: unknown, of: string): readonly Tensor[] {
  const given = flatten(value, isTensor), count = leafCount(spec);
  if (given.leaves.length !== count) {
    throw new DynError(`Expected ${count} ${of} but found ${given.leaves.length}`);
  }
  const wrong = given.leaves.find((each) => !isTensor(each));
  if (wrong !== undefined) refuseValue(`tensors as ${of}`, wrong);
  return flattenLike(spec, value, { what: of, isLeaf: isTensor }).filter(isTensor);
}

function requiresGradIn(value: unknown): boolean {
  return flatten(value, isTensor).leaves.some((leaf) => isTensor(leaf) && requiresGradBeneath(leaf));
}

/** The result of a function, and its auxiliary output. */
interface WithAuxiliary {
  readonly value: unknown;
  readonly auxiliary: unknown;
}

/** Splits a pair if `hasAux`. Throws DynError for other values. */
export function auxiliaryOf(owner: string, result: unknown, hasAux: boolean): WithAuxiliary {
  if (!hasAux) return { value: result, auxiliary: undefined };
  if (Array.isArray(result) && result.length === 2) return { value: result[0], auxiliary: result[1] };
  refuseValue(`a function that returns [value, auxiliary] in ${owner}, as hasAux says,`, result);
}
