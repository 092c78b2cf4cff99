/**
 * The interface of a fuzzer: generates and shrinks programs, and decides whether a compiled run of one behaves like a
 * plain run. campaign.ts drives it. Invariant: a fuzzer knows nothing of seeds, time or processes.
 */
import type fc from "fast-check";
import type { Failure, FuzzerName, Tier } from "./protocol.ts";

/** Creates, runs and shows programs of one kind. */
export interface Fuzzer<P> {
  readonly name: FuzzerName;
  /** Random programs for a tier; every value shrinks. */
  generate(tier: Tier): fc.Arbitrary<P>;
  /**
   * Runs programs on a tier, each plainly and compiled, and yields the failure of each, or null, in order. Calls
   * `begins` before each, so that a crash can be attributed.
   */
  run(programs: readonly P[], tier: Tier, begins: (index: number) => void): AsyncIterable<Failure | null>;
  /** A file that reproduces the failure when it is run. */
  describe(program: P, failure: Failure): string;
  /** The same text for failures that probably have the same cause. */
  signature(program: P, failure: Failure): string;
  /** Counts of events so far, for the report. */
  counts(): Readonly<Record<string, number>>;
}
