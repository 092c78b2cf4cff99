/**
 * Codecs that serialise results of compilation as JSON data, composed from codecs of parts. Invariant: a value that no
 * codec covers throws `NotStorable`, malformed data `DamagedForm`; nothing is ever guessed.
 */
import type { Plain } from "../../base/recording.ts";
import { DamagedForm, listIn, NotStorable, numberIn, recordIn, textIn } from "./forms.ts";
import { Symbols } from "./symbols.ts";

/**
 * Writes and reads values of one type; references to what is not in the data, such as the symbols of the graph that is
 * compiled, by a context.
 */
export interface Codec<T, Context = Symbols> {
  // A property, not a method: the type checker then refuses a codec that writes fewer values than T has
  readonly write: (value: T, context: Context) => Plain;
  readonly read: (form: Plain, context: Context) => T;
}

/** Finite numbers; others, and −0, are not JSON. */
export const number: Codec<number, unknown> = {
  write(value) {
    if (Number.isFinite(value) && !Object.is(value, -0)) return value;
    throw new NotStorable(`the number ${Object.is(value, -0) ? "-0" : value} where a plain one is kept`);
  },
  read: numberIn,
};

export const text: Codec<string, unknown> = { write: (value) => value, read: textIn };

export const flag: Codec<boolean, unknown> = {
  write: (value) => value,
  read(form) {
    if (typeof form === "boolean") return form;
    throw new DamagedForm(`Expected a boolean but found ${typeof form}`);
  },
};

/** Sets of bits of any length, as numbers. */
export const bits: Codec<bigint, unknown> = {
  write: (value) => value.toString(16),
  read(form) {
    const digits = textIn(form);
    if (/^[0-9a-f]+$/.test(digits)) return BigInt(`0x${digits}`);
    throw new DamagedForm(`Expected hexadecimal digits but found ${digits}`);
  },
};

/** The codec of primitives; values that JSON lacks are lists. */
export const primitive: Codec<number | bigint | boolean | string | null | undefined, unknown> = {
  write(value) {
    if (typeof value === "bigint") return ["bigint", `${value}`];
    if (value === undefined) return ["special", "undefined"];
    if (typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0))) return value;
    return ["special", Object.is(value, -0) ? "-0" : `${value}`];
  },
  read(form) {
    if (typeof form !== "object" || form === null) return form;
    const [kind, given] = listIn(form), name = textIn(given);
    if (kind === "bigint" && /^-?\d+$/.test(name)) return BigInt(name);
    if (kind === "special" && SPECIAL.has(name)) return SPECIAL.get(name);
    throw new DamagedForm(`Expected a primitive but found ${JSON.stringify(form)}`);
  },
};

const SPECIAL: ReadonlyMap<string, number | undefined> = new Map([
  ["undefined", undefined],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["-0", -0],
]);

type PrimitiveTypes = { number: number; bigint: bigint; boolean: boolean; string: string };

/** Primitives of some types. */
export function primitiveOf<K extends keyof PrimitiveTypes>(
  ...types: readonly K[]
): Codec<PrimitiveTypes[K], unknown> {
  const names: readonly string[] = types;
  const is = (value: unknown): value is PrimitiveTypes[K] => names.includes(typeof value);
  return {
    write: primitive.write,
    read(form, context) {
      const value = primitive.read(form, context);
      if (is(value)) return value;
      throw new DamagedForm(`Expected a ${types.join(" or ")} but found ${typeof value}`);
    },
  };
}

/** Texts that pass a test. */
export function textThat<T extends string>(passes: (text: string) => text is T): Codec<T, unknown> {
  return {
    write: (value) => value,
    read(form) {
      const found = textIn(form);
      if (passes(found)) return found;
      throw new DamagedForm(`Expected another text but found ${found}`);
    },
  };
}

/** A codec that is defined later: of values that contain such values. */
export const late = <T, C>(codec: () => Codec<T, C>): Codec<T, C> => ({
  write: (value, context) => codec().write(value, context),
  read: (form, context) => codec().read(form, context),
});

/** One of some names. */
export function oneOf<T extends string>(...names: readonly T[]): Codec<T, unknown> {
  return {
    write: (value) => value,
    read(form) {
      const found = names.find((name) => name === form);
      if (found !== undefined) return found;
      throw new DamagedForm(`Expected one of ${names.join(", ")} but found ${form}`);
    },
  };
}

