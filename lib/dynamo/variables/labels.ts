/** Functions and classes as messages name them. They are read without running accessors of the program. */
import { types } from "node:util";

/** Returns whether a function is a class. */
export function isClass(fn: object): boolean {
  return /^class\b/.test(Function.prototype.toString.call(fn));
}

/** A printable name of the class with this prototype. */
export function classLabel(prototype: object | null): string {
  if (prototype === null) return "null";
  if (types.isProxy(prototype)) return "Proxy";
  const found = Reflect.getOwnPropertyDescriptor(prototype, "constructor");
  const constructor: unknown = found?.value;
  return typeof constructor === "function" ? functionLabel(constructor) : "Object";
}

/** A printable name of a function. */
export function functionLabel(fn: object): string {
  const name: unknown = Reflect.getOwnPropertyDescriptor(fn, "name")?.value;
  return typeof name === "string" && name !== "" ? name : "<anonymous>";
}
