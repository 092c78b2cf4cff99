/** Datasets: indexed collections of samples, and ways to combine and split them. */
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { checkedTensors } from "../tensor/checked.ts";
import { DynError, invariant } from "../base/errors.ts";
import { oneLine, showAsText } from "../base/console_text.ts";
import { tensor as makeTensor } from "../tensor/creation.ts";
import { indexSelect } from "../tensor/generated_functions.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { permutation, type RandomOptions } from "./samplers.ts";

/** Samples by index: extend this, or implement its members. `batch` is an optional faster way to read many. */
export abstract class Dataset<S> {
  /** Number of samples. */
  abstract readonly length: number;
  /** The sample at an index. */
  abstract get(index: number): S;
  /** Returns the samples at several indices as one batch. */
  batch?(indices: readonly number[]): S;
}

/** A source of samples by index: a dataset or a list. */
export type Indexed<S> = Dataset<S> | readonly S[];

/** The samples of a list as a dataset. */
export class ListDataset<S> implements Dataset<S> {
  constructor(readonly samples: readonly S[]) {}

  /** Number of samples now: lists may grow. */
  get length(): number {
    return this.samples.length;
  }

  get(index: number): S {
    if (arguments.length > 1) refuseSurplus("get", 1, arguments);
    const sample = this.samples[index];
    if (sample === undefined) {
      throw new DynError(`Expected an index in [0, ${this.length - 1}] but found ${index}`);
    }
    return sample;
  }

  /** Returns the number of samples. */
  toString(): string {
    return `a list of ${this.length}`;
  }
}

showAsText(ListDataset.prototype);

/** Returns a dataset unchanged, and a list as a dataset. Throws DynError for anything else. */
function datasetOf<S>(given: Indexed<S>): Dataset<S> {
  if (isList(given)) return new ListDataset(given);
  if (typeof given === "object" && given !== null && "get" in given && "length" in given) return given;
  refuseValue("a dataset, with get() and length, or a list", given);
}

function isList<S>(given: Indexed<S>): given is readonly S[] {
  return Array.isArray(given);
}

/** Rows of tensors with the same first size: sample i is [t[i] for each t]. */
export class TensorDataset<T extends readonly Tensor[]> implements Dataset<T> {
  readonly tensors: T;
  readonly length: number;

  constructor(...tensors: T) {
    checkedTensors(tensors, "TensorDataset");
    const sizes = tensors.map((t) => t.shape[0]);
    const [length] = sizes;
    if (typeof length !== "number" || sizes.some((size) => size !== length)) {
      throw new DynError(`Expected tensors with the same first size but found sizes ${sizes.join(", ")}`);
    }
    this.tensors = tensors;
    this.length = length;
  }

  get(index: number): T {
    return this.#map((t) => t.select(0, index));
  }

  batch(indices: readonly number[]): T {
    if (arguments.length > 1) refuseSurplus("batch", 1, arguments);
    checkKind(indices, "a list", "a batch");
    return this.#map((t) =>
      indexSelect(t, 0, makeTensor([...indices], { dtype: "int64", device: t.device }))
    );
  }

  #map(f: (t: Tensor) => Tensor): T {
    return this.tensors.map(f) as readonly Tensor[] as T;
  }

  /** Returns the number of samples, and their types and shapes. */
  toString(): string {
    return `TensorDataset(${this.length} of ${
      this.tensors.map(({ dtype, shape }) => `${dtype}[${shape.slice(1)}]`).join(", ")
    })`;
  }
}

showAsText(TensorDataset.prototype);

/** Some of another dataset's samples, in the given order. */
export class Subset<S> implements Dataset<S> {
  readonly dataset: Dataset<S>;
  readonly length: number;
  readonly batch?: (indices: readonly number[]) => S;

