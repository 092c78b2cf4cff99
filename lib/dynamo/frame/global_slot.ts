/**
 * Properties of the global object through which values pass between dyn and code that the inspector evaluates.
 * Invariant: the property exists from the start and holds nothing itself, so that programs may seal or freeze the
 * global object.
 */

const { get, set } = Reflect;

/** One such property. */
export class GlobalSlot {
  readonly #key: string;
  /** The property as an expression, which may be assigned and calls nothing that the program could replace. */
  readonly text: string;

  constructor(name: string) {
    this.#key = name;
    this.text = `globalThis[${JSON.stringify(name)}]`;
    // Another copy of dyn in this process has it, too
    if (Object.hasOwn(globalThis, this.#key)) return;
    let value: unknown;
    Object.defineProperty(globalThis, this.#key, {
      get: () => value,
      set: (given: unknown) => void (value = given),
      enumerable: false,
      configurable: false,
    });
  }

  get value(): unknown {
    return get(globalThis, this.#key);
  }

  set value(value: unknown) {
    set(globalThis, this.#key, value);
  }
}
