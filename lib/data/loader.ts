/**
 * Batches of a dataset, in order or shuffled. Invariant: each iteration is one epoch; an error of a dataset names the
 * sample.
 */
import { checkAtLeast, checkInteger } from "../base/checked_numbers.ts";
import { types } from "node:util";
import { type Trailing, trailing } from "../base/arguments.ts";
import { getDefaultDtype } from "../base/dtype.ts";
import { DynError, placeLike } from "../base/errors.ts";
import { oneLine, showAsText } from "../base/console_text.ts";
import { randint } from "../tensor/generated_functions.ts";
import type { Generator } from "../tensor/random.ts";
import type { Collated } from "./collate.ts";
import { type Dataset, ListDataset } from "./dataset.ts";
import { Fetcher } from "./fetcher.ts";
import { originOf } from "./from_module.ts";
import { LoaderWorkers } from "./workers.ts";
import { getWorkerInfo } from "./worker_info.ts";
import type { WorkerTask } from "./worker_messages.ts";
import { BatchSampler, RandomSampler, type Sampler, SequentialSampler } from "./samplers.ts";

/** Options of a loader. */
export interface LoaderOptions<S, B> {
  /** Number of samples of a batch; default 1; null: samples are not batched. */
  readonly batchSize?: number | null;
  /** Whether each epoch has a new random order. */
  readonly shuffle?: boolean;
  /** The indices of an epoch, in order, instead of all. */
  readonly sampler?: Iterable<number> | null;
  /** The indices of each batch of an epoch, instead of batchSize, shuffle, sampler and dropLast. */
  readonly batchSampler?: Iterable<readonly number[]> | null;
  /** Drops the last batch if it is incomplete. */
  readonly dropLast?: boolean;
  /** Creates a batch of samples; by default tensors and numbers are stacked, arrays and objects member by member. */
  readonly collateFn?: (samples: S[]) => B;
  /** Another name for collateFn. */
  readonly collate?: (samples: S[]) => B;
  /** Generator of random orders; default: the global one. */
  readonly generator?: Generator | null;
  /** Number of batches that `for await`, or each worker, prefetches; default 2. */
  readonly prefetchFactor?: number;
  /** Number of threads that create batches; default 0: the calling thread creates them. */
  readonly numWorkers?: number;
  /** Accepted without effect: CPU memory is not pinned. */
  readonly pinMemory?: boolean;
  /** Whether workers are kept for the next epoch. */
  readonly persistentWorkers?: boolean;
  /** Called in each worker with its number at the start; from `data.fromModule`. */
  readonly workerInitFn?: ((id: number) => void) | null;
  /** Seconds to wait for a batch of a worker; default 0: unlimited. */
  readonly timeout?: number;
}

const POSITIONAL = ["batchSize", "shuffle", "sampler", "batchSampler"] as const;
const NAMES = {
  positional: POSITIONAL,
  named: [
    "dropLast",
    "collateFn",
    "collate",
    "generator",
    "prefetchFactor",
    "numWorkers",
    "pinMemory",
    "persistentWorkers",
    "workerInitFn",
    "timeout",
  ],
  flags: { dropLast: true, persistentWorkers: true, pinMemory: true, shuffle: true },
} as const;

/** Samples that a loader accepts: by index, in an array, or an iterable dataset. */
export type Samples<S> = Dataset<S> | readonly S[] | Iterable<S>;

/**
 * Iterates over samples in batches, as torch.utils.data.DataLoader. A dataset whose samples are promises (of files
 * being read, say) is iterated with `for await`, which works on several batches concurrently and yields them in order.
 *
 * With `numWorkers`, threads create the batches. Each of them loads its own dataset, which must come from
 * `data.fromModule`, or consist of tensors, arrays, or other such datasets. `collateFn` and `workerInitFn` must come
 * from `data.fromModule`, too. Tensors arrive without a copy. Each worker iterates over all samples of an iterable
 * dataset unless the dataset selects its part by `data.getWorkerInfo()`.
 */
export class DataLoader<S, B = Collated<S>> implements Iterable<B>, AsyncIterable<B> {
  readonly #batchSize: number | null;
  /** The dataset; null for iterable datasets. */
  readonly #dataset: Dataset<S> | null;
  readonly #stream: Iterable<S> | null;
  readonly #options: LoaderOptions<S, B>;
  readonly #sampler: Iterable<number>;
  readonly #fetcher: Fetcher<S, B>;
  /** The task of the workers; null without workers. */
  readonly #task: WorkerTask | null;
  /** Workers that wait for the next epoch. */
  #workers: LoaderWorkers | null = null;

