/**
 * Sources and guards as data. Input: facts of a trace, and numbers of its objects; output: data, and facts about the
 * objects that stand for them in another process. Invariant: total over the kinds of facts; what cannot be said by numbers
 * (cells, sizes) is refused.
 */
import type { Plain } from "../../base/recording.ts";
import { DTYPES } from "../../base/dtype.ts";
import type { SourcePosition } from "../../graph/node.ts";
import { DamagedForm, listIn, NotStorable, numberIn, textIn } from "../../sym/stored/forms.ts";
import { layoutOf } from "../../tensor/layout.ts";
import { ambientState } from "../ambient.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { tracedCodeOf } from "../entry_parts.ts";
import {
  ANY_OBJECT,
  type Fact,
  type Guard,
  type MethodExpectation,
  type TensorExpectation,
} from "../guards/guard.ts";
import {
  argumentSource,
  capturedName,
  capturedSource,
  entrySource,
  globalSource,
  knownSource,
  propertySource,
  type Source,
  sourceText,
  THIS_SOURCE,
} from "../source.ts";
import { readKey, readPrimitive, writeKey, writePrimitive } from "./plain_values.ts";

/** Numbers of objects while facts are written, objects by number while they are read. */
export interface ByNumber {
  numberOf(object: object): number;
  at(number: number): object;
  /** A function of this code, while facts are written. Throws NotStorable where none has been met. */
  withCode(code: CodeObject): object;
  /** The same of lines of the program, which many guards and nodes share. */
  readonly lines: Lines;
}

/** Lines of the program, each once. */
export class Lines {
  readonly #numbers = new Map<string, number>();

  constructor(readonly list: SourcePosition[] = []) {}

