/** The layout of a call's description as loops read it: sizes, then addresses of buffers. */
import type { Program } from "../../lib/loops/ir.ts";

/** Returns the offset of the size of this number in a description: 64 bits each, from its start. */
export const sizeOffset = (size: number): number => 8 * size;

/** Returns the offset of the address of the function's buffer: one word each, after the sizes. */
export const addressOffset = ({ sizes }: Pick<Program, "sizes">, place: number): number =>
  sizeOffset(sizes.length) + 4 * place;