  /** Receives samples, then PyTorch's arguments; trailing ones also by name. Throws DynError for inconsistent ones. */
  constructor(dataset: Samples<S>, ...given: Trailing<LoaderOptions<S, B>, typeof POSITIONAL>) {
    const options = trailing<LoaderOptions<S, B>>("DataLoader", NAMES, given);
    const { sampler, batchSampler, shuffle = false, generator = null } = options;
    checkSamples(dataset);
    this.#dataset = isList(dataset) ? new ListDataset(dataset) : isIndexed(dataset) ? dataset : null;
    this.#stream = isList(dataset) || isIndexed(dataset) ? null : dataset;
    this.#batchSize = batchSampler || options.batchSize === null ? null : options.batchSize ?? 1;
    if (sampler && shuffle) throw new DynError("Expected either a sampler or shuffle but found both");
    if (batchSampler && (options.batchSize !== undefined || shuffle || sampler || options.dropLast)) {
      throw new DynError(
        "Expected batchSampler without batchSize, shuffle, sampler or dropLast but found them together",
      );
    }
    if (this.batchSize === null && !batchSampler && options.dropLast) {
      throw new DynError("Expected dropLast only with batches but found it with batchSize null");
    }
    if (this.#stream && (sampler || batchSampler || shuffle)) {
      throw new DynError(
        "Expected an iterable dataset without sampler and shuffle but found one of them",
      );
    }
    if (this.batchSize !== null) checkInteger("batchSize of DataLoader", this.batchSize, 1);
    this.#options = options;
    const source = this.#dataset ?? { length: 0 };
    this.#sampler = sampler ??
      (shuffle ? new RandomSampler(source, { generator }) : new SequentialSampler(source));
    const { collateFn = null, collate = collateFn } = options,
      single = this.batchSize === null && !batchSampler;
    this.#fetcher = new Fetcher<S, B>({ dataset: this.#dataset, collate, single });
    checkWorkers(options);
    this.#task = !options.numWorkers ? null : {
      dataset: originOf(dataset, "a dataset"),
      collate: collate ? originOf(collate, "collateFn") : null,
      init: options.workerInitFn ? originOf(options.workerInitFn, "workerInitFn") : null,
      single,
      stream: this.#stream ? { size: this.batchSize ?? 1, dropLast: options.dropLast ?? false } : null,
      defaultDtype: getDefaultDtype(),
    };
  }

  /** Samples per batch; null: single samples. */
  get batchSize(): number | null {
    return this.#batchSize;
  }

  /** Throws DynError: samplers and workers were created for the former size. */
  set batchSize(size: never) {
    throw new DynError(`Expected batchSize as the constructor of DataLoader took it but found ${size} later`);
  }

  /** The dataset. Throws DynError for iterable datasets. */
  get dataset(): Dataset<S> {
    if (this.#dataset) return this.#dataset;
    throw new DynError("Expected a loader of a dataset with indices but found one of an iterable dataset");
  }

  /** Returns the number of samples and the batch settings. */
  toString(): string {
    const { shuffle = false, dropLast = false } = this.#options;
    const count = this.#dataset ? `${this.#dataset.length} samples` : "a stream";
    return `DataLoader(${count}, batchSize=${this.batchSize}, shuffle=${shuffle}, dropLast=${dropLast})`;
  }

  /** Number of batches. Throws DynError for iterable datasets, whose number of samples is unknown. */
  get length(): number {
    const { batchSampler, dropLast = false } = this.#options;
    if (this.#stream) {
      throw new DynError("Expected a dataset with a length but found an iterable dataset");
    }
    if (batchSampler) return countOf(batchSampler);
    const count = countOf(this.#sampler);
    if (this.batchSize === null) return count;
    return dropLast ? Math.floor(count / this.batchSize) : Math.ceil(count / this.batchSize);
  }

  /** Iterates over the batches of an epoch. */
  *[Symbol.iterator](): Iterator<B> {
    if (this.#task) {
      const workers = this.#begin(this.#task);
      try {
        yield* workers.batches(this.#asked()) as Iterable<B>;
      } finally {
        this.#leave(workers);
      }
    } else if (this.#stream) yield* this.#streamed(this.#stream);
    else for (const indices of this.#indices()) yield this.#fetcher.batch(indices);
  }

  /** Iterates over the batches of an epoch, whose samples may be promises. */
  async *[Symbol.asyncIterator](): AsyncIterator<B> {
    const place = new DynError("");
    try {
      yield* this.#batchesLater();
    } catch (thrown) {
      throw thrown instanceof DynError ? placeLike(thrown, place) : thrown;
    }
  }

  async *#batchesLater(): AsyncIterable<B> {
    const { prefetchFactor = 2 } = this.#options, begun: Promise<B>[] = [];
    if (this.#task) {
      const workers = this.#begin(this.#task);
      try {
        yield* workers.batchesLater(this.#asked()) as AsyncIterable<B>;
      } finally {
        this.#leave(workers);
      }
      return;
    }
    if (this.#stream) {
      yield* this.#streamed(this.#stream);
      return;
    }
    for (const indices of this.#indices()) {
      const batch = this.#fetcher.batchLater(indices);
      // The error is thrown when it is requested
      batch.catch(() => {});
      begun.push(batch);
      const first = begun.length > prefetchFactor ? begun.shift() : undefined;
      if (first) yield await first;
    }
    for (const batch of begun) yield await batch;
  }

  /** The indices of each batch. */
  *#indices(): IterableIterator<readonly number[]> {
    const { batchSampler, dropLast = false } = this.#options;
    if (batchSampler) yield* batchSampler;
    else if (this.batchSize === null) { for (const index of this.#sampler) yield [index]; }
    else yield* new BatchSampler(sized(this.#sampler), this.batchSize, dropLast);
  }

  #streamed(stream: Iterable<S>): Iterable<B> {
    return this.#fetcher.streamed(stream, this.batchSize ?? 1, this.#options.dropLast ?? false);
  }

  /** Returns the requests for workers: indices, or null for batches of their streams. */
  #asked(): Iterator<readonly number[]> | null {
    return this.#stream ? null : this.#indices();
  }

  /** Starts or reuses workers for an epoch. */
  #begin(task: WorkerTask): LoaderWorkers {
    const waiting = this.#workers;
    this.#workers = null;
    if (waiting) return waiting;
    const { numWorkers = 0, prefetchFactor = 2, timeout = 0, generator = null } = this.#options;
    return new LoaderWorkers(task, {
      count: numWorkers,
      prefetch: prefetchFactor,
      timeout: timeout === 0 ? Infinity : 1000 * timeout,
      seed: Number(randint(SEEDS, [1], { generator, device: "cpu" }).item()),
    });
  }

  /** Keeps workers for the next epoch, or ends them. */
  #leave(workers: LoaderWorkers): void {
    if (this.#options.persistentWorkers && this.#workers === null) this.#workers = workers;
    else workers.end();
  }
}

showAsText(DataLoader.prototype);

/** The exclusive upper bound of workers' seeds. */
const SEEDS = 2 ** 31 - 1;

/** Throws DynError for invalid options of workers, or if workers are not possible. */
function checkWorkers({ numWorkers = 0, prefetchFactor, persistentWorkers, timeout = 0 }: {
  readonly numWorkers?: number;
  readonly prefetchFactor?: number;
  readonly persistentWorkers?: boolean;
  readonly timeout?: number;
}): void {
  checkInteger("numWorkers", numWorkers, 0);
  checkInteger("prefetchFactor", prefetchFactor ?? 1, 1);
  checkAtLeast("timeout", timeout, 0);
  if (persistentWorkers) checkAtLeast("numWorkers with persistentWorkers", numWorkers, 1);
  if (numWorkers > 0 && getWorkerInfo()) {
    throw new DynError(
      "Expected a loader without workers inside of a worker but found numWorkers: the module of a dataset must not import " +
        "the program that loads it",
    );
  }
}

function sized(sampler: Iterable<number>): Sampler {
  return { length: 0, [Symbol.iterator]: () => sampler[Symbol.iterator]() };
}

function countOf(items: Iterable<unknown>): number {
  const length: unknown = Reflect.get(Object(items), "length");
  return typeof length === "number" ? length : [...items].length;
}

/** Throws DynError for samples that are neither indexed nor iterable. */
function checkSamples(given: unknown): void {
  const isObject = typeof given === "object" && given !== null;
  if (
    isObject &&
    (Symbol.iterator in given || Symbol.asyncIterator in given || ("get" in given && "length" in given))
  ) {
    return;
  }
  const hint = types.isPromise(given) ? "; await it" : "";
  throw new DynError(
    `Expected samples with get() and length, or an iterable, but found ${oneLine(given)}${hint}`,
  );
}

function isList<S>(dataset: Samples<S>): dataset is readonly S[] {
  return Array.isArray(dataset);
}

function isIndexed<S>(dataset: Samples<S>): dataset is Dataset<S> {
  return "get" in dataset && "length" in dataset;
}
