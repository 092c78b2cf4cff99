/**
 * Models of array builtins. Invariant: methods with callbacks run as JavaScript stand-ins (polyfills.ts); the others
 * change elements here.
 */
import { breakGraph, throwError } from "../../break_reasons.ts";
import { callbackOf } from "../calls.ts";
import {
  constant,
  dataSlot,
  type Element,
  HOLE,
  isCallable,
  isPassed,
  LAZY,
  type ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { type BuiltinModel, type CallRequest, type CallResult, type Interpreter } from "../interpreter.ts";
import { put } from "../../functions/polyfills.ts";
import { LONGEST_RESUMED, LONGEST_SORTED } from "../../functions/sorting_polyfills.ts";
import {
  elementFromEnd,
  lastElements,
  lengthOfGrowing,
  openListOf,
  takeFirst,
  takeLast,
} from "../growing_lists.ts";
import { listIterator } from "../iteration.ts";
import {
  allElements,
  canGrow,
  elementAt,
  elementsOf,
  newArray,
  refuseIntegrity,
  refuseOpaque,
  settledElements,
} from "../contents.ts";
import { assignProperty, defineOwn } from "../property_writes.ts";
import { strictlyEqual } from "../operators.ts";
import { settled, textOf } from "../texts.ts";
import { arrayFrom, arrayOfLength, hasPlainLength, integerOf, itemsOfListed } from "./array_making.ts";
import { sortedOnHost } from "../host_sorts.ts";
import { MOST_MOVED, ofLongList, sortedLongList } from "./long_lists.ts";
import { numberIsNaN } from "../../variables/numbers.ts";
import { atNumbers } from "./array_positions.ts";
import { flattened, join } from "./nested_arrays.ts";
import { filled, isPlainList, ofReceiver, ofSpecies } from "./species.ts";
import type { ModelTable } from "./table.ts";

type ArrayMethod = (
  m: Interpreter,
  array: ObjectValue,
  args: readonly Value[],
  request: CallRequest,
) => CallResult;

/** An integer argument, clamped as for slice and similar methods. */
function position(value: Value | undefined, length: number, fallback: number): number {
  if (value === undefined || (value.kind === "constant" && value.value === undefined)) return fallback;
  if (value.kind === "number") return breakGraph("symbolicNumber", "a position in an array");
  if (value.kind !== "constant") return breakGraph("coercion", "a position in an array");
  const number = integerOf(value);
  return number < 0 ? Math.max(0, length + number) : Math.min(number, length);
}

/** Indices from a position on, one at a time: elements behind what is looked for are not read. */
function* indicesFrom(m: Interpreter, array: ObjectValue, from: Value | undefined): Generator<number> {
  const { length } = elementsOf(m, array);
  for (let i = position(from, length, 0); i < length; i++) yield i;
}

/** An integer argument that is a count or a depth rather than a position: negative ones count as 0. */
function countOf(value: Value | undefined, fallback: number): number {
  return value?.kind === "constant" && integerOf(value) < 0 ? 0 : position(value, Infinity, fallback);
}

/** Returns start, deleted count and inserted items of splice and similar methods. */
function spliced(args: readonly Value[], length: number): [start: number, count: number, ...items: Value[]] {
  const start = position(args[0], length, 0);
  const count = args.length === 0
    ? 0
    : args.length === 1
    ? length - start
    : Math.min(countOf(args[1], 0), length - start);
  return [start, count, ...args.slice(2)];
}

/** All elements of an array, whose places change. */
function movedElements(m: Interpreter, array: ObjectValue): Element[] {
  const { exotic, real } = array;
  // Before anything relies on its length, which may change between calls
  if (exotic.kind === "array" && !exotic.loaded && Array.isArray(real) && real.length > MOST_MOVED) {
    return breakGraph("builtin", "the elements of a long list move");
  }
  return settledElements(m, array);
}

/** Removes what `splice(0, count)` does if only the ends of the list are accessed; null for other calls. */
function takenFromStart(m: Interpreter, array: ObjectValue, args: readonly Value[]): Value[] | null {
  const [start, count] = args;
  if (args.length !== 2 || start?.kind !== "constant" || start.value !== 0) return null;
  if (count?.kind !== "constant" || typeof count.value !== "number" || !(count.value > 0)) return null;
  return isPlainList(m, array) ? takeFirst(m, array, Math.trunc(count.value)) : null;
}

/** Undefined or absent. */
function isMissing(value: Value | undefined): boolean {
  return value === undefined || (value.kind === "constant" && value.value === undefined);
}

/**
 * Sorts by a comparator, or by texts that are not known yet, in a stand-in that repeats V8's order of comparisons if that
 * order may be seen; null for known elements without a comparator.
 */
function sortedBy(
  m: Interpreter,
  array: ObjectValue,
  request: CallRequest,
  { name, put }: { readonly name: string; readonly put: (sorted: readonly Value[]) => Value },
): CallResult | null {
  const [comparator] = request.args;
  if (isMissing(comparator)) {
    const isKnown = settledElements(m, array).every((element) =>
      typeof element === "symbol" || element.kind === "constant"
    );
    return isKnown ? null : sortedInside(m, array, `${name}Text`, { ...request, args: [] });
  }
  if (!comparator || !isCallable(comparator)) return breakGraph("throws", "a comparator is not a function");
  const sorted = sortedLongList(m, array, comparator) ?? sortedOnHost(m, array, comparator);
  return sorted ? put(sorted) : sortedInside(m, array, name, request);
}

/** Sorts in a stand-in of that name. */
function sortedInside(m: Interpreter, array: ObjectValue, name: string, request: CallRequest): CallResult {
  const { length } = elementsOf(m, array), { completion } = request;
  if (length > LONGEST_SORTED) return breakGraph("builtin", "a long sort by comparisons");
  // If a comparison ended the graph, the rest of a long sort would be different in each call
  const isLong = length > LONGEST_RESUMED;
  const then = (value: Value): void => m.complete(completion, value);
  return m.callInternal(name, isLong ? { ...request, completion: { kind: "inside", then } } : request);
}

function sameValueZero(m: Interpreter, a: Value, b: Value): boolean {
  const [known, other] = a.kind === "constant" ? [a, b] : [b, a];
  if (isNotANumber(m, known) && isNotANumber(m, other)) return true;
  const equal = strictlyEqual(m, a, b);
  return typeof equal === "boolean" ? equal : breakGraph("tensorItem", "an element is searched for");
}

function isNotANumber({ output }: Interpreter, value: Value): boolean {
  if (value.kind === "number") return numberIsNaN(output, value);
  return value.kind === "constant" && !isPassed(value) && Number.isNaN(value.value);
}

/** Adding to an array that cannot grow throws at the first item. */
function refusePush(m: Interpreter, array: ObjectValue, args: readonly Value[]): never {
  if (args.length === 0) return breakGraph("frozen");
  const message = `Cannot add property ${elementsOf(m, array).length}, object is not extensible`;
  return throwError({ constructor: TypeError, message });
}

const JOIN: unknown = Array.prototype.join;

/** Arguments that are positions in the array, or counts: a number that changes has a version for each value. */
const POSITIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ["fill", [1, 2]],
  ["slice", [0, 1]],
  ["splice", [0, 1]],
  ["toSpliced", [0, 1]],
  ["copyWithin", [0, 1, 2]],
  ["with", [0]],
  ["at", [0]],
  ["flat", [0]],
  ["includes", [1]],
  ["indexOf", [1]],
]);

