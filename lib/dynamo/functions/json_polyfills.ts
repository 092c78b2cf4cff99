/**
 * JSON with replacers, revivers and `toJSON`, in JavaScript, so that the tracer steps through them. Invariant: code of
 * the program is called as often, in the same order and with the same arguments as by the builtins.
 */
import { types } from "node:util";

// Taken when dyn is loaded: programs may replace them.
const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { Array, Object, TypeError, String, Number } = globalThis;
const { stringify: quote } = JSON;
// Not in the language's type library yet
const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): value is { readonly rawJSON: string } };
const { isBoxedPrimitive } = types;
const { valueOf: booleanOf } = Boolean.prototype, { valueOf: bigintOf } = BigInt.prototype;

/** The text of a string or a number, which is the receiver. */
export function quoted(this: string | number): string {
  return quote(this);
}

type Replacer = (this: unknown, key: string, value: unknown) => unknown;
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
type Holder = Record<string, unknown>;

/** The options of stringify. */
interface Form {
  readonly replacer: Replacer | undefined;
  /** The property names to write. */
  readonly names: readonly string[] | undefined;
  readonly gap: string;
}

/** An object being written, with the key that leads to it. */
interface Open {
  readonly object: object;
  readonly key: string;
}

/** JSON.stringify */
export function stringify(
  this: unknown,
  replacer: Replacer | undefined,
  ...[names, gap]: readonly [names: readonly string[] | undefined, gap: string]
): string | undefined {
  return textOf({ "": this }, "", { form: { replacer, names, gap }, open: [], indent: "" });
}

interface Place {
  readonly form: Form;
  readonly open: readonly Open[];
  readonly indent: string;
}

function textOf(holder: Holder, key: string, place: Place): string | undefined {
  let value = holder[key];
  if (typeof value === "bigint" || isObject(value)) {
    const convert = (value as Holder).toJSON;
    if (typeof convert === "function") value = apply(convert, value, [key]);
  }
  const { replacer } = place.form;
  if (replacer) value = apply(replacer, holder, [key, value]);
  if (isObject(value)) {
    const raw = rawText(value);
    if (raw !== null) return raw;
    value = unboxed(value);
  }
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return value ? "true" : "false";
    case "string":
    case "number":
      return quote(value);
    case "bigint":
      throw new TypeError("Do not know how to serialize a BigInt");
    case "object":
      return value === null ? "null" : objectText(value, key, place);
    default:
      return undefined;
  }
}

function objectText(object: object, key: string, { form, open, indent }: Place): string {
  for (let i = 0; i < open.length; i++) if (open[i]?.object === object) refuseCircle(open, i, key);
  const inner = { form, open: [...open, { object, key }], indent: indent + form.gap };
  const holder = object as Holder, parts: string[] = [], isList = Array.isArray(object);
  if (isList) {
    const { length } = object;
    for (let i = 0; i < length; i++) parts[parts.length] = textOf(holder, `${i}`, inner) ?? "null";
  } else {
    const names = form.names ?? Object.keys(object);
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? "", text = textOf(holder, name, inner);
      if (text !== undefined) parts[parts.length] = `${quote(name)}:${form.gap === "" ? "" : " "}${text}`;
    }
  }
  const [begin, end] = isList ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return `${begin}${end}`;
  let text = "";
  for (let i = 0; i < parts.length; i++) {
    if (i > 0) text += ",";
    text += form.gap === "" ? `${parts[i]}` : `\n${inner.indent}${parts[i]}`;
  }
  return form.gap === "" ? `${begin}${text}${end}` : `${begin}${text}\n${indent}${end}`;
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** The text of an object created by JSON.rawJSON; null for any other. */
export function rawText(value: object): string | null {
  return isRawJSON(value) ? value.rawJSON : null;
}

/** The value of a boxed primitive; other objects unchanged. */
export function unboxed(value: object): unknown {
  if (!isBoxedPrimitive(value)) return value;
  if (types.isNumberObject(value)) return Number(value);
  if (types.isStringObject(value)) return String(value);
  if (types.isBooleanObject(value)) return apply(booleanOf, value, []);
  return types.isBigIntObject(value) ? apply(bigintOf, value, []) : value;
}

/** Throws the engine's error about an object that contains itself. */
export function refuseCircle(open: readonly Open[], start: number, last: string): never {
  const described = ({ object }: Open): string => `object with constructor '${constructorName(object)}'`;
  const named = ({ object }: Open, key: string): string =>
    Array.isArray(object) ? `index ${key}` : `property '${key}'`;
  const [first, ...others] = open.slice(start);
  if (!first) throw new TypeError("Converting circular structure to JSON");
  const link = (each: Open, i: number): string =>
    `\n    |     ${named(others[i - 1] ?? first, each.key)} -> ${described(each)}`;
  const lines = others.map(link);
  const shown = lines.length > 3 ? [...lines.slice(0, 2), "\n    |     ...", ...lines.slice(-1)] : lines;
  const closing = `\n    --- ${named(others.at(-1) ?? first, last)} closes the circle`;
  throw new TypeError(
    `Converting circular structure to JSON\n    --> starting at ${described(first)}${
      shown.join("")
    }${closing}`,
  );
}

function constructorName(object: object): string {
  for (let at: object | null = object; at; at = getPrototypeOf(at)) {
    const constructor: unknown = getOwnPropertyDescriptor(at, "constructor")?.value;
    if (typeof constructor === "function" && constructor.name !== "") return constructor.name;
  }
  return "Object";
}

/**
 * The source texts of the primitives in a parsed text: for a primitive itself its value and text, for objects by key.
 */
export type Sources = readonly [value: unknown, source: string] | { readonly [key: string]: Sources };

/** The walk of JSON.parse with a reviver over the parsed value. */
export function revive(
  this: Holder,
  key: string,
  ...[reviver, sources]: readonly [reviver: Reviver, sources: Sources | undefined]
): unknown {
  const value = this[key], inner = Array.isArray(sources) ? undefined : sources as Holder | undefined;
  const each = (name: string): void => {
    const made = apply(revive, value, [name, reviver, inner?.[name]]);
    if (made === undefined) deleteProperty(value as object, name);
    else {
      defineProperty(value as object, name, {
        value: made,
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  };
  if (Array.isArray(value)) {
    const { length } = value;
    for (let i = 0; i < length; i++) each(`${i}`);
  } else if (isObject(value)) {
    const names = Object.keys(value);
    for (let i = 0; i < names.length; i++) each(names[i] ?? "");
  }
  const isSame = Array.isArray(sources) && !isObject(value) && Object.is(sources[0], value);
  return apply(reviver, this, [key, value, isSame ? { source: sources[1] } : {}]);
}
