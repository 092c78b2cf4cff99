/**
 * Vectorised functions, like `torch.vmap`: a function of single elements becomes one of batches, in which each op
 * runs once over the whole batch. Invariant: the result for each element is that of the function on it alone.
 */
import { checkInteger } from "../base/checked_numbers.ts";
import { type Trailing, trailing } from "../base/arguments.ts";
import { checkFunction, checkOneOf } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { flatten, isPlainObject, type TreeSpec, unflatten } from "../base/tree.ts";
import { type BatchResults, overBatch } from "../autograd/batches/over_batch.ts";
import type { Randomness } from "../ops/batching/random.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** The batch dimension of an argument: a dimension, null for none, or the same for its parts. */
export type BatchDims = number | null | readonly BatchDims[] | { readonly [name: string]: BatchDims };

/** Options of `vmap`. */
export interface VmapOptions {
  /** Batch dimensions of the arguments; default 0. */
  readonly inDims?: BatchDims;
  /** Batch dimensions of the results; default 0. */
  readonly outDims?: BatchDims;
  /** Whether random ops are errors, differ for each element of the batch, or are the same for all. */
  readonly randomness?: Randomness;
  /** Number of elements that run together; null: all of them. */
  readonly chunkSize?: number | null;
}

const NAMES = { positional: ["inDims", "outDims", "randomness"], named: ["chunkSize"] } as const;

/** A tensor among arguments, and its batch dimension. */
interface Placed {
  readonly value: unknown;
  readonly dim: number | null;
}

/**
 * Returns a function that runs `f` over a batch: over the dimension `inDims` of its arguments. Throws DynError for
 * arguments without a batch.
 */
export function vmap<A extends readonly unknown[], R>(
  f: (...args: A) => R,
  ...given: Trailing<VmapOptions, ["inDims", "outDims", "randomness"]>
): (...args: A) => R;
export function vmap<A extends readonly unknown[]>(
  f: (...args: A) => unknown,
  ...given: Trailing<VmapOptions, ["inDims", "outDims", "randomness"]>
): (...args: A) => unknown {
  checkFunction(f, "to run over a batch");
  const options = trailing<VmapOptions>("vmap", NAMES, given);
  const { inDims = 0, outDims = 0, randomness = "error", chunkSize = null } = options;
  checkOneOf("randomness of vmap", randomness, ["error", "different", "same"]);
  if (chunkSize !== null) checkInteger("chunkSize of vmap", chunkSize, 1);
  return (...args) => {
    const { leaves, spec } = flatten(args, isTensor);
    const dims = dimsOf(args, inDims), placed = leaves.map((value, k) => place(value, dims[k] ?? null));
    const size = sizeOf(placed), step = Math.max(1, Math.min(chunkSize ?? size, size));
    const fronts = placed.flatMap(({ value, dim }) =>
      isTensor(value) && dim !== null ? [ops.movedim(value, dim, 0)] : []
    );
    // The batched element that replaces each leaf
    const elementAt = placed.map(({ dim }, k) =>
      dim === null ? null : placed.slice(0, k).filter((each) => each.dim !== null).length
    );
    const run = (...elements: readonly Tensor[]): BatchResults<Form> => {
      const parts = placed.map(({ value }, k) => {
        const at = elementAt[k] ?? null;
        return at === null ? value : elements[at];
      });
      const arranged = unflatten(spec, parts);
      const result = Reflect.apply(f, undefined, Array.isArray(arranged) ? arranged : []);
      const flat = flatten(result, isTensor);
      return { tensors: flat.leaves, aside: { spec: flat.spec, dims: dimsOf(result, outDims) } };
    };
    const runs: (readonly Tensor[])[] = [], forms: Form[] = [];
    for (let from = 0; from === 0 || from < size; from += step) {
      const length = Math.min(step, size - from);
      const wholes = length === size
        ? fronts
        : fronts.map((front) => ops.slice(front, 0, from, from + length));
      const { tensors, batched, aside } = overBatch(run, wholes, { size: length, randomness });
      forms.push(aside);
      runs.push(
        tensors.map((tensor, k) =>
          resultOf(tensor, { size: length, isBatched: batched[k] === true, dim: aside.dims[k] ?? null })
        ),
      );
    }
    const [first = []] = runs, [form] = forms;
    const whole = first.map((one, k) => {
      const dim = form?.dims[k] ?? null;
      return runs.length === 1 || dim === null ? one : ops.cat(runs.flatMap((each) => each[k] ?? []), dim);
    });
    return form && unflatten(form.spec, whole);
  };
}

