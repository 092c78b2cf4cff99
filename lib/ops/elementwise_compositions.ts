/**
 * The names of elementwise compositions: each result element depends only on the operands' elements at its own
 * position. Ops whose definitions are `elementwise` are not repeated here.
 */
import type { OpName } from "./generated.ts";

/** Ops that are elementwise because all their parts are. */
export const ELEMENTWISE_COMPOSITIONS: readonly OpName[] = [
  "square",
  "round",
  "logit",
  "nanToNum",
  "xlogy",
  "xlog1py",
  "nextafter",
];