const METHODS: Readonly<Record<string, ArrayMethod>> = {
  push: (m, array, args) => {
    if (!canGrow(m, array)) return refusePush(m, array, args);
    const growing = openListOf(m, array), elements = growing?.added ?? elementsOf(m, array);
    elements.push(...args);
    return growing ? lengthOfGrowing(m, growing) : constant(elements.length);
  },
  pop: (m, array) => {
    refuseIntegrity(m, array);
    const taken = takeLast(m, array);
    if (taken) return taken;
    const elements = elementsOf(m, array);
    if (elements.length === 0) return UNDEFINED;
    const last = elementAt(m, array, elements.length - 1);
    elements.pop();
    return last;
  },
  shift: (m, array) => {
    refuseIntegrity(m, array);
    const taken = takeFirst(m, array, 1);
    if (taken) return taken[0] ?? UNDEFINED;
    const elements = movedElements(m, array);
    const first = elements.shift();
    return first === undefined || typeof first === "symbol" ? UNDEFINED : first;
  },
  unshift: (m, array, args) => {
    refuseIntegrity(m, array);
    const elements = movedElements(m, array);
    elements.unshift(...args);
    return constant(elements.length);
  },
  splice: (m, array, args, request) => {
    refuseIntegrity(m, array);
    const taken = takenFromStart(m, array, args);
    if (taken) return newArray(m, taken);
    const elements = movedElements(m, array);
    const [start, length, ...items] = spliced(args, elements.length);
    return ofSpecies(m, { array, length }, request, (list) => {
      return filled(list, settledElements(m, array).splice(start, length, ...items));
    });
  },
  reverse: (m, array) => {
    refuseIntegrity(m, array);
    movedElements(m, array).reverse();
    return array;
  },
  fill: (m, array, args) => {
    refuseIntegrity(m, array);
    const elements = settledElements(m, array);
    elements.fill(
      args[0] ?? UNDEFINED,
      position(args[1], elements.length, 0),
      position(args[2], elements.length, elements.length),
    );
    return array;
  },
  slice: (m, array, args, request) => {
    const [start] = args;
    const last = isPlainList(m, array) && start?.kind === "constant" && isMissing(args[1]) &&
      lastElements(m, array, -integerOf(start));
    if (last) return newArray(m, last);
    const { length } = elementsOf(m, array);
    const from = position(args[0], length, 0), to = position(args[1], length, length);
    return ofSpecies(m, { array, length: Math.max(0, to - from) }, request, (list) => {
      const elements = elementsOf(m, array);
      // Those of a long list that are not asked for would all be guarded
      for (let i = from; i < to; i++) if (elements[i] === LAZY) elementAt(m, array, i);
      return filled(list, elements.slice(from, to));
    });
  },
  concat: (m, array, args, request) =>
    ofSpecies(m, { array, length: 0 }, request, (list) => {
      const result = [...settledElements(m, array)];
      for (const arg of args) {
        if (arg.kind === "object") m.wrapper.relyOnPrototype(arg);
        if (arg.kind === "object" && hasSpreadFlag(m, arg)) {
          return breakGraph("opaqueObject", "concat of an object that may be spread");
        }
        if (arg.kind === "object" && arg.exotic.kind === "array") result.push(...settledElements(m, arg));
        else result.push(arg);
      }
      return filled(list, result);
    }),
  flat: (m, array, args, request) => {
    const depth = countOf(args[0], 1);
    return ofSpecies(m, { array, length: 0 }, request, (list) => filled(list, flattened(m, array, depth)));
  },
  at: (m, array, args) => {
    const [index] = args;
    const number = index?.kind === "constant" ? integerOf(index) : breakGraph("symbolicNumber", "an index");
    const last = elementFromEnd(m, array, -number);
    if (last) return last;
    const { length } = elementsOf(m, array);
    return elementAt(m, array, number < 0 ? number + length : number);
  },
  includes: (m, array, [wanted = UNDEFINED, from]) =>
    constant(indicesFrom(m, array, from).some((i) => sameValueZero(m, elementAt(m, array, i), wanted))),
  indexOf: (m, array, [wanted = UNDEFINED, from]) => {
    const isFound = (i: number) =>
      elementsOf(m, array)[i] !== HOLE && sameValue(m, elementAt(m, array, i), wanted);
    return constant(indicesFrom(m, array, from).find(isFound) ?? -1);
  },
  lastIndexOf: (m, array, args) => {
    const values = allElements(m, array);
    if (args.length > 1) return breakGraph("builtin", "lastIndexOf from a position");
    for (let i = values.length - 1; i >= 0; i--) {
      const value = values[i];
      if (value && elementsOf(m, array)[i] !== HOLE && sameValue(m, value, args[0] ?? UNDEFINED)) {
        return constant(i);
      }
    }
    return constant(-1);
  },
  join: (m, array, args, request) => {
    const [separator] = args;
    if (separator && separator.kind !== "constant") return breakGraph("coercion", "a separator");
    const text = separator?.value === undefined ? "," : textOf(m, separator);
    return join(m, array, { separator: text, completion: request.completion });
  },
  toString: ((m, array, _args, request) => {
    // It calls the program's method of that name if there is one.
    const method = m.plainProperty(array, "join");
    if (method?.kind !== "object" || method.real !== JOIN) return breakGraph("builtin", "join is replaced");
    return join(m, array, { separator: ",", completion: request.completion });
  }) satisfies ArrayMethod,
  keys: (m, array) => listIterator(m, array, "keys"),
  values: (m, array) => listIterator(m, array, "values"),
  entries: (m, array) => listIterator(m, array, "entries"),
  toReversed: (m, array) => newArray(m, allElements(m, array).reverse()),
  with: (m, array, args) => {
    const values = allElements(m, array);
    const [at] = args;
    if (at?.kind !== "constant") return breakGraph("symbolicNumber", "an index");
    const number = integerOf(at);
    const index = number < 0 ? number + values.length : number;
    if (index < 0 || index >= values.length) return breakGraph("throws", "an index out of range");
    values[index] = args[1] ?? UNDEFINED;
    return newArray(m, values);
  },
  sort: (m, array, _args, request) => {
    refuseIntegrity(m, array);
    const put = (values: readonly Value[]) => {
      const elements = settledElements(m, array);
      for (const [i, value] of values.entries()) elements[i] = value;
      return array;
    };
    const sorted = sortedBy(m, array, request, { name: "sortBy", put });
    if (sorted !== null) return sorted;
    sortConstants(m, array);
    return array;
  },
  toSorted: (m, array, _args, request) => {
    const put = (values: readonly Value[]) => newArray(m, [...values]);
    const sorted = sortedBy(m, array, request, { name: "toSortedBy", put });
    if (sorted !== null) return sorted;
    const copy = newArray(m, allElements(m, array));
    sortConstants(m, copy);
    return copy;
  },
  copyWithin: (m, array, args) => {
    refuseIntegrity(m, array);
    const elements = settledElements(m, array), { length } = elements;
    elements.copyWithin(
      position(args[0], length, 0),
      position(args[1], length, 0),
      position(args[2], length, length),
    );
    return array;
  },
  toSpliced: (m, array, args) => {
    const values = allElements(m, array);
    values.splice(...spliced(args, values.length));
    return newArray(m, values);
  },
};

