/**
 * Compositions whose elements come each of those of the operands at its own place. Input: none; output: their names.
 * Invariant: what single definitions say of themselves is not repeated here.
 */
import type { OpName } from "./generated.ts";

/** Ops that are elementwise as the sum of their parts. */
export const OWN_PLACES: readonly OpName[] = [
  "square",
  "round",
  "logit",
  "nanToNum",
  "xlogy",
  "xlog1py",
  "nextafter",
];