  constructor(given: Indexed<S>, readonly indices: readonly number[]) {
    if (arguments.length > 2) refuseSurplus("Subset", 2, arguments);
    const dataset = this.dataset = datasetOf(given);
    checkKind(indices, "a list", "indices of Subset");
    this.length = indices.length;
    if (dataset.batch) {
      this.batch = (wanted) => {
        invariant(dataset.batch, "Expected a dataset with batches but found none");
        checkKind(wanted, "a list", "a batch");
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

  /** Its class and its parts. */
  toString(): string {
    return `Subset(${this.length} of ${oneLine(this.dataset)})`;
  }
}

showAsText(Subset.prototype);

/** Concatenated datasets, like torch.utils.data.ConcatDataset. */
export class ConcatDataset<S> implements Dataset<S> {
  /** Total number of samples. */
  readonly length: number;
  /** Cumulative number of samples up to the end of each dataset. */
  readonly cumulativeSizes: readonly number[];
  readonly datasets: readonly Dataset<S>[];

  /** Receives the datasets. Throws DynError if there are none. */
  constructor(given: readonly Indexed<S>[]) {
    if (arguments.length > 1) refuseSurplus("ConcatDataset", 1, arguments);
    checkKind(given, "a list", "datasets of ConcatDataset");
    const datasets = this.datasets = given.map(datasetOf);
    if (datasets.length === 0) throw new DynError("Expected at least one dataset but found none");
    let total = 0;
    this.cumulativeSizes = datasets.map(({ length }) => total += length);
    this.length = total;
  }

  /** Returns sample `index`; negative indices count from the end. */
  get(index: number): S {
    if (arguments.length > 1) refuseSurplus("get", 1, arguments);
    const at = index < 0 ? index + this.length : index;
    const which = this.cumulativeSizes.findIndex((end) => at < end), dataset = this.datasets[which];
    if (at < 0 || !dataset) {
      throw new DynError(`Expected an index in [${-this.length}, ${this.length - 1}] but found ${index}`);
    }
    return dataset.get(at - (this.cumulativeSizes[which - 1] ?? 0));
  }

  /** Its class and its parts. */
  toString(): string {
    return `ConcatDataset(${this.datasets.map(oneLine).join(", ")})`;
  }
}

showAsText(ConcatDataset.prototype);

/** The samples of several datasets together: lists for a list of datasets, objects for an object. */
export type Stacked<D> = { -readonly [K in keyof D]: D[K] extends Indexed<infer S> ? S : never };

/** The samples of several datasets in parallel, like torch.utils.data.StackDataset. */
export class StackDataset<D extends readonly Indexed<unknown>[] | Readonly<Record<string, Indexed<unknown>>>>
  implements Dataset<Stacked<D>> {
  /** Number of samples of each dataset. */
  readonly length: number;

  /** Receives the datasets, in a list or by name. Throws DynError unless their lengths are equal. */
  constructor(readonly datasets: D) {
    if (arguments.length > 1) refuseSurplus("StackDataset", 1, arguments);
    checkKind(datasets, "an object", "StackDataset");
    const lengths = Object.values<Indexed<unknown>>(datasets).map((each) => datasetOf(each).length),
      [length] = lengths;
    if (length === undefined || lengths.some((other) => other !== length)) {
      throw new DynError(`Expected datasets of one length but found lengths ${lengths.join(", ")}`);
    }
    this.length = length;
  }

  /** Sample `index` of each. */
  get(index: number): Stacked<D> {
    if (arguments.length > 1) refuseSurplus("get", 1, arguments);
    const { datasets } = this;
    const samples = Object.entries<Indexed<unknown>>(datasets).map(([key, each]) =>
      [key, datasetOf(each).get(index)] as const
    );
    return (Array.isArray(datasets)
      ? samples.map(([, sample]) => sample)
      : Object.fromEntries(samples)) as Stacked<D>;
  }

  /** Its class and its parts. */
  toString(): string {
    return `StackDataset(${oneLine(this.datasets)})`;
  }
}

showAsText(StackDataset.prototype);

/** An iterable dataset, whose number of samples may be unknown, like torch.utils.data.IterableDataset. */
export abstract class IterableDataset<S> implements Iterable<S> {
  /** The samples, from the beginning. */
  abstract [Symbol.iterator](): Iterator<S>;
}

/** Concatenated streams of samples, like torch.utils.data.ChainDataset. */
export class ChainDataset<S> extends IterableDataset<S> {
  /** Receives the streams. */
  constructor(readonly datasets: Iterable<Iterable<S>>) {
    super();
  }

  /** The samples of all streams. */
  override *[Symbol.iterator](): Iterator<S> {
    for (const each of this.datasets) yield* each;
  }
}

/**
 * Splits a dataset into disjoint random subsets of the given lengths, whose sum is the dataset's, or of shares whose
 * sum is 1: each is rounded down and the rest goes to the first ones, like torch.utils.data.random_split. Throws
 * DynError for other sums.
 */
export function randomSplit<S, const L extends readonly number[]>(
  dataset: Indexed<S>,
  lengths: L,
  options?: RandomOptions,
): { -readonly [K in keyof L]: Subset<S> };
export function randomSplit<S>(
  dataset: Indexed<S>,
  lengths: readonly number[],
  options: RandomOptions = {},
): Subset<S>[] {
  if (arguments.length > 3) refuseSurplus("randomSplit", 3, arguments);
  checkKind(lengths, "a list", "lengths of randomSplit");
  const sizes = sizesOf(datasetOf(dataset).length, lengths), order = permutation(dataset.length, options);
  let start = 0;
  return sizes.map((length) => new Subset(dataset, order.slice(start, start += length)));
}

function sizesOf(total: number, lengths: readonly number[]): readonly number[] {
  const sum = lengths.reduce((a, b) => a + b, 0);
  if (sum === total && lengths.every(Number.isInteger)) return lengths;
  if (Math.abs(sum - 1) > 1e-9 || lengths.some((share) => !(share >= 0 && share <= 1))) {
    throw new DynError(`Expected lengths that sum to ${total} but found ${lengths.join(" + ")}`);
  }
  const sizes = lengths.map((share) => Math.floor(total * share));
  const rest = total - sizes.reduce((a, b) => a + b, 0);
  return sizes.map((size, i) => size + Math.floor(rest / sizes.length) + (i < rest % sizes.length ? 1 : 0));
}
