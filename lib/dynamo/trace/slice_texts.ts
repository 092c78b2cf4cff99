/**
 * Slices written as texts of numbers that differ between calls: `x.at(":", `${n}:`)`. Invariant: a slice has the ends
 * that parsing the text would give it; a text that is no slice, or whose numbers are no sizes, is left to the parser.
 */
import { isLess } from "../../sym/decide.ts";
import { type Dim, mul } from "../../sym/expr.ts";
import type { SliceIndex } from "../../tensor/index_syntax.ts";
import { sizeOf } from "../variables/numbers.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { type ConstantValue, isPassed } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { JoinedText } from "./texts.ts";

/** The text between two colons. */
type Part = (string | NumberValue)[];

/** The slice that a text of pieces stands for; null for other values. */
export function sliceOfPieces(m: Interpreter, value: ConstantValue): SliceIndex | null {
  if (!(value instanceof JoinedText) || !isPassed(value)) return null;
  const parts = partsOf(value.pieces);
  if (parts.length < 2 || parts.length > 3) return null;
  // Only texts of which every part has the form of a bound ask for sizes
  if (!parts.every(hasForm)) return null;
  const ends = parts.map((part) => endOf(m, part)), [start, stop, step] = ends;
  return ends.includes(undefined) ? null : { start, stop, step };
}

/** The pieces between colons. */
function partsOf(pieces: JoinedText["pieces"]): readonly Part[] {
  const parts: Part[] = [[]];
  for (const piece of pieces) {
    if (typeof piece !== "string") {
      parts.at(-1)?.push(piece);
      continue;
    }
    piece.split(":").forEach((text, k, all) => {
      if (k > 0) parts.push([]);
      // A sign and its number have no space in between
      const trimmed = k < all.length - 1 ? text.trim() : text.trimStart();
      if (trimmed !== "") parts.at(-1)?.push(trimmed);
    });
  }
  return parts;
}

/** Returns whether a part is empty, a known integer, or one number after at most a sign. */
function hasForm(part: Part): boolean {
  const [first, second] = part;
  if (part.length === 2) return (first === "-" || first === "+") && typeof second === "object";
  return part.length === 0 ||
    (part.length === 1 && (typeof first === "object" || /^[-+]?\d+$/.test(first ?? "")));
}

/** The bound that a part stands for; null: open; undefined: the number is no size, or has a sign of its own. */
function endOf(m: Interpreter, part: Part): Dim | null | undefined {
  const [first, second] = part, number = [first, second].find((each) => typeof each === "object");
  if (first === undefined) return null;
  if (number === undefined) return Number(first);
  const size = sizeOf(m.output, number);
  if (size === null) return undefined;
  if (first === number) return size;
  return isLess(size, 0) ? undefined : first === "-" ? mul(size, -1) : size;
}
