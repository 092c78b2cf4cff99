/**
 * Dates created during tracing: a time, which is a known number, or the clock's value in each call. Invariant: the
 * results of methods for a known time are the same in every call of the process; for other times only the number is
 * available.
 */
import { timeZoneSetting } from "../../../base/place.ts";
import { breakGraph, throwsAsPlain } from "../../break_reasons.ts";
import { constant, ObjectValue, primitive, UNDEFINED, type Value } from "../../variables/value.ts";
import type { CallRequest, CallResult, Interpreter } from "../interpreter.ts";
import type { ModelTable } from "./table.ts";
import { primitiveOf } from "./pure.ts";

const PROTOTYPE = Date.prototype, { now } = Date;

/** The exotic part of a date of the trace. */
function dateOf({ self }: CallRequest, what: string): { time: Value } {
  if (self.kind === "object" && self.exotic.kind === "date") return self.exotic;
  return breakGraph("opaqueObject", `${what} of a date from outside`);
}

/** A time that is known. */
function knownTime({ time }: { readonly time: Value }, what: string): number {
  if (time.kind === "constant" && typeof time.value === "number") return time.value;
  return breakGraph("builtin", `${what} of the current time`);
}

function timeOf(m: Interpreter, args: readonly Value[]): Value {
  const [only] = args;
  if (!only) return m.output.callHost("Date.now()", now, { isTimed: true });
  if (args.length === 1) {
    if (only.kind === "object" && only.exotic.kind === "date") return only.exotic.time;
    if (only.kind === "number" && only.expression.kind === "called" && only.expression.call.run === now) {
      return only;
    }
  }
  const given = args.map((arg) => primitiveOf(m, arg, "Date"));
  if (given.length > 1 || typeof given[0] === "string") guardZone(m);
  try {
    const made: unknown = Reflect.construct(Date, given);
    return constant(made instanceof Date ? made.getTime() : NaN);
  } catch (error) {
    return throwsAsPlain(error, "Date");
  }
}

/** Methods that say the same in all time zones. */
const isUniversal = (name: string): boolean => /UTC|ISO|^getTime$|^setTime$|^valueOf$/.test(name);

function guardZone(m: Interpreter): void {
  m.output.guard({ kind: "timeZone", setting: timeZoneSetting() });
}

/** Returns a method's result for a date at a known time, and the time afterwards. */
function asked(m: Interpreter, name: string, request: CallRequest): CallResult {
  const date = dateOf(request, name), method: unknown = Reflect.get(PROTOTYPE, name);
  if (typeof method !== "function") return breakGraph("builtin", name);
  if (name === "getTime" || name === "valueOf") return date.time;
  const real = new Date(knownTime(date, name));
  if (!isUniversal(name)) guardZone(m);
  const given = request.args.map((arg) => primitiveOf(m, arg, name));
  let result: unknown;
  try {
    result = Reflect.apply(method, real, given);
  } catch (error) {
    return throwsAsPlain(error, name);
  }
  if (name.startsWith("set")) date.time = constant(real.getTime());
  return primitive(result);
}

/** Adds the models of dates. */
export function addDates(table: ModelTable): void {
  table.constructs(Date, (m, { args }, prototype) => {
    if (prototype?.real !== PROTOTYPE) return breakGraph("constructor", "a subclass of Date");
    return new ObjectValue({ kind: "date", time: timeOf(m, args) }, prototype, null, null);
  });
  for (const name of Object.getOwnPropertyNames(PROTOTYPE)) {
    // Locale-dependent formatting takes options, and toJSON calls another method of the object
    if (name === "constructor" || name === "toJSON" || /Locale|Temporal/.test(name)) continue;
    table.method(PROTOTYPE, name, (m, request) => asked(m, name, request));
  }
  table.method(PROTOTYPE, Symbol.toPrimitive, (m, request) => {
    const [hint = UNDEFINED] = request.args;
    if (hint.kind === "constant" && hint.value === "number") {
      return asked(m, "getTime", { ...request, args: [] });
    }
    return asked(m, "toString", { ...request, args: [] });
  });
  for (const name of ["parse", "UTC"] as const) {
    table.method(Date, name, (m, { args }) => {
      const given = args.map((arg) => primitiveOf(m, arg, `Date.${name}`));
      if (name === "parse") guardZone(m);
      return primitive(Reflect.apply(Reflect.get(Date, name), Date, given));
    });
  }
}
