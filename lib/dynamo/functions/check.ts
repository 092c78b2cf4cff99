/**
 * Conditions that a program asserts, so that the compiler can rely on them. Invariant: compiled or not, a call whose
 * condition is false throws the same error.
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import { DynError } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { relyOn } from "../trace/graph_numbers.ts";
import type { CallRequest, Interpreter } from "../trace/interpreter.ts";
import { UNDEFINED, type Value } from "../variables/value.ts";

/**
 * Asserts a condition, as `torch._check`: in compiled code, sizes and numbers that depend on elements of tensors are
 * known to satisfy it from there on. `message` says what was expected. Throws DynError if the condition is false.
 */
export function check(condition: boolean, message?: string | (() => string)): void {
  if (arguments.length > 2) refuseSurplus("check", 2, arguments);
  if (condition) return;
  const text = typeof message === "function" ? message() : message;
  throw new DynError(text ?? "Expected a condition that holds but found one that does not");
}

/** The call of `check` in a trace. */
export function traceCheck(m: Interpreter, { args: [condition = UNDEFINED, message] }: CallRequest): Value {
  if (condition.kind === "constant") {
    return condition.value ? UNDEFINED : breakGraph("throws", "a condition that does not hold");
  }
  if (condition.kind !== "item" || condition.type !== "boolean") {
    return breakGraph("dataDependentSize", "a condition that is not a boolean is checked");
  }
  const text = message?.kind === "constant" && typeof message.value === "string"
    ? message.value
    : "a condition";
  relyOn(m.output, condition, text);
  return UNDEFINED;
}
