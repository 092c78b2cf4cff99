/** Batches of a dataset, in order or shuffled. Invariant: each iteration is one epoch. */
import { type Trailing, trailing } from "../base/arguments.ts";
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
  /** The indices of an epoch, in order, instead of all. */
  readonly sampler?: Iterable<number>;
  /** Makes a batch of samples; by default tensors and numbers are stacked, arrays and objects member-wise. */
  readonly collateFn?: (samples: readonly S[]) => B;
  /** Another name for collateFn. */
  readonly collate?: (samples: readonly S[]) => B;
}

const NAMES = {
  positional: ["batchSize", "shuffle", "sampler"],
  named: ["dropLast", "collateFn", "collate"],
} as const;

/** Iterates over a dataset in batches, as torch.utils.data.DataLoader. */
export class DataLoader<S, B = S> implements Iterable<B> {
  readonly batchSize: number;
  readonly #options: LoaderOptions<S, B>;

  readonly dataset: Dataset<S>;

  /** `dataset` may be a plain array of samples. */
  constructor(
    dataset: Dataset<S> | readonly S[],
    ...given: Trailing<LoaderOptions<S, B>, ["batchSize", "shuffle", "sampler"]>
  ) {
    const options = trailing<LoaderOptions<S, B>>("DataLoader", NAMES, given);
    this.dataset = isList(dataset) ? fromList(dataset) : dataset;
    this.batchSize = options.batchSize ?? 1;
    if (options.sampler && options.shuffle) {
      throw new DynError("Expected either a sampler or shuffle but found both");
    }
    if (!Number.isInteger(this.batchSize) || this.batchSize < 1) {
      throw new DynError(`Expected a batchSize of at least 1 but found ${this.batchSize}`);
    }
    this.#options = options;
  }

  toString(): string {
    const { shuffle = false, dropLast = false } = this.#options;
    return `DataLoader(${this.dataset.length} samples, batchSize=${this.batchSize}, shuffle=${shuffle}, dropLast=${dropLast})`;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  /** Number of batches. */
  get length(): number {
    const whole = this.#count() / this.batchSize;
    return this.#options.dropLast ? Math.floor(whole) : Math.ceil(whole);
  }

  #count(): number {
    const { sampler } = this.#options;
    return sampler ? [...sampler].length : this.dataset.length;
  }

  *[Symbol.iterator](): Iterator<B> {
    const n = this.dataset.length, { sampler, shuffle, dropLast } = this.#options;
    const order = sampler ? [...sampler] : shuffle ? permutation(n) : Array.from({ length: n }, (_, i) => i);
    const batches = order.length / this.batchSize;
    for (let b = 0; b < (dropLast ? Math.floor(batches) : batches); b++) {
      yield this.#batch(order.slice(b * this.batchSize, (b + 1) * this.batchSize));
    }
  }

  #batch(indices: readonly number[]): B {
    const { collateFn, collate = collateFn } = this.#options;
    if (!collate && this.dataset.batch) return this.dataset.batch(indices) as unknown as B;
    const samples = indices.map((i) => this.dataset.get(i));
    return collate ? collate(samples) : defaultCollate(samples) as B;
  }
}

function isList<S>(dataset: Dataset<S> | readonly S[]): dataset is readonly S[] {
  return Array.isArray(dataset);
}

function fromList<S>(samples: readonly S[]): Dataset<S> {
  return {
    length: samples.length,
    get(index) {
      const sample = samples[index];
      if (sample === undefined) {
        throw new DynError(`Expected an index in [0, ${samples.length - 1}] but found ${index}`);
      }
      return sample;
    },
  };
}

/** All samples as the kind of the first one. Throws DynError where they are of several kinds. */
function ofOneKind<T>(samples: readonly unknown[], is: (value: unknown) => value is T): T[] {
  return samples.map((sample) => {
    if (is(sample)) return sample;
    throw new DynError(
      `Expected samples of one kind in a batch but found ${typeof samples[0]} and ${typeof sample}`,
    );
  });
}

const isTensorValue = (value: unknown): value is Tensor => value instanceof Tensor;
const isNumber = (value: unknown): value is number => typeof value === "number";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isArray(value) && !isTensorValue(value);

/**
 * Stacks tensors, makes tensors of numbers (int64, or float64 where one has a fraction) and booleans, and goes into
 * arrays and plain objects, as torch.utils.data.default_collate.
 */
export function defaultCollate(samples: readonly unknown[]): unknown {
  const [first] = samples;
  if (isTensorValue(first)) return stack(ofOneKind(samples, isTensorValue), 0);
  if (isNumber(first)) {
    const numbers = ofOneKind(samples, isNumber);
    return makeTensor(numbers, { dtype: numbers.every(Number.isInteger) ? "int64" : "float64" });
  }
  if (isBoolean(first)) return makeTensor(ofOneKind(samples, isBoolean));
  if (isArray(first)) {
    const lists = ofOneKind(samples, isArray);
    if (lists.some((list) => list.length !== first.length)) {
      throw new DynError(`Expected arrays of ${first.length} elements in a batch but found another length`);
    }
    return first.map((_, i) => defaultCollate(lists.map((list) => list[i])));
  }
  if (isObject(first)) {
    const objects = ofOneKind(samples, isObject);
    return Object.fromEntries(
      Object.keys(first).map((key) => [key, defaultCollate(objects.map((each) => Reflect.get(each, key)))]),
    );
  }
  return samples;
}
