/**
 * Installs ops as methods on the prototype of the tensor class, including in-place forms, and an error for brackets.
 * Invariant: members that the class defines itself are not replaced.
 */
import { ownWeakMap } from "../base/collections.ts";
import { besideElements } from "../base/inherited_elements.ts";
import { DynError } from "../base/errors.ts";
import { named } from "../base/isolated_objects.ts";
import { isMethod } from "../ops/api.ts";
import { ALL_OPS, type CallTarget } from "../ops/table.ts";

const names = ownWeakMap<object, string>();

/** The name under which a function was installed as the method of an op; undefined for other functions. */
export const installedName = (fn: object): string | undefined => names.get(fn);

/** Installs the methods on a prototype. */
export function installMethods(
  prototype: object,
  call: (target: CallTarget, given: readonly unknown[]) => unknown,
): void {
  const define = (name: string, target: CallTarget) => {
    if (Object.hasOwn(prototype, name)) return;
    const { method } = {
      method(this: unknown, ...given: readonly unknown[]) {
        return besideElements(() => call(target, [this, ...given]));
      },
    };
    const value = named(name, method);
    names.set(value, name);
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
  };
  for (const definition of ALL_OPS) {
    for (const name of [definition.name, ...(definition.exposure?.aliases ?? [])]) {
      if (isMethod(definition)) define(name, { definition, inplace: false });
      if (definition.inplace) define(`${name}_`, { definition, inplace: true });
    }
  }
}

/**
 * `x.data` is a method, so members of Python's `x.data`, as in `x.data.fill_(0)`, throw an error that names the
 * alternative, and so does `x.data = y`, which would change no element.
 */
export function refuseData(prototype: object): void {
  const data: unknown = Reflect.get(prototype, "data");
  if (typeof data !== "function") return;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name in data) continue;
    Object.defineProperty(data, name, {
      configurable: true,
      get() {
        throw new DynError(
          `Expected x.detach().${name} but found x.data.${name}: data() is a promise of elements`,
        );
      },
    });
  }
  Object.defineProperty(prototype, "data", { writable: false });
}

/**
 * Brackets are property names in JavaScript: Python's x[0] throws an error that names the alternative instead of being
 * undefined.
 */
export function refuseBrackets(prototype: object): void {
  for (const index of [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    Object.defineProperty(prototype, index, {
      configurable: true,
      get() {
        throw new DynError(`Expected x.at(${index}) but found x[${index}]: brackets do not index tensors`);
      },
      set() {
        throw new DynError(
          `Expected x.set([${index}], v) but found x[${index}] = v: brackets do not index tensors`,
        );
      },
    });
  }
}
