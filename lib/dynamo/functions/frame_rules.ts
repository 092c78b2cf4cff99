/**
 * What users say of the frames of functions: by marks on functions, and by regions of the program. Input: nothing (a
 * type and its default); output: rules that a frame keeps behind breaks. Invariant: rules never change what a call does.
 */

/** What users have said of a frame. */
export interface FrameRules {
  /** Whether a break from here on is an error, where a region of the program says so; null: as outside of it. */
  readonly errorOnBreak: boolean | null;
  /** Its own operations run outside of graphs; what it calls is captured. */
  readonly runsOutside: boolean;
  /** Graphs do not end within what it calls, but at the call of the outermost function. */
  readonly breaksOutside: boolean;
}

/** Nothing. */
export const NO_RULES: FrameRules = { errorOnBreak: null, runsOutside: false, breaksOutside: false };
