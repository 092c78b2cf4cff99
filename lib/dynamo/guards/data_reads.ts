/**
 * Reads properties that hold values, for guards. Invariant: no code of the program runs: reads that would need a getter
 * or a trap of a proxy are refused.
 */
import { types } from "node:util";
import { withRuntimeBuiltins } from "../../base/own_builtins.ts";
import { Module } from "../../nn/module.ts";
import { Optimizer } from "../../optim/optimizer.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { Box, LiveView } from "../bytecode/runtime.ts";
import type { Source } from "../source.ts";
import { inherits } from "../functions/modules.ts";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";

/** The result of a read that would run code of the program. */
export const OTHERWISE: unique symbol = Symbol("otherwise");

const { getOwnPropertyDescriptor, getPrototypeOf, get: getProperty } = Reflect;
const { hasOwn, is } = Object;
const { isProxy } = types;

/** Returns the getter of a property. Reading an element's descriptor takes six times as long. */
export const getterOf: (object: object, key: PropertyKey) => unknown = Function.prototype.call.bind(
  Reflect.get(Object.prototype, "__lookupGetter__"),
);

/** The value of a property of an object that is not a proxy. Short enough for V8 to inline it into checks. */
export function valueOf(object: object, key: string | symbol): unknown {
  const own = getOwnPropertyDescriptor(object, key);
  return own !== undefined && hasOwn(own, "value") ? own.value : valueElsewhere(object, key);
}

function valueElsewhere(object: object, key: string | symbol): unknown {
  for (let holder: object | null = object; holder !== null;) {
    const found = getOwnPropertyDescriptor(holder, key);
    if (found !== undefined) return hasOwn(found, "value") ? found.value : fromAccessor(object, key);
    holder = getPrototypeOf(holder);
    if (holder !== null && isProxy(holder)) return OTHERWISE;
  }
  return undefined;
}

function fromAccessor(object: object, key: string | symbol): unknown {
  return withRuntimeBuiltins(() => isSettled(object)) ? getProperty(object, key) : OTHERWISE;
}

/** Returns which of the items of a list from an index on is the first that is not as expected; −1 if all are. */
export function firstOther(list: object, start: number, expected: readonly unknown[]): number {
  for (let i = 0; i < expected.length; i++) {
    const key = start + i, isData = hasOwn(list, key) && getterOf(list, key) === undefined;
    if (!is(isData ? getProperty(list, key) : valueOf(list, `${key}`), expected[i])) return i;
  }
  return -1;
}

const SETTLED: ReadonlySet<object> = new Set<object>([
  Tensor.prototype,
  Module.prototype,
  Optimizer.prototype,
  RegExp.prototype,
  Box.prototype,
  LiveView.prototype,
]);

/**
 * Returns whether properties of instances of a class are read in the usual way: tensors, variables and patterns have
 * getters that are dyn's own or builtin, and large models have thousands of properties, each of which would cost
 * fifteen times as much.
 */
export function isSettledClass(prototype: object | null): boolean {
  for (let at = prototype; at !== null && !isProxy(at); at = getPrototypeOf(at)) {
    if (SETTLED.has(at)) return true;
  }
  return false;
}

function isSettled(object: object): boolean {
  if (types.isModuleNamespaceObject(object)) return true;
  if (BUILTIN_OBJECTS.has(object)) return object !== globalThis;
  return !isProxy(object) && isSettledClass(getPrototypeOf(object));
}

/**
 * The same for a place; `found`: returns the object at a place, by its name. Properties of all objects of optimizers
 * are read in the usual way.
 */
export function isSettledAt(source: Source, found: (name: string) => object | undefined): boolean {
  const objectAt = (at: Source) => at.kind === "known" ? at.object : found(at.name);
  const object = objectAt(source);
  if (object) return isSettled(object);
  for (let at = source; "base" in at; at = at.base) {
    const owner = objectAt(at.base);
    if (owner && inherits(owner, Optimizer.prototype)) return true;
  }
  return false;
}
