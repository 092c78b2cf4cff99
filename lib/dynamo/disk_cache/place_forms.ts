/**
 * Serialises places of a call, and numbers that each call computes from them; other forms are composed from these.
 * Invariant: values that exist in one process only, and results of builtins that differ in each call, are refused.
 */
import type { Plain } from "../../base/recording.ts";
import type { SourcePosition } from "../../graph/node.ts";
import type { ShapeEnv } from "../../sym/shape_env.ts";
import { type Codec, flag, oneOf, orNull } from "../../sym/stored/codec.ts";
import { DamagedForm, listIn, NotStorable, numberIn, textIn } from "../../sym/stored/forms.ts";
import type { CodeObject } from "../bytecode/code.ts";
import type { BytesPart } from "../guards/bytes.ts";
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
import { type HostExpression, isHostBinary, isHostMath } from "../variables/host_number.ts";
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
export type Form<T> = Codec<T, ByNumber>;

export const refused = (what: string): Form<never> => ({
  write: () => {
    throw new NotStorable(what);
  },
  read: () => {
    throw new DamagedForm(`Expected nothing that is refused but found ${what}`);
  },
});

/** An object of the journal. */
export const object: Form<object> = {
  write: (value, by) => by.numberOf(value),
  read: (form, by) => by.at(numberIn(form)),
};

export const key: Form<string | symbol> = { write: writeKey, read: readKey };
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
type Variants<T extends Tagged> = { readonly [K in T["kind"]]: Form<Omit<Extract<T, { kind: K }>, "kind">> };

