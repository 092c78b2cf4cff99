/**
 * The names of elementwise compositions: each result element depends only on the operands' elements at its own place.
 * Invariant: properties that single definitions state are not repeated here.
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
