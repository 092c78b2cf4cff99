/** The texts of the library routines. */
export { convSource } from "./conv.ts";
export { gemmSource } from "./gemm.ts";
export { sortSource } from "./sort.ts";
