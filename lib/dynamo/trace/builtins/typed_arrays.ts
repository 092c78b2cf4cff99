/**
 * Models of typed arrays that the program makes from known numbers. Invariant: an array does not share its elements:
 * an operation that would share them with another, or with a buffer, ends the graph.
 */
import { breakGraph, throwsAsPlain } from "../../break_reasons.ts";
import { callbackOf } from "../calls.ts";
import { constant, type NumberArray, type Value } from "../../variables/value.ts";
import { allElements } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter } from "../interpreter.ts";
import { listIterator } from "../iteration.ts";
import { newTyped, NUMBER_ARRAYS, typedElements, writeTyped } from "../typed_elements.ts";
import { primitiveOf } from "./pure.ts";
import type { ModelTable } from "./table.ts";

type Constructor = typeof NUMBER_ARRAYS[number];

const PROTOTYPE: object = Object.getPrototypeOf(Int8Array.prototype);

/** Methods that only read or write elements, with arguments that are primitives. */
const PLAIN = [
  "at",
  "copyWithin",
  "fill",
  "includes",
  "indexOf",
  "join",
  "lastIndexOf",
  "reverse",
  "slice",
  "toReversed",
  "with",
] as const;

/** Methods that call back, by the name of their stand-in. */
const CALLING = [
  "forEach",
  "some",
  "every",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
] as const;

function receiverOf({ self }: CallRequest, name: string): NumberArray {
  return typedElements(self) ?? breakGraph("builtin", `${name} of a typed array of the program`);
}

/** Items of a list as elements, converted as the language does. */
function fromItems(constructor: Constructor, items: readonly Value[]): NumberArray {
  const elements = new constructor(items.length);
  items.forEach((item, i) => writeTyped(elements, `${i}`, item));
  return elements;
}

function itemsOf(m: Interpreter, source: Value): readonly Value[] {
  const typed = typedElements(source);
  if (typed) return Array.from(typed, (each) => constant(each));
  return source.kind === "object" && source.exotic.kind === "array"
    ? allElements(m, source)
    : breakGraph("constructor", "a typed array of what is not a list");
}

function construct(m: Interpreter, constructor: Constructor, args: readonly Value[]): Value {
  const [source] = args;
  if (!source || (source.kind === "constant" && source.value === undefined)) {
    return newTyped(m, new constructor(0));
  }
  if (source.kind === "object") return newTyped(m, fromItems(constructor, itemsOf(m, source)));
  if (source.kind !== "constant" || typeof source.value !== "number") {
    return breakGraph("constructor", "a typed array of such a length");
  }
  if (!Number.isInteger(source.value) || source.value < 0) return breakGraph("throws", "an invalid length");
  if (source.value > 2 ** 16) return breakGraph("builtin", "a typed array of so many elements");
  return newTyped(m, new constructor(source.value));
}

function plainCall(m: Interpreter, name: string, request: CallRequest): CallResult {
  const elements = receiverOf(request, name);
  const method: unknown = Reflect.get(PROTOTYPE, name);
  if (typeof method !== "function") return breakGraph("builtin", name);
  const args = request.args.map((value) => primitiveOf(m, value, name));
  let result: unknown;
  try {
    result = Reflect.apply(method, elements, args);
  } catch (error) {
    return throwsAsPlain(error, name);
  }
  if (result === elements) return request.self;
  if (typeof result === "object" && result !== null) return newTyped(m, result as NumberArray);
  if (typeof result === "function" || typeof result === "symbol") return breakGraph("builtin", name);
  return constant(result as string | number | boolean | undefined | bigint);
}

/** Adds the models of typed arrays. */
export function addTypedArrays(table: ModelTable): void {
  for (const constructor of NUMBER_ARRAYS) {
    table.constructs(constructor, (m, { args }, prototype) => {
      if (prototype?.real !== constructor.prototype) return breakGraph("constructor", "a subclass");
      return construct(m, constructor, args);
    });
  }
  const classOf = ({ self }: CallRequest): Constructor =>
    NUMBER_ARRAYS.find((each) => self.kind === "object" && self.real === each) ??
      breakGraph("builtin", "a typed array of another class");
  const all: object = Object.getPrototypeOf(Int8Array);
  table.method(all, "of", (m, request) => newTyped(m, fromItems(classOf(request), request.args)));
  table.method(all, "from", (m, request) => {
    const [source, callback] = request.args;
    if (!source || callback) return breakGraph("builtin", "from with a function");
    return newTyped(m, fromItems(classOf(request), itemsOf(m, source)));
  });
  for (const name of PLAIN) table.method(PROTOTYPE, name, (m, request) => plainCall(m, name, request));
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
    const elements = receiverOf(request, "map");
    callbackOf(request.args[0]);
    const result = newTyped(m, new (elements.constructor as Constructor)(elements.length));
    return m.callInternal("mapInto", { ...request, args: [result, ...request.args] });
  });
  table.method(PROTOTYPE, "set", (m, request) => {
    const elements = receiverOf(request, "set");
    const [source, offset = constant(0)] = request.args;
    const from = offset.kind === "constant" && typeof offset.value === "number" ? offset.value : -1;
    const items = source ? itemsOf(m, source) : breakGraph("throws", "set of nothing");
    if (!Number.isInteger(from) || from < 0 || from + items.length > elements.length) {
      return breakGraph("throws", "Offset is out of bounds");
    }
    const checked = fromItems(elements.constructor as Constructor, items);
    checked.forEach((element, i) => elements[from + i] = element);
    return constant(undefined);
  });
  for (const what of ["keys", "values", "entries"] as const) {
    table.method(PROTOTYPE, what, (m, request) => {
      receiverOf(request, what);
      return listIterator(m, request.self, what);
    });
  }
  for (const name of ["length", "byteLength", "byteOffset"] as const) {
    table.getter(PROTOTYPE, name, (_m, request) => constant(receiverOf(request, name)[name]));
  }
  table.getter(PROTOTYPE, Symbol.toStringTag, (_m, request) => {
    return constant(receiverOf(request, "the class")[Symbol.toStringTag]);
  });
}