  numberOf(line: SourcePosition): number {
    const { file, functionName } = line, key = `${line.line}:${line.column} ${functionName} ${file}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const number = this.list.push(line) - 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** Writes and reads one thing. */
export interface Form<T> {
  write(value: T, by: ByNumber): Plain;
  read(form: Plain, by: ByNumber): T;
}

const refused = (what: string): Form<never> => ({
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

const key: Form<string | symbol> = { write: writeKey, read: readKey };
const flag: Form<boolean> = {
  write: (value) => value,
  read: (form) => form === true,
};
const count: Form<number> = { write: (value) => value, read: numberIn };
const text: Form<string> = { write: (value) => value, read: textIn };
const optional = <T>(inner: Form<T>): Form<T | null> => ({
  write: (value, by) => value === null ? null : inner.write(value, by),
  read: (form, by) => form === null ? null : inner.read(form, by),
});
const maybe = <T>(inner: Form<T>): Form<T | undefined> => ({
  write: (value, by) => value === undefined ? null : inner.write(value, by),
  read: (form, by) => form === null ? undefined : inner.read(form, by),
});
const list = <T>(inner: Form<T>): Form<readonly T[]> => ({
  write: (values, by) => values.map((each) => inner.write(each, by)),
  read: (form, by) => listIn(form).map((each) => inner.read(each, by)),
});
const oneOf = <T extends string>(...names: readonly T[]): Form<T> => ({
  write: (value) => value,
  read(form) {
    const found = names.find((name) => name === form);
    if (found === undefined) throw new DamagedForm(`Expected one of ${names.join(", ")} but found ${form}`);
    return found;
  },
});
/** Functions of accessors: none, or objects of the journal. */
const accessor: Form<unknown> = {
  write: (value, by) => typeof value === "function" ? by.numberOf(value) : null,
  read: (form, by) => form === null ? undefined : by.at(numberIn(form)),
};

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

const labelOf = (source: Source): string => /^F\["(.*)"\]$/.exec(sourceText(source))?.[1] ?? "object";

/** A place. */
export const source: Form<Source> = {
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
      case "entry":
        return [value.kind, again(value.base), value.part, value.index];
      case "captured":
        return [value.kind, again(value.base), capturedName(value), value.index];
      case "cell":
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
      case "property":
        return propertySource(source.read(first, by), readKey(second));
      case "entry":
        return entrySource(source.read(first, by), part.read(second, by), numberIn(third));
      case "captured":
        return capturedSource(source.read(first, by), textIn(second), numberIn(third));
      default:
        throw new DamagedForm(`Expected a source but found ${JSON.stringify(kind)}`);
    }
  },
};

const part = oneOf("key", "value", "member");

const method = fields<MethodExpectation>({
  kind: oneOf("method", "getter"),
  prototype: object,
  key,
  method: maybe(object),
});

const entryKey: Form<Extract<Fact, { kind: "entries" }>["keys"][number]> = {
  write: (value) => value === ANY_OBJECT ? ["any"] : ["is", writePrimitive(value)],
  read(form) {
    const [kind, value = null] = listIn(form);
    return kind === "any" ? ANY_OBJECT : readPrimitive(value);
  },
};

/** The code of a function of the journal. */
const code: Form<CodeObject> = {
  write: (value, by) => by.numberOf(by.withCode(value)),
  read(form, by) {
    const found = tracedCodeOf(by.at(numberIn(form)));
    if (found) return found;
    throw new DamagedForm("Expected a function with code");
  },
};

const methods: Form<ReadonlyMap<string | symbol, object>> = {
  write: (value, by) => [...value].map(([name, fn]) => [writeKey(name), by.numberOf(fn)]),
  read: (form, by) =>
    new Map(
      listIn(form).map((each) => {
        const [name = null, fn] = listIn(each);
        return [readKey(name), by.at(numberIn(fn))];
      }),
    ),
};

const expectation = fields<Omit<TensorExpectation, "layout">>({
  prototype: optional(object),
  className: text,
  dtype: oneOf(...DTYPES),
  device: text,
  requiresGrad: flag,
  shape: list(count),
  strides: list(count),
  marked: list(count),
  methods,
});

const known = (values: readonly (number | null)[]): readonly number[] =>
  values.map((each) => {
    if (each === null) throw new NotStorable("a size that changes");
    return each;
  });

const tensor: Form<TensorExpectation> = {
  write: ({ layout: _, ...expected }, by) =>
    expectation.write({ ...expected, shape: known(expected.shape), strides: known(expected.strides) }, by),
  read(form, by) {
    const expected = expectation.read(form, by), { dtype, device } = expected;
    const shape = known(expected.shape), strides = known(expected.strides);
    return { ...expected, layout: layoutOf({ shape, strides, dtype, device }) };
  },
};

type Kinds = { readonly [K in Fact["kind"]]: Form<Omit<Extract<Fact, { kind: K }>, "kind">> };

const flagOrNull: Form<boolean | null> = {
  write: (value) => value,
  read: (form) => form === null ? null : form === true,
};

const KINDS: Kinds = {
  constant: fields({ source, value: { write: writePrimitive, read: readPrimitive } }),
  identity: fields({ source, object, label: text }),
  prototype: fields({ source, prototype: optional(object), label: text }),
  object: fields({ source }),
  function: fields({ source }),
  array: fields({ source, length: count }),
  elements: fields({ source }),
  keys: fields({
    source,
    which: oneOf("enumerable", "all"),
    keys: list(text),
    symbols: list<symbol>({
      write: writeKey,
      read(form) {
        const found = readKey(form);
        if (typeof found === "symbol") return found;
        throw new DamagedForm(`Expected a symbol but found ${found}`);
      },
    }),
  }),
  has: fields({ source, key, present: flag }),
  ownKey: fields({ source, key, present: flag }),
  dataKey: fields({ source, key, writable: flag }),
  flags: fields({
    source,
    key,
    flags: fields({ writable: flagOrNull, enumerable: flag, configurable: flag }),
  }),
  accessor: fields({ source, key, get: accessor, set: accessor }),
  entries: fields({ source, what: oneOf("Map", "Set"), keys: list(entryKey) }),
  code: fields({ source, code }),
  same: fields({ source, other: source }),
  distinct: fields({ source, others: list(source) }),
  apart: fields({ source, others: list(source) }),
  elsewhere: fields({ source, others: list(source) }),
  tensor: fields({ source, expected: tensor }),
  leaf: fields({ source, hooks: list(object) }),
  made: fields({ source }),
  integer: refused("an integer that changes"),
  number: refused("a number that changes"),
  expression: refused("a number that changes"),
  size: refused("a size that changes"),
  cells: refused("a variable that changes"),
  argumentCount: fields({ count }),
  timeZone: fields({ setting: text }),
  proxy: fields({ source, present: flag }),
  unrevoked: refused("a proxy"),
  extensible: fields({ source, present: flag }),
  integrity: fields({ source, level: oneOf("frozen", "sealed") }),
  globalState: fields({ state: { write: () => null, read: () => ambientState() }, methods: list(method) }),
};

const BY_KIND: ReadonlyMap<string, Form<object>> = new Map(Object.entries(KINDS));

const fact: Form<Fact> = {
  write(value, by) {
    const { kind, ...rest } = value;
    return [kind, formOf(kind).write(rest, by)];
  },
  read(form, by) {
    const [kind, rest = null] = listIn(form), name = textIn(kind);
    return { kind: name, ...formOf(name).read(rest, by) } as Fact;
  },
};

function formOf(kind: string): Form<object> {
  const found = BY_KIND.get(kind);
  if (found) return found;
  throw new DamagedForm(`Expected a kind of fact but found ${kind}`);
}

/** A line of the program, by number. */
export const position: Form<SourcePosition> = {
  write: (value, { lines }) => lines.numberOf(value),
  read(form, { lines }) {
    const found = lines.list[numberIn(form)];
    if (found) return found;
    throw new DamagedForm(`Expected one of ${lines.list.length} lines but found ${form}`);
  },
};

/** A line of the program as it is. */
export const line: Form<SourcePosition> = fields<SourcePosition>({
  file: text,
  line: count,
  column: count,
  functionName: text,
  code: text,
});

/** A guard. The ambient state that it compares is the one in force, which is part of a journal's key. */
export const guard: Form<Guard> = fields<Guard>({ fact, user: optional(position) });
