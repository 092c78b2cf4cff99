/** Types of traced values, as the language tells them. Invariant: asking for one reads no value. */
import { isCallable, type ObjectValue, type TensorValue, type Value } from "./value.ts";

/** typeof of a value; null if it depends on the elements of a tensor. */
export function typeOf(value: Value): string | null {
  switch (value.kind) {
    case "constant":
      return value.type;
    case "number":
      return "number";
    case "item":
      return value.type === "integer" ? null : value.type;
    case "tensor":
      return "object";
    case "object":
      return isCallable(value) ? "function" : "object";
    case "uninitialized":
    case "cell":
    case "enumerator":
      return "undefined";
    default:
      return value satisfies never;
  }
}

/** Returns whether a value is an object in JavaScript's sense. */
export function isObject(value: Value): value is ObjectValue | TensorValue {
  return value.kind === "object" || value.kind === "tensor";
}
