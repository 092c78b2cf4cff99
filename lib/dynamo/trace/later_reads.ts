/**
 * Reads by functions that are traced now and run later: user-written gradients. Invariant: what they read of the program
 * is the same then, or the graph breaks.
 */
import { isOwnModule } from "../../base/errors.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import type { Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** Breaks the graph at the program's read of something that may have changed when the function runs. */
export function refuseLater({ laterReads, top }: Interpreter, what: string): void {
  if (laterReads === 0 || isOwnModule(top.code.module.url)) return;
  breakGraph("gradientState", `a gradient reads ${what}, which may change before it is computed`);
}

/** Breaks the graph at a read of a property that the program may have written to when the function runs. */
export function refuseLaterProperty(
  m: Interpreter,
  real: object | null,
  key: string | symbol,
  value: Value,
): void {
  if (m.laterReads === 0) return;
  for (let holder = real; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    const found = programDescriptor(holder, key);
    if (!found) continue;
    if (found.writable === true) refuseLaterValue(m, value, `the property ${String(key)}`);
    return;
  }
}

/** Breaks the graph at a read of a variable that may have changed when the function runs, if it holds a primitive value. */
export function refuseLaterValue(m: Interpreter, value: Value, what: string): void {
  if (value.kind !== "object" && value.kind !== "tensor") refuseLater(m, what);
}
