/**
 * Models of AbortControllers created in the trace: generated code creates them, and aborts them after the graph, in the
 * program's order. Invariant: nothing listens to such a signal before the graph ends, so that `abort` runs no code.
 */
import { breakGraph } from "../../break_reasons.ts";
import {
  constant,
  isCallable,
  isUndefined,
  ObjectValue,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import { builtinPrototype } from "../contents.ts";
import type { BuiltinModel, Interpreter } from "../interpreter.ts";
import { callLater } from "../later_calls.ts";
import type { ModelTable } from "./table.ts";

const { prototype: controllers } = AbortController, { prototype: signals } = AbortSignal;

/** The signal of a controller of the trace, and the reason with which it was aborted. */
interface Abortable {
  readonly signal: ObjectValue;
  reason: Value | null;
}

/** By their controllers, and by their signals. */
const abortables = new WeakMap<object, Abortable>();

/** An attribute of a controller or signal of the trace; null for other objects and attributes. */
export function attributeOfAbortable(object: Value, name: string): Value | null {
  const found = object.kind === "object" ? abortables.get(object) : undefined;
  if (!found) return null;
  const { signal, reason } = found;
  if (object !== signal) return name === "signal" ? signal : null;
  return name === "aborted" ? constant(reason !== null) : name === "reason" ? reasonOf(reason) : null;
}

function reasonOf(reason: Value | null): Value {
  const isMade = reason !== null && isUndefined(reason);
  return isMade ? breakGraph("builtin", "the reason that the runtime gives") : reason ?? UNDEFINED;
}

/** AbortController.prototype.abort */
const abort: BuiltinModel = (m, request) => {
  const { self, args: [reason = UNDEFINED] } = request,
    found = self.kind === "object" && abortables.get(self);
  if (!found) return breakGraph("builtin", "abort of a controller from outside");
  callLater(m, "object", request);
  found.reason ??= reason;
  return UNDEFINED;
};

function newController(m: Interpreter, prototype: ObjectValue): ObjectValue {
  const { get } = Reflect.getOwnPropertyDescriptor(controllers, "signal") ?? {};
  const [constructor, getter] = [AbortController, get].map((fn) => fn && m.wrapper.known(fn, fn.name));
  if (!constructor || !getter || !isCallable(constructor) || !isCallable(getter)) {
    return breakGraph("constructor", "AbortController");
  }
  const real = new AbortController(), parts = { kind: "native", constructor, args: [], text: null } as const;
  const made = new ObjectValue({ ...parts, made: real, from: null }, prototype, null, null);
  const of = builtinPrototype(m, signals, "AbortSignal"), from = { getter, self: made };
  const signal = new ObjectValue({ ...parts, made: real.signal, from }, of, null, null),
    found = { signal, reason: null };
  abortables.set(made, found).set(signal, found);
  m.memory.refuse();
  return made;
}

/** Adds the models. */
export function addAborts(table: ModelTable): void {
  table.constructs(
    AbortController,
    (m, _request, prototype) =>
      prototype?.real === controllers
        ? newController(m, prototype)
        : breakGraph("constructor", "a subclass of AbortController"),
  );
  table.method(controllers, "abort", abort);
}
