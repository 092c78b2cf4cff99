/**
 * Orders in which samples are read: indices, newly drawn for each iteration. Invariant: random orders come from a
 * generator, by default the global one.
 */
import { type Arguments, argumentsOf, flagOf } from "../base/arguments.ts";
import { checkInteger } from "../base/checked_numbers.ts";
import { checkFlag, checkKind, optionsOf, refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/console_text.ts";
import { tensor } from "../tensor/creation.ts";
import { multinomial, randint, randperm } from "../tensor/generated_functions.ts";
import { drawnFrom, type Generator } from "../tensor/random.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";

/** Anything with a known number of samples. */
export interface Sized {
  /** Number of indices of an iteration. */
  readonly length: number;
}

/** Throws DynError unless a value has a length; `owner` is what it was passed to. */
export function checkSized(value: unknown, owner: string): asserts value is Sized {
  if (arguments.length > 2) refuseSurplus("checkSized", 2, arguments);
  checkKind(value, "an object", owner);
  checkKind(Reflect.get(Object(value), "length"), "a number", `the length of what ${owner} takes`);
}

/** Indices in an order that may differ in each iteration, like torch.utils.data.Sampler. */
export abstract class Sampler<I = number> implements Iterable<I>, Sized {
  /** Number of indices of an iteration. */
  abstract readonly length: number;
  /** The indices. */
  abstract [Symbol.iterator](): Iterator<I>;
}

/** Options of random orders. */
export interface RandomOptions {
  /** Generator of random numbers; default: the global one. */
  readonly generator?: Generator | null;
}

/** A random order of 0 … n − 1. */
export function permutation(n: number, options: RandomOptions = {}): number[] {
  if (arguments.length > 2) refuseSurplus("permutation", 2, arguments);
  const { generator = null } = optionsOf("permutation", options, ["generator"]);
  return drawnFrom(generator, () => Array.from(randperm(n, { device: "cpu" }).toTypedArray(), Number));
}

/** 0, 1, 2, … */
export class SequentialSampler implements Sampler {
  /** Takes the data source. */
  constructor(readonly dataSource: Sized) {
    if (arguments.length > 1) refuseSurplus("SequentialSampler", 1, arguments);
  }

  /** Number of indices of an iteration. */
  get length(): number {
    return this.dataSource.length;
  }

  /** The indices. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (let i = 0; i < this.length; i++) yield i;
  }

  /** The settings. */
  toString(): string {
    return `SequentialSampler(${this.length})`;
  }
}

showAsText(SequentialSampler.prototype);

/** Options of RandomSampler. */
export interface RandomSamplerOptions extends RandomOptions {
  /** Whether an index may occur again before all have occurred; default false. */
  readonly replacement?: boolean;
  /** Number of indices of an iteration; default: the number of samples. */
  readonly numSamples?: number | null;
}

/** All indices in a random order, or indices drawn with replacement. */
export class RandomSampler implements Sampler {
  readonly #options: RandomSamplerOptions;

  /** Takes the data source. Throws DynError for a number of samples that is not positive. */
  constructor(readonly dataSource: Sized, options: RandomSamplerOptions = {}) {
    if (arguments.length > 2) refuseSurplus("RandomSampler", 2, arguments);
    checkSized(dataSource, "RandomSampler");
    const { replacement = false } = optionsOf("RandomSampler", options, [
      "replacement",
      "numSamples",
      "generator",
    ]);
    checkFlag("replacement of RandomSampler", replacement);
    this.#options = options;
    if (!Number.isInteger(this.length) || this.length < (options.numSamples == null ? 0 : 1)) {
      throw new DynError(`Expected a positive number of samples but found ${this.length}`);
    }
  }

  /** Number of indices of an iteration. */
  get length(): number {
    return this.#options.numSamples ?? this.dataSource.length;
  }

  /** The indices. */
  *[Symbol.iterator](): IterableIterator<number> {
    const { replacement = false, generator = null } = this.#options, n = this.dataSource.length;
    if (replacement) {
      const drawn = drawnFrom(
        generator,
        () => randint(0, n, [this.length], { device: "cpu" }).toTypedArray(),
      );
      yield* Array.from(drawn, Number);
      return;
    }
    for (let left = this.length; left > 0; left -= n) {
      yield* permutation(n, { generator }).slice(0, Math.min(left, n));
    }
  }

  /** The settings. */
  toString(): string {
    return withSettings("RandomSampler", {
      length: this.length,
      replacement: this.#options.replacement ?? false,
    });
  }
}

showAsText(RandomSampler.prototype);

/** Some indices in a random order. */
export class SubsetRandomSampler implements Sampler {
  readonly #options: RandomOptions;

  /** Takes the indices. */
  constructor(readonly indices: readonly number[], options: RandomOptions = {}) {
    if (arguments.length > 2) refuseSurplus("SubsetRandomSampler", 2, arguments);
    checkKind(indices, "a list", "indices of SubsetRandomSampler");
    this.#options = optionsOf("SubsetRandomSampler", options, ["generator"]);
  }

  /** Number of indices of an iteration. */
  get length(): number {
    return this.indices.length;
  }

  /** The indices. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (const at of permutation(this.indices.length, this.#options)) {
      const index = this.indices[at];
      if (index !== undefined) yield index;
    }
  }

  /** The settings. */
  toString(): string {
    return `SubsetRandomSampler(${this.length})`;
  }
}

showAsText(SubsetRandomSampler.prototype);

/** Options of WeightedRandomSampler. */
export interface WeightedOptions extends RandomOptions {
  /** Whether an index may occur more than once; default true. */
  readonly replacement?: boolean | undefined;
}

/** Required arguments of WeightedRandomSampler. */
interface Weighted {
  readonly weights: Tensor | readonly number[];
  readonly numSamples: number;
}

/** Weights and number of samples, then options, by position or by name. */
export type WeightedArguments = Arguments<Weighted, WeightedOptions, typeof WEIGHTED>;

const WEIGHTED = {
  required: ["weights", "numSamples"],
  positional: ["replacement", "generator"],
  flags: { replacement: true },
} as const;

/** Indices drawn with probabilities proportional to weights. */
export class WeightedRandomSampler implements Sampler {
  /** Number of indices of an iteration. */
  readonly length: number;
  readonly #weights: Tensor;
  readonly #options: WeightedOptions;

  /** Receives a weight for each sample, none negative, and the number of draws. */
  constructor(...arguments_: WeightedArguments) {
    const { weights, numSamples: count, ...options } = argumentsOf<Weighted, WeightedOptions>(
      "WeightedRandomSampler",
      WEIGHTED,
      arguments_,
    );
    if (!isTensor(weights)) checkKind(weights, "a list", "weights of WeightedRandomSampler");
    const given = isTensor(weights) ? Array.from(weights.toTypedArray(), Number) : [...weights];
    if (isTensor(weights) && weights.ndim !== 1) {
      throw new DynError(`Expected weights in one dimension but found shape [${weights.shape.join(", ")}]`);
    }
    const wrong = given.findIndex((weight) => typeof weight !== "number" || !(weight >= 0));
    if (wrong >= 0) {
      throw new DynError(`Expected non-negative weights but found ${given[wrong]} at ${wrong}`);
    }
    checkInteger("the number of samples", count, 1);
    this.#weights = tensor(given, { dtype: "float64", device: "cpu" });
    this.length = count;
    this.#options = options;
  }

  /** The indices. */
  *[Symbol.iterator](): IterableIterator<number> {
    const { replacement = true, generator = null } = this.#options;
    const drawn = drawnFrom(
      generator,
      () => multinomial(this.#weights, this.length, replacement).toTypedArray(),
    );
    yield* Array.from(drawn, Number);
  }

  /** The settings. */
  toString(): string {
    return withSettings("WeightedRandomSampler", {
      length: this.length,
      replacement: this.#options.replacement ?? true,
    });
  }
}

showAsText(WeightedRandomSampler.prototype);

/** Optional arguments of BatchSampler. */
export interface DropLast {
  /** Whether an incomplete last batch is dropped; default false. */
  readonly dropLast?: boolean | undefined;
}

/** The required argument of BatchSampler after the sampler. */
export interface BatchSize {
  /** Number of indices of a batch. */
  readonly batchSize: number;
}

/** The batch size and `dropLast`, by position or by name. */
export type BatchArguments = Arguments<BatchSize, DropLast, typeof BATCH>;

const BATCH = { required: ["batchSize"], positional: ["dropLast"], flags: { dropLast: true } } as const;

/** Lists of `batchSize` indices of another sampler, the last one shorter unless dropLast. */
export class BatchSampler implements Sampler<number[]> {
  /** Number of indices of a batch. */
  readonly batchSize: number;
  /** Whether an incomplete last batch is dropped. */
  readonly dropLast: boolean;

  /** Receives the sampler, the batch size, and `dropLast`, by position or by name; default false. */
  constructor(readonly sampler: Sampler, ...given: BatchArguments) {
    const { batchSize, dropLast = false } = argumentsOf<BatchSize, DropLast>("BatchSampler", BATCH, given);
    this.batchSize = batchSize;
    this.dropLast = flagOf("BatchSampler", "dropLast", dropLast);
    checkInteger("batchSize of BatchSampler", batchSize, 1);
  }

  /** Number of batches of an iteration. */
  get length(): number {
    const whole = this.sampler.length / this.batchSize;
    return this.dropLast ? Math.floor(whole) : Math.ceil(whole);
  }

  /** The lists. */
  *[Symbol.iterator](): IterableIterator<number[]> {
    let batch: number[] = [];
    for (const index of this.sampler) {
      batch.push(index);
      if (batch.length < this.batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0 && !this.dropLast) yield batch;
  }

  /** The settings. */
  toString(): string {
    return withSettings("BatchSampler", this);
  }
}

showAsText(BatchSampler.prototype);
