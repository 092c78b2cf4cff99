/**
 * Batches of a dataset, in order or shuffled. Invariant: each iteration is one epoch; what a dataset throws says which
 * sample it was.
 */
import { type Trailing, trailing } from "../base/arguments.ts";
import { DynError, messageOf } from "../base/errors.ts";
import type { Generator } from "../tensor/random.ts";
import { type Collated, defaultCollate, defaultConvert } from "./collate.ts";
import type { Dataset } from "./dataset.ts";
import { BatchSampler, RandomSampler, type Sampler, SequentialSampler } from "./samplers.ts";

/** How a loader makes batches. */
export interface LoaderOptions<S, B> {
  /** How many samples a batch has; 1 unless given; null: samples come one by one. */
  readonly batchSize?: number | null;
  /** A new random order each epoch. */
  readonly shuffle?: boolean;
  /** The indices of an epoch, in order, instead of all. */
  readonly sampler?: Iterable<number> | null;
  /** The indices of each batch of an epoch, instead of batchSize, shuffle, sampler and dropLast. */
  readonly batchSampler?: Iterable<readonly number[]> | null;
  /** Leaves out the last batch where it is short. */
  readonly dropLast?: boolean;
  /** Makes a batch of samples; by default tensors and numbers are stacked, arrays and objects member-wise. */
  readonly collateFn?: (samples: readonly S[]) => B;
  /** Another name for collateFn. */
  readonly collate?: (samples: readonly S[]) => B;
  /** Where random orders come from; the common generator unless given. */
  readonly generator?: Generator | null;
  /** How many batches `for await` begins before they are asked for; 2 unless given. */
  readonly prefetchFactor?: number;
}

const POSITIONAL = ["batchSize", "shuffle", "sampler", "batchSampler"] as const;
const NAMES = {
  positional: POSITIONAL,
  named: ["dropLast", "collateFn", "collate", "generator", "prefetchFactor"],
} as const;

/** Samples that a loader may be given: by index, in an array, or in an order of their own. */
export type Samples<S> = Dataset<S> | readonly S[] | Iterable<S>;

/**
 * Iterates over samples in batches, as torch.utils.data.DataLoader. A dataset whose samples are promises (files that are
 * read, say) is iterated with `for await`, which works on several batches at once and gives them in order.
 */
export class DataLoader<S, B = Collated<S>> implements Iterable<B>, AsyncIterable<B> {
  /** Samples a batch; null: they come one by one. */
  readonly batchSize: number | null;
  /** What it loads from; null for samples in an order of their own. */
  readonly dataset: Dataset<S> | null;
  readonly #stream: Iterable<S> | null;
  readonly #options: LoaderOptions<S, B>;
  readonly #sampler: Iterable<number>;

  /** Takes samples, then PyTorch's arguments; trailing ones also by name. Throws DynError for those that do not agree. */
  constructor(dataset: Samples<S>, ...given: Trailing<LoaderOptions<S, B>, typeof POSITIONAL>) {
    const options = trailing<LoaderOptions<S, B>>("DataLoader", NAMES, given);
    const { sampler, batchSampler, shuffle = false, generator = null } = options;
    this.dataset = isList(dataset) ? fromList(dataset) : isIndexed(dataset) ? dataset : null;
    this.#stream = isList(dataset) || isIndexed(dataset) ? null : dataset;
    this.batchSize = batchSampler || options.batchSize === null ? null : options.batchSize ?? 1;
    if (sampler && shuffle) throw new DynError("Expected either a sampler or shuffle but found both");
    if (batchSampler && (options.batchSize !== undefined || shuffle || sampler || options.dropLast)) {
      throw new DynError("Expected no batchSize, shuffle, sampler or dropLast beside a batchSampler");
    }
    if (this.#stream && (sampler || batchSampler || shuffle)) {
      throw new DynError("Expected no sampler and no shuffle for samples in an order of their own");
    }
    if (this.batchSize !== null && (!Number.isInteger(this.batchSize) || this.batchSize < 1)) {
      throw new DynError(`Expected a batchSize of at least 1 but found ${this.batchSize}`);
    }
    this.#options = options;
    const source = this.dataset ?? { length: 0 };
    this.#sampler = sampler ??
      (shuffle ? new RandomSampler(source, { generator }) : new SequentialSampler(source));
  }

  /** How many samples there are and how they are put together. */
  toString(): string {
    const { shuffle = false, dropLast = false } = this.#options;
    const count = this.dataset ? `${this.dataset.length} samples` : "a stream";
    return `DataLoader(${count}, batchSize=${this.batchSize}, shuffle=${shuffle}, dropLast=${dropLast})`;
  }

