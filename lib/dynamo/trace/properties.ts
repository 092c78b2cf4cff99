/**
 * Property access of the program: reads and writes on any value. Invariant: answers of a tensor come from its
 * metadata in the graph.
 */
import { capitalized } from "../../base/names.ts";
import { types } from "node:util";
import { breakGraph } from "../break_reasons.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { typeOf } from "../variables/type_of.ts";
import { constant, isCallable, isPassed, UNDEFINED, type Value } from "../variables/value.ts";
import type { Completion, Interpreter } from "./interpreter.ts";
import { refuseChange, refuseOfPrimitive } from "./engine_errors.ts";
import { computeLater, settleInteger } from "./later_values.ts";
import { indexOfKey } from "./element_keys.ts";
import { findProperty, type Key } from "./objects.ts";
import { builtinPrototype } from "./contents.ts";
import { assignProperty } from "./property_writes.ts";
import { proxyOf, readAs, writeAs } from "./proxies.ts";
import { findTensorProperty, writeTensorProperty } from "./tensor_properties.ts";

/** value[key]. */
export function readProperty(m: Interpreter, value: Value, key: Key, completion: Completion): void {
  switch (value.kind) {
    case "object":
      return readAs(m, value, { key, receiver: value }, completion);
    case "tensor": {
      const found = findTensorProperty(m, value, key);
      if (found.kind === "getter") return m.call({ callee: found.getter, self: value, args: [], completion });
      return m.complete(completion, found.value);
    }
    case "constant":
    case "number":
    case "item":
      return readOfPrimitive(m, value, key, completion);
    case "uninitialized":
    case "cell":
    case "enumerator":
      return breakGraph("opaqueObject");
    default:
      return value satisfies never;
  }
}

function readOfPrimitive(
  m: Interpreter,
  value: Extract<Value, { kind: "constant" | "number" | "item" }>,
  key: Key,
  completion: Completion,
): void {
  if (value.kind === "item") settleInteger(m.output, value);
  const type = typeOf(value);
  // Only a string's type determines its methods
  const isMethod = type === "string" && key !== "length" && indexOfKey(key) === null;
  if (value.kind === "item" && type === "string" && key === "length") {
    const operands = [value, constant(key)];
    return m.complete(completion, computeLater(m.output, { apply: "element", type: "number", operands }));
  }
  if (value.kind === "item" && type !== "number" && !isMethod) {
    return breakGraph("tensorItem", "a property of an element");
  }
  const example = isPassed(value) ? value.hint : type === "string" ? "" : 0;
  const primitive = value.kind === "constant" && !(isPassed(value) && isMethod) ? value.value : example;
  switch (typeof primitive) {
    case "undefined":
    case "object":
      return refuseOfPrimitive(primitive, key, "read");
    case "string": {
      const descriptor = Reflect.getOwnPropertyDescriptor(Object(primitive), key);
      if (descriptor) return m.complete(completion, constant(descriptor.value));
      break;
    }
    default:
  }
  const wrapper: object = Object.getPrototypeOf(Object(primitive));
  const label = typeof primitive;
  const found = findProperty(
    m,
    builtinPrototype(m, wrapper, capitalized(label)),
    key,
  );
  if (found.kind === "getter") return m.call({ callee: found.getter, self: value, args: [], completion });
  m.complete(completion, found.kind === "value" ? found.value : UNDEFINED);
}

/** object[key] = value. */
export function writeProperty(
  m: Interpreter,
  { object, key, value }: { readonly object: Value; readonly key: Key; readonly value: Value },
  strict: boolean,
): void {
  switch (object.kind) {
    case "object": {
      const written = (done: boolean): void =>
        done || !strict ? m.complete({ kind: "discard" }, UNDEFINED) : refuseChange(object, key, "write");
      if (proxyOf(object)) return writeAs(m, object, { key, value, receiver: object }, written);
      const action = assignProperty(m, object, key, value);
      if (action.kind !== "setter") return written(action.kind === "done");
      return m.call({ callee: action.setter, self: object, args: [value], completion: { kind: "discard" } });
    }
    case "tensor": {
      const setter = writeTensorProperty(m, object, { key, value }),
        completion = { kind: "discard" } as const;
      if (setter) return m.call({ callee: setter, self: object, args: [value], completion });
      return m.complete(completion, UNDEFINED);
    }
    case "constant":
      if (object.value === undefined || object.value === null) {
        return refuseOfPrimitive(object.value, key, "write");
      }
      return writeToPrimitive(m, object.value, { key, strict });
    case "number":
    case "item":
      if (typeOf(object) !== "number") return breakGraph("tensorItem", "a property of an element");
      return writeToPrimitive(m, 0, { key, strict });
    case "uninitialized":
    case "cell":
    case "enumerator":
      return breakGraph("opaqueObject");
    default:
      return object satisfies never;
  }
}

/** Refused, in strict code with an error, unless a setter for primitives of this type, or a trap, handles it. */
function writeToPrimitive(
  m: Interpreter,
  primitive: string | number | bigint | boolean | symbol,
  { key, strict }: { readonly key: Key; readonly strict: boolean },
): void {
  for (let at: unknown = Object(primitive); typeof at === "object" && at; at = Object.getPrototypeOf(at)) {
    if (types.isProxy(at)) return breakGraph("builtin", "a proxy behind primitives");
    const holder = m.wrapper.find(at),
      written = holder?.kind === "object" ? holder.slots.get(key) : undefined;
    const isSet = written
      ? written.kind === "accessor" && isCallable(written.set)
      : programDescriptor(at, key)?.set;
    if (isSet) return breakGraph("builtin", "a setter of primitives");
  }
  if (strict) return refuseOfPrimitive(primitive, key, "write");
  m.complete({ kind: "discard" }, UNDEFINED);
}
