/**
 * Arguments by name of the methods that are not ops: those of ops are bound where calls are parsed. Invariant: a call
 * by names reaches the method with the same arguments as one by positions.
 */
import { ownWeakMap } from "../base/collections.ts";
import { refuseOption, refuseTwice } from "../base/checked_input.ts";
import { defineOwn, named } from "../base/isolated_objects.ts";
import { apply } from "../base/own_builtins.ts";
import { isPlainObject } from "../base/tree.ts";

/** PyTorch's names of the arguments, in order. */
export const METHOD_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  size: ["dim"],
  stride: ["dim"],
  where: ["condition", "other"],
  registerHook: ["hook"],
  registerPostAccumulateGradHook: ["hook"],
  resize_: ["size"],
  resizeAs_: ["theTemplate"],
  equal: ["other"],
  isSameSize: ["other"],
  isSetTo: ["tensor"],
  typeAs: ["other"],
  set_: ["source"],
  apply_: ["callable"],
  map_: ["tensor", "callable"],
  orgqr: ["input2"],
  polygamma: ["n"],
  polygamma_: ["n"],
  nextafter_: ["other"],
  narrowCopy: ["dim", "start", "length"],
  newTensor: ["data"],
  newEmptyStrided: ["size", "stride"],
};

/** Reads named arguments; an object of the program, or one that a trace knows. */
interface NamedReader<V> {
  /** The names in a value that is an object of arguments; null for other values. */
  names(value: V): readonly string[] | null;
  get(value: V, name: string): V;
  /** The remaining ones, which are options of the method. */
  options(entries: readonly (readonly [string, V])[]): V;
  readonly absent: V;
}

/**
 * The arguments of a method by position. Throws DynError for an argument that is given twice, and for a name that is
 * none where all arguments are named.
 */
export function byPosition<V>(owner: string, given: readonly V[], reader: NamedReader<V>): readonly V[] {
  const known = Object.hasOwn(METHOD_ARGUMENTS, owner) ? METHOD_ARGUMENTS[owner] : undefined;
  const last = given.at(-1), present = known && last !== undefined ? reader.names(last) : null;
  if (!known || last === undefined || !present?.some((name) => known.includes(name))) return given;
  const found: V[] = given.slice(0, -1);
  const twice = known.slice(0, found.length).find((name) => present.includes(name));
  if (twice !== undefined) refuseTwice(owner, twice);
  for (const name of known.slice(found.length)) {
    found.push(present.includes(name) ? reader.get(last, name) : reader.absent);
  }
  const others = present.filter((name) => !known.includes(name));
  if (others.length === 0) return found;
  if (!owner.startsWith("new")) refuseOption(owner, known, others[0] ?? "");
  return [...found, reader.options(others.map((name) => [name, reader.get(last, name)]))];
}

const PLAIN: NamedReader<unknown> = {
  names: (value) => isPlainObject(value) ? Object.keys(value) : null,
  get: (value, name) => isPlainObject(value) ? value[name] : undefined,
  options: Object.fromEntries,
  absent: undefined,
};

const methods = ownWeakMap<object, unknown>();

/** The method that takes arguments by position alone behind one that also takes names; undefined for others. */
export const positionalMethod = (method: object): unknown => methods.get(method);

/** Lets the methods of a prototype take arguments by name, except those that do so themselves since they are called often. */
export function takeNames(prototype: object): void {
  for (const name of Object.keys(METHOD_ARGUMENTS)) {
    const positional: unknown = Reflect.get(prototype, name);
    if (typeof positional !== "function" || name === "size" || name === "stride") continue;
    const { method } = {
      method(this: unknown, ...given: readonly unknown[]): unknown {
        const last = given[given.length - 1], hasNames = typeof last === "object" && last !== null;
        return apply(positional, this, hasNames ? byPosition(name, given, PLAIN) : given);
      },
    };
    const value = named(name, method);
    methods.set(value, positional);
    defineOwn(prototype, name, { value, writable: true, configurable: true, enumerable: false });
  }
}
