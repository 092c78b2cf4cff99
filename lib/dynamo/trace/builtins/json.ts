/**
 * Models of JSON. Invariant: the engine itself writes and reads data without code; stand-ins in JavaScript call
 * replacers, revivers and `toJSON` (json_polyfills.ts).
 */
import { isComplex } from "../../../base/dtype.ts";
import { breakGraph, callBuiltin, throwsAsPlain } from "../../break_reasons.ts";
import { quoted, rawText, refuseCircle, type Sources, unboxed } from "../../functions/json_polyfills.ts";
import {
  constant,
  dataSlot,
  type ElementsObject,
  elementType,
  isCallable,
  isPassed,
  type ItemValue,
  NULL,
  type ObjectValue,
  type PassedValue,
  primitive,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import type { NumberValue } from "../../variables/number_value.ts";
import type { CallRequest, CallResult, Interpreter } from "../interpreter.ts";
import { computeLater, drawnLater } from "../later_values.ts";
import { findProperty } from "../objects.ts";
import { isElements } from "../read_elements.ts";
import { allElements, newArray, newObject } from "../contents.ts";
import { enumerableKeys } from "../object_keys.ts";
import { joinedText, type PrimitiveValue, textByMethod } from "../texts.ts";
import { primitiveOf, textArgument } from "./pure.ts";
import type { ModelTable } from "./table.ts";

/** Thrown where data has code: accessors, `toJSON`, proxies. */
const HAS_CODE = Symbol("data with code");

/** Returns whether an object of the program may be one of JSON.rawJSON, which have no prototype. */
const mayBeRaw = ({ real, prototype }: ObjectValue): boolean => real !== null && prototype === null;

const WRITE = { fn: JSON.stringify, isMethod: false } as const;

/** A value in plain data whose text is known only after the graph has run, or that may differ between calls. */
class Late {
  constructor(readonly value: PassedValue | NumberValue | ItemValue | ElementsObject) {}
}

/** Plain data for the engine. */
function plainData(m: Interpreter, given: Value, seen: Set<ObjectValue>): unknown {
  const value = drawnLater(m.output, given);
  if (value.kind === "item" || value.kind === "number" || (isPassed(value) && value.type === "string")) {
    return new Late(value);
  }
  // Programs may give bigints a toJSON
  if (value.kind === "constant" && typeof value.value === "bigint") throw HAS_CODE;
  // It has a toJSON
  if (value.kind === "tensor") throw HAS_CODE;
  if (value.kind !== "object") return primitiveOf(m, value, "JSON.stringify");
  if (isElements(value) && isPlainList(m, value)) return new Late(value);
  if (seen.has(value) || value.exotic.kind === "opaque" || mayBeRaw(value)) throw HAS_CODE;
  m.wrapper.relyOnPrototype(value);
  const property = (key: string): Value => {
    const found = findProperty(m, value, key);
    if (found.kind === "getter") throw HAS_CODE;
    return found.kind === "value" ? found.value : UNDEFINED;
  };
  const calls: boolean = isCallable(property("toJSON")), isFunction: boolean = isCallable(value);
  if (calls) throw HAS_CODE;
  if (isFunction) return undefined;
  const inside = new Set<ObjectValue>(seen).add(value);
  if (value.exotic.kind === "array") return allElements(m, value).map((each) => plainData(m, each, inside));
  relyOnUnboxed(m, value);
  return Object.fromEntries(
    enumerableKeys(m, value).map((key) => [key, plainData(m, property(key), inside)]),
  );
}

/** Relies on an object of the program being no boxed primitive, which may inherit from anything. */
function relyOnUnboxed(m: Interpreter, { source }: ObjectValue): void {
  if (source && source.kind !== "known") m.output.guard({ kind: "unboxed", source });
}

/** Returns whether nothing but numbers and truth values is in a list of elements, and no prototype has a `toJSON`. */
function isPlainList(m: Interpreter, { exotic, prototype }: ElementsObject): boolean {
  const { method, tensor } = exotic;
  return method === "tolist" && elementType(tensor) !== "integer" && !isComplex(tensor.meta.dtype) &&
    prototype !== null && findProperty(m, prototype, "toJSON").kind === "absent";
}

/** The text of data. */
function textOfData(m: Interpreter, data: unknown, gap: string): Value {
  const late: Late["value"][] = [];
  const write = (of: (value: Late["value"]) => unknown): string | undefined =>
    JSON.stringify(data, (_key, value: unknown) => value instanceof Late ? of(value.value) : value, gap);
  const known = write((value) => {
    late.push(value);
    return null;
  });
  if (late.length === 0) return primitive(known);
  // Elements of an inner list would be indented
  if (gap !== "" && late.some(({ kind }) => kind === "object")) throw HAS_CODE;
  let mark = "late";
  while (known?.includes(mark)) mark += "_";
  const parts = write((value) => `${mark}${late.indexOf(value)}`)?.split(new RegExp(`"${mark}(\\d+)"`)) ?? [];
  return joinedText(
    m,
    parts.map((part, at) => {
      const value = at % 2 === 1 ? late[Number(part)] : undefined;
      return value ? textOfLate(m, value) : constant(part);
    }),
  );
}

/** The text of one value: one that each call knows before the graph is not inspected, so that keys may be made of it. */
function textOfLate(m: Interpreter, value: Late["value"]): PrimitiveValue {
  if (value.kind === "constant" && value.isSettled) return constant(JSON.stringify(value.value));
  const isEarly = value.kind === "number" || value.kind === "constant";
  const text = isEarly ? textByMethod(m, quoted, { self: value, args: [] }) : null;
  return text ?? computeLater(m.output, { apply: WRITE, type: "string", operands: [value] });
}

/** The names in an allow list, without duplicates. */
function namesIn(m: Interpreter, list: ObjectValue): Value {
  const names = new Set<string>();
  for (const each of allElements(m, list)) {
    if (each.kind !== "constant") return breakGraph("builtin", "JSON.stringify with a list of other things");
    if (typeof each.value === "string" || typeof each.value === "number") names.add(String(each.value));
  }
  return newArray(m, [...names].map((name) => constant(name)));
}

/** The engine's rule for the third argument. */
function gapOf(m: Interpreter, space: Value | undefined): string {
  const given = space ? primitiveOf(m, space, "JSON.stringify") : undefined;
  // The engine breaks lines without indentation there
  if (typeof given === "number" && given > 0 && given < 1) {
    breakGraph("builtin", "JSON.stringify with a part of a space");
  }
  if (typeof given === "number") return " ".repeat(Math.max(0, Math.min(10, Math.trunc(given) || 0)));
  return typeof given === "string" ? given.slice(0, 10) : "";
}

function stringify(m: Interpreter, request: CallRequest): CallResult {
  const [value = UNDEFINED, replacer = UNDEFINED, space] = request.args;
  const gap = gapOf(m, space), isList = replacer.kind === "object" && replacer.exotic.kind === "array";
  const names = isList ? namesIn(m, replacer) : UNDEFINED;
  const calls: boolean = isCallable(replacer);
  if (!isList && !calls && replacer.kind === "object" && replacer.exotic.kind === "opaque") {
    return breakGraph("opaqueObject", replacer.exotic.what);
  }
  if (!isList && !calls) {
    try {
      return textOfData(m, plainData(m, value, new Set()), gap);
    } catch (error) {
      if (error !== HAS_CODE) return throwsAsPlain(error, "JSON.stringify");
    }
  }
  const args = [calls ? replacer : UNDEFINED, names, constant(gap)];
  return m.callInternal("stringify", { ...request, self: value, args });
}

function fromData(m: Interpreter, data: unknown): Value {
  if (Array.isArray(data)) {
    const list: readonly unknown[] = data;
    return newArray(m, list.map((each) => fromData(m, each)));
  }
  if (typeof data === "object" && data !== null) {
    const made = newObject(m);
    for (const [key, value] of Object.entries(data)) made.slots.set(key, dataSlot(fromData(m, value)));
    return made;
  }
  return primitive(data);
}

/** The source texts of the primitives in a text, and their values. */
function sourcesOf(text: string): Sources {
  const reader = (_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
    typeof value === "object" && value !== null ? { ...value } : [value, source ?? ""];
  return JSON.parse(text, reader);
}

function parse(m: Interpreter, request: CallRequest): CallResult {
  const [value = UNDEFINED, reviver] = request.args;
  return callBuiltin("JSON.parse", () => {
    const text = textArgument(m, value, "JSON.parse"), data = fromData(m, JSON.parse(text));
    if (!reviver || !isCallable(reviver)) return data;
    const args = [constant(""), reviver, fromData(m, sourcesOf(text))];
    return m.callInternal("revive", { ...request, self: newObject(m, [["", data]]), args });
  });
}

/** Adds the models of JSON. */
export function addJson(table: ModelTable): void {
  table.method(JSON, "stringify", stringify);
  table.method(JSON, "parse", parse);
  table.call(
    rawText,
    (_m, { args: [value = UNDEFINED] }) =>
      value.kind === "object" && mayBeRaw(value)
        ? breakGraph("builtin", "JSON of an object without prototype")
        : NULL,
  );
  table.call(unboxed, (m, { args: [value = UNDEFINED] }) => {
    if (value.kind !== "object") return value;
    const { exotic } = value;
    if (exotic.kind === "opaque" && !exotic.proxy) return breakGraph("opaqueObject", exotic.what);
    if (exotic.kind === "plain") relyOnUnboxed(m, value);
    return value;
  });
  table.call(refuseCircle, () => breakGraph("throws", "Converting circular structure to JSON"));
}
