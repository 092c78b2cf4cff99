/**
 * The parameter words of a shader, binding 0: a zero, then the sizes of the call, the offsets of buffers and other
 * numbers that the shader reads, in the order of its reads. Invariant: kernels that differ only in the offsets of their
 * buffers, and in such numbers, have the same text.
 */
import { itemSize } from "../../../lib/base/dtype.ts";
import { InternalError } from "../../../lib/base/errors.ts";
import type { BufferId, Program } from "../../../lib/loops/ir.ts";
import { type Dim, evaluate, type Sym } from "../../../lib/sym/expr.ts";

/** A parameter word that is zero, unknown to compilers. */
export const UNKNOWN_ZERO = "params[0]";

/** A parameter word: a size of the program by its index, the element offset of a buffer, or another number. */
export type ParameterWord =
  | { readonly kind: "size"; readonly at: number }
  | { readonly kind: "offset"; readonly buffer: BufferId }
  | { readonly kind: "number"; readonly value: Dim };

/** The words of one shader. */
export class Parameters {
  readonly #texts = new Map<string, string>();
  readonly words: ParameterWord[] = [];

  constructor(readonly program: Program) {}

  /** The text that reads a size. */
  size(size: Sym): string {
    const at = this.program.sizes.indexOf(size);
    if (at < 0) throw new InternalError(`Expected a size of the program but found ${size}`);
    return this.#text(`size ${at}`, { kind: "size", at });
  }

  /** The text that reads the offset of a buffer, in elements. */
  offset(buffer: BufferId): string {
    return this.#text(`offset ${buffer}`, { kind: "offset", buffer });
  }

  /** The text that reads a number, which has the same meaning in all kernels with this text. */
  number(meaning: string, value: Dim): string {
    return this.#text(meaning, { kind: "number", value });
  }

  #text(key: string, word: ParameterWord): string {
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = `params[${this.words.push(word)}]`;
    this.#texts.set(key, text);
    return text;
  }
}

/** The parameters of a call: its sizes, and the byte offsets of inputs and outputs in their memory. */
export interface CallPlaces {
  readonly sizes: readonly number[];
  readonly byteOffsets: readonly number[];
}

/** Writes the words of a shader into zeroed memory. */
export function writeParameters(
  into: Int32Array<ArrayBuffer>,
  words: readonly ParameterWord[],
  { program, sizes, byteOffsets }: CallPlaces & { readonly program: Omit<Program, "kernels"> },
): void {
  const handed = [...program.inputs, ...program.outputs];
  const valueOf = (symbol: Sym): number => sizes[program.sizes.indexOf(symbol)] ?? 0;
  const elementsBefore = (buffer: BufferId): number => {
    const declaration = program.buffers[buffer];
    if (!declaration) throw new InternalError(`Expected a buffer of the program but found ${buffer}`);
    const { role, dtype } = declaration;
    if (role.kind === "window") return elementsBefore(role.of) + role.from;
    const bytes = role.kind === "temporary"
      ? evaluate(role.offset, valueOf)
      : byteOffsets[handed.indexOf(buffer)] ?? 0;
    return bytes / itemSize(dtype);
  };
  const read = (word: ParameterWord): number => {
    switch (word.kind) {
      case "size":
        return sizes[word.at] ?? 0;
      case "offset":
        return elementsBefore(word.buffer);
      case "number":
        return evaluate(word.value, valueOf);
      default:
        return word satisfies never;
    }
  };
  words.forEach((word, i) => into[i + 1] = read(word));
}
