/**
 * Dates: those created in the trace have a time, which is a known number, or the clock's value in each call; for those
 * from outside each result is read and guarded individually, so that one that changes becomes a number of the call.
 * Invariant: the results of methods for a known time are the same in every call of the process; for other times only
 * the number is available.
 */
import { types } from "node:util";
import { timeZoneSetting } from "../../../base/locale.ts";
import { breakGraph, callBuiltin } from "../../break_reasons.ts";
import { constant, ObjectValue, primitive, UNDEFINED, type Value } from "../../variables/value.ts";
import type { PrivateAccess } from "../../frame/info.ts";
import { invariant } from "../../../base/errors.ts";
import { refuseToCache } from "../../disk_cache/noted_reads.ts";
import { computeLater } from "../later_values.ts";
import { memberSource } from "../private_members.ts";
import type { CallRequest, CallResult, Interpreter } from "../interpreter.ts";
import type { ModelTable } from "./table.ts";
import { primitiveOf } from "./pure.ts";

const PROTOTYPE = Date.prototype, { now } = Date;
const { getTime, setTime } = PROTOTYPE, { isDate } = types, { apply } = Reflect;

/** Access to results of methods of dates from outside, by the name of the method. */
const accesses = new Map<string, PrivateAccess>();

function accessTo(name: string): PrivateAccess {
  let access = accesses.get(name);
  if (!access) {
    const method: unknown = Reflect.get(PROTOTYPE, name);
    invariant(typeof method === "function", `Expected the method ${name} of dates`);
    access = {
      has: isDate,
      get: (object) => isDate(object) ? apply(method, object, []) : undefined,
      set: (object, time) => void apply(setTime, object, [time]),
      member: "field",
    };
    accesses.set(name, access);
  }
  return access;
}

type RealDate = ObjectValue & { readonly real: Date };

function isReal(value: ObjectValue): value is RealDate {
  return value.source !== null && isDate(value.real);
}

/** The result of a method of a date from outside that the trace has not set. */
function answered(m: Interpreter, date: RealDate, name: string): Value {
  refuseToCache("a date");
  m.memory.refuse();
  const access = accessTo(name), answer = access.get(date.real);
  if (typeof answer === "string" && date.source && m.wrapper.isExchanged(date.real, date.source)) {
    return breakGraph("opaqueObject", `${name} of a date that changes between calls`);
  }
  return m.wrapper.wrap(answer, memberSource(date, `<${name}>`, access));
}

/** The time of a date; null for all other values. */
export function timeOfDate(m: Interpreter, value: Value | undefined): Value | null {
  if (value?.kind !== "object") return null;
  if (value.exotic.kind === "date") return value.exotic.time;
  if (!isReal(value)) return null;
  return value.privates.get(accessTo("getTime")) ?? answered(m, value, "getTime");
}

/** A known time. */
function knownTime(m: Interpreter, date: Value, what: string): number {
  const time = timeOfDate(m, date);
  if (time?.kind === "constant" && typeof time.value === "number") return time.value;
  return time === null
    ? breakGraph("opaqueObject", `${what} of another object`)
    : breakGraph("builtin", `${what} of a time that changes between calls`);
}

/** An equal date of the engine, if its time is known; null for other values. */
export function dateLike(m: Interpreter, value: Value): Date | null {
  const time = timeOfDate(m, value);
  return time?.kind === "constant" && typeof time.value === "number" ? new Date(time.value) : null;
}

/** Returns whether a value is the time of the call. */
function isNow(value: Value): boolean {
  return value.kind === "number" && value.expression.kind === "called" && value.expression.call.run === now;
}

function timeOf(m: Interpreter, args: readonly Value[]): Value {
  const [only] = args;
  if (!only) return m.output.callHost("Date.now()", now, { isTimed: true });
  if (args.length === 1) {
    const time = timeOfDate(m, only);
    if (time) return time;
    if (isNow(only)) return only;
  }
  const given = args.map((arg) => primitiveOf(m, arg, "Date"));
  if (given.length > 1 || typeof given[0] === "string") guardZone(m);
  const made: unknown = callBuiltin("Date", () => Reflect.construct(Date, given));
  return constant(made instanceof Date ? made.getTime() : NaN);
}

