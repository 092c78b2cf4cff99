/** What the description of a call holds for loops: sizes, then addresses of buffers. Input: places; output: offsets. */
import type { Program } from "../../lib/loops/ir.ts";

/** Where a description holds the size of this number: 64 bits each, from its start. */
export const sizeOffset = (size: number): number => 8 * size;

/** Where it holds the address of a buffer of the function: one word each, behind the sizes. */
export const addressOffset = ({ sizes }: Pick<Program, "sizes">, place: number): number =>
  sizeOffset(sizes.length) + 4 * place;
