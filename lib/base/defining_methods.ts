/**
 * Methods of arrays that fill lists by definitions: the language's own assign, which calls a setter that a program has
 * given all arrays or objects at an index, and fails beside a constant there. Invariant: results are those of the
 * language's methods for lists of dyn, whose elements are own, writable properties.
 */

const { defineProperty } = Reflect, { setPrototypeOf } = Object;
const { floor, max, min } = Math;

function put(list: unknown[], index: number, value: unknown): void {
  const descriptor: PropertyDescriptor = { value, writable: true, enumerable: true, configurable: true };
  defineProperty(list, index, setPrototypeOf(descriptor, null));
}

/** A place in a list as a method's argument denotes it: negative ones count from the end. */
function placeOf(given: number | undefined, length: number, otherwise: number): number {
  if (given === undefined) return otherwise;
  const whole = floor(given);
  return whole < 0 ? max(whole + length, 0) : min(whole, length);
}

const methods = {
  push(this: unknown[], ...items: unknown[]): number {
    for (let i = 0; i < items.length; i++) put(this, this.length, items[i]);
    return this.length;
  },
  unshift(this: unknown[], ...items: unknown[]): number {
    const all = [...items, ...this];
    for (let i = 0; i < all.length; i++) put(this, i, all[i]);
    return this.length;
  },
  fill(this: unknown[], value: unknown, from?: number, to?: number): unknown[] {
    const { length } = this, end = placeOf(to, length, length);
    for (let i = placeOf(from, length, 0); i < end; i++) put(this, i, value);
    return this;
  },
  splice(this: unknown[], ...given: [from?: number, count?: number, ...items: unknown[]]): unknown[] {
    const [from, count = this.length, ...items] = given;
    const start = placeOf(from, this.length, 0);
    const end = given.length === 0 ? start : min(start + max(count, 0), this.length);
    const removed = this.slice(start, end), rest = [...items, ...this.slice(end)];
    for (let i = 0; i < rest.length; i++) put(this, start + i, rest[i]);
    this.length = start + rest.length;
    return removed;
  },
};

/** The methods as own properties of the prototype of arrays. */
export const definingMethods: readonly { readonly key: string; readonly original: PropertyDescriptor }[] =
  Object
    .entries(methods)
    .map(([key, value]) => {
      const original: PropertyDescriptor = { value, writable: true, enumerable: false, configurable: true };
      return { key, original: setPrototypeOf(original, null) };
    });