/** The structure of a function's results. */
interface Form {
  readonly spec: TreeSpec;
  readonly dims: readonly (number | null)[];
}

/**
 * Returns the dimensions of the leaves of a value: one for all of them, or in its structure. Throws DynError for
 * another structure.
 */
function dimsOf(value: unknown, dims: BatchDims): (number | null)[] {
  if (typeof dims === "number" || dims === null) return flatten(value, isTensor).leaves.map(() => dims);
  if (Array.isArray(dims) && Array.isArray(value) && dims.length === value.length) {
    return value.flatMap((each: unknown, k) => dimsOf(each, dims[k] ?? null));
  }
  if (isPlainObject(dims) && isPlainObject(value)) {
    return Object.entries(value).flatMap(([name, each]) => {
      const dim = Reflect.get(dims, name);
      if (dim === undefined) {
        throw new DynError(`Expected a batch dimension (or null) for ${name} but found none`);
      }
      return dimsOf(each, dim);
    });
  }
  throw new DynError(
    `Expected batch dimensions in the form of the values of vmap but found ${Deno.inspect(dims)}`,
  );
}

/** Checks the batch dimension of a leaf. */
function place(value: unknown, dim: number | null): Placed {
  if (dim === null) return { value, dim };
  if (!isTensor(value)) {
    // One dimension for all arguments applies to their tensors
    return { value, dim: null };
  }
  const at = dim < 0 ? dim + value.ndim : dim;
  if (!Number.isInteger(at) || at < 0 || at >= value.ndim) {
    throw new DynError(`Expected inDims of vmap in [${-value.ndim}, ${value.ndim - 1}] but found ${dim}`);
  }
  return { value, dim: at };
}

/** Returns the size of the batch. Throws DynError if there is none, or several. */
function sizeOf(placed: readonly Placed[]): number {
  const sizes = placed.flatMap(({ value, dim }) =>
    isTensor(value) && dim !== null ? value.shape[dim] ?? [] : []
  );
  const [size] = sizes;
  if (size === undefined) {
    throw new DynError(
      "Expected a tensor with a batch among the arguments of vmap but found none; see inDims",
    );
  }
  if (sizes.some((each) => each !== size)) {
    throw new DynError(`Expected one size of the batch of all tensors of vmap but found ${sizes.join(", ")}`);
  }
  return size;
}

/** Returns a result of a function with the batch at a dimension: results that do not depend on it are expanded. */
function resultOf(
  tensor: Tensor,
  { size, isBatched, dim }: {
    readonly size: number;
    readonly isBatched: boolean;
    readonly dim: number | null;
  },
): Tensor {
  if (dim === null) {
    if (!isBatched) return tensor;
    throw new DynError(
      "Expected a result without the batch where outDims of vmap is null but found one with it",
    );
  }
  const front = isBatched ? tensor : ops.expand(ops.unsqueeze(tensor, 0), [size, ...tensor.shape]);
  const at = dim < 0 ? dim + front.ndim : dim;
  if (!Number.isInteger(at) || at < 0 || at >= front.ndim) {
    throw new DynError(`Expected outDims of vmap in [${-front.ndim}, ${front.ndim - 1}] but found ${dim}`);
  }
  return ops.movedim(front, 0, at);
}
