/**
 * How a process of the conformance suite runs a test: the vocabulary of both ways, and the plain one. Input: a test
 * as a function; output: its effects, and what is known of its capture. Invariant: both ways call the same function
 * in the same surroundings.
 */

/** What scripts of the harness share with the process, as the global `$state`. */
export interface State {
  /** As many as assertions were made, as the engine counts. */
  count: unknown;
  readonly printed: unknown[];
  readonly done: unknown[];
}

/** How a run was captured; filled in while it runs. */
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

/** How the outcome of a text begins that is no function. */
export const NO_FUNCTION = "is no function";

/** What came of a run. */
export interface Report extends Readonly<Capture> {
  /** All that is compared: how it ended, the assertions that it made, what it printed. */
  readonly outcome: string;
  /** The builtin that it left changed. */
  readonly changed: string | null;
}

/** What runs: between two steps on a tensor, so that both sides of the test have a graph. */
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
