/** Batches of a dataset, in order or shuffled. Invariant: each iteration is one epoch. */
import { DynError } from "../base/errors.ts";
import { tensor as makeTensor } from "../tensor/creation.ts";
import { stack } from "../tensor/generated_functions.ts";
import { Tensor } from "../tensor/tensor.ts";
import { type Dataset, permutation } from "./dataset.ts";

/** How a loader makes batches. */
export interface LoaderOptions<S, B> {
  readonly batchSize?: number;
  /** A new random order each epoch, from the global generator. */
  readonly shuffle?: boolean;
  /** Leaves out the last batch where it is short. */
  readonly dropLast?: boolean;
  /** Makes a batch of samples; by default tensors and numbers are stacked, arrays and objects member-wise. */
  readonly collate?: (samples: readonly S[]) => B;
}

/** Iterates over a dataset in batches, as torch.utils.data.DataLoader. */
export class DataLoader<S, B = S> implements Iterable<B> {
  readonly batchSize: number;
  readonly #options: LoaderOptions<S, B>;

  constructor(readonly dataset: Dataset<S>, options: LoaderOptions<S, B> = {}) {
    this.batchSize = options.batchSize ?? 1;
    if (!Number.isInteger(this.batchSize) || this.batchSize < 1) {
      throw new DynError(`Expected a batch size of at least 1 but found ${this.batchSize}`);
    }
    this.#options = options;
  }

  /** Number of batches. */
  get length(): number {
    const whole = this.dataset.length / this.batchSize;
    return this.#options.dropLast ? Math.floor(whole) : Math.ceil(whole);
  }

  *[Symbol.iterator](): Iterator<B> {
    const n = this.dataset.length;
    const order = this.#options.shuffle ? permutation(n) : Array.from({ length: n }, (_, i) => i);
    for (let b = 0; b < this.length; b++) {
      yield this.#batch(order.slice(b * this.batchSize, (b + 1) * this.batchSize));
    }
  }

  #batch(indices: readonly number[]): B {
    const { collate } = this.#options;
    if (!collate && this.dataset.batch) return this.dataset.batch(indices) as unknown as B;
    const samples = indices.map((i) => this.dataset.get(i));
    return collate ? collate(samples) : defaultCollate(samples) as B;
  }
}

/** Stacks tensors, makes tensors of numbers and booleans, and goes into arrays and plain objects. */
export function defaultCollate(samples: readonly unknown[]): unknown {
  const [first] = samples;
  if (first instanceof Tensor) return stack(samples.filter((s) => s instanceof Tensor), 0);
  if (typeof first === "number") return makeTensor(samples.filter((s) => typeof s === "number"));
  if (typeof first === "boolean") return makeTensor(samples.filter((s) => typeof s === "boolean"));
  if (Array.isArray(first)) {
    return first.map((_, i) => defaultCollate(samples.map((s) => Array.isArray(s) ? s[i] : undefined)));
  }
  if (typeof first === "object" && first !== null) {
    return Object.fromEntries(
      Object.keys(first).map((key) => [
        key,
        defaultCollate(
          samples.map((s) => typeof s === "object" && s !== null ? Reflect.get(s, key) : undefined),
        ),
      ]),
    );
  }
  return samples;
}
