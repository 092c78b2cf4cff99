/**
 * Runs a test of the conformance suite as a function: the interface of both engines, and the plain one. Invariant:
 * both engines call the same function in the same surroundings.
 */

/** State that scripts of the harness share with the process, as the global `$state`. */
export interface State {
  /** Number of assertions made, as the engine counts. */
  count: unknown;
  readonly printed: unknown[];
  readonly done: unknown[];
}

/** Facts about the capture of a run, filled in while it runs. */
export interface Capture {
  /** Causes of graph breaks. */
  readonly breaks: string[];
  /** Reasons why the test, or parts of it, ran uncompiled. */
  readonly uncompiled: string[];
  graphs: number;
}

/** A way to run tests. */
export interface Engine {
  /** A count of no assertions, whose method `add` returns the next. */
  zero(): unknown;
  /** A count as a number. */
  read(count: unknown): number;
  /** Calls a test. */
  run(test: () => void, state: State, capture: Capture): void;
}

/** Beginning of the outcome of a text that is not a function. */
export const NO_FUNCTION = "is no function";

/** The outcome of a run. */
export interface Report extends Readonly<Capture> {
  /** Everything that is compared: the outcome, the number of assertions, the output. */
  readonly outcome: string;
  /** The builtin that it changed. */
  readonly changed: string | null;
}

/** Runs a test between two tensor operations, so that there is a graph before and after it. */
export function surrounded(state: { count: { add(n: number): unknown } }, test: () => void): unknown {
  const before = state.count.add(0);
  test();
  return [before, state.count.add(0)];
}

class PlainCount {
  constructor(readonly value: number) {}
  add(n: number): PlainCount {
    return new PlainCount(this.value + n);
  }
}

/** Calls tests unchanged. */
export const plainEngine: Engine = {
  zero: () => new PlainCount(0),
  read: (count) => count instanceof PlainCount ? count.value : NaN,
  run: (test, state) => void surrounded(state as Counting, test),
};

/** A state whose count belongs to the engine. */
export type Counting = State & { count: { add(n: number): unknown } };
