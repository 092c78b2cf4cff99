/**
 * The ops in `linalg`. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
export {
  det,
  inv,
  inverse,
  invEx,
  linalgCross as cross,
  linalgDiagonal as diagonal,
  linalgNorm as norm,
  matmul,
  matrixNorm,
  matrixPower,
  multiDot,
  slogdet,
  solve,
  solveEx,
  svdvals,
  tensorinv,
  vander,
  vecdot,
  vectorNorm,
} from "./generated_functions.ts";
