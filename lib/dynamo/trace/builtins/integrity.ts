/**
 * Models of freezing, sealing and preventing extensions. Invariant: the observed integrity of a real object is
 * guarded; integrity never decreases.
 */
import { breakGraph } from "../../break_reasons.ts";
import { isObject } from "../../variables/type_of.ts";
import { type ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import type { Interpreter } from "../interpreter.ts";
import { ownSlot } from "../objects.ts";
import { refuseOpaque } from "../contents.ts";
import { refuseBytes } from "../property_writes.ts";
import { ownKeys } from "../object_keys.ts";

type Integrity = ObjectValue["frozen"];

const RANK: Readonly<Record<Integrity, number>> = { no: 0, inextensible: 1, sealed: 2, frozen: 3 };

/** Object.freeze, Object.seal and Object.preventExtensions. */
export function setIntegrity(
  m: Interpreter,
  value: Value | undefined,
  level: Exclude<Integrity, "no">,
): Value {
  if (value?.kind === "tensor") return breakGraph("opaqueObject", "a tensor that is frozen");
  if (value?.kind !== "object") return value ?? UNDEFINED;
  refuseOpaque(value);
  refuseBytes(value);
  if (level === "frozen" && value.frozen === "no" && isReally(m, value, "frozen")) return value;
  if (level !== "inextensible" && !value.real && value.exotic.kind !== "array") {
    // The flags of every property are part of what changes.
    for (const key of ownKeys(m, value)) {
      const slot = ownSlot(m, value, key);
      if (!slot || slot.kind === "deleted") continue;
      const writable = slot.kind === "data" && slot.writable && level !== "frozen";
      const made = slot.kind === "data" ? { ...slot, writable } : slot;
      value.slots.set(key, { ...made, configurable: false });
    }
  }
  if (RANK[level] > RANK[value.frozen]) value.frozen = level;
  return value;
}

/** Returns whether a real object that the trace has not changed is frozen or sealed; guarded if so. */
function isReally(m: Interpreter, { real, source }: ObjectValue, level: "frozen" | "sealed"): boolean {
  if (!real || !source || !(level === "frozen" ? Object.isFrozen(real) : Object.isSealed(real))) return false;
  m.output.guard({ kind: "integrity", source, level });
  return true;
}

/** Object.isFrozen and Object.isSealed. */
export function hasIntegrity(m: Interpreter, value: Value | undefined, level: "frozen" | "sealed"): boolean {
  if (!value || !isObject(value)) return true;
  if (value.kind === "tensor") return breakGraph("opaqueObject", "the integrity of a tensor");
  if (RANK[value.frozen] >= RANK[level]) return true;
  if (value.exotic.kind === "opaque") return breakGraph("opaqueObject", value.exotic.what);
  if (value.real) return isReally(m, value, level) || breakGraph("builtin", "the integrity of an object");
  if (value.frozen === "no") return false;
  if (value.exotic.kind === "array") return breakGraph("builtin", "the integrity of an array");
  return ownKeys(m, value).every((key) => {
    const slot = ownSlot(m, value, key);
    if (!slot || slot.kind === "deleted") return true;
    return !slot.configurable && (level === "sealed" || slot.kind === "accessor" || !slot.writable);
  });
}

/** Object.isExtensible. */
export function isExtensible(m: Interpreter, value: Value | undefined): boolean {
  if (!value || !isObject(value)) return false;
  if (value.kind === "tensor") return breakGraph("opaqueObject", "the integrity of a tensor");
  if (value.frozen !== "no") return false;
  if (value.exotic.kind === "opaque") return breakGraph("opaqueObject", value.exotic.what);
  if (!value.real || !value.source) return true;
  const present = Object.isExtensible(value.real);
  m.output.guard({ kind: "extensible", source: value.source, present });
  return present;
}
