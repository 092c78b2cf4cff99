/**
 * Models of the ways to make arrays: `Array` and `Array.from`. Invariant: a list that is too long for a trace breaks the
 * graph before anything is made.
 */
import { breakGraph } from "../../break_reasons.ts";
import {
  constant,
  type ConstantValue,
  type Element,
  HOLE,
  isCallable,
  isUndefined,
  type ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { callbackOf } from "../calls.ts";
import { allElements, MOST_ELEMENTS, newArray } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect } from "../iteration.ts";
import { numbersObject } from "../memory.ts";
import { isArrayLength } from "../property_writes.ts";
import { settled } from "../texts.ts";
import { elementsOf } from "../typed_elements.ts";
import { fromLength } from "./long_lists.ts";
import { wholeNumberOf } from "./pure.ts";
import { filled, ofReceiver } from "./species.ts";

/** A constant as an integer. */
export function integerOf({ value }: ConstantValue): number {
  return wholeNumberOf(value) ?? breakGraph("throws", `a ${typeof value} as a position in an array`);
}

/** The result of `Array(length)` or `Array(...items)`. */
export function arrayOfLength(m: Interpreter, args: readonly Value[]): Value {
  const [given] = args;
  if (args.length !== 1 || !given) return newArray(m, [...args]);
  const length = settled(m, given);
  if (length.kind === "number" || length.kind === "item") {
    return breakGraph("symbolicNumber", "the length of an array");
  }
  if (length.kind !== "constant" || typeof length.value !== "number") return newArray(m, [length]);
  if (!isArrayLength(length.value)) return breakGraph("throws", "an invalid array length");
  if (length.value > MOST_ELEMENTS) return breakGraph("builtin", "an array with too many elements");
  return newArray(m, new Array<Element>(length.value).fill(HOLE));
}

/** Returns whether a source yields its items by index, because it has no iterator. */
function isArrayLike(m: Interpreter, source: Value): source is ObjectValue {
  return source.kind === "object" && source.exotic.kind === "plain" && !source.arguments &&
    m.plainProperty(source, Symbol.iterator) === null;
}

/** Returns whether a value has an iterator; values without one are taken by index. */
function isIterable(m: Interpreter, source: Value): boolean {
  if (source.kind === "object") return m.plainProperty(source, Symbol.iterator) !== null;
  return source.kind === "tensor" || (source.kind === "constant" && typeof source.value === "string");
}

/** Returns whether methods of arrays go through an object that is none by its indices, up to a length as it is. */
export function hasPlainLength(m: Interpreter, value: Value): value is ObjectValue {
  if (value.kind !== "object" || value.exotic.kind !== "plain") return false;
  const given = m.plainProperty(value, "length"),
    length = given?.kind === "number" ? settled(m, given) : given;
  return length?.kind === "constant" && typeof length.value === "number" && isArrayLength(length.value) &&
    length.value <= MOST_ELEMENTS;
}

/** The items of such an object; null if one is missing. */
export function itemsOfListed(m: Interpreter, listed: ObjectValue): Value[] | null {
  const { value } = lengthOfArrayLike(m, listed), items: Value[] = [];
  for (let i = 0; i < Number(value); i++) {
    const item = m.plainProperty(listed, `${i}`);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}

/** The items of a list without an iterator; null for all other values. */
export function itemsByIndex(m: Interpreter, source: Value): Value[] | null {
  if (!isArrayLike(m, source)) return null;
  return byIndex(m, source, lengthOfArrayLike(m, source));
}

function byIndex(m: Interpreter, source: ObjectValue, length: ConstantValue): Value[] {
  return Array.from({ length: Number(length.value) }, (_, i) => m.plainProperty(source, `${i}`) ?? UNDEFINED);
}

/** Models `Array.from`. */
export function arrayFrom(m: Interpreter, request: CallRequest): CallResult {
  const [source = UNDEFINED, given, self] = request.args;
  const isList = isArrayLike(m, source), isArray = !isCallable(request.self) || request.self.real === Array;
  const callback = given && !isUndefined(given) ? callbackOf(given) : null;
  const length = isList && !(isArray && callback) ? lengthOfArrayLike(m, source) : null;
  return ofReceiver(m, length ? [length] : [], request, (list) => {
    const known = callback && isList && isArray ? fromLength(m, source, callback) : null;
    if (known) return filled(list, known);
    if (callback) {
      if (!isList && !isIterable(m, source)) {
        return breakGraph("builtin", "Array.from of a value that is not iterable");
      }
      const args = [list, callback, ...self ? [self] : []];
      return m.callInternal(isList ? "mapArrayLike" : "mapIterable", { ...request, self: source, args });
    }
    if (isList && length) return filled(list, byIndex(m, source, length));
    collect(m, source, (items) => m.complete(request.completion, filled(list, items)));
    return PUSHED;
  });
}

function lengthOfArrayLike(m: Interpreter, source: ObjectValue): ConstantValue {
  const length = settled(m, m.plainProperty(source, "length") ?? UNDEFINED);
  if (length.kind !== "constant") return breakGraph("symbolicNumber", "the length of an array");
  const number = integerOf(length);
  return number > MOST_ELEMENTS
    ? breakGraph("builtin", "a list with too many elements")
    : constant(Math.max(0, number));
}

/** The arguments of a call as a list, from an array, another call's `arguments`, or any object with a length. */
export function argumentsFrom(m: Interpreter, list: Value): Value[] {
  if (list.kind !== "object") {
    return breakGraph(
      list.kind === "constant" ? "throws" : "opaqueObject",
      "an argument list that is no object",
    );
  }
  if (list.exotic.kind === "array") return allElements(m, list);
  if (list.arguments) return valuesOfArguments(m, list);
  const numbers = numbersObject(list);
  if (numbers) return elementsOf(m, numbers);
  return list.exotic.kind === "plain"
    ? byIndex(m, list, lengthOfArrayLike(m, list))
    : breakGraph("opaqueObject", "an argument list that is not an array");
}

function valuesOfArguments(m: Interpreter, list: ObjectValue): Value[] {
  const special = () => breakGraph("opaqueObject", "an arguments object with properties of the program");
  const length = m.plainProperty(list, "length");
  if (length?.kind !== "constant" || typeof length.value !== "number") return special();
  return Array.from({ length: length.value }, (_, i) => m.plainProperty(list, `${i}`) ?? special());
}
