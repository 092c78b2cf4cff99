/** Datasets: indexed collections of samples, and ways to combine and split them. */
import { DynError } from "../base/errors.ts";
import { tensor as makeTensor } from "../tensor/creation.ts";
import { indexSelect, randperm } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";

/** Samples by index. `batch` is a faster way to many at once, where there is one. */
export interface Dataset<S> {
  readonly length: number;
  get(index: number): S;
  batch?(indices: readonly number[]): S;
}

/** Rows of tensors that share their first size: sample i is [t[i] for each t]. */
export class TensorDataset<T extends readonly Tensor[]> implements Dataset<T> {
  readonly tensors: T;
  readonly length: number;

  constructor(...tensors: T) {
    const sizes = tensors.map((t) => t.shape[0]);
    const [length] = sizes;
    if (typeof length !== "number" || sizes.some((size) => size !== length)) {
      throw new DynError(`Expected tensors of one first size but found sizes ${sizes.join(", ")}`);
    }
    this.tensors = tensors;
    this.length = length;
  }

  get(index: number): T {
    return this.#map((t) => t.select(0, index));
  }

  batch(indices: readonly number[]): T {
    return this.#map((t) =>
      indexSelect(t, 0, makeTensor([...indices], { dtype: "int64", device: t.device }))
    );
  }

  #map(f: (t: Tensor) => Tensor): T {
    return this.tensors.map(f) as readonly Tensor[] as T;
  }
}

/** Some of another dataset's samples, in the given order. */
export class Subset<S> implements Dataset<S> {
  readonly length: number;
  readonly batch?: (indices: readonly number[]) => S;

  constructor(readonly dataset: Dataset<S>, readonly indices: readonly number[]) {
    this.length = indices.length;
    if (dataset.batch) {
      this.batch = (wanted) => {
        if (!dataset.batch) throw new DynError("Expected a dataset with batches but found none");
        return dataset.batch(wanted.map((i) => this.#original(i)));
      };
    }
  }

  get(index: number): S {
    return this.dataset.get(this.#original(index));
  }

  #original(index: number): number {
    const original = this.indices[index];
    if (original === undefined) {
      throw new DynError(`Expected an index in [0, ${this.length - 1}] but found ${index}`);
    }
    return original;
  }
}

/** Disjoint random subsets of the given lengths, drawn with the global generator. */
export function randomSplit<S>(dataset: Dataset<S>, lengths: readonly number[]): Subset<S>[] {
  const total = lengths.reduce((a, b) => a + b, 0);
  if (total !== dataset.length) {
    throw new DynError(`Expected lengths that sum to ${dataset.length} but found ${lengths.join(" + ")}`);
  }
  const order = permutation(dataset.length);
  let start = 0;
  return lengths.map((length) => new Subset(dataset, order.slice(start, start += length)));
}

/** A random order of 0 … n − 1 from the global generator. */
export function permutation(n: number): number[] {
  return Array.from(randperm(n, { device: "cpu" }).toTypedArray(), Number);
}
