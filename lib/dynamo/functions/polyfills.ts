/**
 * Builtins with callbacks, in JavaScript, so that the tracer inlines them and a graph break inside a callback resumes
 * inside the builtin. They take and return what the builtins do, on real arrays, Maps and Sets. Invariant: order of
 * calls, holes and arguments are the language's.
 */

import { defineOwn } from "../../base/isolated_objects.ts";

export { repeatMatch } from "../../base/last_match.ts";
export * from "./iterator_polyfills.ts";
export { quoted, revive, stringify } from "./json_polyfills.ts";
export { newPromise, settlerOf, tryPromise } from "./promise_polyfills.ts";
export { sortBy, sortByText, sortNumbersBy, toSortedBy, toSortedByText } from "./sorting_polyfills.ts";

// Taken when dyn is loaded: callbacks may have a property of that name, and programs may replace it.
const { apply } = Reflect;
const { Array, Math, Number, Object, String, SuppressedError, TypeError } = globalThis;
const OwnMap = Map;
const getFrom: (key: unknown) => unknown[] | undefined = Map.prototype.get;
const putInto: (key: unknown, value: unknown) => unknown = Map.prototype.set;

type Callback = (this: unknown, value: unknown, index: unknown, whole: unknown) => unknown;
type Mapping = (this: unknown, value: unknown, index: number) => unknown;
type Reducer = (accumulated: unknown, value: unknown, index: number, whole: unknown) => unknown;

/** Defines an own element of a result: programs may add setters to all arrays. */
export function put(result: unknown[], index: number, value: unknown): void {
  defineOwn(result, index, { value, writable: true, enumerable: true, configurable: true });
}

/** Array.prototype.map */
export function map(this: unknown[], callback: Callback, self?: unknown): unknown[] {
  const result: unknown[] = [];
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this) put(result, i, apply(callback, self, [this[i], i, this]));
  }
  result.length = length;
  return result;
}

/** map of typed arrays and of classes of arrays, into a new one */
export function mapInto(
  this: unknown[],
  result: unknown[],
  ...[callback, self]: readonly [callback: Callback, self?: unknown]
): unknown[] {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this) put(result, i, apply(callback, self, [this[i], i, this]));
  }
  return result;
}

/** Array.prototype.filter, into a new one */
export function filter(
  this: unknown[],
  result: unknown[],
  ...[callback, self]: readonly [callback: Callback, self?: unknown]
): unknown[] {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this) {
      const value = this[i];
      if (apply(callback, self, [value, i, this])) put(result, result.length, value);
    }
  }
  return result;
}

/** Array.prototype.forEach */
export function forEach(this: unknown[], callback: Callback, self?: unknown): void {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this) apply(callback, self, [this[i], i, this]);
  }
}

/** Array.prototype.reduce with an initial value */
export function reduceFrom(this: unknown[], callback: Reducer, initial: unknown): unknown {
  let accumulated = initial;
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this) accumulated = callback(accumulated, this[i], i, this);
  }
  return accumulated;
}

/** Array.prototype.reduce without one */
export function reduce(this: unknown[], callback: Reducer): unknown {
  const length = this.length;
  let i = 0;
  while (i < length && !(i in this)) i++;
  if (i >= length) throw new TypeError("Reduce of empty array with no initial value");
  let accumulated = this[i++];
  for (; i < length; i++) {
    if (i in this) accumulated = callback(accumulated, this[i], i, this);
  }
  return accumulated;
}

/** Array.prototype.reduceRight with an initial value */
export function reduceRightFrom(this: unknown[], callback: Reducer, initial: unknown): unknown {
  let accumulated = initial;
  for (let i = this.length - 1; i >= 0; i--) {
    if (i in this) accumulated = callback(accumulated, this[i], i, this);
  }
  return accumulated;
}

/** Array.prototype.reduceRight without one */
export function reduceRight(this: unknown[], callback: Reducer): unknown {
  let i = this.length - 1;
  while (i >= 0 && !(i in this)) i--;
  if (i < 0) throw new TypeError("Reduce of empty array with no initial value");
  let accumulated = this[i--];
  for (; i >= 0; i--) {
    if (i in this) accumulated = callback(accumulated, this[i], i, this);
  }
  return accumulated;
}

/** Array.prototype.some */
export function some(this: unknown[], callback: Callback, self?: unknown): boolean {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this && apply(callback, self, [this[i], i, this])) return true;
  }
  return false;
}

/** Array.prototype.every */
export function every(this: unknown[], callback: Callback, self?: unknown): boolean {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (i in this && !apply(callback, self, [this[i], i, this])) return false;
  }
  return true;
}

/** Array.prototype.find */
export function find(this: unknown[], callback: Callback, self?: unknown): unknown {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    const value = this[i];
    if (apply(callback, self, [value, i, this])) return value;
  }
  return undefined;
}

/** Array.prototype.findIndex */
export function findIndex(this: unknown[], callback: Callback, self?: unknown): number {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (apply(callback, self, [this[i], i, this])) return i;
  }
  return -1;
}

/** Array.prototype.findLast */
export function findLast(this: unknown[], callback: Callback, self?: unknown): unknown {
  for (let i = this.length - 1; i >= 0; i--) {
    const value = this[i];
    if (apply(callback, self, [value, i, this])) return value;
  }
  return undefined;
}

