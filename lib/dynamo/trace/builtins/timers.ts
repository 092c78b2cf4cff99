/**
 * Models of timers and of jobs that programs queue: generated code sets and clears them after the graph, in the
 * program's order. Invariant: setting and clearing runs no code of the program.
 */
import { breakGraph } from "../../break_reasons.ts";
import { isCallable, UNDEFINED, type Value } from "../../variables/value.ts";
import type { BuiltinModel, Interpreter } from "../interpreter.ts";
import { callLater } from "../later_calls.ts";
import type { ModelTable } from "./table.ts";

/** The prototype of timer objects. */
let timers: object | null = null;

function prototypeOfTimers(): object {
  if (timers) return timers;
  const timer: unknown = setTimeout(() => {}, 0);
  clearTimeout(timer as number);
  return timers = Object.getPrototypeOf(timer);
}

/** Returns whether converting a delay runs no code of the program. */
function isDelay(value: Value | undefined): boolean {
  if (value === undefined || value.kind === "number") return true;
  return value.kind === "constant" && (value.value === undefined || typeof value.value === "number");
}

/** Returns whether a value can be cleared: a timer, or none. */
function isTimer(m: Interpreter, value: Value | undefined): boolean {
  if (value?.kind !== "object") return value?.kind === "constant" && (value.value ?? null) === null;
  if (value.exotic.kind === "called") return value.exotic.gives === "object";
  if (value.prototype?.real !== prototypeOfTimers() || value.slots.size > 0) return false;
  m.wrapper.relyOnPrototype(value);
  return true;
}

const set: (name: string) => BuiltinModel = (name) => (m, request) => {
  const [callback, delay] = request.args;
  if (!callback || !isCallable(callback)) return breakGraph("throws", `${name} of no function`);
  if (name !== "setImmediate" && !isDelay(delay)) return breakGraph("coercion", "a delay");
  return callLater(m, "object", request);
};

const clear: (name: string) => BuiltinModel = (name) => (m, request) => {
  if (!isTimer(m, request.args[0])) {
    return breakGraph("builtin", `${name} of a value that is not a timer of the runtime`);
  }
  callLater(m, "object", request);
  return UNDEFINED;
};

/** The models of functions that set timers and clear them, by name. */
export const TIMERS: Readonly<Record<string, BuiltinModel>> = Object.fromEntries(
  ["Timeout", "Interval", "Immediate"].flatMap((what) => [
    [`set${what}`, set(`set${what}`)],
    [`clear${what}`, clear(`clear${what}`)],
  ]),
);

/** Adds the model of jobs that programs queue. */
export function addJobs(table: ModelTable): void {
  table.method(globalThis, "queueMicrotask", (m, request) => {
    const [callback] = request.args;
    if (!callback || !isCallable(callback)) {
      return breakGraph("throws", "queueMicrotask of a value that is not a function");
    }
    callLater(m, "object", request);
    return UNDEFINED;
  });
}