  /** The same in the console. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toString();
  }

  /** Number of batches. Throws DynError for samples in an order of their own, whose number is not known. */
  get length(): number {
    const { batchSampler, dropLast = false } = this.#options;
    if (this.#stream) {
      throw new DynError("Expected a dataset with a length but found samples in an order of their own");
    }
    if (batchSampler) return countOf(batchSampler);
    const count = countOf(this.#sampler);
    if (this.batchSize === null) return count;
    return dropLast ? Math.floor(count / this.batchSize) : Math.ceil(count / this.batchSize);
  }

  /** The batches of an epoch. */
  *[Symbol.iterator](): Iterator<B> {
    if (this.#stream) yield* this.#streamed(this.#stream);
    else for (const indices of this.#indices()) yield this.#batch(indices);
  }

  /** The batches of an epoch, of samples that may be promises. */
  async *[Symbol.asyncIterator](): AsyncIterator<B> {
    const { prefetchFactor = 2 } = this.#options, begun: Promise<B>[] = [];
    if (this.#stream) {
      yield* this.#streamed(this.#stream);
      return;
    }
    for (const indices of this.#indices()) {
      const batch = this.#batchLater(indices);
      // Whoever asks for it gets its error
      batch.catch(() => {});
      begun.push(batch);
      const first = begun.length > prefetchFactor ? begun.shift() : undefined;
      if (first) yield await first;
    }
    for (const batch of begun) yield await batch;
  }

  /** The indices of each batch. */
  *#indices(): Iterable<readonly number[]> {
    const { batchSampler, dropLast = false } = this.#options;
    if (batchSampler) yield* batchSampler;
    else if (this.batchSize === null) { for (const index of this.#sampler) yield [index]; }
    else yield* new BatchSampler(sized(this.#sampler), this.batchSize, dropLast);
  }

  *#streamed(stream: Iterable<S>): Iterable<B> {
    let samples: S[] = [];
    for (const sample of stream) {
      samples.push(sample);
      if (samples.length < (this.batchSize ?? 1)) continue;
      yield this.#collated(samples);
      samples = [];
    }
    if (samples.length > 0 && !this.#options.dropLast) yield this.#collated(samples);
  }

  #collated(samples: readonly S[]): B {
    const { collateFn, collate = collateFn, batchSampler } = this.#options;
    if (collate) return collate(samples);
    const single = this.batchSize === null && !batchSampler;
    return (single ? defaultConvert(samples[0]) : defaultCollate(samples)) as B;
  }

  #batch(indices: readonly number[]): B {
    const { dataset } = this, { collateFn, collate = collateFn } = this.#options;
    const together = !collate && (this.batchSize !== null || this.#options.batchSampler);
    if (together && dataset?.batch) return dataset.batch(indices) as unknown as B;
    return this.#collated(indices.map((index) => this.#sample(index)));
  }

  async #batchLater(indices: readonly number[]): Promise<B> {
    const samples = await Promise.all(indices.map(async (index) => {
      try {
        return await this.#sample(index);
      } catch (thrown) {
        throw placed(thrown, index);
      }
    }));
    return this.#collated(samples);
  }

  #sample(index: number): S {
    const { dataset } = this;
    if (!dataset) throw new DynError("Expected a dataset with samples by index");
    try {
      return dataset.get(index);
    } catch (thrown) {
      throw placed(thrown, index);
    }
  }
}

/** An error that says which sample it was. */
function placed(thrown: unknown, index: number): unknown {
  if (thrown instanceof SampleError) return thrown;
  return new SampleError(`Expected sample ${index} but its dataset threw: ${messageOf(thrown)}`, {
    cause: thrown,
  });
}

/** What a dataset threw, with the sample. */
class SampleError extends DynError {
  override readonly name: string = "SampleError";
}

function sized(sampler: Iterable<number>): Sampler {
  return { length: 0, [Symbol.iterator]: () => sampler[Symbol.iterator]() };
}

function countOf(items: Iterable<unknown>): number {
  const length: unknown = Reflect.get(Object(items), "length");
  return typeof length === "number" ? length : [...items].length;
}

function isList<S>(dataset: Samples<S>): dataset is readonly S[] {
  return Array.isArray(dataset);
}

function isIndexed<S>(dataset: Samples<S>): dataset is Dataset<S> {
  return "get" in dataset && "length" in dataset;
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