function hasSpreadFlag(m: Interpreter, object: ObjectValue): boolean {
  return !isMissing(m.plainProperty(object, Symbol.isConcatSpreadable) ?? undefined);
}

function sameValue(m: Interpreter, a: Value, b: Value): boolean {
  const equal = strictlyEqual(m, a, b);
  return typeof equal === "boolean" ? equal : breakGraph("tensorItem", "an element is searched for");
}

function sortConstants(m: Interpreter, array: ObjectValue): void {
  const elements = settledElements(m, array);
  const keyed = elements.map((element) => {
    if (typeof element === "symbol") return breakGraph("builtin", "sort of an array with holes");
    if (element.kind !== "constant" || typeof element.value === "symbol") {
      return breakGraph("coercion", "sort of objects");
    }
    return { element, value: element.value };
  });
  const texts = (value: unknown) => String(value);
  keyed.sort((a, b) => {
    if (a.value === undefined || b.value === undefined) {
      return Number(a.value === undefined) - Number(b.value === undefined);
    }
    const x = texts(a.value), y = texts(b.value);
    return x < y ? -1 : x > y ? 1 : 0;
  });
  keyed.forEach(({ element }, i) => elements[i] = element);
}

/** Methods with callbacks of arrays and typed arrays, by the name of their stand-in. */
export const WITH_CALLBACKS = [
  "forEach",
  "some",
  "every",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
] as const;

