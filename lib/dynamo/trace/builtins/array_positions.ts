/**
 * Methods of arrays that read at positions, or look for elements, that may differ between calls. Invariant: they change
 * nothing; null means that the position must be known.
 */
import { binaryNumbers } from "../../variables/numbers.ts";
import { constant, type ObjectValue, type Value } from "../../variables/value.ts";
import { searchAnswer } from "../changing_keys.ts";
import { newArray } from "../contents.ts";
import { elementAtNumber, elementsBetween } from "../growing_lists.ts";
import type { CallRequest, Interpreter } from "../interpreter.ts";
import { isPlainList } from "./species.ts";

/** The slice of a list of the program between numbers that change; null for all other slices. */
function sliceAtNumbers(m: Interpreter, { self, args: [from, to] }: CallRequest): ObjectValue | null {
  if (self.kind !== "object" || self.exotic.kind !== "array" || !from || !to || !isPlainList(m, self)) {
    return null;
  }
  const found = elementsBetween(m, self, from, to);
  return found && newArray(m, found);
}

/** The result of a method that only reads, at numbers or for elements that change; null: these must be known. */
export function atNumbers(m: Interpreter, name: string, request: CallRequest): Value | null {
  const { self, args: [first, ...others] } = request;
  if (name === "slice") return sliceAtNumbers(m, request);
  if (self.kind !== "object" || others.length > 0) return null;
  if (name === "indexOf" || name === "includes") {
    return searchAnswer(m, { list: self, question: name, wanted: first });
  }
  // Negative numbers count from the end
  const isFromStart = name === "at" && first?.kind === "number" && first.integer !== null && first.hint >= 0;
  if (!isFromStart) return null;
  const isIndex = binaryNumbers(m.output, ">=", [first, constant(0)]);
  return isIndex.kind === "constant" && isIndex.value === true ? elementAtNumber(m, self, first) : null;
}