/** Array.prototype.findLastIndex */
export function findLastIndex(this: unknown[], callback: Callback, self?: unknown): number {
  for (let i = this.length - 1; i >= 0; i--) {
    if (apply(callback, self, [this[i], i, this])) return i;
  }
  return -1;
}

/** Array.prototype.flatMap, into a new one */
export function flatMap(
  this: unknown[],
  result: unknown[],
  ...[callback, self]: readonly [callback: Callback, self?: unknown]
): unknown[] {
  const length = this.length;
  for (let i = 0; i < length; i++) {
    if (!(i in this)) continue;
    const value = apply(callback, self, [this[i], i, this]);
    if (Array.isArray(value)) {
      const inner: unknown[] = value;
      for (let k = 0; k < inner.length; k++) if (k in inner) put(result, result.length, inner[k]);
    } else put(result, result.length, value);
  }
  return result;
}

/** Array.from with a mapping function, over an array-like object */
export function mapArrayLike(
  this: ArrayLike<unknown>,
  result: unknown[],
  ...[callback, self]: readonly [callback: Mapping, self?: unknown]
): unknown[] {
  const length = Math.trunc(Number(this.length)) || 0;
  for (let i = 0; i < length; i++) put(result, i, apply(callback, self, [this[i], i]));
  return result;
}

/** Array.from with a mapping function, over an iterable: the function may change the remaining items */
export function mapIterable(
  this: Iterable<unknown>,
  result: unknown[],
  ...[callback, self]: readonly [callback: Mapping, self?: unknown]
): unknown[] {
  for (const item of this) put(result, result.length, apply(callback, self, [item, result.length]));
  return result;
}

/** Set's constructor, for an `add` of the program */
export function addEach(this: Iterable<unknown>, made: object, add: (item: unknown) => unknown): object {
  for (const item of this) apply(add, made, [item]);
  return made;
}

/** Map's constructor, for a `set` of the program */
export function putEach(
  this: Iterable<{ readonly 0: unknown; readonly 1: unknown }>,
  made: object,
  set: (key: unknown, value: unknown) => unknown,
): object {
  for (const item of this) {
    if (Object(item) !== item) throw new TypeError(`Iterator value ${String(item)} is not an entry object`);
    apply(set, made, [item[0], item[1]]);
  }
  return made;
}

/** Map.prototype.forEach */
export function mapForEach(this: Map<unknown, unknown>, callback: Callback, self?: unknown): void {
  for (const entry of this) apply(callback, self, [entry[1], entry[0], this]);
}

/** Map.prototype.getOrInsertComputed for a key that is not there */
export function insertComputed(
  this: Map<unknown, unknown>,
  key: unknown,
  callback: (key: unknown) => unknown,
): unknown {
  const value = callback(key === 0 ? 0 : key);
  apply(putInto, this, [key, value]);
  return value;
}

/** Set.prototype.forEach */
export function setForEach(this: Set<unknown>, callback: Callback, self?: unknown): void {
  for (const member of this) apply(callback, self, [member, member, this]);
}

/** String.prototype.replace with a function, over matches: arguments, place and length of each. */
export function replaceBy(
  this: string,
  matches: readonly (readonly [args: unknown[], index: number, length: number])[],
  callback: (...args: unknown[]) => unknown,
): string {
  let result = "", at = 0;
  for (let i = 0; i < matches.length; i++) {
    const match = matches[i];
    if (match === undefined) continue;
    const text = `${apply(callback, undefined, match[0])}`;
    result += this.slice(at, match[1]) + text;
    at = match[1] + match[2];
  }
  return result + this.slice(at);
}

/** Object.groupBy: the function may change the remaining items */
export function groupBy(
  this: Iterable<unknown>,
  callback: (value: unknown, index: number) => PropertyKey,
): Record<PropertyKey, unknown[]> {
  const groups: Record<PropertyKey, unknown[]> = Object.create(null);
  let i = 0;
  for (const item of this) {
    const key = callback(item, i++);
    const group = groups[key] ??= [];
    group[group.length] = item;
  }
  return groups;
}

/** Map.groupBy: the function may change the remaining items */
export function groupInMap(
  this: Iterable<unknown>,
  callback: (value: unknown, index: number) => unknown,
): Map<unknown, unknown[]> {
  const groups = new OwnMap<unknown, unknown[]>();
  let i = 0;
  for (const item of this) {
    const key = callback(item, i++), group = apply(getFrom, groups, [key]);
    if (group) group[group.length] = item;
    else apply(putInto, groups, [key, [item]]);
  }
  return groups;
}

type Disposal = readonly [self: unknown, dispose: (...args: unknown[]) => unknown, args: unknown[]];

/** Disposes of what a DisposableStack holds, the last one first. */
export function disposeAll(entries: readonly Disposal[], message: string): void {
  let failed = false, failure: unknown;
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    if (entry === undefined) continue;
    try {
      apply(entry[1], entry[0], entry[2]);
    } catch (error) {
      failure = failed ? new SuppressedError(error, failure, message) : error;
      failed = true;
    }
  }
  if (failed) throw failure;
}
