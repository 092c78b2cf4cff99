/**
 * Reads and writes of variables that closures share. Invariant: writes stay in the trace until generated code replays
 * them.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { UNINITIALIZED as TDZ } from "../bytecode/runtime.ts";
import { type CellPlace, cellSource, propertySource } from "../source.ts";
import { CellValue, UNINITIALIZED, type Value } from "../variables/value.ts";
import type { Interpreter } from "./interpreter.ts";

/** Returns the contents of a cell; the first read of an outside one is guarded. */
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

/**
 * Returns whether a cell has a value. A variable of a user's function keeps one once it has it, so that neither that nor
 * the value, which a program that only assigns does not use, is guarded.
 */
export function isInitialized(m: Interpreter, cell: CellValue): boolean {
  const { place } = cell;
  if (cell.content !== null || place?.kind !== "live") return readCell(m, cell).kind !== "uninitialized";
  try {
    place.cell.get();
    return true;
  } catch {
    return false;
  }
}

/** Writes a cell in the trace. */
export function writeCell(cell: CellValue, value: Value): void {
  cell.content = value;
  cell.changed = true;
}

/** The value of a cell from outside; the same for every path to it. */
export function cellValue(m: Interpreter, name: string, place: CellPlace): CellValue {
  const known = m.cells.get(place.cell);
  if (!known) {
    const cell = new CellValue(name, place, null);
    m.output.variables.add(name, place);
    m.cells.set(place.cell, cell);
    return cell;
  }
  const other = known.place;
  if (other && (place.kind !== "live" || other.kind !== "live")) {
    m.output.guard({ kind: "sameCell", place, other });
  }
  return known;
}
