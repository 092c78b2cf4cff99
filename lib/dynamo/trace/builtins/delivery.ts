/**
 * Results of models whose conversions or callbacks may run code of the program. Invariant: the result is delivered once:
 * at once if no such code was called, and else when it has returned.
 */
import type { Value } from "../../variables/value.ts";
import { type Hint, toPrimitive } from "../coercion.ts";
import { inTurn } from "../in_turn.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "../interpreter.ts";

/** Delivers what `work` passes on, immediately or later. */
export function later(
  m: Interpreter,
  request: Pick<CallRequest, "completion">,
  work: (then: (value: Value) => void) => void,
): CallResult {
  let result: Value | null = null, pushed = false;
  work((value) => {
    result = value;
    if (pushed) m.complete(request.completion, value);
  });
  if (result) return result;
  pushed = true;
  return PUSHED;
}

/** Converts objects among values to primitives, in order; those without a hint stay as they are. */
export function convertObjects(
  m: Interpreter,
  values: readonly Value[],
  hints: readonly (Hint | null)[],
  then: (converted: readonly Value[]) => void,
): void {
  const converted: Value[] = [];
  inTurn((index, next) => {
    const value = values[index], hint = hints[index];
    if (!value) return false;
    const take = (known: Value): void => {
      converted.push(known);
      next();
    };
    if (value.kind === "object" && hint) toPrimitive(m, value, hint, take);
    else take(value);
  }, () => then(converted));
}
