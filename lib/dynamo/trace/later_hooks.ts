/**
 * Gradient hooks that a program registers on tensors from outside, and hooks that it removes: generated code does so
 * once the graph has run, in order. Invariant: neither the history of such a tensor nor a backward pass in the same
 * graph can tell; otherwise the graph ends where the hook is registered, or at the pass.
 */
import { TapeHook } from "../../autograd/tape_hook.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Tensor } from "../../tensor/tensor.ts";
import { isCallable, type ObjectValue, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { CallRequest, Interpreter } from "./interpreter.ts";
import { callLater } from "./later_calls.ts";

interface Registration {
  readonly step: number;
  /** The tensor that gets the hook; null: it is removed from one. */
  readonly tensor: Tensor | null;
}

const registrations = new WeakMap<ObjectValue, Registration>();

const registrationsOf = ({ laterCalls }: Interpreter): Registration[] =>
  laterCalls.flatMap((call) => registrations.get(call) ?? []);

/** Registers a hook after the graph; null: it has to be registered between the operations before and after it. */
export function registerLater(
  m: Interpreter,
  tensor: TensorValue,
  { callee, args: [hook] }: Pick<CallRequest, "callee" | "args">,
): ObjectValue | null {
  const { real, source, node } = tensor;
  if (!real?.requiresGrad || !source || !tensor.requiresGrad || !hook || !isCallable(hook)) return null;
  const isInput = node === null || node.op === "placeholder";
  // Its history is the one that it has after the graph
  if (!isInput || !isOrdinary(m) || tensor.written || tensor.assigned.has("requiresGrad")) return null;
  const call = callLater(m, "object", { callee, self: tensor, args: [hook] });
  registrations.set(call, { step: m.steps - 1, tensor: real });
  return call;
}

/** Models `remove()` of the handle of a hook. */
export function removeLater(m: Interpreter, request: CallRequest): Value {
  const { self } = request;
  if (self.kind !== "object" || !(self.real instanceof TapeHook) || !isOrdinary(m)) {
    return breakGraph("gradientState", "a hook is removed");
  }
  registrations.set(callLater(m, "object", request), { step: m.steps - 1, tensor: null });
  return UNDEFINED;
}

/** Whether what is registered now is on the tape, for every pass. */
const isOrdinary = ({ forwardTransforms, batch, regionDepths }: Interpreter): boolean =>
  forwardTransforms === 0 && batch === null && regionDepths.length === 0;

/** Ends the graph at a backward pass that hooks of the graph would take part in. */
export function refuseLaterHooks(m: Interpreter): void {
  if (registrationsOf(m).length > 0) {
    breakGraph("backward", "a hook that the same graph registers or removes");
  }
}

/**
 * Ends the graph where a hook is registered on a tensor whose history changes later on. `isRecorded`: whether the write
 * that changes it is; other writes give a new history, without the hook, to views alone.
 */
export function refuseChangedHistory(m: Interpreter, changed: Tensor, isRecorded: boolean): void {
  const found = registrationsOf(m).find(({ tensor }) =>
    tensor?.storage === changed.storage && (isRecorded || tensor.viewState !== null)
  );
  if (found) m.restartAt(found.step, { kind: "gradientState", detail: "a hook is registered" });
}