/** A record of one of these kinds. */
export function variants<T extends Tagged>(forms: Variants<T>): Form<T> {
  const byKind: ReadonlyMap<string, Form<object>> = new Map(Object.entries<Form<object>>(forms));
  const formOf = (kind: string): Form<object> => {
    const found = byKind.get(kind);
    if (found) return found;
    throw new DamagedForm(`Expected one of ${[...byKind.keys()].join(", ")} but found ${kind}`);
  };
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

const labelOf = (source: Source): string => /^[CF]\["(.*)"\]$/.exec(sourceText(source))?.[1] ?? "object";

/** A place, as one of the capture's. */
export const source: Form<Source> = {
  write: (value, by) => by.places.write(value, by),
  read: (form, by) => by.places.at(numberIn(form)),
};

/** A place, over those on the way to it. */
const sourceStep: Form<Source> = {
  write(value, by) {
    const again = (each: Source) => source.write(each, by);
    switch (value.kind) {
      case "argument":
        return [value.kind, value.label, value.index];
      case "this":
        return [value.kind];
      case "global":
        return [value.kind, value.variable];
      case "known":
        return [value.kind, labelOf(value), by.numberOf(value.object)];
      case "property":
        return [value.kind, again(value.base), writeKey(value.key)];
      case "prototype":
        return [value.kind, again(value.base)];
      case "entry":
        return [value.kind, again(value.base), value.part, value.index];
      case "element":
        return [value.kind, again(value.base), hostExpression.write(value.at, by), value.question];
      case "lookup":
        return [value.kind, again(value.base), value.part, writePrimitive(value.key)];
      case "captured":
        return [value.kind, again(value.base), capturedName(value), value.index];
      case "bytes":
        return [value.kind, again(value.base), value.part];
      case "computed":
        return [value.kind, hostExpression.write(value.expression, by)];
      case "cell":
        return [value.kind, labelOf(value), cell.write(value.cell, by)];
      case "accessor":
      case "private":
        throw new NotStorable(`${sourceText(value)}, a variable that is read in each call`);
      default:
        return value satisfies never;
    }
  },
  read(form, by) {
    const [kind, first = null, second = null, third] = listIn(form);
    switch (kind) {
      case "argument":
        return argumentSource(textIn(first), numberIn(second));
      case "this":
        return THIS_SOURCE;
      case "global":
        return globalSource(textIn(first));
      case "known":
        return knownSource(textIn(first), by.at(numberIn(second)));
      case "cell":
        return cellSource(textIn(first), cell.read(second, by));
      case "property":
        return propertySource(source.read(first, by), readKey(second));
      case "prototype":
        return prototypeSource(source.read(first, by));
      case "entry":
        return entrySource(source.read(first, by), part.read(second, by), numberIn(third));
      case "element":
        return elementSource(
          source.read(first, by),
          hostExpression.read(second, by),
          question.read(third ?? null, by),
        );
      case "bytes":
        return bytesSource(source.read(first, by), bytesPart.read(second, by));
      case "computed":
        return computedSource(hostExpression.read(first, by));
      case "lookup":
        return lookupSource(
          source.read(first, by),
          lookupPart.read(second, by),
          readPrimitive(third ?? null),
        );
      case "captured":
        return capturedSource(source.read(first, by), textIn(second), numberIn(third));
      default:
        throw new DamagedForm(`Expected a source but found ${JSON.stringify(kind)}`);
    }
  },
};

const bytesPart = oneOf<BytesPart>("buffer", "byteOffset", "length");
const question = oneOf<Question>("element", "get", "has", "indexOf", "includes");
const lookupPart = oneOf<LookupPart>("get", "has", "size");

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

function writeNumber(value: HostExpression, by: ByNumber): Plain {
  const again = (each: HostExpression) => writeNumber(each, by);
  switch (value.kind) {
    case "called":
      throw new NotStorable(`the result of ${value.call.text}, which changes between calls`);
    case "element":
      if (value.form) throw new NotStorable("a number in memory of another form");
      return [value.kind, source.write(value.source, by), again(value.at), value.isWhole];
    case "shared":
      throw new NotStorable("a long computation");
    case "ranked":
    case "compared":
      throw new NotStorable("a sorted list");
    case "source":
      return [value.kind, source.write(value.source, by)];
    case "literal":
      return [value.kind, writePrimitive(value.value)];
    case "tensorSize":
      return [value.kind, source.write(value.source, by), value.part, value.dim];
    case "binary":
      return [value.kind, value.operator, again(value.left), again(value.right)];
    case "unary":
      return [value.kind, value.operator, again(value.operand)];
    case "math":
      return [value.kind, value.name, ...value.args.map(again)];
    case "choice":
      return [value.kind, again(value.test), again(value.whenTrue), again(value.whenFalse), value.isWhole];
    default:
      return value satisfies never;
  }
}

function readNumber(form: Plain, by: ByNumber): HostExpression {
  const [kind, first = null, ...rest] = listIn(form), [second = null, third = null] = rest;
  switch (kind) {
    case "source":
      return { kind, source: source.read(first, by) };
    case "element":
      return {
        kind,
        source: source.read(first, by),
        at: readNumber(second, by),
        form: null,
        isWhole: third === true,
      };
    case "literal": {
      const value = readPrimitive(first);
      if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") {
        return { kind, value };
      }
      break;
    }
    case "tensorSize":
      if (second !== "shape" && second !== "stride") break;
      return { kind, source: source.read(first, by), part: second, dim: numberIn(third) };
    case "binary": {
      const operator = textIn(first);
      if (!isHostBinary(operator)) break;
      return { kind, operator, left: readNumber(second, by), right: readNumber(third, by) };
    }
    case "unary":
      if (first !== "-" && first !== "+" && first !== "~" && first !== "!") break;
      return { kind, operator: first, operand: readNumber(second, by) };
    case "math": {
      const name = textIn(first);
      if (isHostMath(name)) return { kind, name, args: rest.map((each) => readNumber(each, by)) };
      break;
    }
    case "choice":
      return {
        kind,
        test: readNumber(first, by),
        whenTrue: readNumber(second, by),
        whenFalse: readNumber(third, by),
        isWhole: rest[2] === true,
      };
    default:
  }
  throw new DamagedForm(`Expected a number of a call but found ${JSON.stringify(form)}`);
}

/** Serialises an expression that each call evaluates. */
export const hostExpression: Form<HostExpression> = { write: writeNumber, read: readNumber };
