/**
 * Rules for frames, from users' marks on functions and from regions of the program; a frame keeps them after breaks.
 * Invariant: rules never change what a call does.
 */

/** The rules of a frame. */
export interface FrameRules {
  /** Whether a break from here on is an error, as set by a region of the program; null: not set. */
  readonly errorOnBreak: boolean | null;
  /** Whether its own operations run outside of graphs; its callees are captured. */
  readonly runsOutside: boolean;
  /** Whether graphs must not end inside its callees, but at the call of the outermost function. */
  readonly breaksOutside: boolean;
}

/** No rules. */
export const NO_RULES: FrameRules = { errorOnBreak: null, runsOutside: false, breaksOutside: false };
