/**
 * The builtins as they were when dyn loaded, for dyn's own work: programs may replace, add and delete methods of
 * builtins, which must not affect the parser and the tracer. While dyn works, the program's replacements are set aside;
 * they can be looked up. Invariant: the program never sees its builtins set aside: they are restored whenever code of
 * the program runs.
 */

import { definingMethods } from "./defining_methods.ts";
import { keepingLastMatch, withProgramsMatch } from "./last_match.ts";
import { runsAsLoaded } from "./loaded_builtins.ts";

const { ownKeys, getOwnPropertyDescriptor, deleteProperty, getPrototypeOf, setPrototypeOf } = Reflect;
const { isNaN } = Number;
const { defineProperty } = Object;
const put = Reflect.defineProperty;
const objectPrototype = Object.prototype;

/** The original: calls of compiled functions go through it. */
export const { apply }: { readonly apply: typeof Reflect.apply } = Reflect;

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

/** Returns the descriptor of an own property, without inherited fields. */
function ownDescriptor(object: object, key: PropertyKey): PropertyDescriptor | undefined {
  const descriptor = getOwnPropertyDescriptor(object, key);
  return descriptor && apart(descriptor);
}

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
interface Difference {
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
  for (const  of of[WebAssembly.Module, WebAssembly.Instance, WebAssembly.Memory]) {
    add(of);
    add(of.prototype);
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

/**
 * Returns whether restoring a plan from an earlier process depends on no replaced builtin: describing all builtins
 * takes a tenth of a first call.
 */
export function restoresAsLoaded(): boolean {
  if (stuck !== null) return false;
  if (setAside !== null || untouched) return true;
  if (!runsAsLoaded()) return false;
  if (ownKeys(objectPrototype).length !== inherited) return false;
  for (let i = 0; i < restoring.length; i++) {
    const each = restoring[i], now = each && getOwnPropertyDescriptor(each.object, each.key);
    if (!now || !same(now, each.descriptor)) return false;
  }
  return true;
}

/** The compared builtin objects, with the original state of each own property. */
export function originalBuiltins(): readonly Original[] {
  return ORIGINALS;
}

/** Returns whether every builtin is unchanged. */
export function hasOwnBuiltins(): boolean {
  return stuck === null &&
    (untouched || (setAside === null ? findDifferences().length === 0 : setAside.length === 0));
}

/** Registers dyn's own replacement of a builtin as the original. */
export function adoptBuiltin(object: object, key: PropertyKey): void {
  const known = ORIGINALS.find((each) => each.object === object), at = known?.keys.indexOf(key) ?? -1;
  const descriptor = ownDescriptor(object, key);
  if (known && descriptor && at >= 0) known.descriptors[at] = descriptor;
}

/** Whether work is in progress that found all builtins unchanged, and no code of the program has run since. */
let untouched = false;
/** The differences that are currently set aside, or null. */
let setAside: readonly Difference[] | null = null;
let replacements: ReadonlyMap<object, ReadonlyMap<PropertyKey, Difference>> | null = null;
/** The replacement that stays during the current work since it cannot be undone, in words, or null. */
let stuck: string | null = null;

/** The program has replaced builtins in a way that cannot be set aside. */
export class ReplacedBuiltins extends Error {
  override readonly name = "ReplacedBuiltins";
}

/** Runs work of dyn. Throws ReplacedBuiltins if it cannot be isolated from the program's builtins. */
export function withOwnBuiltins<T>(work: () => T): T {
  if (stuck !== null) throw new ReplacedBuiltins(stuck);
  return setAside !== null || untouched ? work() : keepingLastMatch(() => isolated(work));
}

function isolated<T>(work: () => T): T {
  const differences = findDifferences();
  if (differences.length === 0) {
    untouched = true;
    try {
      return work();
    } finally {
      untouched = false;
    }
  }
  setAside = differences;
  try {
    putOriginals(differences);
    replacements = byObject(differences);
    return work();
  } finally {
    // Code of the program that ran meanwhile may have replaced others
    setAside ??= differences;
    putBack();
  }
}

/** Like `withOwnBuiltins`, but keeps replacements that cannot be undone: for work that must continue. */
export function preferringOwnBuiltins<T>(work: () => T): T {
  if (stuck !== null) return work();
  try {
    return withOwnBuiltins(work);
  } catch (error) {
    if (error instanceof ReplacedBuiltins) return keepingLastMatch(() => besideStuck(work));
    throw error;
  }
}

function besideStuck<T>(work: () => T): T {
  try {
    putPossible();
    return work();
  } finally {
    putBack();
  }
}

/** Sets aside what can be; beside elements that all arrays inherit forever, lists are filled by definitions. */
function putPossible(): void {
  const differences = findDifferences(), possible: Difference[] = [];
  let standsInLists = false;
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (!each) continue;
    if (change(each, each.original)) append(possible, each);
    else {
      stuck ??= permanent(causeAmong(differences, each));
      standsInLists ||= each.original === undefined && isIndex(each.key);
    }
  }
  // Put back in this order: a method that the program has replaced, too, is its own again
  setAside = standsInLists ? [...definitions(), ...possible] : possible;
  replacements = byObject(setAside);
}

function putBack(): void {
  const now = setAside;
  replacements = setAside = stuck = null;
  if (now) putReplaced(now);
}

function definitions(): Difference[] {
  const { prototype: object } = Array, owner = "Array.prototype";
  return definingMethods.map(({ key, original }) => {
    return { object, owner, key, original, replaced: ownDescriptor(object, key) };
  }).filter((each) => change(each, each.original));
}

const { error: print } = console;
let isSaid = false;

/** Runs a report of dyn; prints one line on stderr instead if the program's builtins cannot be set aside. */
export function reportWithOwnBuiltins(report: () => void): void {
  try {
    withOwnBuiltins(report);
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
    if (!isSaid) print(`dyn: compiled functions run uncompiled, because ${error.message}`);
    isSaid = true;
  }
}

/** Like `preferringOwnBuiltins`, for work that must be fast: it first checks only the builtins used at run time. */
export function withRuntimeBuiltins<T>(work: () => T): T {
  return runsAsLoaded() ? work() : preferringOwnBuiltins(work);
}

/** Returns whether records inherit nothing of the program's, beside what `runsAsLoaded` checks. */
export function hasOwnRecords(): boolean {
  return ownKeys(objectPrototype).length === inherited && runsAsLoaded();
}

/**
 * Like `withRuntimeBuiltins`, for work that reads records: these inherit what the program has given all objects.
 * `otherwise` gives the result of work that fails beside replacements that cannot be undone, which is reported.
 */
export function withOwnRecords<T>(work: () => T, otherwise: (error: unknown) => T): T {
  if (hasOwnRecords()) return work();
  try {
    return withOwnBuiltins(work);
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
  }
  try {
    return work();
  } catch (error) {
    const result = otherwise(error);
    reportWithOwnBuiltins(() => {});
    return result;
  }
}

/** Runs code of the program in the middle of dyn's work. */
export function asProgram<T>(run: () => T): T {
  return withProgramsMatch(() => withReplaced(run));
}

function withReplaced<T>(run: () => T): T {
  const former = setAside, wasStuck = stuck !== null;
  untouched = false;
  if (former === null) return run();
  putBack();
  let result: T;
  try {
    result = run();
  } finally {
    if (wasStuck) putPossible();
    else {
      const now = findDifferences();
      putOriginals(now);
      setAside = now;
      replacements = byObject(now);
    }
  }
  return result;
}

function same(a: PropertyDescriptor, b: PropertyDescriptor): boolean {
  const { value } = a;
  // Accessors have none: most properties need no second comparison
  if (value !== undefined && value === b.value) return true;
  return value === b.value && a.get === b.get && a.set === b.set || isNaN(value);
}

function findDifferences(): Difference[] {
  const found: Difference[] = [];
  // Descriptors returned by the engine inherit from Object.prototype
  const read = "value" in objectPrototype || "get" in objectPrototype || "set" in objectPrototype
    ? ownDescriptor
    : getOwnPropertyDescriptor;
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

function isIndex(key: PropertyKey): boolean {
  return typeof key !== "symbol" && `${+String(key) >>> 0}` === key;
}

function append(list: Difference[], item: Difference): void {
  defineOwn(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

function isKnown(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let k = 0; k < keys.length; k++) if (keys[k] === key) return true;
  return false;
}

function change({ object, key }: Difference, descriptor: PropertyDescriptor | undefined): boolean {
  return descriptor ? put(object, key, descriptor) : deleteProperty(object, key);
}

function putOriginals(differences: readonly Difference[]): void {
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (!each || change(each, each.original)) continue;
    throw new ReplacedBuiltins(permanent(causeAmong(differences, each)));
  }
}

function permanent({ key, owner }: Difference): string {
  return `${String(key)} of ${owner} was replaced permanently`;
}

/** The difference because of which one cannot be undone: elements keep the length of arrays from being put back. */
function causeAmong(differences: readonly Difference[], stuck: Difference): Difference {
  for (let i = 0; stuck.key === "length" && i < differences.length; i++) {
    const each = differences[i];
    if (each?.object === stuck.object && each.original === undefined && !each.replaced?.configurable) {
      return each;
    }
  }
  return stuck;
}

function putReplaced(differences: readonly Difference[]): void {
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (each) change(each, each.replaced);
  }
}

function byObject(differences: readonly Difference[]): Map<object, Map<PropertyKey, Difference>> {
  const found = new Map<object, Map<PropertyKey, Difference>>();
  for (const each of differences) {
    const known = found.get(each.object);
    if (known) known.set(each.key, each);
    else found.set(each.object, new Map([[each.key, each]]));
  }
  return found;
}

/** An own property as the program has it. */
export function programDescriptor(object: object, key: PropertyKey): PropertyDescriptor | undefined {
  const replaced = replacements?.get(object)?.get(key);
  return replaced ? replaced.replaced : getOwnPropertyDescriptor(object, key);
}

/** The own keys of an object as the program has them. */
export function programKeys(object: object): (string | symbol)[] {
  const keys = ownKeys(object);
  const replaced = replacements?.get(object);
  if (!replaced) return keys;
  const kept = keys.filter((key) => replaced.get(key)?.replaced !== undefined || !replaced.has(key));
  for (const [key, { original, replaced: now }] of replaced) {
    if (original === undefined && now !== undefined && typeof key !== "number") kept.push(key);
  }
  return kept;
}

/** Returns whether the program has replaced or deleted a property of a builtin object. */
export function isReplaced(object: object): boolean {
  const replaced = replacements?.get(object);
  return replaced !== undefined && [...replaced.values()].some(({ original }) => original !== undefined);
}
