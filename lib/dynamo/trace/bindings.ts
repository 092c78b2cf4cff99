/**
 * Variables outside of frames: cells that closures share, and globals. Input: a cell or a name; output: the value,
 * guarded at the place it was read from. Invariant: writes stay in the trace until generated code replays them.
 */
import { invariant } from "../../base/errors.ts";
import { types } from "node:util";
import { breakGraph } from "../break_reasons.ts";
import { UNINITIALIZED as TDZ } from "../bytecode/runtime.ts";
import { cellSource, globalSource, propertySource } from "../source.ts";
import { type CellValue, primitive, UNDEFINED, UNINITIALIZED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** What a cell holds; the first look at an outside one is guarded. */
export function readCell(m: Interpreter, cell: CellValue): Value {
  if (cell.content === null) {
    const { place } = cell;
    invariant(place, "Expected a cell with a place or a content");
    let value: unknown;
    try {
      value = place.cell.get();
    } catch {
      if (place.kind !== "box") return breakGraph("throws", `${cell.name} is not initialised`);
      const source = propertySource(place.source, "v");
      m.output.guard({ kind: "constant", source, value: TDZ });
      return cell.content = UNINITIALIZED;
    }
    const source = place.kind === "live"
      ? cellSource(cell.name, place.cell)
      : place.kind === "box"
      ? propertySource(place.source, "v")
      : place.source;
    cell.content = m.wrapper.wrap(value, source);
  }
  return cell.content;
}

/** Writes a cell in the trace. */
export function writeCell(cell: CellValue, value: Value): void {
  cell.content = value;
  cell.changed = true;
}

/** A global variable. */
export function loadGlobal(m: Interpreter, name: string, forTypeof: boolean): Value {
  const descriptor = Reflect.getOwnPropertyDescriptor(globalThis, name);
  if (!descriptor) {
    if (name in globalThis) return breakGraph("globalVariable", name);
    if (forTypeof) {
      m.output.guard({ kind: "constant", source: globalSource(name), value: undefined });
      return UNDEFINED;
    }
    return breakGraph("throws", `${name} is not defined`);
  }
  if (!("value" in descriptor)) return breakGraph("globalVariable", `${name} has a getter`);
  const value: unknown = descriptor.value;
  if (name === "undefined" || name === "NaN" || name === "Infinity") {
    return primitive(value);
  }
  if (value === globalThis) return m.wrapper.known(globalThis, "globalThis");
  if (isReference(value)) {
    // The binding may be assigned; the object behind it is then another one.
    m.output.guard({ kind: "identity", source: globalSource(name), object: value, label: name });
    return types.isProxy(value) ? m.wrapper.wrap(value, globalSource(name)) : m.wrapper.known(value, name);
  }
  return m.wrapper.wrap(value, globalSource(name));
}

function isReference(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
