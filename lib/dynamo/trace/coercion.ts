/**
 * Conversions of objects to primitives, which may run code of the program; the primitive is passed to a continuation.
 * Invariant: conversions happen in the language's order; a conversion that cannot be traced breaks the graph.
 */
import { breakGraph } from "../break_reasons.ts";
import { specializeNumber } from "../variables/numbers.ts";
import {
  constant,
  type ConstantValue,
  isCallable,
  type ItemValue,
  type NumberValue,
  type ObjectValue,
  type Value,
} from "../variables/value.ts";
import { itemOf } from "./graph_numbers.ts";
import { callOp } from "./tensor_ops.ts";
import { findProperty } from "./objects.ts";
import type { Interpreter } from "./interpreter.ts";
import { elementCount } from "../../graph/meta.ts";

/** A value that is not an object. */
export type PrimitiveValue = ConstantValue | NumberValue | ItemValue;

export type Hint = "default" | "number" | "string";

/** ToPrimitive; `then` gets the result, at once or after a call of the program's code. */
export function toPrimitive(
  m: Interpreter,
  value: Value,
  hint: Hint,
  then: (value: PrimitiveValue) => void,
): void {
  switch (value.kind) {
    case "constant":
    case "number":
    case "item":
      return then(value);
    case "tensor":
      if (hint === "string") breakGraph("tensorItem", "a tensor is converted to text");
      if (elementCount(value.meta) !== 1) {
        breakGraph("tensorItem", "a tensor with several elements is converted");
      }
      if (value.meta.dtype === "bool") {
        const target = m.opNamed("to");
        return then(itemOf(m.output, asTensor(callOp(m, target, [value, constant("int32")], true))));
      }
      return then(itemOf(m.output, value));
    case "object":
      return objectToPrimitive(m, value, hint, then);
    default:
      breakGraph("coercion");
  }
}

function asTensor(value: Value): Extract<Value, { kind: "tensor" }> {
  return value.kind === "tensor" ? value : breakGraph("tensorMethod", "a conversion");
}

function objectToPrimitive(
  m: Interpreter,
  object: ObjectValue,
  hint: Hint,
  then: (value: PrimitiveValue) => void,
): void {
  const deliver = (value: Value) => {
    if (value.kind === "constant" || value.kind === "number" || value.kind === "item") then(value);
    else breakGraph("throws", "Cannot convert object to primitive value");
  };
  const exotic = findProperty(m, object, Symbol.toPrimitive);
  if (exotic.kind === "getter") breakGraph("coercion");
  if (exotic.kind === "value" && !isNullish(exotic.value)) {
    if (!isCallable(exotic.value)) breakGraph("throws", "Symbol.toPrimitive is not a function");
    else {
      m.call({
        callee: exotic.value,
        self: object,
        args: [constant(hint)],
        completion: { kind: "inside", then: deliver },
      });
    }
    return;
  }
  const order = hint === "string" ? ["toString", "valueOf"] : ["valueOf", "toString"];
  const attempt = (index: number): void => {
    const name = order[index];
    if (name === undefined) breakGraph("throws", "Cannot convert object to primitive value");
    const found = findProperty(m, object, name ?? "");
    if (found.kind === "getter") breakGraph("coercion");
    if (found.kind !== "value" || !isCallable(found.value)) return attempt(index + 1);
    if (found.value.real === Object.prototype.valueOf) return attempt(index + 1);
    m.call({
      callee: found.value,
      self: object,
      args: [],
      completion: {
        kind: "inside",
        then: (value) =>
          value.kind === "object" || value.kind === "tensor" ? attempt(index + 1) : deliver(value),
      },
    });
  };
  attempt(0);
}

function isNullish(value: Value): boolean {
  return value.kind === "constant" && (value.value === undefined || value.value === null);
}

/** A number as a constant of this version; the graph ends where there are several versions for one of its values each. */
export function settledNumber(m: Interpreter, value: NumberValue): ConstantValue {
  return m.wrapper.hasMany(value) ? breakGraph("changingText") : specializeNumber(m.output, value);
}

/** ToString; numbers that may change become constants. */
export function toText(m: Interpreter, value: Value, then: (text: string) => void): void {
  toPrimitive(m, value, "string", (primitive) => then(textOf(m, primitive)));
}

/** The text of a primitive. */
export function textOf(m: Interpreter, primitive: PrimitiveValue): string {
  switch (primitive.kind) {
    case "constant":
      if (typeof primitive.value === "symbol") {
        return breakGraph("throws", "Cannot convert a Symbol value to a string");
      }
      return String(primitive.value);
    case "number":
      return String(settledNumber(m, primitive).value);
    case "item":
      return breakGraph("tensorItem", "an element is converted to text");
    default:
      return primitive satisfies never;
  }
}

/** ToPropertyKey. */
export function toKey(m: Interpreter, value: Value, then: (key: string | symbol) => void): void {
  toPrimitive(m, value, "string", (primitive) => {
    if (primitive.kind === "constant" && typeof primitive.value === "symbol") then(primitive.value);
    else then(textOf(m, primitive));
  });
}