/** Methods with callbacks that fill a list of the array's own class. */
const FILLING = ["filter", "flatMap"] as const;

/** Methods that only read, so that a list may replace another object with a length. */
const READING: ReadonlySet<string> = new Set(["at", "includes", "indexOf", "join", "lastIndexOf", "slice"]);

/** A list of what such a method reads; null if it has to see the object itself. */
function listInstead(m: Interpreter, value: Value, name: string): ObjectValue | null {
  if (!READING.has(name) || !hasPlainLength(m, value)) return null;
  const items = itemsOfListed(m, value);
  // The conversion of an object to a string may change the following ones
  if (items === null || (name === "join" && items.some(({ kind }) => kind === "object"))) return null;
  return newArray(m, items);
}

/** Returns an array all of whose elements a call goes through: the graph ends before the call, not within it. */
function wholeArray(m: Interpreter, value: Value, name: string): ObjectValue {
  const array = arrayOf(m, value, name);
  elementsOf(m, array);
  return array;
}

/** Returns an array that these models support, or breaks the graph. */
function arrayOf(m: Interpreter, value: Value, name: string): ObjectValue {
  if (value.kind === "object" && value.exotic.kind === "array") return value;
  return listInstead(m, value, name) ?? breakGraph("builtin", `Array.prototype.${name} of another object`);
}

