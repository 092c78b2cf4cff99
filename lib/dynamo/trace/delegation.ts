/**
 * Traces `yield*` of a generator: it suspends with each item, and the frame continues at the end. Invariant: the
 * iterator receives every `next`, `throw` and `return` that the generator receives, with its value.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, type ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { getIterator, isListNext, nextMethod, nextOfList, takeApart } from "./iteration.ts";
import { findProperty } from "./objects.ts";

/** `yield*`: passes on the items of the iterator of `source`; its return value goes to `dst`. */
export function delegate(m: Interpreter, source: Value, dst: number): void {
  const frame = m.top;
  const received = frame.received ?? { mode: "next" as const, value: UNDEFINED };
  const inner = frame.delegates;
  if (inner) return handOn(m, frame, { ...inner, ...received, dst });
  const started = (iterator: Value): void => {
    if (iterator.kind !== "object") return breakGraph("throws", "an iterator that is not an object");
    const delegates = frame.delegates = { iterator, next: nextMethod(m, iterator) };
    handOn(m, frame, { ...delegates, ...received, dst });
  };
  const iterator = getIterator(m, source, { kind: "inside", then: started });
  if (iterator) started(iterator);
}

interface Delegation {
  readonly iterator: ObjectValue;
  readonly next: Value;
  readonly mode: "next" | "throw" | "return";
  readonly value: Value;
  readonly dst: number;
}

function handOn(m: Interpreter, frame: Frame, delegation: Delegation): void {
  const { iterator, next, mode, value } = delegation;
  frame.received = null;
  if (mode === "next" && isListNext(iterator, next)) {
    const item = nextOfList(m, iterator);
    return item === null ? finish(m, frame, delegation, UNDEFINED) : m.suspend(item);
  }
  const method = mode === "next" ? next : methodOf(m, iterator, mode);
  if (method === null) {
    if (mode === "return") return finish(m, frame, delegation, value);
    return breakGraph("throws", "yield* over an iterator without throw");
  }
  if (!isCallable(method)) return breakGraph("throws", `an iterator without ${mode}`);
  m.call({
    callee: method,
    self: iterator,
    args: [value],
    completion: {
      kind: "inside",
      then: (result) => {
        const { done } = takeApart(m, result);
        if (!done) return m.suspendWith(result);
        finish(m, frame, delegation, result.kind === "object" ? resultOf(m, result) : UNDEFINED);
      },
    },
  });
}

function methodOf(m: Interpreter, iterator: ObjectValue, name: string): Value | null {
  const found = findProperty(m, iterator, name);
  if (found.kind === "getter") return breakGraph("iterator");
  const value = found.kind === "value" ? found.value : UNDEFINED;
  return value.kind === "constant" && (value.value === undefined || value.value === null) ? null : value;
}

/** The value of the last result. */
function resultOf(m: Interpreter, result: ObjectValue): Value {
  const found = findProperty(m, result, "value");
  if (found.kind === "getter") return breakGraph("iterator");
  return found.kind === "value" ? found.value : UNDEFINED;
}

/** Ends the delegation: the generator continues, or returns. */
function finish(m: Interpreter, frame: Frame, { mode, dst }: Delegation, value: Value): void {
  const instruction = frame.code.instructions[frame.pc];
  invariant(instruction?.op === "yieldDelegate", "Expected a delegation");
  frame.delegates = null;
  frame.registers[dst] = value;
  if (mode !== "return") frame.pc++;
  else if (instruction.onReturn !== null) frame.pc = instruction.onReturn;
  else m.returnFrom(value);
}
