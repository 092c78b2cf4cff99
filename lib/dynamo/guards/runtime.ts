/**
 * The helpers that generated checks call. Invariant: no user code runs: no getter, and no proxy trap other than the one
 * that `isProxy` rules out beforehand.
 */
import { types } from "node:util";
import {
  keysOf,
  membersOf,
  ownSet,
  sizeOfMap,
  sizeOfSet,
  valueFor,
  valuesOf,
} from "../../base/collections.ts";
import { getDefaultDtype } from "../../base/dtype.ts";
import { sameList } from "../../base/lists.ts";
import { iteratesArraysAsLoaded } from "../../base/loaded_builtins.ts";
import { apply } from "../../base/own_builtins.ts";
import { hooksSavedTensors } from "../../autograd/saved_hooks.ts";
import { defaultDevice } from "../../tensor/default_device.ts";
import { refusedWrite } from "../../tensor/inplace.ts";
import { ambient } from "../../tensor/modes.ts";
import type { AmbientState } from "./ambient_state.ts";
import { ANY_KEY } from "./guard.ts";
import type { LeafHooks } from "./leaf_hooks.ts";
import type { PropertyFlags } from "./flags.ts";
import type { Tensor } from "../../tensor/tensor.ts";

export { bytesClass, showsApart } from "./bytes.ts";
export { knowsMarks } from "../cache/dimension_marks.ts";

export const { getPrototypeOf } = Object;
const { is } = Object, { isInteger: hasNoFraction } = Number;
const ownKeys = Reflect.ownKeys;
const enumerableKeys = Object.keys;
const ownSymbols = Object.getOwnPropertySymbols;
const getOwnPropertyDescriptor = Reflect.getOwnPropertyDescriptor;

/** Returns whether a value is an array. */
export const isArray: (value: unknown) => boolean = Array.isArray;
/** Returns whether a value is an integer, which -0 is not: arithmetic tells it from 0. */
export const isInteger = (value: unknown): boolean => hasNoFraction(value) && !is(value, -0);
/** Returns whether two values are the same, as Object.is. */
export const isSame: (a: unknown, b: unknown) => boolean = is;
export const hasOwn: (object: object, key: PropertyKey) => boolean = Object.hasOwn;
export const isProxy: (value: unknown) => boolean = types.isProxy;
export const isBoxed: (value: unknown) => boolean = types.isBoxedPrimitive;
/** Returns whether a value is a generator, async ones included. */
export const isGenerator: (value: unknown) => boolean = types.isGeneratorObject;

export { isCloneable } from "./cloneable.ts";
export { engineState } from "./engine_state.ts";

const textOfFunction = Function.prototype.toString;

/** The text of an object's own constructor; null if it has none or an unknown one. */
export function constructorText(object: object): string | null {
  const maker: unknown = getOwnPropertyDescriptor(object, "constructor")?.value;
  return typeof maker === "function" ? apply(textOfFunction, maker, []) : null;
}

/** Returns whether a value is an object with an own constructor of this text. */
export function isMadeBy(value: unknown, text: string | null): boolean {
  return typeof value === "object" && value !== null && !types.isProxy(value) &&
    constructorText(value) === text;
}

export { timeZoneSetting } from "../../base/locale.ts";

/** Returns whether a proxy still has its target: testing whether it is an array runs no trap. */
export function isUnrevoked(proxy: unknown): boolean {
  try {
    isArray(proxy);
    return true;
  } catch {
    return false;
  }
}
export const isExtensible: (object: object) => boolean = Object.isExtensible;
export const isFrozen: (object: object) => boolean = Object.isFrozen;
export const isSealed: (object: object) => boolean = Object.isSealed;

/** Returns whether a value is an object with this prototype. */
export function prototypeIs(value: unknown, prototype: object | null): boolean {
  return ((typeof value === "object" && value !== null) || typeof value === "function") &&
    getPrototypeOf(value) === prototype;
}

/** Returns whether a value is an array, or an object that is none, with this prototype. */
export function inheritsFrom(value: unknown, prototype: object | null, asArray: boolean): boolean {
  return prototypeIs(value, prototype) && isArray(value) === asArray;
}

/** Returns whether an object has exactly these enumerable string keys and own symbols, in this order. */
export function hasKeys(value: object, keys: readonly string[], symbols: readonly symbol[]): boolean {
  return sameList(enumerableKeys(value), keys) && sameList(ownSymbols(value), symbols);
}

/** Returns whether an object has exactly these own keys, in this order. */
export function hasOwnKeys(value: object, keys: readonly string[], symbols: readonly symbol[]): boolean {
  const own = ownKeys(value);
  return own.length === keys.length + symbols.length &&
    own.every((key, i) => key === (keys[i] ?? symbols[i - keys.length]));
}

/** Returns whether an own property holds a value that can be replaced. */
export function hasWritable(object: object, key: PropertyKey): boolean {
  return getOwnPropertyDescriptor(object, key)?.writable === true;
}

/** Returns whether an own property has these flags. */
export function hasFlags(object: object, key: PropertyKey, flags: PropertyFlags): boolean {
  const found = getOwnPropertyDescriptor(object, key);
  return found !== undefined && (found.writable ?? null) === flags.writable &&
    found.enumerable === flags.enumerable && found.configurable === flags.configurable;
}