export function list<T, C>(item: Codec<T, C>): Codec<readonly T[], C> {
  return {
    write: (values, context) => values.map((each) => item.write(each, context)),
    read: (form, context) => listIn(form).map((each) => item.read(each, context)),
  };
}

export function pair<T, C>(item: Codec<T, C>): Codec<readonly [T, T], C> {
  return {
    write: (values, context) => values.map((each) => item.write(each, context)),
    read(form, context) {
      const [first = null, second = null] = listIn(form);
      return [item.read(first, context), item.read(second, context)];
    },
  };
}

export function orNull<T, C>(inner: Codec<T, C>): Codec<T | null, C> {
  return {
    write: (value, context) => value === null ? null : inner.write(value, context),
    read: (form, context) => form === null ? null : inner.read(form, context),
  };
}

/** The codec of a field that may be absent. */
export interface Optional<T, Context = Symbols> {
  readonly present: Codec<T, Context>;
}

/** A field that may be absent; undefined counts as absence. */
export const optional = <T, C>(present: Codec<T, C>): Optional<T, C> => ({ present });

/** Keys of fields that may be absent or undefined. */
type MaybeAbsent<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** A codec for each field, `optional` for exactly those that may be absent or undefined. */
export type Fields<T> = {
  readonly [K in keyof T]-?: K extends MaybeAbsent<T> ? Optional<Exclude<T[K], undefined>> : Codec<T[K]>;
};

/** Objects with these fields, which the expected type names; undefined ones are omitted. */
export function record<T extends object>(fields: Fields<NoInfer<T>>): Codec<T> {
  const entries = Object.entries(fields as Readonly<Record<string, Codec<unknown> | Optional<unknown>>>);
  const codecs = entries.map(([name, each]) =>
    "present" in each
      ? { name, codec: each.present, isOptional: true }
      : { name, codec: each, isOptional: false }
  );
  return {
    write(value, symbols) {
      const form: Record<string, Plain> = {};
      for (const { name, codec, isOptional } of codecs) {
        const each: unknown = Reflect.get(value, name);
        if (each !== undefined) form[name] = codec.write(each, symbols);
        else if (!isOptional) throw new NotStorable(`a record without ${name}`);
      }
      return form;
    },
    read(form, symbols) {
      const given = recordIn(form);
      const found: [string, unknown][] = [];
      for (const { name, codec, isOptional } of codecs) {
        const each = given[name];
        if (each !== undefined) found.push([name, codec.read(each, symbols)]);
        else if (!isOptional) throw new DamagedForm(`Expected a field ${name} but found none`);
      }
      return Object.fromEntries(found) as T;
    },
  };
}

/** Finds the codec of a kind. Throws DamagedForm for others. */
export function byKind<C>(kinds: Readonly<Record<string, C>>): (kind: string) => C {
  const known = new Map(Object.entries(kinds));
  return (kind) => {
    const found = known.get(kind);
    if (found !== undefined) return found;
    throw new DamagedForm(`Expected one of ${[...known.keys()].join(", ")} but found ${kind}`);
  };
}

/** Unions by a field, by default `kind`: the codecs of the other fields of each. */
export function union<T extends { readonly [_ in F]: string }, F extends string = "kind">(
  kinds: { readonly [K in T[F]]: Codec<Omit<Extract<T, { readonly [_ in F]: K }>, F>> },
  field: F = "kind" as F,
): Codec<T> {
  // Each is asked only for values of its own kind
  const codecOf = byKind(kinds as Readonly<Record<string, Codec<object>>>);
  return {
    write: (value, symbols) =>
      Object.assign({ [field]: value[field] }, recordIn(codecOf(value[field]).write(value, symbols))),
    read(form, symbols) {
      const kind = textIn(recordIn(form)[field]);
      return { [field]: kind, ...codecOf(kind).read(form, symbols) } as T;
    },
  };
}

/** Reads a value without sizes from JSON; undefined if there is no text, or it is malformed. */
export function parsed<T>(codec: Codec<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return codec.read(JSON.parse(text), new Symbols());
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof DamagedForm) return undefined;
    throw thrown;
  }
}
