/**
 * Features of programs that can be excluded, to look for faults of one kind or to skip known ones. Invariant: names
 * differ from those of aspects, so that one list can hold both.
 */

/** Features of programs besides calls of ops and views. */
export const FEATURES = [
  /** Hooks, `backward()` and `autograd.grad` inside the function. */
  "backward",
  /** Optimizers, and whole training steps. */
  "optimizer",
  /** Statements that fail, caught or not, and indices out of range. */
  "failure",
  /** Writes into tensors. */
  "write",
  /** noGrad, loops, try, if. */
  "block",
  /** Complex numbers. */
  "complex",
  /** Recorded texts and numbers, numbers read from tensors. */
  "effect",
  /** Calls with other sizes or other tensors. */
  "dynamic",
] as const;

/** A feature that can be excluded. */
export type Feature = typeof FEATURES[number];
