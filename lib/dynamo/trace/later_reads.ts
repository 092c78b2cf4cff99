/**
 * Reads by functions that are traced now and run later: user-written gradients. Invariant: what they read of the program
 * is the same then, or the graph breaks.
 */
import { types } from "node:util";
import { isOwnModule } from "../../base/errors.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";
import { isCallable, type ObjectValue, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** Breaks the graph at the program's read of something that may have changed when the function runs. */
export function refuseLater({ later, top }: Interpreter, what: string): void {
  if (later === null || isOwnModule(top.code.module.url)) return;
  breakGraph("gradientState", `a gradient reads ${what}, which may change before it is computed`);
}

/**
 * Breaks the graph at a use of an object that the program may have changed when the function runs. Functions and modules
 * may be used: their properties are looked at when they are read.
 */
export function refuseLaterObject(m: Interpreter, value: Value): void {
  if (m.later === null || value.kind !== "object" || isCallable(value)) return;
  const { real } = value;
  const isFixed = real === null
    ? !m.later.shared.has(value)
    : BUILTIN_OBJECTS.has(real) || types.isModuleNamespaceObject(real) ||
      (!types.isProxy(real) && Object.isFrozen(real));
  if (!isFixed) refuseLater(m, "an object of the program");
}

/** Breaks the graph at a read of a property that the program may have written to when the function runs. */
export function refuseLaterProperty(
  m: Interpreter,
  { real }: ObjectValue,
  key: string | symbol,
  value: Value,
): void {
  if (m.later === null) return;
  for (let holder = real; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    const found = programDescriptor(holder, key);
    if (!found) continue;
    const isMember = value.kind === "object" &&
      (!found.enumerable || !isCallable(value) || types.isModuleNamespaceObject(holder));
    if (found.writable === true && !isMember) refuseLater(m, `the property ${String(key)}`);
    return;
  }
}
