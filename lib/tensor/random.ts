/**
 * The random number generator: a seed and a count of calls. Each random call gets one pair of Philox keys. Invariant:
 * after `manualSeed(s)` the n-th random call of a program gets the same keys in every run, whatever kernels compute
 * it; no two calls of a run share keys.
 */

import { withRuntimeBuiltins } from "../base/own_builtins.ts";
import { checkKind, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { showAsText, withSettings } from "../base/console_text.ts";
import type { RandomSource } from "../ops/random_source.ts";
import { scoped } from "../base/scoped.ts";

/** The state of the generator. */
export interface GeneratorState {
  /** The number that starts the sequence. */
  readonly seed: number;
  /** Random calls made since the seed was set. */
  readonly offset: number;
}

/** Two int32 words that key one random call. */
export type RandomKeys = readonly [key0: number, key1: number];

/** A source of keys, as `torch.Generator`: the same on all devices. */
export class Generator implements RandomSource {
  #seed = 0;
  #offset = 0;

  /** Starts from a seed, by default a random one. It draws for all devices. Throws as `manualSeed` does. */
  constructor(seed: number = randomSeed()) {
    this.manualSeed(seed);
  }

  /** Restarts from a seed, an integer up to 2⁵³. Throws DynError for other values. */
  manualSeed(seed: number): this {
    if (arguments.length > 1) refuseSurplus("manualSeed", 1, arguments);
    withRuntimeBuiltins(() => {
      if (!Number.isSafeInteger(seed)) refuseValue("an integer as a seed", seed);
    });
    this.#seed = seed;
    this.#offset = 0;
    return this;
  }

  /** The seed in force. */
  initialSeed(): number {
    if (arguments.length > 0) refuseSurplus("initialSeed", 0, arguments);
    return this.#seed;
  }

  /** Restarts from a random seed, and returns it. */
  seed(): number {
    if (arguments.length > 0) refuseSurplus("seed", 0, arguments);
    return this.manualSeed(randomSeed()).initialSeed();
  }

  /** Returns the position in its sequence, to be restored with `setState`. */
  getState(): GeneratorState {
    if (arguments.length > 0) refuseSurplus("getState", 0, arguments);
    return this.state;
  }

  /** Continues from a state. Throws DynError if it is none. */
  setState(state: GeneratorState): this {
    if (arguments.length > 1) refuseSurplus("setState", 1, arguments);
    checkKind(state, "an object", "the state of a generator");
    return this.manualSeed(state.seed).setOffset(state.offset);
  }

  /** Returns the number of random calls since its seed was set. */
  getOffset(): number {
    if (arguments.length > 0) refuseSurplus("getOffset", 0, arguments);
    return this.#offset;
  }

  /** Continues after the given number of calls since its seed was set. Throws DynError for an invalid number. */
  setOffset(offset: number): this {
    if (arguments.length > 1) refuseSurplus("setOffset", 1, arguments);
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw new DynError(`Expected a count of random calls as offset but found ${offset}`);
    }
    this.#offset = offset;
    return this;
  }

  /** Returns a copy, which continues with the same numbers as this generator. */
  cloneState(): Generator {
    if (arguments.length > 0) refuseSurplus("cloneState", 0, arguments);
    return new Generator().setState(this.state);
  }

  /** The position in its sequence. */
  get state(): GeneratorState {
    return { seed: this.#seed, offset: this.#offset };
  }

  set state(state: GeneratorState) {
    this.setState(state);
  }

  /** Keys for the next random call. */
  next(): RandomKeys {
    if (arguments.length > 0) refuseSurplus("next", 0, arguments);
    return keysAt(this.#seed, this.#offset++);
  }

  /** Returns its seed and position. */
  toString(): string {
    return withSettings("Generator", this.state);
  }
}

showAsText(Generator.prototype);

function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** The keys of call number `offset` after a seed. */
export function keysAt(seed: number, offset: number): RandomKeys {
  const low = seed | 0, high = Math.floor(seed / 2 ** 32) | 0;
  return [low, (offset + Math.imul(high, 0x9E3779B9)) | 0];
}

/** The generator that ops use. */
export const defaultGenerator: Generator = new Generator();

/** Seeds all random numbers, as `torch.manual_seed`. */
export function manualSeed(seed: number): Generator {
  if (arguments.length > 1) refuseSurplus("manualSeed", 1, arguments);
  return withRuntimeBuiltins(() => defaultGenerator.manualSeed(seed));
}

/** The seed in force. */
export function initialSeed(): number {
  if (arguments.length > 0) refuseSurplus("initialSeed", 0, arguments);
  return defaultGenerator.initialSeed();
}

/** The generator's state, to be restored with `setRngState`. */
export function getRngState(): GeneratorState {
  if (arguments.length > 0) refuseSurplus("getRngState", 0, arguments);
  return defaultGenerator.state;
}

/** Restores a state, so that the same random numbers follow. */
export function setRngState(state: GeneratorState): void {
  if (arguments.length > 1) refuseSurplus("setRngState", 1, arguments);
  defaultGenerator.state = state;
}

/** Runs `draw` with the random numbers of `generator`, which advances; null: of the common one. */
export function drawnFrom<T>(generator: Generator | null, draw: () => T): T {
  if (generator === null || generator === defaultGenerator) return draw();
  const common = defaultGenerator.state;
  defaultGenerator.state = generator.state;
  try {
    return draw();
  } finally {
    generator.state = defaultGenerator.state;
    defaultGenerator.state = common;
  }
}

/**
 * Runs a body and restores the common generator afterwards, as `torch.random.fork_rng`; if the body returns a promise,
 * once that settles.
 */
export function forkRng<R>(body: () => R): R {
  if (arguments.length > 1) refuseSurplus("forkRng", 1, arguments);
  const before = defaultGenerator.state;
  return scoped(body, () => defaultGenerator.state = before);
}
