/**
 * Fetches batches of samples by index, or from an iterable dataset. Invariant: an error that a dataset throws names the
 * sample, in any thread.
 */
import { DynError, invariant, isOwnFrame, messageOf } from "../base/errors.ts";
import { defaultCollate, defaultConvert } from "./collate.ts";
import type { Dataset } from "./dataset.ts";

/** The dataset, and how its samples are batched. */
interface Batching<S, B> {
  /** Samples by index; null for iterable datasets. */
  readonly dataset: Dataset<S> | null;
  /** Creates a batch of samples; null for the default. */
  readonly collate: ((samples: S[]) => B) | null;
  /** Whether a batch is one unchanged sample. */
  readonly single: boolean;
}

/** Creates batches. */
export class Fetcher<S, B> {
  readonly #batching: Batching<S, B>;

  constructor(batching: Batching<S, B>) {
    this.#batching = batching;
  }

  /** Returns the batch of some samples. */
  batch(indices: readonly number[]): B {
    return this.#together(indices) ?? this.#batchOf(indices, indices.map((index) => this.#sample(index)));
  }

  /** Like `batch`, for samples that may be promises. */
  async batchLater(indices: readonly number[]): Promise<B> {
    const together = this.#together(indices);
    if (together !== undefined) return await together;
    const samples = await Promise.all(indices.map(async (index) => {
      try {
        return await this.#sample(index);
      } catch (thrown) {
        throw placed(thrown, index);
      }
    }));
    return this.#batchOf(indices, samples);
  }

  /** Yields batches of an iterable dataset's samples. */
  *streamed(stream: Iterable<S>, size: number, dropLast: boolean): Iterable<B> {
    let samples: S[] = [];
    for (const sample of stream) {
      samples.push(sample);
      if (samples.length < size) continue;
      yield this.collated(samples);
      samples = [];
    }
    if (samples.length > 0 && !dropLast) yield this.collated(samples);
  }

  /** Collates samples. */
  collated(samples: S[]): B {
    const { collate, single } = this.#batching;
    if (collate) return collate(samples);
    return (single ? defaultConvert(samples[0]) : defaultCollate(samples)) as B;
  }

  /** Collates samples by index: if they cannot be collated, the error of the default function names them. */
  #batchOf(indices: readonly number[], samples: S[]): B {
    try {
      return this.collated(samples);
    } catch (thrown) {
      if (this.#batching.collate || this.#batching.single || !(thrown instanceof DynError)) throw thrown;
      throw new DynError(`${thrown.message} in the batch of samples ${indices.join(", ")}`, {
        cause: thrown,
      });
    }
  }

  /** Returns the batch that the dataset itself creates, or undefined. */
  #together(indices: readonly number[]): B | undefined {
    const { dataset, collate, single } = this.#batching;
    return collate || single ? undefined : dataset?.batch?.(indices) as B | undefined;
  }

  #sample(index: number): S {
    const { dataset } = this.#batching;
    invariant(dataset, "Expected a dataset with samples by index");
    try {
      return dataset.get(index);
    } catch (thrown) {
      throw placed(thrown, index);
    }
  }
}

/** Wraps an error with the index of the sample. */
function placed(thrown: unknown, index: number): unknown {
  return thrown instanceof SampleError ? thrown : new SampleError(index, "its dataset threw", thrown);
}

/** Returns the line of the dataset that threw an error, from its stack; empty if there is none. */
function placeOf(thrown: unknown): string {
  const lines = thrown instanceof Error ? thrown.stack?.split("\n") ?? [] : [];
  const line = lines.find((each) => /^\s+at .*:\d+:\d+\)?$/.test(each) && !isOwnFrame(each));
  return line === undefined ? "" : `, ${line.trim()}`;
}

/** An error thrown by a dataset, with the sample. */
export class SampleError extends DynError {
  override readonly name: string = "SampleError";

  /** `who` names the source of `cause` and the place. */
  constructor(readonly index: number, who: string, cause: unknown) {
    super(`Expected sample ${index} but ${who}: ${messageOf(cause)}${placeOf(cause)}`, { cause });
  }
}
