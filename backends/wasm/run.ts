/**
 * One call of a program, as its kernels see it. Made by the program, given to every kernel in turn. Invariant: it
 * holds for that one call only.
 */
import type { Program } from "../../lib/loops/ir.ts";
import type { Sym } from "../../lib/sym/expr.ts";

/** What kernels of one call work on. */
export interface Run {
  readonly program: Program;
  /** Byte addresses of all buffers. */
  readonly addresses: readonly number[];
  readonly sizes: readonly number[];
  /** The value of a size symbol. */
  readonly value: (symbol: Sym) => number;
  /** Where the description of buffers and sizes is. */
  readonly description: number;
  /** First address of the scratch memory. */
  readonly free: number;
}
