/**
 * The runtime of printed functions beyond JavaScript's syntax, passed to them as `$rt`.
 *
 * Invariant: nothing here depends on globals that a program may replace after this module is loaded, except where the
 * language itself looks them up.
 */
import type * as ast from "acorn";
import { ownWeakMap } from "../../base/collections.ts";
import { isReference } from "../../base/tree.ts";
import { defineOwn } from "../../base/isolated_objects.ts";
import {
  AsyncFromSync,
  callMethod,
  checkStep,
  close,
  closeQuietly,
  Delegation,
  describe,
  isFunction,
  memberOf,
  promised,
  rejected,
  type Step,
  Suspension,
} from "./iteration.ts";
import type { LiveCellLike } from "./print_types.ts";
import { stepped } from "./stepped.ts";

// As they were when this module was loaded
const { Object, String, Number, BigInt, Proxy, TypeError, ReferenceError } = globalThis;
const wellKnown = Symbol;

/** Marks a variable that is not initialised yet. */
export const UNINITIALIZED: unique symbol = Symbol("uninitialized");

/** A captured variable of a function that dyn runs itself. */
export interface Cell {
  v: unknown;
}

/** Access to one private name. */
export interface PrivateLike {
  readonly has: (object: object) => boolean;
  readonly get: (object: object) => unknown;
  readonly set: (object: object, value: unknown) => void;
}

const {
  apply,
  construct,
  getPrototypeOf,
  ownKeys,
  getOwnPropertyDescriptor,
  has: hasProperty,
  setPrototypeOf,
} = Reflect;
const { freeze } = Object;
const reflectGet = Reflect.get;
const reflectSet = Reflect.set;

/** Returns the engine's name for a value that has no source text. */
function kindOf(value: unknown): string {
  const isShown = value === null || typeof value === "number" || typeof value === "boolean";
  const shown = typeof value === "string" ? ` "${value}"` : isShown ? ` ${value}` : "";
  return `${typeof value}${shown}`;
}

/** Returns the engine's message for destructuring a value that is not an object. */
function refusal(what: string, found: unknown): string {
  return `Cannot destructure ${what} as it is ${found}.`;
}

function* enumerate(object: unknown): Iterator<string, void> {
  if (object === undefined || object === null) return;
  for (const key in Object(object)) yield key;
}

/** Returns whether a function is a constructor: tested on a proxy of it, so that none of its code runs. */
function isConstructor(fn: (...args: readonly unknown[]) => unknown): boolean {
  try {
    construct(new Proxy(fn, { construct: () => ({}) }), []);
    return true;
  } catch {
    return false;
  }
}

/** Calls the iterator method of an iterable. */
function begin(method: (...args: readonly unknown[]) => unknown, source: unknown): object {
  const iterator = apply(method, source, []);
  if (!isReference(iterator)) throw new TypeError("Result of the Symbol.iterator method is not an object");
  return iterator;
}

/**
 * Objects that implement `super` in methods with another home: they inherit from the current prototype of that home.
 */
const supers = ownWeakMap<object, object>();

/** super[key] = value; returns false if the write is refused. */
function writeSuper(home: object, receiver: unknown, key: PropertyKey, value: unknown): boolean {
  const proto = getPrototypeOf(home);
  if (proto === null) throw new TypeError(`Cannot set properties of null (setting '${String(key)}')`);
  return reflectSet(proto, key, value, receiver);
}

/** The same in strict code, with the engine's own errors. */
export function writeAsSuper(
  proto: object | null,
  receiver: unknown,
  ...[key, value]: readonly [key: PropertyKey, value: unknown]
): void {
  const writer = {
    __proto__: proto,
    write(at: PropertyKey, content: unknown) {
      (super[at as keyof object] as unknown) = content;
    },
  };
  apply(writer.write, receiver, [key, value]);
}

/** A variable of printed code that closures share. */
export class Box implements Cell {
  constructor(public v: unknown, readonly name: string) {}
}

/** A cell whose content is in a closure of the user's. */
export class LiveView implements Cell {
  constructor(readonly cell: LiveCellLike) {}
  get v(): unknown {
    return this.cell.get();
  }
  set v(value: unknown) {
    this.cell.set(value);
  }
}

