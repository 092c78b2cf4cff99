/**
 * Lists that are longer or shorter in each call, such as the tokens that a loop has found so far, and lists that serve
 * as queues and stacks. The length of the former is a number of the trace; their elements are counted from their ends,
 * and elements appended by the trace are stored separately. Any other access makes the length a constant, and the list
 * an ordinary one.
 */
import { sub } from "../../sym/expr.ts";
import { changesElements, isChanged } from "../codegen/effects.ts";
import { hasPlainElements, hasWritable } from "../guards/runtime.ts";
import { entrySource, propertySource } from "../source.ts";
import { binaryNumbers } from "../variables/numbers.ts";
import { constant, type GrowingList, type ObjectValue, type Value } from "../variables/value.ts";
import { elementAtPlace, isPlace } from "./changing_keys.ts";
import { refuseIntegrity } from "./contents.ts";
import { elementAtNumber as numberAtNumber } from "./memory.ts";
import { refuseInheritedElements } from "./inherited_elements.ts";
import type { Interpreter } from "./interpreter.ts";

/** Returns a list if only its ends have been accessed so far; null otherwise, and if the length is a constant. */
export function growingOf(m: Interpreter, array: ObjectValue): GrowingList | null {
  const { exotic, real, source } = array;
  if (exotic.kind !== "array" || exotic.loaded || hasReplaced(exotic.growing)) return null;
  if (exotic.growing || !Array.isArray(real) || !source || !hasFreeLength(real)) return exotic.growing;
  refuseInheritedElements(m, array);
  const length = m.wrapper.changes.changingLength(real.length, propertySource(source, "length"));
  if (!length) return null;
  m.output.guard({ kind: "list", source });
  return exotic.growing = { length, dropped: 0, popped: 0, added: [], replaced: [] };
}

const hasReplaced = (list: GrowingList | null): boolean => list !== null && list.replaced.length > 0;

/** The longest list to which elements are added after the graph: not so long that adding them could throw. */
const MOST_FREE = 2 ** 31;

const hasFreeLength = (real: readonly unknown[]): boolean =>
  Object.isExtensible(real) && real.length < MOST_FREE &&
  Reflect.getOwnPropertyDescriptor(real, "length")?.writable === true;

/** The same for lists of whatever length. */
export function openListOf(m: Interpreter, array: ObjectValue): GrowingList | null {
  const { exotic, real, source } = array;
  if (exotic.kind !== "array" || exotic.loaded || !Array.isArray(real) || !source) return null;
  if (hasReplaced(exotic.growing)) return null;
  const growing = growingOf(m, array);
  if (growing || !hasFreeLength(real)) return growing;
  m.output.guard({ kind: "array", source, length: real.length });
  return exotic.growing = { length: constant(real.length), dropped: 0, popped: 0, added: [], replaced: [] };
}

/** The same for a list from whose ends elements are removed: each of them can be. */
function queueOf(m: Interpreter, array: ObjectValue): GrowingList | null {
  const { real } = array;
  const isPlain = changesElements(array) || (Array.isArray(real) && hasPlainElements(real));
  return isPlain ? openListOf(m, array) : null;
}

/** Returns the length of a list at this point of the program. */
export function lengthOfGrowing(m: Interpreter, { length, dropped, popped, added }: GrowingList): Value {
  const more = added.length - dropped - popped;
  return more === 0 ? length : binaryNumbers(m.output, "+", [length, constant(more)]);
}

/** Returns whether a list had at least that many elements at the beginning of each call. */
function hadElements(m: Interpreter, { length }: GrowingList, count: number): boolean {
  if (count > (length.kind === "number" ? length.hint : Number(length.value))) return false;
  const isThere = binaryNumbers(m.output, ">=", [length, constant(count)]);
  return isThere.kind === "constant" && isThere.value === true;
}

/** The element of a list counted from its end; null: it must be found by its index. */
export function elementFromEnd(m: Interpreter, array: ObjectValue, count: number): Value | null {
  const growing = growingOf(m, array), { real, source } = array;
  if (!growing || !Array.isArray(real) || !source || count < 1) return null;
  const { added, dropped, popped } = growing, own = added.at(-count);
  if (own) return own;
  const before = count - added.length + popped;
  if (!hadElements(m, growing, before + dropped)) return null;
  const found: unknown = Reflect.getOwnPropertyDescriptor(real, real.length - before)?.value;
  return found === undefined ? null : m.wrapper.wrap(found, entrySource(source, "last", before));
}

/** Removes the last element of a list; null: it must be found by its index. */
export function takeLast(m: Interpreter, array: ObjectValue): Value | null {
  const queue = queueOf(m, array), last = queue && elementFromEnd(m, array, 1);
  if (last && !queue.added.pop()) queue.popped++;
  return last;
}

