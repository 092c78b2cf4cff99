/**
 * The ops in `linalg`. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
export {
  det,
  inv,
  inverse,
  linalgCross as cross,
  linalgNorm as norm,
  matmul,
  matrixNorm,
  matrixPower,
  multiDot,
  slogdet,
  svdvals,
  vander,
  vecdot,
  vectorNorm,
} from "./generated_functions.ts";
