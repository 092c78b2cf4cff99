/**
 * Iterator helpers in JavaScript, so that the tracer steps through them; lazy ones are generators. Invariant: an
 * iterator is closed exactly where the language closes it, as in a loop over it.
 */

const { apply } = Reflect, { TypeError } = globalThis;

type Items = IteratorObject<unknown, unknown, unknown>;
type Callback = (value: unknown, index: number) => unknown;
type Reducer = (accumulated: unknown, value: unknown, index: number) => unknown;

/** Iterator.prototype.map */
export function* iteratorMap(this: Items, callback: Callback): Generator<unknown> {
  let index = 0;
  for (const value of this) yield apply(callback, undefined, [value, index++]);
}

/** Iterator.prototype.filter */
export function* iteratorFilter(this: Items, callback: Callback): Generator<unknown> {
  let index = 0;
  for (const value of this) if (apply(callback, undefined, [value, index++])) yield value;
}

/** Iterator.prototype.take with a whole number */
export function* iteratorTake(this: Items, limit: number): Generator<unknown> {
  let left = limit;
  if (left === 0) {
    const { return: close } = this;
    if (close !== undefined) apply(close, this, []);
    return;
  }
  for (const value of this) {
    yield value;
    if (--left === 0) return;
  }
}

/** Iterator.prototype.drop with a whole number */
export function* iteratorDrop(this: Items, limit: number): Generator<unknown> {
  let left = limit;
  for (const value of this) {
    if (left > 0) left--;
    else yield value;
  }
}

/** Iterator.prototype.flatMap */
export function* iteratorFlatMap(this: Items, callback: Callback): Generator<unknown> {
  let index = 0;
  for (const value of this) {
    const inner = apply(callback, undefined, [value, index++]);
    if (typeof inner !== "object" && typeof inner !== "function" || inner === null) {
      throw new TypeError(`${String(inner)} is not an object`);
    }
    const { [Symbol.iterator]: begin } = inner as Partial<Iterable<unknown>>;
    // A value without such a method is an iterator itself
    const iterator = begin === undefined || begin === null ? inner : apply(begin, inner, []);
    for (const each of { [Symbol.iterator]: () => iterator as Iterator<unknown> }) yield each;
  }
}

/** Iterator.prototype.reduce with an initial value */
export function iteratorReduceFrom(this: Items, callback: Reducer, initial: unknown): unknown {
  let accumulated = initial, index = 0;
  for (const value of this) accumulated = apply(callback, undefined, [accumulated, value, index++]);
  return accumulated;
}

/** Iterator.prototype.reduce without one */
export function iteratorReduce(this: Items, callback: Reducer): unknown {
  let accumulated: unknown, index = 0;
  for (const value of this) {
    accumulated = index === 0 ? value : apply(callback, undefined, [accumulated, value, index]);
    index++;
  }
  if (index === 0) throw new TypeError("Reduce of a done iterator with no initial value");
  return accumulated;
}

/** Iterator.prototype.toArray */
export function iteratorToArray(this: Items): unknown[] {
  const items: unknown[] = [];
  for (const value of this) items[items.length] = value;
  return items;
}

/** Iterator.prototype.forEach */
export function iteratorForEach(this: Items, callback: Callback): void {
  let index = 0;
  for (const value of this) apply(callback, undefined, [value, index++]);
}

/** Iterator.prototype.some */
export function iteratorSome(this: Items, callback: Callback): boolean {
  let index = 0;
  for (const value of this) if (apply(callback, undefined, [value, index++])) return true;
  return false;
}

/** Iterator.prototype.every */
export function iteratorEvery(this: Items, callback: Callback): boolean {
  let index = 0;
  for (const value of this) if (!apply(callback, undefined, [value, index++])) return false;
  return true;
}

/** Iterator.prototype.find */
export function iteratorFind(this: Items, callback: Callback): unknown {
  let index = 0;
  for (const value of this) if (apply(callback, undefined, [value, index++])) return value;
  return undefined;
}
