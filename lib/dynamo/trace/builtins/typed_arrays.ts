/**
 * Models of typed arrays, whose elements are read from memory of the program or created in the trace. Invariant:
 * elements that differ between calls are never inspected; a method that must inspect them breaks the graph.
 */
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { BYTES_CLASSES, NUMBER_CLASSES, type NumberArray, type NumberType } from "../../guards/bytes.ts";
import { callbackOf } from "../calls.ts";
import {
  constant,
  isCallable,
  isUndefined,
  type ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { LONGEST_SORTED } from "../../functions/sorting_polyfills.ts";
import { allElements, newArray } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";
import { collect, listIterator } from "../iteration.ts";
import { knownSize, type NumbersObject, numbersObject, sizeOf } from "../memory.ts";
import { findProperty } from "../objects.ts";
import {
  copyOfElements,
  elementOf,
  elementsOf,
  knownElements,
  memoryHolder,
  newBytes,
  newTyped,
  putElement,
  typedOf,
} from "../typed_elements.ts";
import { WITH_CALLBACKS } from "./arrays.ts";
import { itemsByIndex } from "./array_making.ts";
import { viewOfBuffer } from "./buffers.ts";
import { positionOf, primitiveOf } from "./pure.ts";
import type { ModelTable } from "./table.ts";

const PROTOTYPE: object = Object.getPrototypeOf(Int8Array.prototype);
const LENGTH = Reflect.getOwnPropertyDescriptor(PROTOTYPE, "length")?.get;

/** Methods that inspect elements, with primitive arguments, by prototype. */
const LOOKING: readonly (readonly [prototype: object, names: readonly string[]])[] = [
  [PROTOTYPE, ["includes", "indexOf", "join", "lastIndexOf"]],
  [Uint8Array.prototype, ["toBase64", "toHex"]],
];

/** Methods that copy or move elements without inspecting them. */
const METHODS: Readonly<
  Record<string, (m: Interpreter, array: NumbersObject, args: readonly Value[]) => CallResult>
> = {
  at: (m, array, [index]) => {
    const length = knownSize(m, array), given = positionOf(m, index, { length: Infinity, fallback: 0 });
    return elementOf(m, array, given < 0 ? length + given : given) ?? UNDEFINED;
  },
  copyWithin: (m, array, args) => {
    const length = knownSize(m, array), [to] = rangeOf(m, args, length);
    const [from, end] = rangeOf(m, args.slice(1), length);
    const count = Math.min(end - from, length - to), elements = elementsOf(m, array);
    for (let i = 0; i < count; i++) putElement(m, array, to + i, elements[from + i] ?? UNDEFINED);
    return array;
  },
  fill: (m, array, args) => {
    const [from, end] = rangeOf(m, args.slice(1), knownSize(m, array));
    // It is converted even if there is nothing to fill
    const [value = UNDEFINED] = elementsOf(m, typedOf(m, array.exotic.type, [args[0] ?? UNDEFINED]));
    for (let i = from; i < end; i++) putElement(m, array, i, value);
    return array;
  },
  reverse: (m, array) => {
    const elements = elementsOf(m, array).toReversed();
    elements.forEach((element, i) => putElement(m, array, i, element));
    return array;
  },
  slice: (m, array, args) => {
    refuseSpecies(m, array);
    const size = sizeOf(m, array), isWhole = args.length === 0;
    if (isWhole && size.kind === "number") return copyOfElements(m, array, 0, size);
    const [from, end] = rangeOf(m, args, knownSize(m, array));
    return copyOfElements(m, array, from, constant(Math.max(0, end - from)));
  },
  subarray: (m, array, args) => {
    refuseSpecies(m, array);
    const { type, memory, start } = array.exotic,
      { step } = BYTES_CLASSES[type],
      root = memoryHolder(m, array);
    const [from, end] = rangeOf(m, args, knownSize(m, array));
    const size = constant(Math.max(0, end - from));
    return newBytes(m, { type, memory, start: start + from * step, size, root });
  },
  toReversed: (m, array) => typedOf(m, array.exotic.type, elementsOf(m, array).reverse()),
  with: (m, array, [index, value = UNDEFINED]) => {
    const length = knownSize(m, array), given = positionOf(m, index, { length: Infinity, fallback: 0 });
    const at = given < 0 ? length + given : given;
    if (at < 0 || at >= length) return breakGraph("throws", "an index out of range");
    const copy = typedOf(m, array.exotic.type, elementsOf(m, array));
    putElement(m, copy, at, value);
    return copy;
  },
};

/** The start and end of a range of elements. */
function rangeOf(m: Interpreter, [start, end]: readonly Value[], length: number): [number, number] {
  const at = (value: Value | undefined, fallback: number) => {
    const given = positionOf(m, value, { length, fallback });
    return given < 0 ? Math.max(0, length + given) : given;
  };
  return [at(start, 0), at(end, length)];
}

/** Methods that create another array look up a class on the object, and on its class. */
function refuseSpecies(m: Interpreter, array: NumbersObject): void {
  const found = findProperty(m, array, "constructor");
  const maker = found.kind === "value" && found.value.kind === "object" ? found.value.real : null;
  if (maker !== BYTES_CLASSES[array.exotic.type].of) breakGraph("builtin", "a typed array of another class");
}

function receiverOf({ self }: CallRequest, name: string): NumbersObject {
  return numbersObject(self) ?? breakGraph("builtin", `${name} of a value that is not a typed array`);
}

/** The receiver of a method that a stand-in carries out: one that reads `length` of the receiver, as the method does not. */
function standInReceiver(m: Interpreter, request: CallRequest, name: string): NumbersObject {
  const array = receiverOf(request, name), found = findProperty(m, array, "length");
  const isOwn = found.kind === "getter" && found.getter.real === LENGTH;
  return isOwn ? array : breakGraph("builtin", `${name} of a typed array whose length is replaced`);
}

function itemsOf(m: Interpreter, source: Value): readonly Value[] {
  const typed = numbersObject(source);
  if (typed) return elementsOf(m, typed);
  return source.kind === "object" && source.exotic.kind === "array"
    ? allElements(m, source)
    : breakGraph("constructor", "a typed array of an object that is not a list");
}

/** A typed array with the elements of a list, or of another typed array. */
function copied(m: Interpreter, type: NumberType, source: Value): Value {
  const typed = numbersObject(source);
  if (typed?.exotic.type === type) return copyOfElements(m, typed, 0, sizeOf(m, typed));
  return typedOf(m, type, itemsOf(m, source));
}

/** A typed array of the items that an object lists. */
function constructListed(
  m: Interpreter,
  type: NumberType,
  ...[source, { completion }]: readonly [source: ObjectValue, request: Pick<CallRequest, "completion">]
): CallResult {
  if (numbersObject(source) || source.exotic.kind === "array") return copied(m, type, source);
  const items = itemsByIndex(m, source);
  if (items) return typedOf(m, type, items);
  if (!ITERATED.has(source.exotic.kind)) {
    return breakGraph("constructor", "a typed array of an object that is not a list");
  }
  collect(m, source, (items) => m.complete(completion, typedOf(m, type, items)));
  return PUSHED;
}

/** Kinds of objects whose items constructors collect. */
const ITERATED: ReadonlySet<string> = new Set(["generator", "listIterator", "map", "plain", "set"]);

function construct(
  m: Interpreter,
  type: NumberType,
  request: Pick<CallRequest, "args" | "completion">,
): CallResult {
  const { args } = request, [source] = args;
  if (!source || (source.kind === "constant" && source.value === undefined)) return newTyped(m, type, 0);
  if (source.kind === "object") {
    return viewOfBuffer(m, type, args) ?? constructListed(m, type, source, request);
  }
  const length = source.kind === "number" ? positionOf(m, source, { length: Infinity, fallback: 0 }) : null;
  const known = length ?? (source.kind === "constant" ? source.value : null);
  if (typeof known !== "number") return breakGraph("constructor", "a typed array of an unsupported length");
  if (!Number.isInteger(known) || known < 0) {
    return breakGraph("constructor", "a typed array of an unsupported length");
  }
  return newTyped(m, type, known);
}

function knownOf(array: NumbersObject, name: string): NumberArray {
  return knownElements(array) ??
    breakGraph("opaqueObject", `${name} of elements that change between calls`);
}

function addLooking(table: ModelTable, prototype: object, name: string): void {
  const method: unknown = Reflect.get(prototype, name);
  if (typeof method !== "function") return;
  table.method(prototype, name, (m, request) => {
    const elements = knownOf(receiverOf(request, name), name);
    const args = request.args.map((value) => primitiveOf(m, value, name));
    return constant(callBuiltin(name, () => Reflect.apply(method, elements, args)));
  });
}

/** sort, which changes its receiver, and toSorted */
function sorted(m: Interpreter, request: CallRequest, name: "sort" | "toSorted"): CallResult {
  const array = receiverOf(request, name), [comparator] = request.args;
  const known = knownOf(array, name);
  const target = name === "sort" ? array : copyOfElements(m, array, 0, sizeOf(m, array));
  if (comparator && !isUndefined(comparator)) {
    if (!isCallable(comparator)) return breakGraph("throws", "a comparator is not a function");
    if (known.length > LONGEST_SORTED) return breakGraph("builtin", "a long sort by a comparator");
    return m.callInternal("sortNumbersBy", { ...request, self: target, args: [comparator] });
  }
  known.toSorted().forEach((element, i) => putElement(m, target, i, constant(element)));
  return target;
}

/** from, for lists and iterables */
function from(m: Interpreter, type: NumberType, request: CallRequest): CallResult {
  const [source, callback, self] = request.args, { completion } = request;
  if (!source) return breakGraph("throws", "from of nothing");
  if (callback && !isUndefined(callback)) {
    callbackOf(callback);
    const map = (list: Value, length: number) =>
      m.callInternal("mapArrayLike", {
        ...request,
        self: list,
        args: [newTyped(m, type, length), callback, ...self ? [self] : []],
      });
    const listed = itemsByIndex(m, source);
    if (listed) return map(source, listed.length);
    collect(m, source, (items) => void map(newArray(m, items), items.length));
    return PUSHED;
  }
  if (source.kind === "object") return constructListed(m, type, source, request);
  collect(m, source, (items) => m.complete(completion, typedOf(m, type, items)));
  return PUSHED;
}

/** Adds the models of typed arrays. */
export function addTypedArrays(table: ModelTable): void {
  const types = new Map<object, NumberType>();
  for (const type of Object.keys(NUMBER_CLASSES) as NumberType[]) {
    const constructor = NUMBER_CLASSES[type].of;
    types.set(constructor, type);
    table.constructs(constructor, (m, request, prototype) => {
      if (prototype?.real !== constructor.prototype) return breakGraph("constructor", "a subclass");
      return construct(m, type, request);
    });
  }
  const typeOf = ({ self }: CallRequest): NumberType =>
    (self.kind === "object" && self.real && types.get(self.real)) ||
    breakGraph("builtin", "a typed array of another class");
  const all: object = Object.getPrototypeOf(Int8Array);
  table.method(all, "of", (m, request) => typedOf(m, typeOf(request), request.args));
  table.method(all, "from", (m, request) => from(m, typeOf(request), request));
  for (const [prototype, names] of LOOKING) {
    for (const name of names) addLooking(table, prototype, name);
  }
  for (const name of ["fromBase64", "fromHex"] as const) {
    const fn: unknown = Reflect.get(Uint8Array, name);
    if (typeof fn !== "function") continue;
    table.method(Uint8Array, name, (m, { args }) => {
      const given = args.map((value) => primitiveOf(m, value, name));
      const bytes: Iterable<number> = callBuiltin(name, () => Reflect.apply(fn, Uint8Array, given));
      return typedOf(m, "Uint8Array", Array.from(bytes, (byte) => constant(byte)));
    });
  }
  for (const name of ["sort", "toSorted"] as const) {
    table.method(PROTOTYPE, name, (m, request) => sorted(m, request, name));
  }
  table.method(PROTOTYPE, "filter", (m, request) => {
    const array = standInReceiver(m, request, "filter"), { completion } = request;
    callbackOf(request.args[0]);
    refuseSpecies(m, array);
    const then = (kept: Value) => m.complete(completion, typedOf(m, array.exotic.type, itemsOf(m, kept)));
    const args = [newArray(m, []), ...request.args];
    return m.callInternal("filter", { ...request, args, completion: { kind: "inside", then } });
  });
  for (const [name, method] of Object.entries(METHODS)) {
    table.method(PROTOTYPE, name, (m, request) => method(m, receiverOf(request, name), request.args));
  }
  for (const name of WITH_CALLBACKS) {
    table.method(PROTOTYPE, name, (m, request) => {
      standInReceiver(m, request, name);
      callbackOf(request.args[0]);
      return m.callInternal(name, request);
    });
  }
  for (const name of ["reduce", "reduceRight"] as const) {
    table.method(PROTOTYPE, name, (m, request) => {
      standInReceiver(m, request, name);
      callbackOf(request.args[0]);
      return m.callInternal(request.args.length > 1 ? `${name}From` : name, request);
    });
  }
  table.method(PROTOTYPE, "map", (m, request) => {
    const array = standInReceiver(m, request, "map");
    callbackOf(request.args[0]);
    refuseSpecies(m, array);
    const result: ObjectValue = newTyped(m, array.exotic.type, knownSize(m, array));
    return m.callInternal("mapInto", { ...request, args: [result, ...request.args] });
  });
  table.method(PROTOTYPE, "set", (m, request) => {
    const array = receiverOf(request, "set");
    const [source, offset] = request.args;
    const from = positionOf(m, offset, { length: Infinity, fallback: 0 });
    const items = source ? itemsOf(m, source) : breakGraph("throws", "set of nothing");
    if (from < 0 || from + items.length > knownSize(m, array)) {
      return breakGraph("throws", "Offset is out of bounds");
    }
    // All are converted, or break the graph, before the first is written
    const converted = elementsOf(m, typedOf(m, array.exotic.type, items));
    converted.forEach((element, i) => putElement(m, array, from + i, element));
    return UNDEFINED;
  });
  for (const what of ["keys", "values", "entries"] as const) {
    table.method(PROTOTYPE, what, (m, request) => {
      receiverOf(request, what);
      return listIterator(m, request.self, what);
    });
  }
  table.getter(PROTOTYPE, Symbol.toStringTag, (_m, request) => {
    return constant(receiverOf(request, "the class").exotic.type);
  });
}
