/**
 * One run of a function over a batch: the basis of `vmap`. Tensors enter and leave with the batch first. Invariant: in
 * compiled code a call is part of the surrounding graph.
 */
import { DynError } from "../../base/errors.ts";
import type { Randomness } from "../../ops/batching/random.ts";
import { isTensor, type Tensor } from "../../tensor/tensor.ts";
import { BatchingMode } from "./mode.ts";

/** The result of a function for one element of a batch: tensors, and their arrangement. */
export interface BatchResults<F> {
  readonly tensors: readonly unknown[];
  readonly aside: F;
}

/** The result of a function over a batch. */
export interface OverBatch<F> {
  readonly tensors: readonly Tensor[];
  readonly aside: F;
  /** For each of them whether it has the batch: results that do not depend on the arguments have none. */
  readonly batched: readonly boolean[];
}

/** Options of a run over a batch. */
export interface BatchOptions {
  readonly size: number;
  readonly randomness: Randomness;
}

/**
 * Runs a function once for a whole batch: the first dimension of `wholes`, of which it sees one element. Throws
 * DynError if its result is not a list of tensors.
 */
export function overBatch<F>(
  f: (...elements: readonly Tensor[]) => BatchResults<F>,
  wholes: readonly Tensor[],
  { size, randomness }: BatchOptions,
): OverBatch<F> {
  const mode = new BatchingMode(size, randomness);
  const { tensors, aside } = mode.run(() => f(...wholes.map((whole) => mode.element(whole))));
  const found = tensors.map((result) => {
    if (isTensor(result)) return { whole: mode.whole(result), result };
    const what = result === null ? "null" : typeof result;
    throw new DynError(`Expected a function that returns tensors in vmap but found ${what}`);
  });
  return {
    tensors: found.map(({ whole, result }) => whole ?? result),
    aside,
    batched: found.map(({ whole }) => whole !== undefined),
  };
}

/** Returns a tensor to differentiate with respect to: itself, with a new history if it has none. */
export function ownHistory(tensor: Tensor): Tensor {
  return tensor.requiresGrad ? tensor : tensor.requiresGrad_();
}

/** Returns whether code is being traced: false in every real call; the tracer replaces calls by true. */
export function isTraced(): boolean {
  return false;
}

/**
 * Returns the result of `plain`. The tracer calls `traced` instead, which becomes part of one graph or none: after a
 * break inside it `plain` runs, since the rest of `traced` may be wrong outside of a graph.
 */
export function unlessTraced<R>(plain: () => R, _traced: () => R): R {
  return plain();
}
