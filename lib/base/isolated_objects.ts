/**
 * Objects and descriptors that inherit nothing: a program may give all objects properties, even a `get`, which the
 * engine would take for a descriptor's.
 */

const { getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
const { defineProperty } = Object;

/**
 * Isolates an object of dyn's own from properties that programs add to all objects: it inherits none, and defining one
 * runs no setter of the program.
 */
export function apart<T extends object>(object: T): T {
  setPrototypeOf(object, null);
  return object;
}

/** Object.defineProperty with own properties of the descriptor only: a program may give all objects a `get`. */
export function defineOwn<T extends object>(object: T, key: PropertyKey, descriptor: PropertyDescriptor): T {
  return defineProperty(object, key, apart(descriptor));
}

/**
 * Created once, because creating a descriptor costs more than defining the property; holds its value only during a
 * definition.
 */
const hidden: PropertyDescriptor = apart({ writable: true, enumerable: false, configurable: true });

/** Defines a property that is not enumerable. */
export function defineHidden(object: object, key: PropertyKey, value: unknown): void {
  hidden.value = value;
  defineProperty(object, key, hidden);
  hidden.value = undefined;
}

/** Names a function that is made in a loop as programs see it: in `fn.name` and in stack traces. */
export function named<F extends (...args: never[]) => unknown>(name: string, fn: F): F {
  return defineOwn(fn, "name", { value: name, configurable: true });
}

/** Returns the descriptor of an own property, without inherited fields. */
export function ownDescriptor(object: object, key: PropertyKey): PropertyDescriptor | undefined {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor && apart(descriptor);
}