/** Adds the models of arrays. */
export function addArrays(table: ModelTable): void {
  for (const [name, method] of Object.entries(METHODS)) {
    const positions = POSITIONS.get(name) ?? [];
    table.method(Array.prototype, name, (m, request) => {
      const found = atNumbers(m, name, request);
      if (found) return found;
      const args = request.args.map((each, at) => positions.includes(at) ? settled(m, each) : each);
      return method(m, arrayOf(m, request.self, name), args, request);
    });
  }
  const into = (m: Interpreter, name: string, request: CallRequest) => (list: Value) =>
    m.callInternal(name, { ...request, args: [list, ...request.args] });
  for (const name of FILLING) {
    table.method(Array.prototype, name, (m, request) => {
      callbackOf(request.args[0]);
      if (hasPlainLength(m, request.self)) return into(m, name, request)(newArray(m, []));
      const array = wholeArray(m, request.self, name);
      const known = ofLongList(m, name, request);
      if (known) return known;
      return ofSpecies(m, { array, length: 0 }, request, into(m, name, request));
    });
  }
  table.method(Array.prototype, "map", (m, request) => {
    callbackOf(request.args[0]);
    if (hasPlainLength(m, request.self)) return m.callInternal("map", request);
    const array = wholeArray(m, request.self, "map");
    if (isPlainList(m, array)) return ofLongList(m, "map", request) ?? m.callInternal("map", request);
    const { length } = elementsOf(m, array);
    return ofSpecies(m, { array, length }, request, (list) => {
      // An array has its length from the beginning if its class expects one
      while (list.exotic.elements.length < length && list.prototype?.real === Array.prototype) {
        list.exotic.elements.push(HOLE);
      }
      return into(m, "mapInto", request)(list);
    });
  });
  for (const name of WITH_CALLBACKS) {
    table.method(Array.prototype, name, (m, request) => {
      callbackOf(request.args[0]);
      if (hasPlainLength(m, request.self)) return m.callInternal(name, request);
      wholeArray(m, request.self, name);
      return ofLongList(m, name, request) ?? m.callInternal(name, request);
    });
  }
  const reducing = (name: "reduce" | "reduceRight"): BuiltinModel => (m, request) => {
    callbackOf(request.args[0]);
    if (!hasPlainLength(m, request.self)) wholeArray(m, request.self, name);
    const known = ofLongList(m, name, request);
    return known ?? m.callInternal(request.args.length > 1 ? `${name}From` : name, request);
  };
  table.method(Array.prototype, "reduce", reducing("reduce"));
  table.method(Array.prototype, "reduceRight", reducing("reduceRight"));
  table.method(
    Array,
    "isArray",
    (m, { args: [value] }) => {
      if (value?.kind !== "object") return constant(false);
      refuseOpaque(value);
      m.wrapper.relyOnPrototype(value);
      return constant(value.exotic.kind === "array");
    },
  );
  table.method(Array, "of", (m, request) => {
    const { args } = request;
    return ofReceiver(m, [constant(args.length)], request, (list) => filled(list, args));
  });
  table.method(Array, "from", arrayFrom);
  table.constructs(Array, (m, { args }, prototype) => {
    const made = arrayOfLength(m, args);
    if (made.kind === "object" && prototype) made.prototype = prototype;
    return made;
  });
  table.call(Array, (m, { args }) => arrayOfLength(m, args));
  table.call(put, (m, { args: [result, index = UNDEFINED, value = UNDEFINED] }) => {
    const key = index.kind === "constant" ? String(index.value) : breakGraph("symbolicNumber", "an index");
    if (result?.kind !== "object") return breakGraph("opaqueObject", "an element of a result");
    if (result.exotic.kind === "bytes") assignProperty(m, result, key, value);
    else defineOwn(m, result, key, dataSlot(value));
    return UNDEFINED;
  });
}
