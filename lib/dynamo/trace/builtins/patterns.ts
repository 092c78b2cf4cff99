/**
 * Models of regular expressions, created in the trace or held by the program, and of string methods that take one, on
 * known strings. Results are the builtins' own. Invariant: an expression of the program is used only where that does
 * not change it.
 */
import { types } from "node:util";
import { type Match, searching } from "../../../base/last_match.ts";
import { isReplaced } from "../../../base/own_builtins.ts";
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { propertySource } from "../../source.ts";
import {
  constant,
  dataSlot,
  isCallable,
  ObjectValue,
  type Slot,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { builtinPrototype, newArray, newObject } from "../contents.ts";
import { type CallRequest, type CallResult, type Interpreter } from "../interpreter.ts";
import { listIterator, OF_MATCHES } from "../iteration.ts";
import { matchLater } from "../later_calls.ts";
import { assignProperty } from "../property_writes.ts";
import { convertObjects, later } from "./delivery.ts";
import { fromPure, primitiveOf, textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";

/** String methods whose first argument may be a regular expression. */
const PATTERN = ["split", "replace", "replaceAll", "match", "search", "matchAll"] as const;

/** Methods of regular expressions that string methods call. */
const CONSULTED = [
  "exec",
  "flags",
  Symbol.match,
  Symbol.matchAll,
  Symbol.replace,
  Symbol.search,
  Symbol.split,
] as const;

const FLAGS = [
  "dotAll",
  "flags",
  "global",
  "hasIndices",
  "ignoreCase",
  "multiline",
  "source",
  "sticky",
  "unicode",
  "unicodeSets",
] as const;

function lastIndexSlot(index: number): Slot {
  return { kind: "data", value: constant(index), writable: true, enumerable: false, configurable: false };
}

/** A new regular expression. */
export function newRegexp(m: Interpreter, source: string, flags: string): ObjectValue {
  const prototype = builtinPrototype(m, RegExp.prototype, "RegExp");
  const constructor = m.wrapper.known(RegExp, "RegExp");
  if (constructor.kind !== "object") return breakGraph("constructor", "RegExp");
  const args = [constant(source), constant(flags)];
  const made = new ObjectValue({ kind: "constructed", constructor, args }, prototype, null, null);
  made.slots.set("lastIndex", lastIndexSlot(0));
  return made;
}

/** A regular expression that represents one of the program. */
interface StandIn {
  readonly object: ObjectValue;
  readonly regexp: RegExp;
}

/** Returns the stand-in for a regular expression with the builtin methods; null for other values. */
function standInOf(m: Interpreter, value: Value | undefined): StandIn | null {
  if (value?.kind !== "object") return null;
  const regexp = value.real === null ? ofMade(value) : ofReal(m, value);
  if (regexp === null) return null;
  requireOwnMethods(m);
  return { object: value, regexp };
}

/** Breaks the graph if the program has replaced methods of regular expressions that string methods call. */
function requireOwnMethods(m: Interpreter): void {
  const prototype = builtinPrototype(m, RegExp.prototype, "RegExp");
  // The guards ensure that these stay unchanged.
  const isOwn = (key: typeof CONSULTED[number]): boolean => {
    if (key === "flags") return !prototype.slots.has(key);
    const method = m.plainProperty(prototype, key);
    return method?.kind === "object" && method.real === RegExp.prototype[key];
  };
  if (!isReplaced(RegExp.prototype) && CONSULTED.every(isOwn)) return;
  breakGraph("builtin", "a regular expression whose methods are replaced");
}

function ofMade({ exotic, slots, prototype }: ObjectValue): RegExp | null {
  if (exotic.kind !== "constructed" || exotic.constructor.real !== RegExp) return null;
  const [source, flags] = exotic.args, last = slots.get("lastIndex");
  if (
    slots.size !== 1 || prototype?.real !== RegExp.prototype || last?.kind !== "data" || !last.writable ||
    last.value.kind !== "constant" || source?.kind !== "constant" || flags?.kind !== "constant"
  ) return breakGraph("builtin", "a regular expression with properties of its own");
  const made = new RegExp(String(source.value), String(flags.value));
  made.lastIndex = Number(last.value.value);
  return made;
}

/** One of the program: guards check its text, its flags, and that it has no own properties. */
function ofReal(m: Interpreter, object: ObjectValue): RegExp | null {
  const { real, source, slots } = object;
  if (!types.isRegExp(real) || !source) return null;
  const isPlain = object.prototype?.real === RegExp.prototype && Reflect.ownKeys(real).length === 1 &&
    slots.size === (slots.has("lastIndex") ? 1 : 0) && !object.prototypeChanged;
  if (!isPlain) return breakGraph("opaqueObject", "a RegExp with properties of its own");
  m.wrapper.relyOnPrototype(object);
  m.output.guard({ kind: "keys", source, which: "all", keys: ["lastIndex"], symbols: [] });
  for (const key of ["source", "flags"] as const) {
    m.output.guard({ kind: "constant", source: propertySource(source, key), value: real[key] });
  }
  const last = m.plainProperty(object, "lastIndex");
  if (last?.kind !== "constant") return breakGraph("symbolicNumber", "lastIndex of a RegExp");
  const made = new RegExp(real.source, real.flags);
  made.lastIndex = Number(last.value);
  return made;
}

/** Applies the changes of a regular expression after a builtin has used its stand-in. */
function noteUse(m: Interpreter, { object, regexp }: StandIn): void {
  const former = m.plainProperty(object, "lastIndex"), { lastIndex } = regexp;
  if (former?.kind === "constant" && former.value === lastIndex) return;
  const written = assignProperty(m, object, "lastIndex", constant(lastIndex));
  if (written.kind !== "done") breakGraph("throws", "a RegExp that cannot be changed");
}

/** The result of a match as a value. */
function matchValue(m: Interpreter, match: RegExpMatchArray): ObjectValue {
  const made = newArray(m, match.map((each) => constant(each)));
  made.slots.set("index", dataSlot(constant(match.index)));
  made.slots.set("input", dataSlot(constant(match.input)));
  const { groups } = match;
  if (!groups) made.slots.set("groups", dataSlot(UNDEFINED));
  else {
    const named = newObject(m, Object.entries(groups).map(([key, value]) => [key, constant(value)]));
    named.prototype = null;
    made.slots.set("groups", dataSlot(named));
  }
  return made;
}

function matchOf(match: RegExpExecArray): Match {
  const [found, ...parts] = match, groups = parts.map((each) => each ?? "");
  return { text: match.input, at: match.index, found, groups, last: groups.at(-1) ?? "" };
}

/** Searches, and notes its last match. */
function found<T>(m: Interpreter, search: () => T): T {
  const { result, match } = searching(search);
  if (match) matchLater(m, match);
  return result;
}

function execute(m: Interpreter, self: Value, text: Value): RegExpExecArray | null {
  const standIn = standInOf(m, self);
  if (!standIn) return breakGraph("builtin", "RegExp.prototype.exec of another object");
  if (standIn.regexp.hasIndices) return breakGraph("builtin", "a match with indices");
  const { regexp } = standIn, searched = textArgument(m, text, "exec");
  const result = found(m, () => regexp.exec(searched));
  noteUse(m, standIn);
  return result;
}

/** Returns the arguments of a `replace` callback for each match, with the match's position. */
function replacements(m: Interpreter, text: string, pattern: string | RegExp, all: boolean): ObjectValue {
  const list: Value[] = [];
  const note = (...given: unknown[]): string => {
    const hasGroups = typeof given.at(-1) === "object";
    const index = Number(given.at(hasGroups ? -3 : -2));
    const args = given.map((each) => fromPure(m, each) ?? breakGraph("builtin", "replace with named groups"));
    list.push(newArray(m, [newArray(m, args), constant(index), constant(String(given[0]).length)]));
    return "";
  };
  if (all) text.replaceAll(pattern, note);
  else text.replace(pattern, note);
  return newArray(m, list);
}

function stringMethod(
  m: Interpreter,
  name: typeof PATTERN[number],
  request: CallRequest,
): CallResult {
  const { self, args: [first = UNDEFINED, ...rest] } = request;
  const text = textArgument(m, self, name), standIn = standInOf(m, first);
  // These convert a text to a regular expression
  if (!standIn && (name === "match" || name === "matchAll" || name === "search")) requireOwnMethods(m);
  const pattern = standIn?.regexp ?? primitiveOf(m, first, "a pattern");
  if (standIn?.regexp.hasIndices) return breakGraph("builtin", "a match with indices");
  const [replacement] = rest;
  if ((name === "replace" || name === "replaceAll") && replacement && isCallable(replacement)) {
    const searched = standIn?.regexp ?? textArgument(m, first, name);
    const matches = found(m, () => replacements(m, text, searched, name === "replaceAll"));
    if (standIn) noteUse(m, standIn);
    return m.callInternal("replaceBy", { ...request, self: constant(text), args: [matches, replacement] });
  }
  const fn: unknown = Reflect.get(String.prototype, name);
  if (typeof fn !== "function") return breakGraph("builtin", name);
  const list = rest.map((value) => primitiveOf(m, value, name));
  const result: unknown = callBuiltin(
    name,
    () => found(m, () => Reflect.apply(fn, text, [pattern, ...list])),
  );
  if (name === "matchAll") {
    const matches = [...result as Iterable<RegExpExecArray>];
    const list = newArray(m, matches.map((match) => matchValue(m, match)));
    const made = listIterator(m, list, "values", OF_MATCHES);
    if (made.exotic.kind === "listIterator") made.exotic.matches = matches.map(matchOf);
    made.onlyTraced = { step: m.steps - 1, cause: { kind: "builtin", detail: "String.prototype.matchAll" } };
    return made;
  }
  if (standIn) noteUse(m, standIn);
  if (name === "match" && Array.isArray(result) && "index" in result) {
    return matchValue(m, result as RegExpMatchArray);
  }
  return fromPure(m, result) ?? breakGraph("builtin", name);
}

/** Adds the models of regular expressions. */
export function addPatterns(table: ModelTable): void {
  for (const name of PATTERN) {
    table.method(String.prototype, name, (m, request) => {
      const { self } = request;
      if (self.kind === "constant" && (self.value === undefined || self.value === null)) {
        return breakGraph("throws", `String.prototype.${name} of ${self.value}`);
      }
      return stringMethod(m, name, request);
    });
  }
  const executing = (
    name: "exec" | "test",
    resultOf: (m: Interpreter, match: RegExpExecArray | null) => Value,
  ) =>
    table.method(RegExp.prototype, name, (m, request) => {
      const [text = UNDEFINED] = request.args;
      return later(m, request, (then) =>
        convertObjects(m, [text], ["string"], ([searched = text]) =>
          then(resultOf(m, execute(m, request.self, searched)))));
    });
  executing("exec", (m, match) => match ? matchValue(m, match) : constant(null));
  executing("test", (_m, match) => constant(match !== null));
  table.method(RegExp.prototype, "toString", (m, { self }) => {
    const standIn = standInOf(m, self);
    return standIn ? constant(String(standIn.regexp)) : breakGraph("builtin", "RegExp.prototype.toString");
  });
  for (const name of FLAGS) {
    table.getter(RegExp.prototype, name, (m, { self }) => {
      const standIn = standInOf(m, self);
      return standIn ? constant(standIn.regexp[name]) : breakGraph("builtin", `${name} of another object`);
    });
  }
  table.constructs(RegExp, (m, request, prototype) => {
    if (prototype?.real !== RegExp.prototype) return breakGraph("constructor", "a subclass of RegExp");
    return makeRegexp(m, request);
  });
  // Without flags, a call returns a regular expression unchanged
  table.call(RegExp, (m, request) => {
    const [source, flags] = request.args, standIn = standInOf(m, source);
    const isSame = standIn && (!flags || (flags.kind === "constant" && flags.value === undefined)) &&
      m.plainProperty(standIn.object, "constructor");
    return isSame && isSame.kind === "object" && isSame.real === RegExp
      ? standIn.object
      : makeRegexp(m, request);
  });
}

/** Returns whether an object says itself that it is, or is no, regular expression: RegExp then reads its properties. */
function saysWhetherPattern(m: Interpreter, value: Value): boolean {
  if (value.kind !== "object") return false;
  const said = m.plainProperty(value, Symbol.match);
  return said !== null && (said.kind !== "constant" || said.value !== undefined);
}

/** new RegExp(source, flags). */
function makeRegexp(m: Interpreter, request: Pick<CallRequest, "args" | "completion">): CallResult {
  const [given = UNDEFINED, flags = UNDEFINED] = request.args, standIn = standInOf(m, given);
  if (!standIn && saysWhetherPattern(m, given)) {
    return breakGraph("builtin", "RegExp of an object with Symbol.match");
  }
  const isFlagged = flags.kind !== "constant" || flags.value !== undefined;
  const source = standIn ? constant(standIn.regexp.source) : given;
  const letters = standIn && !isFlagged ? constant(standIn.regexp.flags) : flags;
  return later(
    m,
    request,
    (then) =>
      convertObjects(m, [source, letters], ["string", "string"], (converted) => {
        const [pattern, letters] = converted.map((each) => primitiveOf(m, each, "RegExp"));
        const made = callBuiltin(
          "RegExp",
          () => new RegExp(pattern as string, letters as string | undefined),
        );
        then(newRegexp(m, made.source, made.flags));
      }),
  );
}
