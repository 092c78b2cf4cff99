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
  return (function () {
    return arguments;
  })();
}

/** An iterator of a builtin, some steps on. Indexes into strings count UTF-16 units. */
export function listIterator(
  over: string | Pick<unknown[] | Map<unknown, unknown> | Set<unknown>, "keys" | "values" | "entries">,
  what: "keys" | "values" | "entries",
  index: number,
  done: boolean,
): Iterator<unknown> {
  if (typeof over === "string") {
    const characters = over[Symbol.iterator]();
    for (let at = 0; at < index;) {
      const { value = " " } = characters.next();
      at += value.length;
    }
    return characters;
  }
  const iterator: Iterator<unknown> = over[what]();
  for (let i = 0; i < index; i++) iterator.next();
  if (done) { while (!iterator.next().done); }
  return iterator;
}

/** A number as the graph takes it. */
export function scalar(value: number): Tensor {
  return scalarTensor(value, { dtype: "float64" });
}
