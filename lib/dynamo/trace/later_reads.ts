/**
 * Reads by functions that are traced now and run later: user-written gradients. Invariant: what they read of the program
 * is the same then, or the graph breaks.
 */
import { types } from "node:util";
import { isOwnModule } from "../../base/errors.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { Function as CustomFunction } from "../../autograd/function.ts";
import { breakGraph } from "../break_reasons.ts";
import { BUILTIN_OBJECTS } from "../functions/builtin_objects.ts";
import type { MethodExpectation } from "../guards/guard.ts";
import { memberOf } from "../guards/unchanged.ts";
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

/** Notes a member that a function which runs later has found on an object or what that inherits from. */
export function noteLaterMember(
  { later, output: { later: { members } } }: Interpreter,
  member: MethodExpectation,
): void {
  if (later === null) return;
  const { prototype, key } = member;
  if (!members.some((each) => each.prototype === prototype && each.key === key)) members.push(member);
}

/**
 * Notes the program's read of a property. Breaks the graph where the trace itself has written it: the later pass compares
 * with what the real objects have now.
 */
export function noteLaterRead(m: Interpreter, object: ObjectValue, key: string | symbol): void {
  const { real } = object;
  if (m.later === null || real === null || types.isModuleNamespaceObject(real)) return;
  if (isOwnModule(m.top.code.module.url) && !isCustomFunction(real)) return;
  for (let holder: ObjectValue | null = object; holder?.real; holder = holder.prototype) {
    if (holder.slots.has(key)) {
      breakGraph("gradientState", `a gradient reads ${String(key)}, which has been written`);
    }
  }
  const method = memberOf(real, key);
  if (method !== undefined) noteLaterMember(m, { kind: "method", prototype: real, key, method });
}

/** Breaks the graph at a write that replaces what a gradient in it has read: that of the program is another one now. */
export function refuseReplaced({ output }: Interpreter, { real }: ObjectValue, key: string | symbol): void {
  if (real === null) return;
  const isRead = output.later.members.some((each) =>
    each.key === key && (each.prototype === real || Object.prototype.isPrototypeOf.call(real, each.prototype))
  );
  if (isRead) breakGraph("gradientState", `${String(key)}, which a gradient has read, is replaced`);
}

function isCustomFunction(real: object): boolean {
  return typeof real === "function" && Object.prototype.isPrototypeOf.call(CustomFunction, real);
}