/** Removes the first elements of a list, that many; null: they must be found by their indices. */
export function takeFirst(m: Interpreter, array: ObjectValue, count: number): Value[] | null {
  const queue = count <= MOST_LAST ? queueOf(m, array) : null, { real, source } = array, first: Value[] = [];
  if (!queue || !source || !real || !hadElements(m, queue, queue.dropped + queue.popped + count)) return null;
  for (let k = 0; k < count; k++) {
    const index = `${queue.dropped + k}`;
    const found: unknown = Reflect.getOwnPropertyDescriptor(real, index)?.value;
    if (found === undefined) return null;
    first.push(m.wrapper.wrap(found, propertySource(source, index)));
  }
  queue.dropped += count;
  return first;
}

/** Maximum number of elements at an end of a list that are read one by one. */
const MOST_LAST = 64;

/** The last elements of a list, as list.slice(-count) returns them; null: they must be found by their indices. */
export function lastElements(m: Interpreter, array: ObjectValue, count: number): Value[] | null {
  const growing = growingOf(m, array);
  if (!growing || count < 1 || count > MOST_LAST) return null;
  const found: Value[] = [];
  for (let k = count; k > 0; k--) {
    const each = elementFromEnd(m, array, k);
    if (!each) return null;
    found.push(each);
  }
  return found;
}

/** Returns the element of a list at a number of the trace; null: the number must be known. */
export function elementAtNumber(m: Interpreter, list: Value, key: Value): Value | null {
  if (key.kind !== "number" || list.kind !== "object") return null;
  if (list.exotic.kind === "bytes") return numberAtNumber(m, list, key);
  const growing = growingOf(m, list), length = growing && lengthOfGrowing(m, growing);
  if (length?.kind === "number" && length.integer !== null && key.integer !== null) {
    const count = sub(length.integer, key.integer);
    if (typeof count === "number") return elementFromEnd(m, list, count);
  }
  return elementAtPlace(m, list, key);
}

/** Appends a value to a list, as list[list.length] = value does; returns whether the index was the length. */
export function putAtEnd(
  m: Interpreter,
  list: Value,
  { key, value }: { readonly key: Value; readonly value: Value },
): boolean {
  if (key.kind !== "number" || list.kind !== "object") return false;
  const growing = growingOf(m, list), length = growing && lengthOfGrowing(m, growing);
  if (length?.kind !== "number" || length.hint !== key.hint) return false;
  refuseIntegrity(m, list);
  const isEnd = binaryNumbers(m.output, "===", [length, key]);
  if (isEnd.kind !== "constant" || isEnd.value !== true) return false;
  growing?.added.push(value);
  return true;
}

/**
 * Replaces an element of a list at an index that may differ between calls, which each call computes; returns false if
 * the index must be known. Anything else that is done with the list makes it a constant.
 */
export function replaceAtPlace(
  m: Interpreter,
  list: Value,
  { key, value }: { readonly key: Value; readonly value: Value },
): boolean {
  if (key.kind !== "number" || list.kind !== "object" || list.exotic.kind !== "array") return false;
  const { real, exotic, frozen, source } = list;
  if (key.integer === null || !isPlace(key.expression) || frozen !== "no" || !Array.isArray(real)) {
    return false;
  }
  const known = exotic.loaded ? null : exotic.growing, isMine = hasReplaced(known);
  if (!source || (!isMine && isChanged(list)) || !hasWritable(real, key.hint)) return false;
  const growing = isMine ? known : openListOf(m, list);
  if (!growing) return false;
  const { length } = growing, most = length.kind === "number" ? length.hint : Number(length.value);
  if (key.hint < 0 || key.hint >= most) return false;
  refuseIntegrity(m, list);
  const bounds = [[">=", [key, constant(0)]], ["<", [key, length]]] as const;
  const isWithin = bounds.every(([operator, operands]) => {
    const holds = binaryNumbers(m.output, operator, operands);
    return holds.kind === "constant" && holds.value === true;
  });
  if (!isWithin) return false;
  m.output.guard({ kind: "writableAt", source, at: key.expression });
  growing.replaced.push({ index: key, value });
  return true;
}

/**
 * The elements between two numbers that may differ between calls, as list.slice(from, to) returns them; null: they must
 * be found by their indices.
 */
export function elementsBetween(m: Interpreter, list: ObjectValue, from: Value, to: Value): Value[] | null {
  if (from.kind !== "number" || to.kind !== "number" || from.integer === null || to.integer === null) {
    return null;
  }
  const count = sub(to.integer, from.integer), found: Value[] = [];
  if (typeof count !== "number" || count < 1 || count > MOST_LAST) return null;
  const length = m.plainProperty(list, "length");
  if (from.hint < 0 || length === null) return null;
  if (length.kind !== "number" && length.kind !== "constant") return null;
  const bounds = [[constant(0), from], [to, length]] as const;
  const isWithin = bounds.every((each) => {
    const holds = binaryNumbers(m.output, "<=", each);
    return holds.kind === "constant" && holds.value === true;
  });
  for (let k = 0; isWithin && k < count; k++) {
    const each = elementAtPlace(m, list, from, k);
    if (!each) return null;
    found.push(each);
  }
  return isWithin ? found : null;
}
