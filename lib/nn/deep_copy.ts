/**
 * Deep copies of object graphs that hold tensors, like Python's `copy.deepcopy`. Invariants: objects and tensor memory
 * that the original shares are shared in the copy; functions are not copied.
 */
import { types } from "node:util";
import { itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { layoutOf } from "../tensor/layout.ts";
import { noGrad } from "../tensor/modes.ts";
import type { Storage } from "../tensor/storage.ts";
import { Tensor } from "../tensor/tensor.ts";
import { isUninitialized } from "../tensor/uninitialized.ts";
import { Parameter } from "./parameter.ts";

/** Copies an object with its class. Throws DynError for objects that cannot be copied. */
export function deepCopy<T extends object>(original: T): T {
  return new Copier().copy(original);
}

class Copier {
  readonly #copies = new Map<object, object>();
  readonly #storages = new Map<Storage, Storage>();

  copy<T>(value: T): T;
  copy(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    const known = this.#copies.get(value);
    if (known) return known;
    if (value instanceof Tensor) return this.#tensor(value);
    if (value instanceof Date) return this.#note(value, new Date(value));
    if (value instanceof RegExp) return this.#note(value, new RegExp(value));
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
      return this.#note(value, structuredClone(value));
    }
    if (value instanceof Map) {
      const made = this.#note(value, new Map<unknown, unknown>());
      for (const [key, each] of value) made.set(this.copy(key), this.copy(each));
      return this.#fields(value, made);
    }
    if (value instanceof Set) {
      const made = this.#note(value, new Set<unknown>());
      for (const each of value) made.add(this.copy(each));
      return this.#fields(value, made);
    }
    if (Array.isArray(value)) return this.#fields(value, this.#note(value, new Array<unknown>(value.length)));
    refuse(value);
    return this.#fields(value, this.#note(value, {}));
  }

  #note<T extends object>(original: object, made: T): T {
    this.#copies.set(original, made);
    return made;
  }

  /** Copies class and own properties. */
  #fields(original: object, made: object): object {
    Object.setPrototypeOf(made, Object.getPrototypeOf(original));
    for (const key of Reflect.ownKeys(original)) {
      const descriptor = Reflect.getOwnPropertyDescriptor(original, key);
      if (!descriptor) continue;
      if ("value" in descriptor) descriptor.value = this.copy(descriptor.value);
      Object.defineProperty(made, key, descriptor);
    }
    return Object.isFrozen(original) ? Object.freeze(made) : made;
  }

  #tensor(original: Tensor): Tensor {
    if (!original.isLeaf) {
      throw new DynError(
        "Expected leaf tensors to copy but found the result of a recorded operation; detach() it first",
      );
    }
    const storage = original.storage.filled ? this.#storage(original) : original.storage;
    const same = new Tensor(storage, original.layout, original.offset);
    const made = original instanceof Parameter ? new Parameter(same, original.requiresGrad) : same;
    // Its methods give it a shape, which a plain tensor has
    if (isUninitialized(original)) Object.setPrototypeOf(made, Object.getPrototypeOf(original));
    if (original.requiresGrad) made.requiresGrad_();
    this.#copies.set(original, made);
    if (original.grad) made.grad = this.copy(original.grad);
    for (const key of Reflect.ownKeys(original)) {
      if (!Object.hasOwn(made, key)) Reflect.set(made, key, this.copy(Reflect.get(original, key)));
    }
    return made;
  }

  /** Copies all of a tensor's memory, including the part outside its view. */
  #storage({ storage, dtype, device }: Tensor): Storage {
    let made = this.#storages.get(storage);
    if (!made) {
      const count = Math.floor(storage.byteLength / itemSize(dtype));
      const whole = new Tensor(storage, layoutOf({ shape: [count], strides: [1], dtype, device }));
      made = noGrad(() => whole.clone()).storage;
      this.#storages.set(storage, made);
    }
    return made;
  }
}

/** Throws for objects whose state cannot be read. */
function refuse(value: object): void {
  const name = value.constructor?.name ?? "an object";
  if (
    value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef ||
    types.isPromise(value)
  ) {
    throw new DynError(`Expected objects that can be copied but found a ${name}`);
  }
  for (let each: object | null = value; each; each = Object.getPrototypeOf(each)) {
    const { constructor } = each;
    if (typeof constructor !== "function" || !Object.hasOwn(each, "constructor")) continue;
    // A use of a private member: a dot before it, or the word "in" after it
    if (/\.\s*#[\w$]|#[\w$]+\s+in\b/.test(Function.prototype.toString.call(constructor))) {
      throw new DynError(
        `Expected objects that can be copied but found ${constructor.name}, which has private members; let it define clone()`,
      );
    }
  }
}
