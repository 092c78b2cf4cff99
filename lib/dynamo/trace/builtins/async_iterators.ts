/**
 * Models of the methods of asynchronous iterators of the language. Invariant: their code runs outside of the trace; the
 * wait that follows needs no graph of its own.
 */
import { AsyncFromSync } from "../../bytecode/iteration.ts";
import { breakGraph } from "../../break_reasons.ts";
import { ASYNC_GENERATORS } from "../async_iteration.ts";
import type { ModelTable } from "./table.ts";

/** Adds the models. */
export function addAsyncIterators(table: ModelTable): void {
  for (const name of ["next", "return", "throw"] as const) {
    const waits = () => breakGraph("waits", `${name} of an asynchronous iterator`);
    table.method(ASYNC_GENERATORS, name, waits);
    table.call(AsyncFromSync.prototype[name], waits);
  }
  table.method(Object.getPrototypeOf(ASYNC_GENERATORS), Symbol.asyncIterator, (_m, { self }) => self);
}
