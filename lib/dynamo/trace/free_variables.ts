/**
 * Values that frames get from outside: free variables, home objects, prototypes of functions. Invariant: a variable
 * that can change is a cell, the same for every access; if its function differs between calls, it is found through that
 * function.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { findHomeObject } from "../frame/capture.ts";
import { noteFunction } from "../disk_cache/noted_reads.ts";
import { capturedSource } from "../source.ts";
import { type ObjectValue, primitive, type Value } from "../variables/value.ts";
import { cellValue, isInitialized, readCell, writeCell } from "./bindings.ts";
import { builtinPrototype } from "./contents.ts";
import { refuseLater } from "./later_reads.ts";
import type { Frame, Interpreter } from "./interpreter.ts";
import { privateNameOf } from "./private_members.ts";

/** Returns the value or cell of a free variable. */
export function freeBinding(m: Interpreter, frame: Frame, index: number): Value {
  const { info } = frame;
  if (info.kind === "made") {
    const bound = info.free[index];
    invariant(bound, `Expected free variable ${index}`);
    return bound;
  }
  const variable = frame.code.free[index];
  invariant(variable, `Expected free variable ${index} of ${frame.code.name}`);
  const found = info.binding(index);
  switch (found.kind) {
    case "value":
      return fetched(m, finalValue(m, found.value, { name: variable.name, frame, index }));
    case "cell": {
      const source = frame.callee?.source;
      const { completion } = frame, isFixed = completion.kind === "root" && completion.fixed;
      if (!source || source.kind === "known" || isFixed) {
        return cellValue(m, variable.name, { kind: "live", cell: found.cell });
      }
      const place = capturedSource(source, variable.name, index);
      return cellValue(m, variable.name, {
        kind: "captured",
        cell: found.cell,
        source: place,
        base: source,
        index,
      });
    }
    case "private":
      m.memory.refuse();
      return privateNameOf(m, frame, { index, access: found.access });
    case "pending":
      m.memory.refuse();
      if (variable.kind === "private") {
        const access = found.access && m.standIns.accessFor(found, found.access);
        return privateNameOf(m, frame, { index, access });
      }
      return cellValue(m, variable.name, { kind: "live", cell: m.standIns.cellFor(found) });
    case "unreachable":
      return breakGraph("noSource", found.because);
    default:
      return found satisfies never;
  }
}

/** A captured variable that does not change: known, unless the function itself differs between calls. */
function finalValue(
  m: Interpreter,
  value: unknown,
  { name, frame, index }: { readonly name: string; readonly frame: Frame; readonly index: number },
): Value {
  const source = frame.callee?.source;
  if (source && source.kind !== "known" && frame.info.kind === "real") {
    return m.wrapper.wrap(value, capturedSource(source, name, index));
  }
  if ((typeof value === "object" && value !== null) || typeof value === "function") {
    return m.wrapper.known(value, name);
  }
  return primitive(value);
}

function fetched(m: Interpreter, value: Value): Value {
  m.memory.fetched(value);
  return value;
}

/** The value of a free variable. */
export function loadFree(m: Interpreter, frame: Frame, index: number): Value {
  const bound = freeBinding(m, frame, index);
  const value = bound.kind === "cell" ? readCell(m, bound) : bound;
  if (bound.kind === "cell" && bound.place !== null) {
    fetched(m, value);
    refuseLater(m, `the variable ${bound.name}`);
  }
  return value.kind === "uninitialized" ? breakGraph("throws", "a variable is not initialised") : value;
}

/** Assigns to a free variable of the frame on top. */
export function storeFree(
  m: Interpreter,
  { frame, index }: { readonly frame: Frame; readonly index: number },
  value: Value,
): void {
  const bound = freeBinding(m, frame, index);
  invariant(bound.kind === "cell", "Expected a cell behind a variable that is assigned");
  // The `this` that `super()` binds in an arrow is uninitialised before that
  const isThis = frame.code.free[index]?.kind === "this";
  if (isInitialized(m, bound) === isThis) {
    breakGraph("throws", isThis ? "super() a second time" : "a variable is not initialised");
  }
  writeCell(bound, value);
}

/** The home object of a method's frame. */
export function homeOf(m: Interpreter, frame: Frame): Value {
  const exotic = frame.callee?.exotic;
  if (exotic?.kind === "function" && exotic.definition && frame.callee) {
    // Static fields and blocks run on the class itself
    if (frame.self === frame.callee) return frame.callee;
    return m.plainProperty(frame.callee, "prototype") ??
      breakGraph("noSource", "super of a constructor");
  }
  if (exotic?.kind === "function" && exotic.closure?.home) return exotic.closure.home;
  const real = frame.callee?.real, receiver = frame.self.kind === "object" ? frame.self : null;
  const start = receiver?.real ?? receiver?.prototype?.real ?? null;
  const home = real ? findHomeObject(real, start, noteFunction) : null;
  if (home) return m.wrapper.find(home) ?? m.wrapper.known(home, "home");
  return breakGraph("noSource", "super of a method");
}

/** Returns the prototype of functions of this code. */
export function functionPrototype(m: Interpreter, code: CodeObject): ObjectValue {
  const prototype: object = code.generator && code.async
    ? Object.getPrototypeOf(async function* () {})
    : code.generator
    ? Object.getPrototypeOf(function* () {})
    : code.async
    ? Object.getPrototypeOf(async () => {})
    : Function.prototype;
  return builtinPrototype(m, prototype, "Function");
}