/** A method's result for the time of the call, which generated code asks for after the graph; null for other times. */
function answeredLater(m: Interpreter, self: Value, name: string): Value | null {
  if (self.kind !== "object" || self.exotic.kind !== "date" || !isNow(self.exotic.time)) return null;
  const fn: unknown = Reflect.get(PROTOTYPE, name);
  invariant(typeof fn === "function", `Expected the method ${name} of dates`);
  const type = typeof apply(fn, new Date(0), []) === "number" ? "number" : "string";
  // The program may set the time of its own object later
  const date = new ObjectValue({ ...self.exotic }, self.prototype, null, null);
  return computeLater(m.output, { apply: { fn, isMethod: true }, type, operands: [date] });
}

/** Returns whether a method gives the same result in all time zones. */
const isUniversal = (name: string): boolean => /UTC|ISO|^getTime$|^setTime$|^valueOf$/.test(name);

function guardZone(m: Interpreter): void {
  m.output.guard({ kind: "timeZone", setting: timeZoneSetting() });
}

/** Returns a method's result for a date at a known time, and the time afterwards. */
function asked(m: Interpreter, name: string, request: CallRequest): CallResult {
  const { self } = request, method: unknown = Reflect.get(PROTOTYPE, name);
  if (typeof method !== "function") return breakGraph("builtin", name);
  if (name === "getTime" || name === "valueOf") {
    return timeOfDate(m, self) ?? breakGraph("opaqueObject", `${name} of another object`);
  }
  const isAsked = request.args.length === 0 && !name.startsWith("set");
  const drawn = isAsked ? answeredLater(m, self, name) : null;
  if (drawn) return drawn;
  const isAsFound = self.kind === "object" && isReal(self) && !self.privates.has(accessTo("getTime"));
  if (isAsked && isAsFound && isFinite(apply(getTime, self.real, []))) return answered(m, self, name);
  const isSet = name === "setTime" && timeOfDate(m, self) !== null;
  const real = new Date(isSet ? 0 : knownTime(m, self, name));
  if (!isUniversal(name)) guardZone(m);
  const given = request.args.map((arg) => primitiveOf(m, arg, name));
  const result: unknown = callBuiltin(name, () => Reflect.apply(method, real, given));
  if (name.startsWith("set")) setTimeOf(self, constant(real.getTime()));
  return primitive(result);
}

function setTimeOf(date: Value, time: Value): void {
  if (date.kind !== "object") return;
  if (date.exotic.kind === "date") date.exotic.time = time;
  else date.privates.set(accessTo("getTime"), time);
}

const TO_ISO: unknown = PROTOTYPE.toISOString;

/** Date.prototype.toJSON, for dates with the builtin conversion. */
function toJson(m: Interpreter, request: CallRequest): CallResult {
  const { self } = request, time = timeOfDate(m, self);
  const method = self.kind === "object" ? m.plainProperty(self, "toISOString") : null;
  if (time === null || method?.kind !== "object" || method.real !== TO_ISO) {
    return breakGraph("builtin", "toJSON of another object");
  }
  const isNone = time.kind === "constant" && Number.isNaN(time.value);
  return isNone ? constant(null) : asked(m, "toISOString", { ...request, args: [] });
}

/** The method that converts a date to a primitive, by hint. */
const METHODS: ReadonlyMap<unknown, string> = new Map([
  ["number", "getTime"],
  ["string", "toString"],
  ["default", "toString"],
]);

/** Adds the models of dates. */
export function addDates(table: ModelTable): void {
  table.constructs(Date, (m, { args }, prototype) => {
    return new ObjectValue({ kind: "date", time: timeOf(m, args) }, prototype, null, null);
  });
  for (const name of Object.getOwnPropertyNames(PROTOTYPE)) {
    // Locale-dependent formatting takes options
    if (name === "constructor" || name === "toJSON" || /Locale|Temporal/.test(name)) continue;
    table.method(PROTOTYPE, name, (m, request) => asked(m, name, request));
  }
  table.method(PROTOTYPE, "toJSON", toJson);
  table.method(PROTOTYPE, Symbol.toPrimitive, (m, request) => {
    const [hint = UNDEFINED] = request.args, method = hint.kind === "constant" && METHODS.get(hint.value);
    return method
      ? asked(m, method, { ...request, args: [] })
      : breakGraph("throws", "Date.prototype[Symbol.toPrimitive] without one of its hints");
  });
  for (const name of ["parse", "UTC"] as const) {
    table.method(Date, name, (m, { args }) => {
      const given = args.map((arg) => primitiveOf(m, arg, `Date.${name}`));
      if (name === "parse") guardZone(m);
      return primitive(Reflect.apply(Reflect.get(Date, name), Date, given));
    });
  }
}
