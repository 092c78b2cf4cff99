/**
 * The words that a shader is handed beside memory, as binding 0: a zero, the sizes of a call, and where its buffers
 * begin. Input: a program and a call; output: texts that read a word, and the words.
 */
import { itemSize } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Program } from "../../../lib/loops/ir.ts";
import { evaluate, type Sym } from "../../../lib/sym/expr.ts";

/** A parameter word of which no compiler knows that it is zero; those of the sizes follow. */
export const UNKNOWN_ZERO = "params[0]";
const SIZES_AT = 1;

/** The parameter word that holds a size. */
export function sizeParameter(program: Program, size: Sym): string {
  const at = program.sizes.indexOf(size);
  if (at < 0) throw new InternalError(`Expected a size of the program but found ${size}`);
  return `params[${SIZES_AT + at}]`;
}

/** Buffers whose element offset is handed in: inputs, outputs, and temporaries whose place depends on sizes. */
function placed(program: Program): readonly BufferId[] {
  const symbolic = program.buffers.flatMap(({ role }, id) =>
    role.kind === "temporary" && typeof role.offset !== "number" ? [id] : []
  );
  return [...program.inputs, ...program.outputs, ...symbolic];
}

/** The parameter word that holds the element offset of a buffer. */
export function offsetParameter(program: Program, buffer: BufferId): string {
  const at = placed(program).indexOf(buffer);
  if (at < 0) throw new InternalError(`Expected a buffer with an offset of its own but found ${buffer}`);
  return `params[${SIZES_AT + program.sizes.length + at}]`;
}

/** The parameter words of one call: a zero, sizes, then element offsets. */
export function parameterWords(
  program: Program,
  sizes: readonly number[],
  byteOffsets: readonly number[],
): Int32Array<ArrayBuffer> {
  const buffers = placed(program);
  const words = new Int32Array(Math.max(4, SIZES_AT + program.sizes.length + buffers.length));
  words.set(sizes, SIZES_AT);
  buffers.forEach((id, i) => {
    const declaration = program.buffers[id];
    if (!declaration) throw new InternalError(`Expected a buffer of the program but found ${id}`);
    const { role, dtype } = declaration;
    const bytes = role.kind === "temporary"
      ? evaluate(role.offset, (symbol) => sizes[program.sizes.indexOf(symbol)] ?? 0)
      : byteOffsets[i] ?? 0;
    words[SIZES_AT + program.sizes.length + i] = bytes / itemSize(dtype);
  });
  return words;
}