const views = ownWeakMap<LiveCellLike, LiveView>();
const templates: (readonly string[])[] = [], templateIndexes = ownWeakMap<ast.TemplateLiteral, number>();

function define(object: object, key: PropertyKey, value: unknown): void {
  defineOwn(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function isAmong(keys: readonly PropertyKey[], key: PropertyKey): boolean {
  for (let i = 0; i < keys.length; i++) {
    const each = keys[i];
    if (each === key || (typeof each === "number" && `${each}` === key)) return true;
  }
  return false;
}

/** Copies own enumerable properties as object spread does. */
function copy(target: object, source: unknown, excluded: readonly PropertyKey[] = []): object {
  if (source === undefined || source === null) return target;
  const from: object = Object(source);
  const keys = ownKeys(from);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key === undefined || isAmong(excluded, key)) continue;
    if (getOwnPropertyDescriptor(from, key)?.enumerable) define(target, key, reflectGet(from, key, source));
  }
  return target;
}

// In V8's words.
const CONSTANT_ASSIGNED = "Assignment to constant variable.";
/** The message of an error that suppresses another one while objects are disposed. */
export const SUPPRESSED = "An error was suppressed during disposal";
/** The helpers. */
export const runtime = {
  tdz: UNINITIALIZED,
  apply(callee: unknown, self: unknown, args: readonly unknown[], text: string): unknown {
    if (!isFunction(callee)) throw new TypeError(`${text} is not a function`);
    return apply(callee, self, args);
  },
  construct(callee: unknown, args: readonly unknown[], text: string): object {
    if (!isFunction(callee) || !isConstructor(callee)) throw new TypeError(`${text} is not a constructor`);
    return construct(callee, args);
  },
  /** The value that a pattern destructures, whose first property is read next. */
  matched(value: unknown, words: string, key: string): unknown {
    if (value !== undefined && value !== null) return value;
    throw new TypeError(refusal(`property '${key}' of '${words || kindOf(value)}'`, value));
  },
  /** The items of a value that is spread into an array. */
  items(source: unknown, words: string): unknown[] {
    const iterator = runtime.iterator(source, words);
    return runtime.collect(iterator, memberOf(iterator, "next"));
  },
  /** The items of a value that is spread as the last arguments of a call. */
  spread(source: unknown, words: string): unknown[] {
    if (source === undefined || source === null) {
      throw new TypeError(`${words} is not iterable (cannot read property ${source})`);
    }
    const method = memberOf(source, wellKnown.iterator);
    if (!isFunction(method)) {
      throw new TypeError("Spread syntax requires ...iterable[Symbol.iterator] to be a function");
    }
    const iterator = begin(method, source);
    return runtime.collect(iterator, memberOf(iterator, "next"));
  },
  uninitialized(name: string): never {
    throw new ReferenceError(
      name === "this"
        ? "Must call super constructor in derived class before accessing 'this' or returning from derived constructor"
        : `Cannot access '${name}' before initialization`,
    );
  },
  /** The cell, if it is initialised. */
  ready(cell: Cell, name: string): Cell {
    if (cell.v === UNINITIALIZED) runtime.uninitialized(name);
    return cell;
  },
  box(value: unknown, name: string): Box {
    return new Box(value, name);
  },
  live(cell: LiveCellLike): LiveView {
    let view = views.get(cell);
    if (!view) views.set(cell, view = new LiveView(cell));
    return view;
  },
  /** A variable that refuses assignments; `strict` is how strict code sees it. */
  constant(cell: Cell, name: string, throws: boolean): Cell & { readonly strict: Cell } {
    return {
      get strict() {
        return runtime.constant(cell, name, true);
      },
      get v() {
        return cell.v === UNINITIALIZED ? runtime.uninitialized(name) : cell.v;
      },
      set v(_value) {
        if (cell.v === UNINITIALIZED) runtime.uninitialized(name);
        if (throws) throw new TypeError(CONSTANT_ASSIGNED);
      },
    };
  },
  toNumeric(value: unknown): number | bigint {
    if (typeof value === "number" || typeof value === "bigint") return value;
    const primitive = isReference(value) ? toPrimitive(value, "number") : value;
    return typeof primitive === "bigint" ? primitive : Number(primitive);
  },
  increment(value: unknown, by: number): unknown {
    return typeof value === "bigint" ? value + BigInt(by) : Number(value) + by;
  },
  toPropertyKey(value: unknown): string | symbol {
    const primitive = isReference(value) ? toPrimitive(value, "string") : value;
    return typeof primitive === "symbol" ? primitive : String(primitive);
  },
  templateObject(index: number): readonly string[] | undefined {
    return templates[index];
  },
  getSuper(home: object, receiver: unknown, key: PropertyKey): unknown {
    const proto = getPrototypeOf(home);
    if (proto === null) throw new TypeError(`Cannot read properties of null (reading '${String(key)}')`);
    return reflectGet(proto, key, receiver);
  },
  setSuper(home: object, receiver: unknown, key: PropertyKey, value: unknown, strict: boolean): void {
    if (strict) writeAsSuper(getPrototypeOf(home), receiver, key, value);
    else writeSuper(home, receiver, key, value);
  },
  /** Assigns a property as strict code does. */
  setStrictly(object: Record<PropertyKey, unknown>, key: PropertyKey, value: unknown): void {
    object[key] = value;
  },
  deleteStrictly: (object: Record<PropertyKey, unknown>, key: PropertyKey): boolean => delete object[key],
  superOf(home: object): object {
    let found = supers.get(home);
    if (!found) {
      found = new Proxy({}, {
        get: (_target, key, receiver) => runtime.getSuper(home, receiver, key),
        set: (_target, key, value, receiver) => writeSuper(home, receiver, key, value),
      });
      supers.set(home, found);
    }
    return found;
  },
  private(access: PrivateLike, object: object): Cell {
    return {
      get v() {
        return access.get(object);
      },
      set v(value) {
        access.set(object, value);
      },
    };
  },
  append(array: unknown[], value: unknown): void {
    define(array, String(array.length), value);
  },
  appendAll(array: unknown[], values: unknown, words: string): void {
    for (let i = 0, list = runtime.items(values, words); i < list.length; i++) {
      define(array, String(array.length), list[i]);
    }
  },
  define(object: object, key: PropertyKey, value: unknown): object {
    define(object, key, value);
    return object;
  },
  accessor(object: object, kind: "get" | "set", key: PropertyKey, fn: () => unknown): object {
    defineOwn(object, key, { [kind]: fn, enumerable: true, configurable: true });
    return object;
  },
  proto(object: object, value: unknown): object {
    if (value === null || isReference(value)) setPrototypeOf(object, value);
    return object;
  },
  copy,
  rest(source: unknown, excluded: readonly PropertyKey[]): object {
    return copy({}, source, excluded);
  },
  checkCoercible(value: unknown, words: string): void {
    if (value === undefined || value === null) {
      throw new TypeError(refusal(`'${words || kindOf(value)}'`, value));
    }
  },
  checkObject(value: unknown, what: string): void {
    if (!isReference(value)) throw new TypeError(`${what} ${describe(value)} is not an object`);
  },
  getter(literal: object, key: PropertyKey): unknown {
    return getOwnPropertyDescriptor(literal, key)?.get;
  },
  setter(literal: object, key: PropertyKey): unknown {
    return getOwnPropertyDescriptor(literal, key)?.set;
  },
  superConstruct(callee: object, args: readonly unknown[], newTarget: unknown): object {
    const parent = getPrototypeOf(callee);
    if (!isFunction(parent)) {
      throw new TypeError(`Super constructor ${String(parent)} of anonymous class is not a constructor`);
    }
    return isFunction(newTarget) ? construct(parent, args, newTarget) : construct(parent, args);
  },
  superOnce(value: unknown): void {
    if (value !== UNINITIALIZED) throw new ReferenceError("Super constructor may only be called once");
  },
  importer(base: string): (specifier: unknown, options?: ImportCallOptions) => Promise<unknown> {
    return async (specifier, options) => {
      const text = String(specifier);
      const relative = /^\.{0,2}\//.test(text);
      return await import(relative ? new URL(text, base).href : text, options);
    };
  },
  iterator(source: unknown, text: string): object {
    const method = memberOf(source, wellKnown.iterator);
    if (isFunction(method)) return begin(method, source);
    const unnamed = `${kindOf(source)} is not iterable (cannot read property Symbol(Symbol.iterator))`;
    throw new TypeError(text ? `${text} is not iterable` : unnamed);
  },
  asyncIterator(source: unknown, text: string): object {
    const method = memberOf(source, wellKnown.asyncIterator);
    if (method === undefined || method === null) {
      const sync = runtime.iterator(source, text);
      return new AsyncFromSync(sync, memberOf(sync, "next"));
    }
    const iterator = callMethod(method, source, []);
    if (!isReference(iterator)) {
      throw new TypeError("Result of the Symbol.asyncIterator method is not an object");
    }
    return iterator;
  },
  next(iterator: object, next: unknown): Step {
    return checkStep(callMethod(next, iterator, []));
  },
  step(result: unknown): Step {
    return checkStep(result);
  },
  close,
  closeQuietly,
  collect(iterator: object, next: unknown): unknown[] {
    const out: unknown[] = [];
    for (let step = runtime.next(iterator, next); !step.done; step = runtime.next(iterator, next)) {
      runtime.append(out, step.value);
    }
    return out;
  },
  keys(object: unknown): IterableIterator<string> {
    return stepped(enumerate(object));
  },
  suspension(value: unknown): Suspension {
    return new Suspension(value);
  },
  delegation(source: unknown, async: boolean): Delegation {
    const words = source === undefined || source === null ? "" : "yield* (intermediate value)";
    return new Delegation(
      async ? runtime.asyncIterator(source, words) : runtime.iterator(source, words),
      async,
    );
  },
  /** Returns whether the global object has a property; other global variables are declared by scripts. */
  hasGlobal(name: string): boolean {
    return hasProperty(globalThis, name);
  },
  disposer(value: unknown, async: boolean): unknown {
    if (value === undefined || value === null) return undefined;
    if (!isReference(value)) throw new TypeError("An object is expected with `using` declarations");
    const asynchronous = async ? memberOf(value, wellKnown.asyncDispose) : undefined;
    const method = asynchronous ?? memberOf(value, wellKnown.dispose);
    if (!isFunction(method)) throw new TypeError("Symbol(Symbol.dispose) is not a function");
    return async && method !== asynchronous ? withoutResult(method) : method;
  },
  suppressed(error: unknown, suppressed: unknown): unknown {
    return new SuppressedError(error, suppressed, SUPPRESSED);
  },
};

