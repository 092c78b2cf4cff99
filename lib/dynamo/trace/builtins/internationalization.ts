/**
 * Models of `Intl` on known values: formatters, created during tracing or held by the program, and locale-dependent
 * methods. Results are the builtins' own; generated code recreates formatters. Invariant: a formatter never changes, so
 * that its results for known values are the same in every call; a result that depends on the time zone is guarded on
 * it.
 */
import { timeZoneSetting } from "../../../base/locale.ts";
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { specializeNumber } from "../../variables/numbers.ts";
import { isCallable, ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { functionLabel } from "../../variables/labels.ts";
import type { BuiltinModel, CallResult, Interpreter } from "../interpreter.ts";
import { allElements, builtinPrototype, newArray, newObject } from "../contents.ts";
import { isListNext, iteratorClass, iteratorResult, listIterator, nextOfList } from "../iteration.ts";
import { ownKeys } from "../object_keys.ts";
import { refuseToCache } from "../../disk_cache/noted_reads.ts";
import { fromPure } from "./pure.ts";
import { dateLike } from "./dates.ts";
import type { ModelTable } from "./table.ts";

const CLASSES = [
  "Collator",
  "DateTimeFormat",
  "DisplayNames",
  "DurationFormat",
  "ListFormat",
  "Locale",
  "NumberFormat",
  "PluralRules",
  "RelativeTimeFormat",
  "Segmenter",
] as const;

/** Constructors that can be called without `new`. */
const CALLABLE: ReadonlySet<string> = new Set(["Collator", "DateTimeFormat", "NumberFormat"]);

/** Functions obtained from formatters: those that format without a receiver, and methods of segments. */
const formatting = new WeakMap<object, BuiltinModel>();

/** The model of a function obtained from a formatter. */
export function formattingModelOf(fn: object): BuiltinModel | undefined {
  return formatting.get(fn);
}

/** A copy of a known value as plain data; breaks the graph if it is not plain data. */
function dataOf(m: Interpreter, value: Value, what: string): unknown {
  if (value.kind === "constant") return value.value;
  if (value.kind === "number") return specializeNumber(m.output, value).value;
  if (value.kind === "item") return breakGraph("tensorItem", what);
  if (value.kind !== "object") return breakGraph("builtin", `${what} of a value that is not plain data`);
  const { exotic, prototype } = value;
  if (exotic.kind === "native") return exotic.made;
  const date = dateLike(m, value);
  if (date) return date;
  if (exotic.kind === "array") return allElements(m, value).map((each) => dataOf(m, each, what));
  const isPlain = exotic.kind === "plain" && (prototype === null || prototype.real === Object.prototype);
  if (!isPlain) return breakGraph("builtin", `${what} of an object that is not plain data`);
  m.wrapper.relyOnPrototype(value);
  return Object.fromEntries(
    ownKeys(m, value).map((key) => [key, dataOf(m, m.plainProperty(value, key) ?? UNDEFINED, what)]),
  );
}

/** Returns the result of a builtin, if it is plain data. */
function fromData(m: Interpreter, data: unknown, what: string): Value {
  const known = fromPure(m, data);
  if (known) return known;
  const list: readonly unknown[] | null = Array.isArray(data) ? data : null;
  if (list) return newArray(m, list.map((each) => fromData(m, each, what)));
  const isPlain = typeof data === "object" && data !== null &&
    Object.getPrototypeOf(data) === Object.prototype;
  if (!isPlain) return breakGraph("builtin", what);
  return newObject(m, Object.entries(data).map(([key, each]) => [key, fromData(m, each, what)]));
}

function run(fn: object, self: unknown, given: readonly unknown[]): unknown {
  if (typeof fn !== "function") return breakGraph("builtin", "a formatter without methods");
  return callBuiltin(functionLabel(fn), () => Reflect.apply(fn, self, given));
}

/** The formatter itself; one of the program must be the same in all calls. */
function formatterOf(m: Interpreter, self: Value, what: string): object {
  if (self.kind !== "object") return breakGraph("throws", what);
  const { exotic, real, source } = self;
  if (exotic.kind === "native") return exotic.made;
  if (!real || !source) return breakGraph("throws", what);
  refuseToCache("a formatter");
  if (source.kind !== "known") {
    if (m.wrapper.isExchanged(real, source)) {
      return breakGraph("builtin", `${what} of a formatter that changes between calls`);
    }
    m.output.guard({ kind: "identity", source, object: real, label: "a formatter" });
  }
  return real;
}

/** Refuses calls without a time argument, which use the current time. */
function refusePresent(made: object, name: string, given: readonly unknown[]): void {
  if (made instanceof Intl.DateTimeFormat && given[0] === undefined && /^format/.test(name)) {
    breakGraph("builtin", "a format of the current time");
  }
}

/** An instance of a class whose instances never change; generated code creates it again. */
export function constructNative(
  m: Interpreter,
  constructor: object,
  ...[args, prototype]: readonly [args: readonly Value[], prototype: ObjectValue]
): ObjectValue {
  const name = functionLabel(constructor), given = args.map((each) => dataOf(m, each, name));
  const made: unknown = typeof constructor === "function" &&
    callBuiltin(name, () => Reflect.construct(constructor, given));
  const known = m.wrapper.known(constructor, name);
  if (typeof made !== "object" || made === null || known.kind !== "object") {
    return breakGraph("constructor", name);
  }
  // The program may change the object later
  const copies = args.map((each, i) => each.kind === "object" ? copyOf(m, each, given[i]) : each);
  return new ObjectValue(
    { kind: "native", made, constructor: known, args: copies, text: null, from: null },
    prototype,
    null,
    null,
  );
}

function addClass(table: ModelTable, name: (typeof CLASSES)[number]): void {
  const constructor: unknown = Reflect.get(Intl, name);
  if (typeof constructor !== "function") return;
  const standard: object = Reflect.get(constructor, "prototype");
  const construct = (m: Interpreter, args: readonly Value[], prototype: ObjectValue | null): CallResult => {
    if (prototype?.real !== standard) return breakGraph("constructor", `a subclass of Intl.${name}`);
    if (name === "DateTimeFormat") m.output.guard({ kind: "timeZone", setting: timeZoneSetting() });
    return constructNative(m, constructor, args, prototype);
  };
  table.constructs(constructor, (m, { args }, prototype) => construct(m, args, prototype));
  if (CALLABLE.has(name)) {
    table.call(constructor, (m, { args }) => {
      const prototype = m.wrapper.known(standard, `${name}.prototype`);
      return construct(m, args, prototype.kind === "object" ? prototype : null);
    });
  }
  table.method(constructor, "supportedLocalesOf", (m, { args }) => {
    const given = args.map((each) => dataOf(m, each, "supportedLocalesOf"));
    return fromData(m, run(Reflect.get(constructor, "supportedLocalesOf"), constructor, given), name);
  });
  for (const key of Object.getOwnPropertyNames(standard)) addMember(table, standard, key);
}

function copyOf(m: Interpreter, value: ObjectValue, data: unknown): Value {
  return value.exotic.kind === "native" ? value : fromData(m, data, "an argument of a formatter");
}

function addMember(table: ModelTable, standard: object, key: string): void {
  const { value, get } = Reflect.getOwnPropertyDescriptor(standard, key) ?? {};
  if (get) {
    table.getter(standard, key, (m, { self }) => {
      const made = formatterOf(m, self, key), found = run(get, made, []);
      if (typeof found !== "function") return fromData(m, found, key);
      formatting.set(found, (m, { args }) => {
        const given = args.map((each) => dataOf(m, each, key));
        refusePresent(made, key, given);
        return fromData(m, run(found, undefined, given), key);
      });
      const fn = m.wrapper.known(found, key);
      // A formatter that is created anew in each call has a different function each time
      if (self.kind === "object" && self.exotic.kind === "native" && isCallable(fn)) {
        fn.onlyTraced ??= { step: m.steps - 1, cause: { kind: "builtin", detail: key } };
      }
      return fn;
    });
  }
  if (typeof value !== "function" || key === "constructor") return;
  if (key === "segment") return table.method(standard, key, segmenting(value));
  table.method(standard, key, (m, { self, args }) => {
    const made = formatterOf(m, self, key), given = args.map((each) => dataOf(m, each, key));
    refusePresent(made, key, given);
    return fromData(m, run(value, made, given), key);
  });
}

/** The segments of a text, which exist in the trace alone, as does their iterator. */
function segmenting(segment: object): BuiltinModel {
  return (m, { self, callee, args: [text = UNDEFINED] }) => {
    const made = run(segment, formatterOf(m, self, "segment"), [dataOf(m, text, "segment")]);
    if (typeof made !== "object" || made === null) return breakGraph("builtin", "segment");
    const standard: object = Object.getPrototypeOf(made);
    // Their class has no name, and the first segmenter of a process takes long to make
    for (const [key, model] of [["containing", containing], [Symbol.iterator, iterating]] as const) {
      const fn: unknown = Reflect.get(standard, key);
      if (typeof fn === "function") formatting.set(fn, model(fn));
    }
    const segments = new ObjectValue(
      { kind: "native", made, constructor: callee, args: [], text: null, from: null },
      builtinPrototype(m, standard, "Segments"),
      null,
      null,
    );
    segments.onlyTraced = { step: m.steps - 1, cause: { kind: "builtin", detail: "segment" } };
    return segments;
  };
}

function containing(fn: object): BuiltinModel {
  return (m, { self, args }) => {
    const given = args.map((each) => dataOf(m, each, "containing"));
    return fromData(m, run(fn, formatterOf(m, self, "containing"), given), "containing");
  };
}

function iterating(fn: object): BuiltinModel {
  return (m, { self }) => {
    const real = run(fn, formatterOf(m, self, "segments"), []) as IterableIterator<unknown>;
    const of = iteratorClass(real);
    if (typeof of.advance === "function") formatting.set(of.advance, nextSegment);
    const list = newArray(m, [...real].map((each) => fromData(m, each, "segments")));
    const iterator = listIterator(m, list, "values", of);
    iterator.onlyTraced = { step: m.steps - 1, cause: { kind: "builtin", detail: "segments" } };
    return iterator;
  };
}

const nextSegment: BuiltinModel = (m, { self, callee }) => {
  const isListed = self.kind === "object" && isListNext(self, callee);
  const item = isListed ? nextOfList(m, self) : breakGraph("iterator", "segments from outside");
  return iteratorResult(m, item ?? UNDEFINED, item === null);
};

/** Locale-dependent methods of other classes. */
const LOCAL: readonly (readonly [prototype: object, names: readonly string[]])[] = [
  [Number.prototype, ["toLocaleString"]],
  [BigInt.prototype, ["toLocaleString"]],
  [String.prototype, ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]],
  [Date.prototype, ["toLocaleDateString", "toLocaleString", "toLocaleTimeString"]],
];

/** Adds the models of `Intl`. */
export function addInternationalization(table: ModelTable): void {
  for (const name of CLASSES) addClass(table, name);
  for (const [prototype, names] of LOCAL) {
    for (const name of names) {
      const fn: unknown = Reflect.get(prototype, name);
      if (typeof fn !== "function") continue;
      table.method(prototype, name, (m, { self, args }) => {
        const receiver = dataOf(m, self, name), given = args.map((each) => dataOf(m, each, name));
        if (receiver instanceof Date) m.output.guard({ kind: "timeZone", setting: timeZoneSetting() });
        return fromData(m, run(fn, receiver, given), name);
      });
    }
  }
  for (const name of ["getCanonicalLocales", "supportedValuesOf"] as const) {
    table.method(Intl, name, (m, { args }) => {
      const given = args.map((each) => dataOf(m, each, name));
      return fromData(m, run(Reflect.get(Intl, name), Intl, given), name);
    });
  }
}
