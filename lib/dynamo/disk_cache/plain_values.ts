/**
 * Serialises primitive values and property keys. Invariant: −0, NaN, undefined and bigints are preserved; symbols that
 * exist in one process only are refused.
 */
import type { Plain } from "../../base/recording.ts";
import { primitive } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, textIn } from "../../sym/stored/forms.ts";
import { UNINITIALIZED } from "../bytecode/runtime.ts";
import type { Primitive } from "../variables/value.ts";

const WELL_KNOWN: ReadonlyMap<string, symbol> = new Map([
  ...Object.getOwnPropertyNames(Symbol).flatMap((name): [string, symbol][] => {
    const value: unknown = Reflect.getOwnPropertyDescriptor(Symbol, name)?.value;
    return typeof value === "symbol" ? [[name, value]] : [];
  }),
  ["uninitialized", UNINITIALIZED],
]);

/** Returns whether a value is not an object. */
export function isPrimitive(value: unknown): value is Primitive {
  return (typeof value !== "object" || value === null) && typeof value !== "function";
}

/** A symbol by name; null for one that exists in this process only. */
function symbolForm(value: symbol): Plain | null {
  const shared = Symbol.keyFor(value);
  if (shared !== undefined) return ["for", shared];
  for (const [name, known] of WELL_KNOWN) if (known === value) return ["symbol", name];
  return null;
}

/** A primitive as data: strings, booleans, null and ordinary numbers represent themselves. Throws NotStorable. */
export function writePrimitive(value: Primitive): Plain {
  if (typeof value !== "symbol") return primitive.write(value, null);
  const form = symbolForm(value);
  if (form === null) throw new NotStorable(`${String(value)}, a symbol of this process`);
  return form;
}

/** Reads a primitive. Throws DamagedForm. */
export function readPrimitive(form: Plain): Primitive {
  const [kind, name] = typeof form === "object" && form !== null ? listIn(form) : [];
  if (kind === "for") return Symbol.for(textIn(name));
  return (kind === "symbol" ? WELL_KNOWN.get(textIn(name)) : undefined) ?? primitive.read(form, null);
}

/** A property key. Throws NotStorable. */
export const writeKey = (key: string | symbol): Plain => writePrimitive(key);

/** Reads a property key. Throws DamagedForm. */
export function readKey(form: Plain): string | symbol {
  const key = readPrimitive(form);
  if (typeof key === "string" || typeof key === "symbol") return key;
  throw new DamagedForm(`Expected a property key but found ${JSON.stringify(form)}`);
}

/**
 * A key of which only the position among the others matters: symbols that exist in this process only by their
 * descriptions.
 */
export function describeKey(key: string | symbol): Plain {
  if (typeof key === "string") return key;
  return symbolForm(key) ?? ["local", key.description ?? null];
}

/** Returns whether a described key is a symbol that exists in one process only. */
export const isLocal = (form: Plain): form is readonly Plain[] => Array.isArray(form) && form[0] === "local";