/** A method of synchronous disposal as `await using` calls it, which waits for its end but not for its result. */
function withoutResult(method: (...args: readonly unknown[]) => unknown): () => Promise<void> {
  return function (this: unknown) {
    try {
      apply(method, this, []);
      return promised(undefined);
    } catch (error) {
      return rejected(error);
    }
  };
}

/** The number by which printed code finds the strings array of a tagged template, one for each place of a program. */
export function templateIndex(node: ast.TemplateLiteral): number {
  let index = templateIndexes.get(node);
  if (index === undefined) {
    const strings: string[] = [];
    node.quasis.forEach(({ value }, i) => define(strings, String(i), value.cooked ?? undefined));
    defineOwn(strings, "raw", { value: freeze(node.quasis.map(({ value }) => value.raw)) });
    templateIndexes.set(node, index = templates.push(freeze(strings)) - 1);
  }
  return index;
}

function toPrimitive(value: object, hint: "number" | "string"): unknown {
  const method = memberOf(value, wellKnown.toPrimitive);
  if (method !== undefined && method !== null) {
    const result = callMethod(method, value, [hint]);
    if (isReference(result)) throw new TypeError("Cannot convert object to primitive value");
    return result;
  }
  for (const name of hint === "number" ? ["valueOf", "toString"] : ["toString", "valueOf"]) {
    const candidate = memberOf(value, name);
    if (!isFunction(candidate)) continue;
    const result = apply(candidate, value, []);
    if (!isReference(result)) return result;
  }
  throw new TypeError("Cannot convert object to primitive value");
}
