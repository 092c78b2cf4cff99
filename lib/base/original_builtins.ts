/**
 * The builtins as they were when dyn loaded, and how those of now differ. Invariant: comparing uses no builtin that the
 * program may have replaced.
 */
import { apart, defineOwn, ownDescriptor } from "./isolated_objects.ts";
import { runsAsLoaded } from "./loaded_builtins.ts";

const { apply, getPrototypeOf, ownKeys } = Reflect;
/** V8 has it as code of its own; Reflect's is a call of its runtime, which takes twice as long. */
const { getOwnPropertyDescriptor } = Object;
const { isNaN } = Number;
const objectPrototype = Object.prototype;

/** A builtin object as it was. Lists are walked by index: iterators may be what was replaced. */
interface Original {
  readonly object: object;
  /** How messages name it. */
  readonly name: string;
  readonly keys: readonly PropertyKey[];
  readonly descriptors: PropertyDescriptor[];
  /** Whether further properties belong to the program: those of the global object are its variables. */
  readonly isOpen: boolean;
}

/** One property that differs; undefined: it is absent. */
export interface Difference {
  readonly object: object;
  readonly owner: string;
  readonly key: PropertyKey;
  readonly original: PropertyDescriptor | undefined;
  readonly replaced: PropertyDescriptor | undefined;
}

/** Names of globals whose objects and prototypes dyn's own code runs through. */
const NAMES = [
  "Object",
  "Function",
  "Array",
  "String",
  "Number",
  "Boolean",
  "Symbol",
  "BigInt",
  "Math",
  "JSON",
  "Reflect",
  "RegExp",
  "Date",
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "WeakRef",
  "Promise",
  "Iterator",
  "Error",
  "TypeError",
  "RangeError",
  "ReferenceError",
  "SyntaxError",
  "ArrayBuffer",
  "DataView",
  "Float32Array",
  "Float64Array",
  "Int32Array",
  "Uint8Array",
  "BigInt64Array",
  "Float16Array",
  "Int16Array",
  "Int8Array",
  "Uint16Array",
  "Uint32Array",
  "SharedArrayBuffer",
  "Atomics",
  "WebAssembly",
  "FinalizationRegistry",
  "TextDecoder",
  "TextEncoder",
  "performance",
  "Performance",
] as const;

/** Further globals that dyn's own code reads but whose objects are not compared. */
const READ = [
  "AggregateError",
  "Proxy",
  "URL",
  "Worker",
  "isFinite",
  "isNaN",
  "parseFloat",
  "parseInt",
  "queueMicrotask",
  "setTimeout",
  "structuredClone",
] as const;

const ORIGINALS: readonly Original[] = remember();

function remember(): Original[] {
  const objects = new Map<object, string>();
  const add = (value: unknown, name = "a builtin") => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") {
      if (!objects.has(value)) objects.set(value, name);
    }
  };
  for (const name of NAMES) {
    // Of some the runtime defines a getter
    const value: unknown = Reflect.get(globalThis, name);
    add(value, name);
    if (typeof value === "function") {
      add(getOwnPropertyDescriptor(value, "prototype")?.value, `${name}.prototype`);
    }
  }
  for (const each of [WebAssembly.Module, WebAssembly.Instance, WebAssembly.Memory]) {
    add(each);
    add(each.prototype);
  }
  const iterators = [[].values(), new Map().values(), new Set().values(), [].values().map(() => 0)];
  for (const iterator of [...iterators, ""[Symbol.iterator](), "".matchAll(/x/g)]) {
    add(getPrototypeOf(iterator));
  }
  const generators = getPrototypeOf((function* () {})());
  if (generators) add(getPrototypeOf(generators));
  add(getPrototypeOf(Int32Array.prototype));
  add(getPrototypeOf(Int32Array));
  const original = (
    object: object,
    { name, keys, isOpen }: Pick<Original, "name" | "keys" | "isOpen">,
  ): Original => ({
    object,
    name,
    keys,
    descriptors: keys.map((key) => ownDescriptor(object, key) ?? {}),
    isOpen,
  });
  // The runtime defines some globals when they are first read
  const globals = [...NAMES, ...READ].filter((name) => Reflect.get(globalThis, name) !== undefined);
  return [
    ...[...objects].map(([object, name]) => {
      // Settings of V8, which dyn changes itself
      const keys = ownKeys(object).filter((key) => key !== "stackTraceLimit" && key !== "prepareStackTrace");
      return original(object, { name, keys, isOpen: false });
    }),
    original(globalThis, { name: "the global object", keys: globals, isOpen: true }),
  ];
}

/** The compared builtin objects, with the original state of each own property. */
export function originalBuiltins(): readonly Original[] {
  return ORIGINALS;
}

/** Registers dyn's own replacement of a builtin as the original. */
export function adoptBuiltin(object: object, key: PropertyKey): void {
  const known = ORIGINALS.find((each) => each.object === object), at = known?.keys.indexOf(key) ?? -1;
  const descriptor = ownDescriptor(object, key);
  if (known && descriptor && at >= 0) known.descriptors[at] = descriptor;
}

