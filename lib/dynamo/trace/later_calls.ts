/**
 * Calls of the runtime that generated code makes after the graph has run, in the program's order: they create and
 * settle promises, or set timers. Invariant: such a call runs no code of the program before the job ends.
 */
import { types } from "node:util";
import { invariant } from "../../base/errors.ts";
import { type Match, patternOf, repeatMatch } from "../../base/last_match.ts";
import { breakGraph } from "../break_reasons.ts";
import {
  constant,
  dataSlot,
  isCallable,
  type LaterCall,
  ObjectValue,
  type Slot,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { ended, settlerOf } from "../functions/promise_polyfills.ts";
import { findProperty } from "./objects.ts";
import { builtinPrototype } from "./contents.ts";
import type { CallRequest, Interpreter } from "./interpreter.ts";

const PROTOTYPE = Promise.prototype, { get: readProperty } = Reflect;
const HIDDEN = { writable: false, enumerable: false } as const;

/** Schedules a call for later. */
export function callLater(
  m: Interpreter,
  gives: LaterCall["gives"],
  { callee, self, args }: Pick<CallRequest, "callee" | "self" | "args">,
): ObjectValue {
  const prototype = gives === "promise"
    ? builtinPrototype(m, PROTOTYPE, "Promise")
    : gives === "function"
    ? builtinPrototype(m, Function.prototype, "Function")
    : null;
  const result = new ObjectValue({ kind: "called", gives, callee, self, args }, prototype, null, null);
  m.laterCalls.push(result);
  return result;
}

const hidden = (value: string | number): Slot => ({ ...dataSlot(constant(value)), ...HIDDEN });

/** The functions that settle a promise, in the order in which the engine lists them. */
export function capabilityParts(
  m: Interpreter,
  request: CallRequest,
): readonly (readonly [name: string, part: ObjectValue])[] {
  const whole = callLater(m, "object", request);
  return (["promise", "resolve", "reject"] as const).map((name) => {
    const args = [whole, constant(name)], gives = name === "promise" ? name : "function";
    const callee = m.wrapper.known(gives === "promise" ? readProperty : settlerOf, "the part of a promise");
    invariant(isCallable(callee), "Expected a function");
    const part = callLater(m, gives, { callee, self: UNDEFINED, args });
    if (gives === "function") part.slots.set("length", hidden(1)).set("name", hidden(""));
    return [name, part] as const;
  });
}

/** The promise of an async function that has ended before its first await, with its returned or thrown value. */
export function endedCall(m: Interpreter, value: Value, isThrown = false): ObjectValue {
  if (!isThrown) refuseThenable(m, value);
  const callee = m.wrapper.known(ended, "an async function that has ended");
  invariant(isCallable(callee), "Expected a function");
  return callLater(m, "promise", { callee, self: UNDEFINED, args: [value, constant(isThrown)] });
}

/** Settles a promise unless it is already settled. */
export function settle(m: Interpreter, request: CallRequest): Value {
  const { callee: { exotic }, args: [value = UNDEFINED] } = request;
  const name = exotic.kind === "called" ? exotic.args[1] : undefined;
  if (name?.kind === "constant" && name.value === "resolve") refuseThenable(m, value);
  callLater(m, "object", request);
  return UNDEFINED;
}

/** Repeats a match of a regular expression of the trace, of which programs can read as RegExp.$1 and so on. */
export function matchLater(m: Interpreter, match: Match): void {
  const callee = m.wrapper.known(repeatMatch, "the last match of a regular expression");
  invariant(isCallable(callee), "Expected a function");
  const args = [patternOf(match), match.at, match.text].map(constant);
  callLater(m, "object", { callee, self: UNDEFINED, args });
}

/** The calls whose effects last: of the matches only the last one. */
export function lastingCalls({ laterCalls }: Interpreter): ObjectValue[] {
  const isMatch = ({ exotic }: ObjectValue) =>
    exotic.kind === "called" && exotic.callee.kind === "object" && exotic.callee.real === repeatMatch;
  const last = laterCalls.findLast(isMatch);
  return laterCalls.filter((each) => each === last || !isMatch(each));
}

/** Returns whether a value is a promise of the engine's class without own methods; guarded. */
export function isPlainPromise(m: Interpreter, value: Value): boolean {
  if (value.kind !== "object") return false;
  const { real, source, exotic, prototype, slots } = value;
  if (exotic.kind === "called") {
    return exotic.gives === "promise" && prototype?.real === PROTOTYPE && slots.size === 0;
  }
  if (!real || !source || !types.isPromise(real) || prototype?.real !== PROTOTYPE) return false;
  if (slots.has("then") || slots.has("constructor")) return false;
  m.wrapper.relyOnPrototype(value);
  return ["then", "constructor"].every((key) => {
    const present = Object.hasOwn(real, key);
    m.output.guard({ kind: "ownKey", source, key, present });
    return !present;
  });
}

/** Breaks the graph at a value whose method `then` promises would look up. */
export function refuseThenable(m: Interpreter, value: Value): void {
  if (value.kind === "tensor" && (value.real || value.assigned.size > 0)) {
    if (value.assigned.has("then") || (value.real && Object.hasOwn(value.real, "then"))) {
      breakGraph("builtin", "then");
    }
    if (value.source) m.output.guard({ kind: "ownKey", source: value.source, key: "then", present: false });
  }
  if (value.kind !== "object" || isPlainPromise(m, value)) return;
  for (let at: ObjectValue | null = value; at; at = at.prototype) {
    // Changes of existing objects come after the call
    if (at.real && (at.prototypeChanged || at.slots.has("then"))) {
      breakGraph("builtin", "then, which has changed");
    }
  }
  if (findProperty(m, value, "then").kind !== "absent") {
    breakGraph("builtin", "a promise of a value with a method then");
  }
}
