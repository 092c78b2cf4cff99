/**
 * Methods with callbacks on long lists, run while tracing if the callbacks only compute with values that are known:
 * tracing a callback for each element takes many times as long. Invariant: elements are read in the order of the
 * language, and none that it does not read.
 */
import { elementAt, elementsOf, MOST_ELEMENTS, newArray } from "../contents.ts";
import type { CallRequest, Interpreter } from "../interpreter.ts";
import { ownKeys } from "../object_keys.ts";
import { indexOfKey } from "../element_keys.ts";
import { isNumeric, isTruthy, type Known, LONG, PureCalls, refuse, valueOf } from "../pure_calls.ts";
import {
  constant,
  type Element,
  HOLE,
  isCallable,
  isUndefined,
  type ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { isPlainList } from "./species.ts";

/** Moving the elements of a longer list would guard each of them, and its next call finds others in their places. */
export const MOST_MOVED = 1_000;

/** A list without holes, and a callback. */
interface Calling {
  readonly m: Interpreter;
  readonly length: number;
  readonly args: readonly Value[];
  value(index: number): Value;
  /** Calls the callback with an element and what follows it among the arguments, after `before`. */
  call(index: number, before?: readonly Known[]): Known;
  known(value: Value): Known;
}

const METHODS: Readonly<Record<string, (calling: Calling) => Value>> = {
  map: ({ m, length, call }) => newArray(m, Array.from({ length }, (_, i) => valueOf(call(i)))),
  filter: (calling) => {
    const kept: Element[] = [];
    for (let i = 0; i < calling.length; i++) if (isTruthy(calling.call(i))) kept.push(calling.value(i));
    return newArray(calling.m, kept);
  },
  some: (calling) => constant(firstOf(calling, isTruthy) !== -1),
  every: (calling) => constant(firstOf(calling, (result) => !isTruthy(result)) === -1),
  find: (calling) => atOrUndefined(calling, firstOf(calling, isTruthy)),
  findIndex: (calling) => constant(firstOf(calling, isTruthy)),
  findLast: (calling) => atOrUndefined(calling, lastOf(calling)),
  findLastIndex: (calling) => constant(lastOf(calling)),
  reduce: ({ length, args: [, ...initial], value, call, known }) => {
    const begin = initial.length > 0 ? 0 : 1;
    let accumulated = known(initial[0] ?? value(0));
    for (let i = begin; i < length; i++) accumulated = call(i, [accumulated]);
    return valueOf(accumulated);
  },
  reduceRight: ({ length, args: [, ...initial], value, call, known }) => {
    const begin = initial.length > 0 ? length - 1 : length - 2;
    let accumulated = known(initial[0] ?? value(length - 1));
    for (let i = begin; i >= 0; i--) accumulated = call(i, [accumulated]);
    return valueOf(accumulated);
  },
};

function firstOf({ length, call }: Calling, fits: (result: Known) => boolean): number {
  for (let i = 0; i < length; i++) if (fits(call(i))) return i;
  return -1;
}

function lastOf({ length, call }: Calling): number {
  for (let i = length - 1; i >= 0; i--) if (isTruthy(call(i))) return i;
  return -1;
}

function atOrUndefined({ value }: Calling, index: number): Value {
  return index < 0 ? UNDEFINED : value(index);
}

/** The result of a method of arrays with a callback; null if it has to be traced. */
export function ofLongList(m: Interpreter, name: string, { self, args }: CallRequest): Value | null {
  const [callback] = args, method = METHODS[name];
  if (!method || !callback || !isCallable(callback) || !isLong(m, self)) return null;
  return PureCalls.attempt(m, (calls) => {
    const value = elementReader(m, self);
    return method({
      m,
      length: elementsOf(m, self).length,
      args,
      value,
      call: (index, before = []) => calls.call(callback, [...before, calls.known(value(index)), index, self]),
      known: (given) => calls.known(given),
    });
  });
}

/** The elements of a long list in the order of a comparator; null if it has to be traced. */
export function sortedLongList(m: Interpreter, list: ObjectValue, comparator: ObjectValue): Value[] | null {
  if (!isLong(m, list) || (Array.isArray(list.real) && list.real.length > MOST_MOVED)) return null;
  return PureCalls.attempt(m, (calls) => {
    const value = elementReader(m, list), { length } = elementsOf(m, list);
    const values = Array.from({ length }, (_, i) => value(i));
    const present = values.filter((each) => !isUndefined(each)).map((each) => ({
      each,
      known: calls.known(each),
    }));
    present.sort((a, b) => {
      const order = calls.call(comparator, [a.known, b.known]);
      return isNumeric(order) ? Number(order) : refuse();
    });
    return values.map((_, i) => present[i]?.each ?? UNDEFINED);
  });
}

/**
 * The elements of `Array.from({ length }, callback)`; null if the call has to be traced, or if the source has anything
 * else.
 */
export function fromLength(m: Interpreter, source: ObjectValue, callback: ObjectValue): Element[] | null {
  const length = ownLength(m, source);
  if (length === null) return null;
  return PureCalls.attempt(
    m,
    (calls) => Array.from({ length }, (_, index) => valueOf(calls.call(callback, [undefined, index]))),
  );
}

/** The length of a list-like object of the trace that has no elements, not even inherited ones; null for others. */
function ownLength(m: Interpreter, { real, slots, prototype }: ObjectValue): number | null {
  const own = slots.get("length"), length = own?.kind === "data" ? own.value : null;
  if (real || slots.size > 1 || prototype?.real !== Object.prototype) return null;
  if (length?.kind !== "constant" || typeof length.value !== "number") return null;
  if (!Number.isInteger(length.value) || length.value < LONG || length.value > MOST_ELEMENTS) return null;
  return ownKeys(m, prototype).some((key) => indexOfKey(key) !== null) ? null : length.value;
}

function isLong(m: Interpreter, list: Value): list is ObjectValue {
  if (list.kind !== "object" || list.exotic.kind !== "array") return false;
  const { exotic: { elements, loaded }, real } = list;
  const length = loaded ? elements.length : Array.isArray(real) ? real.length : 0;
  return length >= LONG && isPlainList(m, list);
}

function elementReader(m: Interpreter, list: ObjectValue): (index: number) => Value {
  const elements = elementsOf(m, list);
  return (index) => elements[index] === HOLE ? refuse() : elementAt(m, list, index);
}