/** Returns whether every element of an array can be replaced and deleted. */
export function hasPlainElements(array: readonly unknown[]): boolean {
  for (let i = 0; i < array.length; i++) {
    const found = getOwnPropertyDescriptor(array, i);
    if (found && !(found.writable && found.enumerable && found.configurable)) return false;
  }
  return true;
}

/** Returns whether an own property has this getter; undefined: it does not exist, or holds a value. */
export function hasGetter(object: object, key: PropertyKey, getter: unknown): boolean {
  return getOwnPropertyDescriptor(object, key)?.get === getter;
}

/** Returns whether an own property is the accessor with these functions. */
export function hasAccessor(
  value: object,
  key: PropertyKey,
  { get, set }: { readonly get: unknown; readonly set: unknown },
): boolean {
  const found = getOwnPropertyDescriptor(value, key);
  return found !== undefined && found.get === get && found.set === set;
}

function sameKeys(found: readonly unknown[], keys: readonly unknown[]): boolean {
  for (let at = 0; at < keys.length; at++) {
    const expected = keys[at];
    if (expected !== ANY_KEY && !is(found[at], expected)) return false;
  }
  return true;
}

// For ordinary tensors the prototype suffices; an object that only claims to be one throws when it is read.
function isMap(value: unknown): value is Map<unknown, unknown> {
  return prototypeIs(value, Map.prototype) || types.isMap(value);
}

function isSet(value: unknown): value is Set<unknown> {
  return prototypeIs(value, Set.prototype) || types.isSet(value);
}

/** Returns whether a value is a Map with these keys, in this order. */
export function mapHasKeys(value: unknown, keys: readonly unknown[]): boolean {
  return isMap(value) && sizeOfMap(value) === keys.length &&
    (keys.length === 0 || sameKeys(keysOf(value), keys));
}

/** Returns whether a value is a Set with these members, in this order. */
export function setHasMembers(value: unknown, keys: readonly unknown[]): boolean {
  return isSet(value) && sizeOfSet(value) === keys.length &&
    (keys.length === 0 || sameKeys(membersOf(value), keys));
}

/** Returns whether objects are distinct from each other and from others. */
export function areDistinct(members: readonly unknown[], others: readonly unknown[]): boolean {
  if (members.length <= 8) {
    for (let i = 0; i < members.length; i++) {
      for (let j = i + 1; j < members.length; j++) if (members[i] === members[j]) return false;
      for (const other of others) if (members[i] === other) return false;
    }
    return true;
  }
  const found = ownSet<unknown>();
  for (const member of members) {
    if (found.has(member)) return false;
    found.add(member);
  }
  for (const other of others) if (found.has(other)) return false;
  return true;
}

/** Returns whether a tensor has this shape and these strides; null matches any number. */
export function layoutIs(
  { layout }: Tensor,
  shape: readonly (number | null)[],
  strides: readonly (number | null)[],
): boolean {
  if (layout.shape.length !== shape.length) return false;
  for (let d = 0; d < shape.length; d++) {
    const size = shape[d], stride = strides[d];
    if (size !== null && layout.shape[d] !== size) return false;
    if (stride !== null && layout.strides[d] !== stride) return false;
  }
  return true;
}

/** Returns whether the ambient state is that of the trace, so that operations and dyn's own code behave the same. */
export function ambientIs(expected: AmbientState): boolean {
  return iteratesArraysAsLoaded() && ambient.gradEnabled === expected.gradEnabled &&
    ambient.inference === expected.inference &&
    getDefaultDtype() === expected.defaultDtype && defaultDevice() === expected.defaultDevice &&
    (ambient.autocast ?? "") === expected.autocast && hooksSavedTensors() === expected.savedTensorsHooks;
}

/** Returns whether a tensor has no history, and exactly these hooks on its gradients, in this order. */
export function isLeaf({ gradFn, state }: Tensor, { before, after }: LeafHooks): boolean {
  if (gradFn !== null) return false;
  const accumulator = state?.accumulator;
  return listsHooks(accumulator && valueFor(accumulator.hooks, 0), before) &&
    listsHooks(accumulator?.after, after);
}

/** Returns whether an operation computed a tensor that requires grad, and recorded writes to it are not refused. */
export function isMade(tensor: Tensor): boolean {
  return !tensor.isLeaf && refusedWrite(tensor) === undefined;
}

function listsHooks(
  found: ReadonlyMap<number, object> | null | undefined,
  hooks: readonly object[],
): boolean {
  if (!found || hooks.length === 0) return (found ? sizeOfMap(found) : 0) === hooks.length;
  return sizeOfMap(found) === hooks.length && sameList(valuesOf(found), hooks);
}

/** Returns whether a tensor is not a view, and no other tensor shares its memory. */
export function liesApart({ storage, viewState }: Tensor, others: readonly Tensor[]): boolean {
  return viewState === null && others.every((other) => other.storage !== storage);
}

/** Returns whether no other tensor shares the memory of one. */
export function liesElsewhere({ storage }: Tensor, others: readonly Tensor[]): boolean {
  return others.every((other) => other.storage !== storage);
}
