/**
 * Reads of exports through module namespace objects. Invariant: an export that its module assigns is the same cell as
 * the module's variable.
 */
import { breakGraph } from "../break_reasons.ts";
import { namespaceExport } from "../frame/capture.ts";
import { type LiveCell, propertySource, type Source } from "../source.ts";
import { dataSlot, type ObjectValue, type Slot, type Value } from "../variables/value.ts";
import { cellValue, readCell } from "./bindings.ts";
import type { Interpreter } from "./interpreter.ts";

/** An export and the namespace through which it is read. */
interface Place {
  readonly real: object;
  readonly source: Source;
  readonly key: string;
}

/** A property of a real namespace object. */
export function namespaceSlot(m: Interpreter, object: ObjectValue, place: Place): Slot | null {
  const { real, key } = place;
  if (!(key in real)) return null;
  const found = namespaceExport(real, key);
  switch (found.kind) {
    case "cell":
      return dataSlot(readCell(m, cellValue(m, key, { kind: "live", cell: found.cell })));
    case "final":
      return dataSlot(exported(m, object, place, true));
    case "unknown":
      refuseAliases(m, real, key);
      return dataSlot(exported(m, object, place, false));
    default:
      return found satisfies never;
  }
}

function exported(m: Interpreter, object: ObjectValue, { real, source, key }: Place, final: boolean): Value {
  const { reads } = object;
  let value = reads.get(key);
  if (!value) {
    const now = current(real, key);
    const isReference = (typeof now === "object" && now !== null) || typeof now === "function";
    value = final && isReference
      ? m.wrapper.known(now, key)
      : m.wrapper.wrap(now, propertySource(source, key));
    reads.set(key, value);
  }
  return value;
}

function current(namespace: object, key: string): unknown {
  try {
    return Reflect.get(namespace, key);
  } catch {
    return breakGraph("throws", `${key} is not initialised`);
  }
}

/** Returns whether a variable has this value outside of the trace; one that is not initialised there has none. */
function holds(cell: LiveCell, value: unknown): boolean {
  try {
    return Object.is(cell.get(), value);
  } catch {
    return false;
  }
}

/** The export may be a variable that the trace has assigned; outside of it both still hold the old value. */
function refuseAliases(m: Interpreter, namespace: object, key: string): void {
  const now = current(namespace, key);
  for (const { changed, place } of m.cells.values()) {
    if (changed && place && holds(place.cell, now)) {
      breakGraph("opaqueObject", `the namespace of a module that may have assigned ${key}`);
    }
  }
}
