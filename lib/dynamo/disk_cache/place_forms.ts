/**
 * Serialises places of a call, and numbers that each call computes from them; other forms are composed from these.
 * Invariant: values that exist in one process only, and results of builtins that differ in each call, are refused.
 */
import type { Plain } from "../../base/recording.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import {
  byKind,
  type Codec,
  flag,
  late,
  list,
  number as count,
  oneOf,
  orNull,
  primitiveOf,
  text,
  textThat,
} from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, numberIn, textIn } from "../../sym/stored/forms.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { BytesPart, NumberForm } from "../guards/bytes.ts";
import type { Symbols } from "../../sym/stored/symbols.ts";
import {
  argumentSource,
  bytesSource,
  capturedName,
  capturedSource,
  cellSource,
  computedSource,
  elementSource,
  type EntryPart,
  entrySource,
  globalSource,
  knownSource,
  type LiveCell,
  type LookupPart,
  lookupSource,
  propertySource,
  prototypeSource,
  type Question,
  type Source,
  sourceText,
  THIS_SOURCE,
} from "../source.ts";
import { type HostCall, type HostExpression, isHostBinary, isHostMath } from "../variables/host_number.ts";
import type { Primitive } from "../variables/primitive.ts";
import { readKey, readPrimitive, writeKey, writePrimitive } from "./plain_values.ts";

/** Maps objects to numbers while facts are written, and numbers to objects while they are read. */
export interface ByNumber {
  numberOf(object: object): number;
  at(number: number): object;
  /** Finds code while facts are serialised. */
  readonly codes: CodeFinder;
  /** Collects lines of the program, which many guards and nodes share. */
  readonly lines: Lines;
  /** Collects places. */
  readonly places: Places;
  /** Collects symbolic sizes. */
  readonly symbols: Symbols;
  /** The sizes of the trace. */
  readonly sizes: ShapeEnv;
}

/** The path of code: a part of a function, and the path from there to a nested function. */
export type CodePath = readonly [fn: object, part: string, ...children: number[]];

/** Finds code in functions. */
export interface CodeFinder {
  /** Throws NotStorable if no function contains it. */
  pathOf(code: CodeObject): CodePath;
}

/** Lines of the program, without duplicates. */
export class Lines {
  readonly #numbers = new Map<string, number>();
  readonly list: SourcePosition[] = [];