/** Methods that restoring a plan calls, beyond what `runsAsLoaded` checks, and properties that all objects inherit. */
const RESTORING: readonly (readonly [object, readonly PropertyKey[]])[] = [
  [Uint8Array, ["fromBase64"]],
  [getPrototypeOf(Uint8Array.prototype) ?? {}, ["set", "subarray"]],
  [String.prototype, ["indexOf", "slice", "startsWith", "endsWith", "padStart"]],
  [Number.prototype, ["toString"]],
  [WeakRef.prototype, ["deref"]],
  [WebAssembly, ["Module", "Instance", "Memory"]],
  [WebAssembly.Module, ["imports"]],
  [WebAssembly.Instance.prototype, ["exports"]],
  [globalThis, ["Date", "TextDecoder", "WebAssembly"]],
  [objectPrototype, ownKeys(objectPrototype)],
];

const restoring = RESTORING.flatMap(([object, keys]) =>
  keys.map((key) => ({ object, key, descriptor: ownDescriptor(object, key) ?? {} }))
);
const inherited = ownKeys(objectPrototype).length;

/** Returns whether records inherit nothing of the program's, beside what `runsAsLoaded` checks. */
export function hasOwnRecords(): boolean {
  return ownKeys(objectPrototype).length === inherited && runsAsLoaded();
}

/**
 * Returns whether what restoring a plan from an earlier process uses is unchanged: describing all builtins takes a tenth
 * of a first call.
 */
export function restoringIsAsLoaded(): boolean {
  if (!hasOwnRecords()) return false;
  for (let i = 0; i < restoring.length; i++) {
    const each = restoring[i], now = each && getOwnPropertyDescriptor(each.object, each.key);
    if (!now || !same(now, each.descriptor)) return false;
  }
  return true;
}

function same(a: PropertyDescriptor, b: PropertyDescriptor): boolean {
  const { value } = a;
  // Accessors have none: most properties need no second comparison
  if (value !== undefined && value === b.value) return true;
  return value === b.value && a.get === b.get && a.set === b.set || isNaN(value);
}

/** The way to read descriptors now: those that the engine returns inherit from Object.prototype. */
function reader(): typeof getOwnPropertyDescriptor {
  return "value" in objectPrototype || "get" in objectPrototype || "set" in objectPrototype
    ? ownDescriptor
    : getOwnPropertyDescriptor;
}

/** Returns whether properties that differed still are what they had been replaced by. */
export function differAsBefore(differences: readonly Difference[]): boolean {
  const read = reader();
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (!each) continue;
    const { replaced } = each, now = read(each.object, each.key);
    if (!now || !replaced) {
      if (now || replaced) return false;
    } else if (
      !same(now, replaced) || now.writable !== replaced.writable || now.enumerable !== replaced.enumerable ||
      now.configurable !== replaced.configurable
    ) return false;
  }
  return true;
}

/** Returns the properties that are not as they were. */
export function findDifferences(): Difference[] {
  const found: Difference[] = [], read = reader();
  // By index and without methods: any of them may have been replaced
  for (let i = 0; i < ORIGINALS.length; i++) {
    const entry = ORIGINALS[i];
    if (entry) compare(entry, read, found);
  }
  return found;
}

function compare(
  { object, name: owner, keys, descriptors, isOpen }: Original,
  read: typeof getOwnPropertyDescriptor,
  found: Difference[],
): void {
  let present = 0;
  for (let k = 0; k < keys.length; k++) {
    const key = keys[k], original = descriptors[k];
    if (key === undefined || !original) continue;
    const now = read(object, key);
    if (now) present++;
    // A variable that cannot be restored stays the program's
    if (isOpen && now?.configurable === false) continue;
    if (!now || !same(now, original)) {
      append(found, { object, owner, key, original, replaced: now && apart(now) });
    }
  }
  if (isOpen) return;
  const all = ownKeys(object);
  if (all.length === present) return;
  for (let k = 0; k < all.length; k++) {
    const key = all[k];
    if (key === undefined || key === "stackTraceLimit" || key === "prepareStackTrace") continue;
    if (isKnown(keys, key)) continue;
    const replaced = read(object, key);
    if (!replaced || staysTheirs(object, key, replaced)) continue;
    append(found, { object, owner, key, original: undefined, replaced: apart(replaced) });
  }
}

const WELL_KNOWN: ReadonlySet<PropertyKey> = new Set(
  ownKeys(Symbol).map((key): unknown => Reflect.get(Symbol, key)).filter((value) =>
    typeof value === "symbol"
  ),
);
const { has: isAmong } = Set.prototype;

/**
 * Returns whether a property that the program has added cannot be removed, and need not be: dyn's own code does not
 * read it, since neither the language nor lists do, and its own objects do not inherit it.
 */
function staysTheirs(object: object, key: PropertyKey, { configurable }: PropertyDescriptor): boolean {
  if (configurable !== false || object === objectPrototype) return false;
  return typeof key === "symbol" ? !apply(isAmong, WELL_KNOWN, [key]) : !isIndex(key);
}

/** Returns whether a key is that of an element. */
export function isIndex(key: PropertyKey): boolean {
  return typeof key !== "symbol" && `${+String(key) >>> 0}` === key;
}

/** Adds to a list without its methods. */
export function append(list: Difference[], item: Difference): void {
  defineOwn(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

function isKnown(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let k = 0; k < keys.length; k++) if (keys[k] === key) return true;
  return false;
}
