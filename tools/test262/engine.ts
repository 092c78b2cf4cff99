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
  /** Why the test, or parts of it, ran uncompiled. */
  readonly uncompiled: string[];
  graphs: number;
}

/** A way to run tests. */
export interface Engine {
  /** A count of no assertions, with a method `add` that gives the next. */
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
  /** All that is compared: how it ended, the assertions that it made, what it printed. */
  readonly outcome: string;
  /** The builtin that it left changed. */
  readonly changed: string | null;
}

/** Runs a test between two steps on a tensor, so that both sides of it have a graph. */
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

/** Calls tests as they are. */
export const plainEngine: Engine = {
  zero: () => new PlainCount(0),
  read: (count) => count instanceof PlainCount ? count.value : NaN,
  run: (test, state) => void surrounded(state as Counting, test),
};

/** A state whose count is one of the engine's. */
export type Counting = State & { count: { add(n: number): unknown } };
