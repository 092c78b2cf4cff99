/**
 * The order of a pipeline stage's passes. Invariants: forward and backward passes each process micro-batches in
 * order, as messages between stages do; a backward pass follows its forward pass.
 */

/** One pass of a stage. */
export interface Pass {
  readonly kind: "forward" | "backward";
  /** Index of its micro-batch. */
  readonly index: number;
}

/** The position of a stage. */
export interface StagePlace {
  readonly stageIndex: number;
  readonly numStages: number;
}

/** The order of a stage's passes over a number of micro-batches. */
export type Order = (place: StagePlace, microbatches: number) => readonly Pass[];

const passes = (kind: Pass["kind"], from: number, to: number): Pass[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => ({ kind, index: from + k }));

/**
 * All forward passes, then all backward passes (Huang et al. 2019, GPipe). Saves the activations of all micro-batches.
 */
export const gpipe: Order = (_, n) => [...passes("forward", 0, n), ...passes("backward", 0, n)];

/**
 * As many forward passes as there are later stages, and then one of each in alternation (Narayanan et al. 2019, PipeDream).
 * Saves activations for as many micro-batches as there are stages from this one on.
 */
export const oneForwardOneBackward: Order = ({ stageIndex, numStages }, n) => {
  const ahead = Math.min(n, numStages - stageIndex);
  const turns = passes("forward", ahead, n).flatMap((forward, k): Pass[] => [
    { kind: "backward", index: k },
    forward,
  ]);
  return [...passes("forward", 0, ahead), ...turns, ...passes("backward", n - ahead, n)];
};

/** Returns the maximum number of micro-batches whose saved tensors a stage holds. */
export function maxSavedBatches(order: readonly Pass[]): number {
  let kept = 0, most = 0;
  for (const { kind } of order) {
    kept += kind === "forward" ? 1 : -1;
    most = Math.max(most, kept);
  }
  return most;
}
