/**
 * Conversions of objects to primitives, which may run code of the program; the primitive is passed to a continuation.
 * Invariant: conversions happen in the language's order; a conversion that cannot be traced breaks the graph.
 */
import { breakGraph } from "../break_reasons.ts";
import {
  constant,
  isCallable,
  isPassed,
  type ObjectValue,
  type TensorValue,
  type Value,
} from "../variables/value.ts";
import { itemOf } from "./graph_numbers.ts";
import { knownTensor } from "./known_elements.ts";
import { callOp } from "./tensor_ops.ts";
import { findProperty } from "./objects.ts";
import type { Interpreter } from "./interpreter.ts";
import { type PrimitiveValue, settleKey, textOf } from "./texts.ts";
import { elementCount } from "../../graph/meta.ts";

export type Hint = "default" | "number" | "string";

/** ToPrimitive; `then` receives the result, immediately or after a call of the program's code. */
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
      return elementToPrimitive(m, value, then);
    case "object":
      return objectToPrimitive(m, value, hint, then);
    default:
      breakGraph("coercion");
  }
}

/** The only element of a tensor, as a number. */
function elementToPrimitive(m: Interpreter, value: TensorValue, then: (value: PrimitiveValue) => void): void {
  const known = knownTensor(m.output, value)?.item<number | bigint | boolean>();
  if (known !== undefined) return then(constant(typeof known === "boolean" ? Number(known) : known));
  if (value.meta.dtype !== "bool") return then(itemOf(m.output, value));
  then(itemOf(m.output, asTensor(callOp(m, m.opNamed("to"), [value, constant("int32")], true))));
}

function asTensor(value: Value): TensorValue {
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

/** ToPropertyKey. Only a few versions are specialised to one key each. */
export function toKey(m: Interpreter, value: Value, then: (key: string | symbol) => void): void {
  toPrimitive(m, value, "string", (primitive) => {
    if (isPassed(primitive)) settleKey(m, primitive);
    const symbol = primitive.kind === "constant" && primitive.type === "symbol" ? primitive.value : null;
    then(typeof symbol === "symbol" ? symbol : textOf(m, primitive));
  });
}
