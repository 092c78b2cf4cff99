/**
 * The ops in `linalg`. Written by tools/generate.ts from the definitions in lib/ops; run `deno task generate`.
 */
export { matmul, vectorNorm } from "./generated_functions.ts";
