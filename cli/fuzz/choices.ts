/**
 * Random choices of a generator, based on fast-check's random numbers. Invariant: there is no other source of
 * randomness, so that one seed produces one program.
 */
import type fc from "fast-check";

/** A candidate and its relative frequency. */
export type Weighted<T> = readonly [weight: number, candidate: T];

/** Choices from one source. */
export class Choices {
  readonly #source: fc.Random;

  constructor(source: fc.Random) {
    this.#source = source;
  }

  /** An integer from 0 to `count` - 1. */
  below(count: number): number {
    return this.#source.nextInt(0, Math.max(0, count - 1));
  }

  /** An integer of the closed interval. */
  between(low: number, high: number): number {
    return this.#source.nextInt(low, high);
  }

  /** Returns true with this probability. */
  chance(probability: number): boolean {
    return this.#source.nextInt(0, 9999) < probability * 10000;
  }

  /** An item of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const at = this.below(list.length);
    for (const [k, each] of list.entries()) if (k === at) return each;
    throw new Error("Expected something to choose from but found an empty list");
  }

  /** An item of a list, or undefined if it is empty. */
  pickAny<T>(list: readonly T[]): T | undefined {
    return list.length === 0 ? undefined : this.pick(list);
  }

  /** A candidate, by weight. */
  weighted<T>(candidates: readonly Weighted<T>[]): T {
    let left = this.below(candidates.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, candidate] of candidates) {
      if (left < weight) return candidate;
      left -= weight;
    }
    throw new Error("Expected something to choose from but found an empty list");
  }

  /** The list in random order. */
  shuffled<T>(list: readonly T[]): T[] {
    const left = [...list], out: T[] = [];
    while (left.length > 0) out.push(...left.splice(this.below(left.length), 1));
    return out;
  }
}
