/** Operands of library calls, as shapes and as places in the WebAssembly memory. */
import type { DType } from "../../lib/base/dtype.ts";

/** An operand of a call: strides in elements. */
export interface Shaped {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly strides: readonly number[];
}

/** The same at a byte address. */
export interface Operand extends Shaped {
  readonly address: number;
}

/** Operands by role. */
export interface Operands<V> {
  readonly inputs: readonly V[];
  readonly outputs: readonly V[];
}

/** Operands in memory, and the address of the scratch memory of their call. */
export interface Placed extends Operands<Operand> {
  readonly free: number;
}

/** Bytes up to the next multiple of 64. */
export const aligned = (bytes: number): number => Math.ceil(bytes / 64) * 64;

/** Elements of a shape. */
export const count = (shape: readonly number[]): number => shape.reduce((product, n) => product * n, 1);
