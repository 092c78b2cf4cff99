/**
 * Detects changes of the language's builtins: a snapshot of all own properties of all objects reachable from the
 * global object, and the differences from it later. Invariant: reading the snapshot runs no code of the program.
 */

/** The state of the builtins at one time. */
export interface Builtins {
  /** Returns a property that has changed since; null if none has. New globals that can be deleted are deleted. */
  changed(): string | null;
}

interface Known {
  readonly name: string;
  readonly prototype: object | null;
  readonly properties: ReadonlyMap<PropertyKey, PropertyDescriptor>;
}

// Taken before any program runs, since programs replace them.
const { apply, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, deleteProperty } = Reflect;
const same = Object.is, text = String;
const { get } = Map.prototype, size = getOwnPropertyDescriptor(Map.prototype, "size")?.get;

const lookUp = (map: Known["properties"], key: PropertyKey): PropertyDescriptor | undefined =>
  apply(get, map, [key]);
const sizeOf = (map: Known["properties"]): number => size ? apply(size, map, []) : 0;

const isReference = (value: unknown): value is object =>
  (typeof value === "object" && value !== null) || typeof value === "function";

/** Globals from which all objects of the language are reachable. */
const ROOTS = [
  "Object Function Array String Number Boolean Symbol BigInt Math JSON Reflect Proxy Promise Map Set WeakMap WeakSet",
  "WeakRef FinalizationRegistry Date RegExp Error AggregateError TypeError RangeError SyntaxError ReferenceError",
  "EvalError URIError SuppressedError DisposableStack AsyncDisposableStack Iterator ArrayBuffer SharedArrayBuffer",
  "DataView Atomics Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array",
  "Float16Array Float32Array Float64Array BigInt64Array BigUint64Array parseInt parseFloat isNaN isFinite",
  "Temporal Intl encodeURI encodeURIComponent decodeURI decodeURIComponent eval",
].join(" ").split(" ");

function snapshotOf(name: string, object: object): Known {
  const properties = new Map<PropertyKey, PropertyDescriptor>();
  for (const key of ownKeys(object)) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    if (descriptor) properties.set(key, descriptor);
  }
  return { name, prototype: getPrototypeOf(object), properties };
}

function isSame(a: PropertyDescriptor, b: PropertyDescriptor): boolean {
  return same(a.value, b.value) && a.get === b.get && a.set === b.set && a.writable === b.writable &&
    a.enumerable === b.enumerable && a.configurable === b.configurable;
}

/** Takes the snapshot. */
export function builtinsNow(): Builtins {
  const known = new Map<object, Known>();
  const visit = (name: string, object: unknown): void => {
    if (!isReference(object) || known.has(object) || object === globalThis) return;
    const found = snapshotOf(name, object);
    known.set(object, found);
    visit(`${name}.[[Prototype]]`, found.prototype);
    for (const [key, { value, get, set }] of found.properties) {
      for (const each of [value, get, set]) visit(`${name}.${String(key)}`, each);
    }
  };
  for (const name of ROOTS) visit(name, getOwnPropertyDescriptor(globalThis, name)?.value);
  const samples = [
    [][Symbol.iterator](),
    new Map()[Symbol.iterator](),
    new Set()[Symbol.iterator](),
    ""[Symbol.iterator](),
    "".matchAll(/x/g),
    function* () {},
    async function* () {},
    async function () {},
  ];
  samples.forEach((sample, i) => visit(`sample ${i}`, getPrototypeOf(sample)));
  const globals = snapshotOf("globalThis", globalThis);

  // By index: programs may replace iterators.
  const objects = [...known.entries()];
  const difference = (
    { name, prototype, properties }: Known,
    object: object,
    isGlobal: boolean,
  ): string | null => {
    if (getPrototypeOf(object) !== prototype) return `the prototype of ${name}`;
    const keys = ownKeys(object);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] ?? "";
      const was = lookUp(properties, key), is = getOwnPropertyDescriptor(object, key);
      if (!is || (was && isSame(was, is))) continue;
      if (!was && isGlobal && is.configurable && deleteProperty(object, key)) continue;
      return `${name}.${text(key)}`;
    }
    return ownKeys(object).length < sizeOf(properties) ? `a property of ${name} that is gone` : null;
  };
  return {
    changed: () => {
      const global = difference(globals, globalThis, true);
      if (global !== null) return global;
      for (let i = 0; i < objects.length; i++) {
        const pair = objects[i];
        const found = pair ? difference(pair[1], pair[0], false) : null;
        if (found !== null) return found;
      }
      return null;
    },
  };
}
