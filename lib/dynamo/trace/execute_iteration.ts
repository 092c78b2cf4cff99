/**
 * Executes instructions of loops over iterables and keys. Invariant: an iterator is advanced by exactly as many items
 * as the program requests.
 */
import { breakGraph } from "../break_reasons.ts";
import { beginAsyncIteration } from "./async_iteration.ts";
import { isOfLoop, nextOfResumed } from "./resumed_iteration.ts";
import type { InstructionOf } from "../bytecode/instruction.ts";
import {
  constant,
  EnumeratorValue,
  isCallable,
  type ListIteratorExotic,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { refuseIteration } from "./engine_errors.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { drain, getIterator, isListNext, nextMethod, nextOfList, takeApart } from "./iteration.ts";
import { forInKeys } from "./members.ts";
import { findProperty } from "./objects.ts";
import { newArray } from "./contents.ts";
import { behindKeyTraps } from "./proxies.ts";
import type { Step } from "./step.ts";

/** The iterator of an iterable and its `next`. */
export function executeGetIterator(step: Step, instruction: InstructionOf<"getIterator">): void {
  const { m } = step;
  const source = step.get(instruction.source);
  if (instruction.async) return beginAsyncIteration(m, source, instruction);
  refuseIteration(source, instruction.text);
  const { iterator, next } = instruction, completion = { kind: "iterator", iterator, next } as const;
  const found = getIterator(m, source, completion);
  if (found?.exotic.kind === "listIterator") {
    const isFresh = found !== source || isUnnamed(step, instruction.source, found.exotic);
    if (isFresh) found.exotic.isOfLoop = true;
  }
  if (found) m.complete(completion, found);
}

/** The end of a method: an iterator that it has created for its caller, as those of containers do, is still new there. */
export function executeReturn(step: Step, { src }: InstructionOf<"return">): void {
  const { m, frame: { completion } } = step, value = step.get(src);
  if (value.kind === "object" && value.exotic.kind === "listIterator" && isUnnamed(step, src, value.exotic)) {
    if (completion.kind === "iterator") value.exotic.isOfLoop = true;
    else if (completion.kind === "register") value.exotic.madeAt = m.steps;
  }
  return m.returnFrom(value);
}

/** Returns whether an iterator is the result of the previous instruction, and in no variable yet. */
function isUnnamed({ m, frame }: Step, register: number, { madeAt }: ListIteratorExotic): boolean {
  return madeAt === m.steps - 1 && frame.code.registers[register]?.name === null;
}

/** One item. */
export function executeIteratorNext(step: Step, instruction: InstructionOf<"iteratorNext">): void {
  const { m, frame } = step;
  const done = step.get(instruction.done);
  if (done.kind === "constant" && done.value === true) {
    frame.registers[instruction.value] = UNDEFINED;
    return step.next();
  }
  const iterator = step.get(instruction.iterator), method = step.get(instruction.next);
  if (iterator.kind === "object" && isListNext(iterator, method)) {
    const item = nextOfList(m, iterator);
    frame.registers[instruction.done] = constant(item === null);
    frame.registers[instruction.value] = item ?? UNDEFINED;
    return step.next();
  }
  const begun = nextOfResumed(m, iterator, method);
  if (begun !== undefined) {
    frame.registers[instruction.done] = constant(begun === null);
    frame.registers[instruction.value] = begun ?? UNDEFINED;
    return step.next();
  }
  if (!isCallable(method)) return breakGraph("throws", "an iterator without next");
  const { done: toDone, value, elided = false } = instruction;
  const completion = { kind: "step", done: toDone, value, elided } as const;
  return m.call({ callee: method, self: iterator, args: [], completion });
}

/** `done` and `value` of a result object. */
export function executeIteratorResult(step: Step, instruction: InstructionOf<"iteratorResult">): void {
  const { m, frame } = step;
  const { done, value } = takeApart(m, step.get(instruction.result));
  frame.registers[instruction.done] = constant(done);
  frame.registers[instruction.value] = value;
  return step.next();
}

/** All remaining items. */
export function executeIteratorRest(step: Step, instruction: InstructionOf<"iteratorRest">): void {
  const { m, frame } = step;
  const iterator = step.get(instruction.iterator);
  const done = step.get(instruction.done);
  if (done.kind === "constant" && done.value === true) return step.set(instruction.dst, newArray(m, []));
  return drain(m, iterator, step.get(instruction.next), (items) => {
    frame.registers[instruction.done] = constant(true);
    step.set(instruction.dst, newArray(m, items));
  });
}

/** The end of an iteration before its last item. */
export function executeIteratorClose(step: Step, instruction: InstructionOf<"iteratorClose">): void {
  const { m } = step;
  const iterator = step.get(instruction.iterator);
  if (iterator.kind !== "object") return step.next();
  if (iterator.exotic.kind === "listIterator" || isOfLoop(iterator)) return step.next();
  const found = findProperty(m, iterator, "return");
  if (found.kind === "absent") return step.next();
  if (found.kind === "getter" || !isCallable(found.value)) return breakGraph("iterator");
  const { quiet } = instruction;
  if (quiet && iterator.exotic.kind !== "generator") return breakGraph("iterator");
  return m.call({
    callee: found.value,
    self: iterator,
    args: [],
    completion: { kind: quiet ? "discard" : "close" },
  });
}

/** The keys that a for-in loop visits. */
export function executeForIn(step: Step, instruction: InstructionOf<"forIn">): void {
  const { m } = step;
  const object = step.get(instruction.object);
  if (object.kind === "constant") {
    if (object.value === undefined || object.value === null) {
      return step.set(instruction.dst, new EnumeratorValue(null, [], 0));
    }
    if (typeof object.value !== "string") return step.set(instruction.dst, new EnumeratorValue(null, [], 0));
  }
  if (object.kind !== "object") {
    return breakGraph("iterator", "for-in over a value that is not a plain object");
  }
  const visited = behindKeyTraps(m, object);
  return step.set(instruction.dst, new EnumeratorValue(visited, forInKeys(m, visited), 0));
}

/** The next of these keys that still exists. */
export function executeForInNext(step: Step, instruction: InstructionOf<"forInNext">): void {
  const { m, frame } = step;
  const enumerator = step.get(instruction.enumerator);
  if (enumerator.kind !== "enumerator") return breakGraph("iterator", "for-in after a graph break");
  let key: string | undefined, { index } = enumerator;
  do key = enumerator.keys[index++]; while (
    key !== undefined && enumerator.object && findProperty(m, enumerator.object, key).kind === "absent"
  );
  // Only now: looking for the property may have ended the graph
  enumerator.index = index;
  frame.registers[instruction.done] = constant(key === undefined);
  frame.registers[instruction.key] = constant(key);
  return step.next();
}

/** Stores the iterator and its `next` in registers. */
export function beginIteration(
  m: Interpreter,
  frame: Frame,
  registers: { iterator: number; next: number },
  iterator: Value,
): void {
  if (iterator.kind !== "object") return breakGraph("throws", "an iterator that is not an object");
  const method = nextMethod(m, iterator);
  frame.registers[registers.iterator] = iterator;
  frame.registers[registers.next] = method;
  frame.pc++;
}
