/**
 * The helpers that modified functions call to make values. Input and output: real values. Invariant: they work
 * with the builtins as they were when dyn loaded.
 */
import { scalarTensor } from "../../tensor/creation.ts";
import type { Tensor } from "../../tensor/tensor.ts";

const setPrototypeOf = Object.setPrototypeOf;
const bind = Function.prototype.bind;

/** The object with another prototype. */
export function withPrototype(object: object, prototype: object | null): object {
  return setPrototypeOf(object, prototype);
}

/** target.bind(self, ...args) */
export function bindFunction(target: object, self: unknown, ...args: readonly unknown[]): unknown {
  return Reflect.apply(bind, target, [self, ...args]);
}

/** An arguments object. */
export function makeArguments(..._values: readonly unknown[]): object {
  return arguments;
}

/** An iterator of a builtin. */
export function listIterator(
  over: string | Pick<unknown[] | Map<unknown, unknown> | Set<unknown>, "keys" | "values" | "entries">,
  what: "keys" | "values" | "entries",
): Iterator<unknown> {
  return typeof over === "string" ? over[Symbol.iterator]() : over[what]();
}

/** Takes an iterator some steps on; steps through strings count UTF-16 units. */
export function advance(iterator: Iterator<unknown>, index: number, done: boolean): void {
  for (let at = 0; at < index;) {
    const { value, done: over } = iterator.next();
    if (over) return;
    at += typeof value === "string" && Object.prototype.toString.call(iterator) === "[object String Iterator]"
      ? value.length
      : 1;
  }
  if (done) { while (!iterator.next().done); }
}

/** A number as the graph takes it. */
export function scalar(value: number): Tensor {
  return scalarTensor(value, { dtype: "float64", device: "cpu" });
}