  numberOf(line: SourcePosition): number {
    const { file, functionName } = line, key = `${line.line}:${line.column} ${functionName} ${file}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.list.push(line) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** Places of a call, without duplicates: guards of a module test many that begin alike. */
export class Places {
  readonly list: Plain[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #read: Source[] = [];

  /** The number of a place, which is that of equal ones. Throws NotStorable. */
  write(place: Source, by: ByNumber): number {
    const known = this.#numbers.get(place.name);
    if (known !== undefined) return known;
    const number = this.list.push(sourceStep.write(place, by)) - 1;
    this.#numbers.set(place.name, number);
    return number;
  }

  /** Reads all places, each of which follows those that it is over. Throws DamagedForm. */
  readAll(forms: readonly Plain[], by: ByNumber): void {
    for (const form of forms) this.#read.push(sourceStep.read(form, by));
  }

  /** The place of a number. Throws DamagedForm. */
  at(number: number): Source {
    const place = this.#read[number];
    if (place) return place;
    throw new DamagedForm(`Expected one of ${this.#read.length} places but found ${number}`);
  }
}

/** Writes and reads values of one type. */
export type Form<T> = Made<T, T>;

/** Writes and reads values of which `P` are kept. */
interface Made<P, T> {
  /** No method, so that a form for only some of the values is a type error. */
  readonly write: (value: P, by: ByNumber) => Plain;
  read(form: Plain, by: ByNumber): T;
}

/** Refuses values, in these words. */
export function refused<P>(what: (value: P) => string): Made<P, never> {
  return {
    write(value) {
      throw new NotStorable(what(value));
    },
    read() {
      throw new DamagedForm("Expected nothing that is refused");
    },
  };
}

/** An object of the journal. */
export const object: Form<object> = {
  write: (value, by) => by.numberOf(value),
  read: (form, by) => by.at(numberIn(form)),
};

export const key: Form<string | symbol> = { write: writeKey, read: readKey };
/** A primitive. */
export const constant: Form<Primitive> = { write: writePrimitive, read: readPrimitive };
export const flagOrNull: Codec<boolean | null, unknown> = orNull(flag);
export const maybe = <T>(inner: Form<T>): Form<T | undefined> => ({
  write: (value, by) => value === undefined ? null : inner.write(value, by),
  read: (form, by) => form === null ? undefined : inner.read(form, by),
});
type Fields<T> = { readonly [K in keyof T]-?: Form<T[K]> };

/** A record of these fields. */
export function fields<T extends object>(forms: Fields<T>): Form<T> {
  const names = Object.keys(forms) as (keyof T & string)[];
  return {
    write: (value, by) => names.map((name) => forms[name].write(value[name], by)),
    read(form, by) {
      const given = listIn(form);
      return Object.fromEntries(names.map((name, i) => [name, forms[name].read(given[i] ?? null, by)])) as T;
    },
  };
}

type Tagged = { readonly kind: string };
type Untagged<T extends Tagged, K> = Omit<Extract<T, { kind: K }>, "kind">;
/** Functions that make whole records return them with their kinds. */
type Variants<T extends Tagged> = {
  readonly [K in T["kind"]]: Made<Untagged<T, K>, Untagged<T, K> | T>;
};

/** Values of which these parts are kept, from which a function makes them again. */
const through = <P, T>(parts: Form<P>, make: (parts: P) => T): Made<P, T> => ({
  write: parts.write,
  read: (form, by) => make(parts.read(form, by)),
});

/** A record of one of these kinds. */
export function variants<T extends Tagged>(forms: Variants<T>): Form<T> {
  const formOf = byKind(forms as unknown as Readonly<Record<string, Made<object, object>>>);
  return {
    write(value, by) {
      const { kind, ...rest } = value;
      return [kind, formOf(kind).write(rest, by)];
    },
    read(form, by) {
      const [kind, rest = null] = listIn(form), name = textIn(kind);
      return { kind: name, ...formOf(name).read(rest, by) } as Tagged as T;
    },
  };
}

/** Returns whether an object is a variable of a running program. */
export function isLiveCell(value: unknown): value is LiveCell {
  return typeof value === "object" && value !== null && "get" in value && typeof value.get === "function" &&
    "set" in value && typeof value.set === "function";
}

/** A variable of the journal. */
export const cell: Form<LiveCell> = {
  write: (value, by) => by.numberOf(value),
  read(form, by) {
    const found = by.at(numberIn(form));
    if (isLiveCell(found)) return found;
    throw new DamagedForm("Expected a variable");
  },
};

/** A place, as one of the capture's. */
export const source: Form<Source> = {
  write: (value, by) => by.places.write(value, by),
  read: (form, by) => by.places.at(numberIn(form)),
};

/** An expression that each call evaluates. */
export const hostExpression: Form<HostExpression> = late(() => numberStep);

const labelOf = (source: Pick<Source, "name">): string =>
  /^[CF]\["(.*)"\]$/.exec(sourceText(source))?.[1] ?? "object";

export const part = oneOf<EntryPart>(
  "key",
  "value",
  "member",
  "kind",
  "item",
  "place",
  "kindLeft",
  "keyLeft",
  "valueLeft",
  "last",
);

const base = source;
const perCall = refused<Pick<Source, "name">>((place) =>
  `${sourceText(place)}, a variable that is read in each call`
);

/** A place, over those on the way to it. */
const sourceStep: Form<Source> = variants<Source>({
  argument: through(fields({ label: text, index: count }), (of) => argumentSource(of.label, of.index)),
  this: through(fields<object>({}), () => THIS_SOURCE),
  global: through(fields({ variable: text }), (of) => globalSource(of.variable)),
  known: {
    write: (place, by) => [labelOf(place), by.numberOf(place.object)],
    read(form, by) {
      const [label, known = null] = listIn(form);
      return knownSource(textIn(label), object.read(known, by));
    },
  },
  cell: {
    write: (place, by) => [labelOf(place), cell.write(place.cell, by)],
    read(form, by) {
      const [label, variable = null] = listIn(form);
      return cellSource(textIn(label), cell.read(variable, by));
    },
  },
  captured: {
    write: (place, by) => [base.write(place.base, by), capturedName(place), place.index],
    read(form, by) {
      const [over = null, label, index] = listIn(form);
      return capturedSource(base.read(over, by), textIn(label), numberIn(index));
    },
  },
  property: through(fields({ base, key }), (of) => propertySource(of.base, of.key)),
  prototype: through(fields({ base }), (of) => prototypeSource(of.base)),
  element: through(
    fields({
      base,
      at: hostExpression,
      question: oneOf<Question>("element", "get", "has", "indexOf", "includes"),
    }),
    (of) => elementSource(of.base, of.at, of.question),
  ),
  entry: through(fields({ base, part, index: count }), (of) => entrySource(of.base, of.part, of.index)),
  lookup: through(
    fields({ base, part: oneOf<LookupPart>("get", "has", "size"), key: constant }),
    (of) => lookupSource(of.base, of.part, of.key),
  ),
  bytes: through(
    fields({ base, part: oneOf<BytesPart>("buffer", "byteOffset", "length") }),
    (of) => bytesSource(of.base, of.part),
  ),
  computed: through(fields({ expression: hostExpression }), (of) => computedSource(of.expression)),
  accessor: perCall,
  private: perCall,
});

const sorted = refused(() => "a sorted list");

/** A number of a call, over those from which it is computed. */
const numberStep: Form<HostExpression> = variants<HostExpression>({
  source: fields({ source }),
  element: fields({
    source,
    at: hostExpression,
    form: orNull<NumberForm, ByNumber>(refused(() => "a number in memory of another form")),
    isWhole: flag,
  }),
  literal: fields({ value: primitiveOf("number", "string", "boolean") }),
  tensorSize: fields({ source, part: oneOf("shape", "stride"), dim: count }),
  binary: fields({ operator: textThat(isHostBinary), left: hostExpression, right: hostExpression }),
  unary: fields({ operator: oneOf("-", "+", "~", "!"), operand: hostExpression }),
  math: fields({ name: textThat(isHostMath), args: list(hostExpression) }),
  choice: fields({
    test: hostExpression,
    whenTrue: hostExpression,
    whenFalse: hostExpression,
    isWhole: flag,
  }),
  called: refused(({ call }: { readonly call: HostCall }) =>
    `the result of ${call.text}, which changes between calls`
  ),
  shared: refused(() => "a long computation"),
  ranked: sorted,
  compared: sorted,
});
