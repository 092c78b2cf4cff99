/**
 * Builtins that a program replaces while it is called: methods and global variables, by equivalents that record their
 * calls. Invariant: the records of a plain and of a compiled run are equal, so dyn's own calls must not appear, and the
 * program's must.
 */
import { compiler } from "../../../mod.ts";

const { apply, construct, defineProperty, get, getOwnPropertyDescriptor } = Reflect;

/** A builtin by its place: an object reached from the global object, and a key. */
const PLACES = {
  "Array.prototype.push": () => [Array.prototype, "push"],
  "Array.prototype.map": () => [Array.prototype, "map"],
  "Array.prototype.forEach": () => [Array.prototype, "forEach"],
  "Array.prototype.slice": () => [Array.prototype, "slice"],
  "Array.prototype.sort": () => [Array.prototype, "sort"],
  "Array.prototype.concat": () => [Array.prototype, "concat"],
  "Array.prototype.indexOf": () => [Array.prototype, "indexOf"],
  "Array.prototype[Symbol.iterator]": () => [Array.prototype, Symbol.iterator],
  "%ArrayIteratorPrototype%.next": () => [Object.getPrototypeOf([].values()), "next"],
  "%IteratorPrototype%[Symbol.iterator]": () => [Iterator.prototype, Symbol.iterator],
  "%GeneratorPrototype%.next": () => [Object.getPrototypeOf((function* () {}).prototype), "next"],
  "Map.prototype.get": () => [Map.prototype, "get"],
  "Map.prototype.set": () => [Map.prototype, "set"],
  "Map.prototype.has": () => [Map.prototype, "has"],
  "Map.prototype[Symbol.iterator]": () => [Map.prototype, Symbol.iterator],
  "Set.prototype.add": () => [Set.prototype, "add"],
  "Set.prototype.has": () => [Set.prototype, "has"],
  "WeakMap.prototype.get": () => [WeakMap.prototype, "get"],
  "Object.keys": () => [Object, "keys"],
  "Object.entries": () => [Object, "entries"],
  "Object.defineProperty": () => [Object, "defineProperty"],
  "Object.getPrototypeOf": () => [Object, "getPrototypeOf"],
  "Object.setPrototypeOf": () => [Object, "setPrototypeOf"],
  "Object.freeze": () => [Object, "freeze"],
  "Object.prototype.hasOwnProperty": () => [Object.prototype, "hasOwnProperty"],
  "Object.prototype.toString": () => [Object.prototype, "toString"],
  "Reflect.ownKeys": () => [Reflect, "ownKeys"],
  "Reflect.apply": () => [Reflect, "apply"],
  "Reflect.get": () => [Reflect, "get"],
  "Function.prototype.call": () => [Function.prototype, "call"],
  "Function.prototype.bind": () => [Function.prototype, "bind"],
  "Function.prototype[Symbol.hasInstance]": () => [Function.prototype, Symbol.hasInstance],
  "String.prototype.includes": () => [String.prototype, "includes"],
  "String.prototype.split": () => [String.prototype, "split"],
  "RegExp.prototype.exec": () => [RegExp.prototype, "exec"],
  "Number.isInteger": () => [Number, "isInteger"],
  "Math.max": () => [Math, "max"],
  "JSON.stringify": () => [JSON, "stringify"],
  "Promise.prototype.then": () => [Promise.prototype, "then"],
  "Promise.resolve": () => [Promise, "resolve"],
  "Promise.reject": () => [Promise, "reject"],
  "Symbol.for": () => [Symbol, "for"],
  ...Object.fromEntries(
    ([
      "Object",
      "Array",
      "Map",
      "Set",
      "WeakMap",
      "Math",
      "JSON",
      "Reflect",
      "Number",
      "String",
      "Symbol",
      "BigInt",
      "Date",
      "Error",
      "TypeError",
      "Promise",
      "Proxy",
      "Float32Array",
      "performance",
    ] as const).map((name) => [name, (): Place => [globalThis, name]]),
  ),
} satisfies Readonly<Record<string, () => Place>>;

type Place = readonly [object: object, key: PropertyKey];

/** Names of builtins that can be replaced. */
export const REPLACEABLE: readonly string[] = Object.keys(PLACES);

/** Replaces a builtin by one that calls `note` first; the result restores it. */
export function replaceBuiltin(name: string, note: (name: string) => void): () => void {
  const place = new Map<string, () => Place>(Object.entries(PLACES)).get(name);
  if (!place) throw new Error(`Expected a builtin out of ${REPLACEABLE.join(", ")} but found ${name}`);
  const [object, key] = place(), former = getOwnPropertyDescriptor(object, key);
  if (!former) throw new Error(`Expected the builtin ${name} but found none`);
  defineProperty(object, key, {
    ...former,
    value: noting(former.value, object === globalThis, () => note(name)),
  });
  return () => void defineProperty(object, key, former);
}

/** Wraps a builtin so that its uses are recorded. */
function noting(builtin: unknown, isGlobal: boolean, note: () => void): unknown {
  if (typeof builtin === "function") {
    if (!isGlobal) {
      return compiler.disable(function (this: unknown, ...args: readonly unknown[]): unknown {
        note();
        return apply(builtin, this, args);
      });
    }
    return new Proxy(builtin, {
      apply(_, self, args) {
        note();
        return apply(builtin, self, args);
      },
      construct(_, args, target) {
        note();
        return construct(builtin, args, target);
      },
    });
  }
  if (typeof builtin !== "object" || builtin === null) throw new Error("Expected a function or an object");
  return new Proxy(builtin, {
    get(_, key) {
      note();
      return get(builtin, key);
    },
  });
}
