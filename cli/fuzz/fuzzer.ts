/**
 * The interface of a fuzzer: generates and shrinks programs, and decides whether a compiled run of one behaves as a
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
   * Runs programs on a tier, each plainly and compiled, and yields for each the failure or null, in order. Before
   * each it calls `begins`, so that a crash has a culprit.
   */
  run(programs: readonly P[], tier: Tier, begins: (index: number) => void): AsyncIterable<Failure | null>;
  /** A file that shows the failure when it is run by itself. */
  describe(program: P, failure: Failure): string;
  /** The same text for failures that are likely to have the same cause. */
  signature(program: P, failure: Failure): string;
  /** Counts of what happened so far, for the report. */
  counts(): Readonly<Record<string, number>>;
}
