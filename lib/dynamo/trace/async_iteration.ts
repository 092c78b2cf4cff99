/**
 * Traces the start of `for await`: the iterator of an asynchronous iterable, or of a list as the language wraps it.
 * Invariant: no code of the program runs before its own order requests it.
 */
import { invariant } from "../../base/errors.ts";
import { AsyncFromSync } from "../bytecode/iteration.ts";
import { runtime } from "../bytecode/runtime.ts";
import type { InstructionOf } from "../bytecode/instruction.ts";
import { breakGraph } from "../break_reasons.ts";
import { constant, isCallable, UNDEFINED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { listIteratorOf } from "./iteration.ts";
import { callLater } from "./later_calls.ts";
import { findProperty } from "./objects.ts";

/** The prototype of the generators of async generator functions. */
export const ASYNC_GENERATORS: object = Object.getPrototypeOf((async function* () {}).prototype);

/** The method by which asynchronous iterators return themselves. */
const ITSELF: unknown = Reflect.get(ASYNC_GENERATORS, Symbol.asyncIterator);

/** Stores an iterator and its `next`, at once or when a frame of the program delivers it. */
export function beginAsyncIteration(
  m: Interpreter,
  source: Value,
  { iterator, next, text }: InstructionOf<"getIterator">,
): void {
  const found = source.kind === "object" ? findProperty(m, source, Symbol.asyncIterator) : null;
  if (source.kind !== "object" || found?.kind === "getter") return breakGraph("iterator");
  const completion = { kind: "iterator", iterator, next } as const,
    method = found?.kind === "value" && found.value;
  if (method && isCallable(method)) {
    if (method.real === ITSELF) return m.complete(completion, source);
    return m.call({ callee: method, self: source, args: [], completion });
  }
  const isNullish = !method || (method.kind === "constant" && (method.value ?? null) === null);
  const list = isNullish ? listIteratorOf(m, source) : null;
  if (list?.exotic.kind !== "listIterator" || list === source) return breakGraph("iterator");
  const callee = m.wrapper.known(runtime.asyncIterator, "for await"), { top } = m;
  invariant(isCallable(callee), "Expected a function");
  top.registers[iterator] = callLater(m, "object", {
    callee,
    self: UNDEFINED,
    args: [source, constant(text)],
  });
  top.registers[next] = m.wrapper.known(AsyncFromSync.prototype.next, "next of for await");
  top.pc++;
}
