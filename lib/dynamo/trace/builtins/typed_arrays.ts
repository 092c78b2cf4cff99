/**
 * Models of typed arrays, whose elements are read from memory of the program or created in the trace. Invariant:
 * elements that differ from call to call are never inspected; if a method has to, the graph ends.
 */
import { breakGraph, throwsAsPlain } from "../../break_reasons.ts";
import { BYTES_CLASSES, NUMBER_CLASSES, type NumberType } from "../../guards/bytes.ts";
import { callbackOf } from "../calls.ts";
import { constant, type ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { allElements } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter } from "../interpreter.ts";
import { listIterator } from "../iteration.ts";
import { knownSize, type NumbersObject, numbersObject, sizeOf } from "../memory.ts";
import { findProperty } from "../objects.ts";
import {
  copyOfElements,
  elementOf,
  elementsOf,
  knownElements,
  newBytes,
  newTyped,
  putElement,
  typedOf,
} from "../typed_elements.ts";
import { viewOfBuffer } from "./buffers.ts";
import { positionOf, primitiveOf } from "./pure.ts";
import type { ModelTable } from "./table.ts";

const PROTOTYPE: object = Object.getPrototypeOf(Int8Array.prototype);

/** Methods that inspect elements, with primitive arguments. */
const LOOKING = ["includes", "indexOf", "join", "lastIndexOf"] as const;

/** Methods with callbacks, by the name of their stand-in. */
const CALLING = [
  "forEach",
  "some",
  "every",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
] as const;

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
    const { type, memory, start, root } = array.exotic, { step } = BYTES_CLASSES[type];
    const shown = root ?? (array.real ? array : breakGraph("builtin", "subarray of an array of the trace"));
    const [from, end] = rangeOf(m, args, knownSize(m, array));
    const size = constant(Math.max(0, end - from));
    return newBytes(m, { type, memory, start: start + from * step, size, root: shown });
  },
  toReversed: (m, array) => typedOf(m, array.exotic.type, elementsOf(m, array).reverse()),
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
  return numbersObject(self) ?? breakGraph("builtin", `${name} of what is no array of numbers`);
}

function itemsOf(m: Interpreter, source: Value): readonly Value[] {
  const typed = numbersObject(source);
  if (typed) return elementsOf(m, typed);
  return source.kind === "object" && source.exotic.kind === "array"
    ? allElements(m, source)
    : breakGraph("constructor", "a typed array of what is not a list");
}

/** A typed array with the elements of a list, or of another typed array. */
function copied(m: Interpreter, type: NumberType, source: Value): Value {
  const typed = numbersObject(source);
  if (typed?.exotic.type === type) return copyOfElements(m, typed, 0, sizeOf(m, typed));
  return typedOf(m, type, itemsOf(m, source));
}

function construct(m: Interpreter, type: NumberType, args: readonly Value[]): Value {
  const [source] = args;
  if (!source || (source.kind === "constant" && source.value === undefined)) return newTyped(m, type, 0);
  if (source.kind === "object") return viewOfBuffer(m, type, args) ?? copied(m, type, source);
  const length = source.kind === "number" ? positionOf(m, source, { length: Infinity, fallback: 0 }) : null;
  const known = length ?? (source.kind === "constant" ? source.value : null);
  if (typeof known !== "number") return breakGraph("constructor", "a typed array of such a length");
  if (!Number.isInteger(known) || known < 0) {
    return breakGraph("constructor", "a typed array of such a length");
  }
  return newTyped(m, type, known);
}

function lookInto(m: Interpreter, name: string, request: CallRequest): CallResult {
  const elements = knownElements(receiverOf(request, name));
  const method: unknown = Reflect.get(PROTOTYPE, name);
  if (!elements || typeof method !== "function") {
    return breakGraph("opaqueObject", `${name} of elements that other calls bring others of`);
  }
  const args = request.args.map((value) => primitiveOf(m, value, name));
  try {
    return constant(Reflect.apply(method, elements, args));
  } catch (error) {
    return throwsAsPlain(error, name);
  }
}

/** Adds the models of typed arrays. */
export function addTypedArrays(table: ModelTable): void {
  const types = new Map<object, NumberType>();
  for (const type of Object.keys(NUMBER_CLASSES) as NumberType[]) {
    const constructor = NUMBER_CLASSES[type].of;
    types.set(constructor, type);
    table.constructs(constructor, (m, { args }, prototype) => {
      if (prototype?.real !== constructor.prototype) return breakGraph("constructor", "a subclass");
      return construct(m, type, args);
    });
  }
  const typeOf = ({ self }: CallRequest): NumberType =>
    (self.kind === "object" && self.real && types.get(self.real)) ||
    breakGraph("builtin", "a typed array of another class");
  const all: object = Object.getPrototypeOf(Int8Array);
  table.method(all, "of", (m, request) => typedOf(m, typeOf(request), request.args));
  table.method(all, "from", (m, request) => {
    const [source, callback] = request.args;
    if (!source || callback) return breakGraph("builtin", "from with a function");
    return copied(m, typeOf(request), source);
  });
  for (const name of LOOKING) table.method(PROTOTYPE, name, (m, request) => lookInto(m, name, request));
  for (const [name, method] of Object.entries(METHODS)) {
    table.method(PROTOTYPE, name, (m, request) => method(m, receiverOf(request, name), request.args));
  }
  for (const name of CALLING) {
    table.method(PROTOTYPE, name, (m, request) => {
      receiverOf(request, name);
      callbackOf(request.args[0]);
      return m.callInternal(name, request);
    });
  }
  for (const name of ["reduce", "reduceRight"] as const) {
    table.method(PROTOTYPE, name, (m, request) => {
      receiverOf(request, name);
      callbackOf(request.args[0]);
      return m.callInternal(request.args.length > 1 ? `${name}From` : name, request);
    });
  }
  table.method(PROTOTYPE, "map", (m, request) => {
    const array = receiverOf(request, "map");
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
    // All are converted, or end the graph, before the first is written
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
