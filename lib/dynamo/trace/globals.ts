/**
 * Global variables: properties of the global object, by their bare names. Their values are guarded at their sources.
 * Invariant: a bare name and the property of globalThis are the same variable; writes stay in the trace until generated
 * code replays them.
 */
import { isReference } from "../../base/tree.ts";
import { types } from "node:util";
import { invariant } from "../../base/errors.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import { BUILTIN_OBJECTS, loadedBuiltin } from "../functions/builtin_objects.ts";
import { globalSource } from "../source.ts";
import { type ObjectValue, primitive, UNDEFINED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";
import { refuseLater } from "./later_reads.ts";
import { assignProperty } from "./property_writes.ts";

/** The value of a global variable, including changes of the trace. */
export function loadGlobal(m: Interpreter, name: string, forTypeof: boolean): Value {
  const value = globalValue(m, name, forTypeof);
  m.memory.fetched(value);
  return value;
}

function globalValue(m: Interpreter, name: string, forTypeof: boolean): Value {
  const written = globalObject(m).slots.get(name);
  switch (written?.kind) {
    case undefined:
      return realGlobal(m, name, forTypeof);
    case "data":
      return written.value;
    case "accessor":
      return breakGraph("globalVariable", `${name} has a getter`);
    case "deleted":
      return forTypeof ? UNDEFINED : breakGraph("throws", `${name} is not defined`);
    default:
      return written satisfies never;
  }
}

/** Assigns a global variable, which must exist as a plain property. */
export function storeGlobal(m: Interpreter, name: string, value: Value): void {
  const global = globalObject(m);
  const present = global.slots.get(name) ?? programDescriptor(globalThis, name);
  const plain = present && "value" in present && present.writable;
  if (!plain || assignProperty(m, global, name, value).kind !== "done") {
    breakGraph("globalVariable", `${name} is assigned`);
  }
}

function globalObject(m: Interpreter): ObjectValue {
  const global = m.wrapper.known(globalThis, "globalThis");
  invariant(global.kind === "object", "Expected the global object");
  return global;
}

function realGlobal(m: Interpreter, name: string, forTypeof: boolean): Value {
  const descriptor = programDescriptor(globalThis, name);
  if (!descriptor) {
    if (Reflect.has(Object.getPrototypeOf(globalThis), name)) return breakGraph("globalVariable", name);
    if (forTypeof) {
      m.output.guard({ kind: "constant", source: globalSource(name), value: undefined });
      return UNDEFINED;
    }
    return breakGraph("throws", `${name} is not defined`);
  }
  const value: unknown = descriptor.get ? loadedBuiltin(name, descriptor.get) : descriptor.value;
  if (value === undefined && !("value" in descriptor)) {
    return breakGraph("globalVariable", `${name} has a getter`);
  }
  if (name === "undefined" || name === "NaN" || name === "Infinity") {
    return primitive(value);
  }
  if (value === globalThis) return m.wrapper.known(globalThis, "globalThis");
  if (!isReference(value) || !BUILTIN_OBJECTS.has(value)) refuseLater(m, `the global variable ${name}`);
  if (isReference(value)) {
    // The binding may be assigned; it then refers to another object.
    m.output.guard({ kind: "identity", source: globalSource(name), object: value, label: name });
    return types.isProxy(value) ? m.wrapper.wrap(value, globalSource(name)) : m.wrapper.known(value, name);
  }
  return m.wrapper.wrap(value, globalSource(name));
}
