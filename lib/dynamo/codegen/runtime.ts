/**
 * The helpers by which modified functions create values. Invariant: they use the builtins as they were when dyn was
 * loaded.
 */
import { types } from "node:util";
import { iteratesArraysAsLoaded } from "../../base/loaded_builtins.ts";
import { defineOwn } from "../../base/isolated_objects.ts";
import type { DType } from "../../base/dtype.ts";
import { Parameter } from "../../nn/parameter.ts";
import { opNamed } from "../../ops/table.ts";
import { callInplace } from "../../tensor/eager.ts";
import { empty } from "../../tensor/generated_functions.ts";
import { noGrad, type RegionModes, throughRegions } from "../../tensor/modes.ts";
import { anyShareStorage } from "../../tensor/shared_storage.ts";
import { isTensor, modes, type Tensor } from "../../tensor/tensor.ts";
export { forgetBegun, noteBegun, noteIterated, takeBegun } from "../functions/iterator_positions.ts";

const { setPrototypeOf } = Object;
const { apply, getPrototypeOf } = Reflect;
const bind = Function.prototype.bind;
const { push, shift } = Array.prototype;
const putEntry = Map.prototype.set, deleteEntry = Map.prototype.delete;
const addMember = Set.prototype.add, deleteMember = Set.prototype.delete;
const putWeakly = WeakMap.prototype.set, addWeakly = WeakSet.prototype.add, { isWeakMap } = types;

export { itemsOf } from "../../tensor/items.ts";
export { lastSerial } from "../../tensor/storage.ts";
export { copiedElements, newBuffer, newElements, putNumber, viewFrom } from "../guards/bytes.ts";

export const defineProperty: typeof defineOwn = defineOwn;
export const freeze: (object: object) => object = Object.freeze;
export const seal: (object: object) => object = Object.seal;
export const preventExtensions: (object: object) => object = Object.preventExtensions;

/** Removes the first elements of an array as so many calls of shift do. */
export function removeFirst(list: unknown[], count: number): void {
  for (let i = 0; i < count; i++) apply(shift, list, []);
}

/** Appends elements to a new array, regardless of what arrays inherit. */
export function append(list: unknown[], ...elements: readonly unknown[]): void {
  if (iteratesArraysAsLoaded()) return void apply(push, list, elements);
  for (let i = 0; i < elements.length; i++) {
    const element = { value: elements[i], writable: true, enumerable: true, configurable: true };
    defineProperty(list, list.length, element);
  }
}

/** map.set(key, value), even if a subclass overrides it. */
export function mapSet(map: Map<unknown, unknown>, key: unknown, value: unknown): void {
  apply(putEntry, map, [key, value]);
}

/** map.delete(key) */
export function mapDelete(map: Map<unknown, unknown>, key: unknown): void {
  apply(deleteEntry, map, [key]);
}

/** set.add(member) */
export function setAdd(set: Set<unknown>, member: unknown): void {
  apply(addMember, set, [member]);
}

/** Enters objects into a new weak collection, even if a subclass overrides that. */
export function enter(weak: object, key: WeakKey, value: unknown): void {
  if (isWeakMap(weak)) apply(putWeakly, weak, [key, value]);
  else apply(addWeakly, weak, [key]);
}

/** set.delete(member) */
export function setDelete(set: Set<unknown>, member: unknown): void {
  apply(deleteMember, set, [member]);
}

/**
 * Says that nothing but the leaves refers to their gradients, which a graph has just computed. Not if a gradient may
 * share memory with another result or with a storage up to `start`, or may be saved for a backward pass.
 */
export function ownGradients(leaves: readonly Tensor[], results: readonly unknown[], start: number): void {
  if (anyShareStorage(results)) return;
  for (let i = 0; i < results.length; i++) {
    const result = results[i], history = isTensor(result) ? result.gradFn : null;
    if (history !== null && !history.isLost) return;
  }
  for (let i = 0; i < leaves.length; i++) {
    const state = leaves[i]?.state;
    if (state?.grad && state.grad.storage.serial > start) state.ownsGrad = true;
  }
}

/** The object with another prototype. */
export function withPrototype(object: object, prototype: object | null): object {
  return setPrototypeOf(object, prototype);
}

/** fn.call(self, ...args) */
export function callFunction(
  fn: (this: unknown, ...args: readonly unknown[]) => unknown,
  self: unknown,
  args: readonly unknown[],
): unknown {
  return apply(fn, self, args);
}

/** target.bind(...selfAndArgs) */
export function bindFunction(target: object, ...selfAndArgs: readonly unknown[]): unknown {
  return apply(bind, target, selfAndArgs);
}

/** Changes the layout of a tensor without history to that of an op's result. */
export function changeLayout(tensor: Tensor, op: string, args: readonly unknown[]): void {
  modes.without(() => noGrad(() => callInplace(opNamed(op), [tensor, ...args])));
}

/** An arguments object. */
export function makeArguments(..._values: readonly unknown[]): object {
  return arguments;
}

/** An arguments object of a sloppy function; its callee has yet to be set. */
export const makeMappedArguments: unknown = new Function("return arguments");

type Listing = "keys" | "values" | "entries";

const ofArray = {
  keys: Array.prototype.keys,
  values: Array.prototype.values,
  entries: Array.prototype.entries,
};
const ofMap = { keys: Map.prototype.keys, values: Map.prototype.values, entries: Map.prototype.entries };
const ofSet = { keys: Set.prototype.keys, values: Set.prototype.values, entries: Set.prototype.entries };
const ofString = String.prototype[Symbol.iterator];

/** An iterator of a builtin. */
export function listIterator(
  over: string | object,
  what: Listing,
): Iterator<unknown> {
  if (typeof over === "string") return apply(ofString, over, []);
  const methods = types.isMap(over) ? ofMap : types.isSet(over) ? ofSet : ofArray;
  return apply(methods[what], over, []);
}

const stringIterator: object = getPrototypeOf(""[Symbol.iterator]()) ?? {};
const nexts = new Map(
  [[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator]()]
    .map((iterator) => [getPrototypeOf(iterator), iterator.next]),
);
const nextOf = nexts.get.bind(nexts);

/** Advances an iterator by some steps; strings advance by UTF-16 units. */
export function advance(iterator: Iterator<unknown>, index: number, done: boolean): void {
  const kind = getPrototypeOf(iterator), next = nextOf(kind);
  if (!next) return;
  for (let at = 0; at < index;) {
    const { value, done: over } = apply(next, iterator, []);
    if (over) return;
    at += typeof value === "string" && kind === stringIterator ? value.length : 1;
  }
  if (done) { while (!apply(next, iterator, []).done); }
}

/** Runs plain code in the modes of a region that another function has entered. */
export function underModes<R>(modes: RegionModes, body: () => R): R {
  return throughRegions((enter) => {
    enter(modes);
    return body();
  });
}

/** A parameter that the graph fills. */
export function makeParameter(
  shape: readonly number[],
  { dtype, device, requiresGrad }: {
    readonly dtype: DType;
    readonly device: string;
    readonly requiresGrad: boolean;
  },
): Parameter {
  return modes.without(() => noGrad(() => new Parameter(empty([...shape], { dtype, device }), requiresGrad)));
}
