/**
 * `yield*` of a traced generator. Input: the frame of the generator on top and the iterable; output: suspension
 * with each item, and the frame going on at the end. Invariant: the iterator is asked for one item per `next`.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { isCallable, type ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { getIterator, isListNext, nextMethod, nextOfList, takeApart } from "./iteration.ts";

/** `yield*`: hands on what the iterator of `source` gives; its return value goes to `dst`. */
export function delegate(m: Interpreter, source: Value, dst: number): void {
  const frame = m.top;
  let inner = frame.delegates;
  const go = (): void => {
    invariant(inner, "Expected an iterator");
    const { iterator, next } = inner;
    if (iterator.exotic.kind === "listIterator" && isListNext(next)) {
      const item = nextOfList(m, iterator);
      if (item !== null) return m.suspend(item);
      frame.delegates = null;
      frame.registers[dst] = UNDEFINED;
      frame.pc++;
      return;
    }
    if (!isCallable(next)) return breakGraph("throws", "an iterator without next");
    m.call({
      callee: next,
      self: iterator,
      args: [UNDEFINED],
      completion: {
        kind: "inside",
        then: (result) => {
          if (result.kind !== "object") return breakGraph("throws", "an iterator result that is no object");
          const done = takeApart(m, result);
          if (!done.done) return m.suspend(done.value);
          frame.delegates = null;
          frame.registers[dst] = result.slots.get("value")?.kind === "data" ? valueSlot(result) : UNDEFINED;
          frame.pc++;
        },
      },
    });
  };
  if (inner) return go();
  const started = (iterator: Value): void => {
    if (iterator.kind !== "object") return breakGraph("throws", "an iterator that is no object");
    frame.delegates = inner = { iterator, next: nextMethod(m, iterator) };
    go();
  };
  const iterator = getIterator(m, source, { kind: "inside", then: started });
  if (iterator) started(iterator);
}

function valueSlot(result: ObjectValue): Value {
  const slot = result.slots.get("value");
  return slot?.kind === "data" ? slot.value : UNDEFINED;
}
