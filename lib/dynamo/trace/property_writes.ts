/**
 * Writes to properties of traced objects, by JavaScript's rules; they stay in the trace. Invariant: real objects are only
 * read, and the state that a write relies on is guarded at their source.
 */
import { settled } from "./texts.ts";
import { invariant } from "../../base/errors.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import { dataSlot, HOLE, isCallable, type ObjectValue, type Slot, type Value } from "../variables/value.ts";
import { writeCell } from "./bindings.ts";
import {
  canGrow,
  elementsOf,
  MOST_ELEMENTS,
  refuseIntegrity,
  refuseOpaque,
  settledElements,
} from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import { indexOfKey } from "./element_keys.ts";
import {
  closureSlot,
  elementFlags,
  type Key,
  ownSlot,
  relyOnAbsence,
  relyOnChain,
  variableAt,
} from "./objects.ts";
import { refuseReplaced } from "./later_reads.ts";
import { namesElement, writeTyped } from "./typed_elements.ts";

/** The action that a write requires. */
type WriteAction =
  | { readonly kind: "done" }
  | { readonly kind: "setter"; readonly setter: ObjectValue }
  /** Refused: an error in strict code. */
  | { readonly kind: "refused" };

/** Writes a property as an assignment does. */
export function assignProperty(m: Interpreter, object: ObjectValue, key: Key, value: Value): WriteAction {
  refuseOpaque(object);
  const variable = variableAt(m, object, key);
  if (variable) {
    writeCell(variable, value);
    return { kind: "done" };
  }
  if (namesElement(object, key)) {
    writeTyped(m, object, key, value);
    return { kind: "done" };
  }
  const grows = canGrow(m, object), own = ownSlotFlags(m, object, key);
  if (own === "data") {
    if (!grows && object.exotic.kind === "array") return breakGraph("frozen");
    guardOwn(m, object, key, true);
    writeOwn(m, object, key, value);
    return { kind: "done" };
  }
  if (own === null) guardOwn(m, object, key, false);
  if (own === "readonly") return refusedAt(m, object, key);
  for (
    let holder: ObjectValue | null = own === "accessor" ? object : object.prototype;
    holder;
    holder = holder.prototype
  ) {
    refuseOpaque(holder);
    if (holder !== object) refuseBytes(holder);
    relyOnChain(m, object, holder);
    const flags = ownSlotFlags(m, holder, key);
    if (flags === null) continue;
    if (holder !== object) relyOnAbsence(m, object.prototype, key, holder);
    if (flags === "data") {
      relyOnWritable(m, holder, key);
      if (!grows) return { kind: "refused" };
      writeOwn(m, object, key, value);
      return { kind: "done" };
    }
    if (flags === "readonly") return refusedAt(m, holder, key);
    return setterAt(m, holder, key);
  }
  relyOnAbsence(m, object.prototype, key);
  if (!grows) return { kind: "refused" };
  writeOwn(m, object, key, value);
  return { kind: "done" };
}

/** Writes a property of an object as `super` does, which looks for setters starting at another object. */
export function assignThrough(
  m: Interpreter,
  { from, object }: { readonly from: ObjectValue; readonly object: ObjectValue },
  key: Key,
  ...[value]: readonly [Value]
): WriteAction {
  let holder: ObjectValue | null = from;
  for (; holder; holder = holder.prototype) {
    refuseOpaque(holder);
    refuseBytes(holder);
    relyOnChain(m, from, holder);
    const flags = ownSlotFlags(m, holder, key);
    if (flags === null) continue;
    relyOnAbsence(m, from, key, holder);
    if (flags === "readonly") return refusedAt(m, holder, key);
    if (flags === "data") {
      relyOnWritable(m, holder, key);
      break;
    }
    return setterAt(m, holder, key);
  }
  if (!holder) relyOnAbsence(m, from, key);
  refuseOpaque(object);
  refuseBytes(object);
  refuseIntegrity(m, object);
  const own = ownSlotFlags(m, object, key);
  if (own === "readonly" || own === "accessor") return refusedAt(m, object, key);
  guardOwn(m, object, key, own === "data");
  writeOwn(m, object, key, value);
  return { kind: "done" };
}

/** A write to an accessor, which calls its setter if it has one. */
function setterAt(m: Interpreter, holder: ObjectValue, key: Key): WriteAction {
  const slot = ownSlot(m, holder, key);
  invariant(slot?.kind === "accessor", "Expected an accessor");
  return isCallable(slot.set) ? { kind: "setter", setter: slot.set } : { kind: "refused" };
}

/** A refused write relies on the existing value being read-only. */
function refusedAt(m: Interpreter, holder: ObjectValue, key: Key): WriteAction {
  relyOnFlags(m, holder, key);
  return { kind: "refused" };
}

/** Relies on the flags of an own property that the trace has not changed; returns them. */
export function relyOnFlags(
  m: Interpreter,
  { real, source, slots }: ObjectValue,
  key: Key,
): { readonly writable: boolean | null; readonly configurable: boolean } | null {
  const found = real && !slots.has(key) ? programDescriptor(real, key) : undefined;
  if (!found || !source) return null;
  const { writable = null, enumerable = false, configurable = false } = found;
  m.output.guard({ kind: "flags", source, key, flags: { writable, enumerable, configurable } });
  return { writable, configurable };
}

/** A write that shadows an inherited value relies on that being writable. */
function relyOnWritable(m: Interpreter, { real, source, slots }: ObjectValue, key: Key): void {
  if (real && source && !slots.has(key)) m.output.guard({ kind: "writable", source, key });
}

/** A write relies on the present state: a writable value, or none. */
function guardOwn(m: Interpreter, object: ObjectValue, key: Key, present: boolean): void {
  const { source, exotic } = object;
  if (!object.real || !source || object.slots.has(key)) return;
  if (exotic.kind === "array" && (key === "length" || indexOfKey(key) !== null)) return;
  if (present) m.output.guard({ kind: "writable", source, key });
  else if (!object.readded.has(key)) m.output.guard({ kind: "ownKey", source, key, present });
}

/** Returns the kind of an own property, without reading its value. */
function ownSlotFlags(
  m: Interpreter,
  object: ObjectValue,
  key: Key,
): "data" | "readonly" | "accessor" | null {
  const changed = object.slots.get(key);
  if (changed) {
    if (changed.kind === "deleted") return null;
    if (changed.kind === "accessor") return "accessor";
    return changed.writable && object.frozen !== "frozen" ? "data" : "readonly";
  }
  if (object.exotic.kind === "array") {
    const index = indexOfKey(key), element = index === null ? null : elementsOf(m, object)[index];
    if (element === undefined || element === HOLE) return null;
    if (element || key === "length") {
      return object.frozen !== "frozen" && elementFlags(object, key).writable ? "data" : "readonly";
    }
  }
  if (object.real === null) {
    const slot = closureSlot(m, object, key);
    return slot === null ? null : slot.kind === "data" && slot.writable ? "data" : "readonly";
  }
  const descriptor = programDescriptor(object.real, key);
  if (!descriptor) return null;
  if (!("value" in descriptor)) return "accessor";
  // The trace may have frozen an object whose properties are still as the program left them
  return descriptor.writable && object.frozen !== "frozen" ? "data" : "readonly";
}

/** Returns whether a number is a valid length of arrays. */
export function isArrayLength(length: number): boolean {
  return Number.isInteger(length) && length >= 0 && length < 2 ** 32;
}

/** An object that is no array relies on that where keys are set that arrays treat in their own way. */
function relyOnKind(m: Interpreter, object: ObjectValue, key: Key): void {
  if (object.real && (key === "length" || indexOfKey(key) !== null)) m.wrapper.relyOnPrototype(object);
}

/** Sets an own data property. */
function writeOwn(m: Interpreter, object: ObjectValue, key: Key, value: Value): void {
  const { exotic } = object;
  if (exotic.kind === "bytes" && !object.real) refuseBytes(object);
  if (exotic.kind === "array") {
    const index = indexOfKey(key);
    if (index !== null) {
      const elements = elementsOf(m, object);
      if (index >= MOST_ELEMENTS) return breakGraph("builtin", "an array with too many elements");
      while (elements.length < index) elements.push(HOLE);
      elements[index] = value;
      return;
    }
    if (key === "length") {
      const given = settled(m, value);
      if (given.kind !== "constant" || typeof given.value !== "number") {
        return breakGraph("symbolicNumber", "a length");
      }
      const length = given.value;
      if (!isArrayLength(length)) return breakGraph("throws", "an invalid array length");
      if (length > MOST_ELEMENTS) return breakGraph("builtin", "an array with too many elements");
      const elements = settledElements(m, object);
      while (elements.length < length) elements.push(HOLE);
      elements.length = length;
      return;
    }
  }
  relyOnKind(m, object, key);
  refuseReplaced(m, object, key);
  const former = object.slots.get(key);
  if (former?.kind === "data") object.slots.set(key, { ...former, value });
  else if (former?.kind === "deleted") {
    object.slots.delete(key);
    object.readded.add(key);
    object.slots.set(key, dataSlot(value));
  } else if (object.real === null) {
    const own = closureSlot(m, object, key);
    object.slots.set(key, own?.kind === "data" ? { ...own, value } : dataSlot(value));
  } else {
    const descriptor = programDescriptor(object.real, key);
    object.slots.set(key, {
      kind: "data",
      value,
      writable: true,
      enumerable: descriptor?.enumerable ?? true,
      configurable: descriptor?.configurable ?? true,
    });
  }
}

/** Objects that access memory have elements and nothing else. */
export function refuseBytes({ exotic }: ObjectValue): void {
  if (exotic.kind === "bytes") breakGraph("opaqueObject", "properties of a typed array");
}

/** Defines an own property, whatever exists. */
export function defineOwn(m: Interpreter, object: ObjectValue, key: Key, slot: Slot): void {
  refuseOpaque(object);
  refuseBytes(object);
  refuseIntegrity(m, object);
  if (object.exotic.kind === "array" && (indexOfKey(key) !== null || key === "length")) {
    if (slot.kind !== "data" || !slot.writable || !slot.enumerable || !slot.configurable) {
      breakGraph("opaqueObject", "an array with accessors");
    } else writeOwn(m, object, key, slot.value);
    return;
  }
  relyOnKind(m, object, key);
  refuseReplaced(m, object, key);
  const former = object.slots.get(key);
  if (former?.kind === "deleted") {
    object.slots.delete(key);
    object.readded.add(key);
  }
  object.slots.set(key, slot);
}

/** Deletes an own property; returns false if that is refused. */
export function deleteOwn(m: Interpreter, object: ObjectValue, key: Key): boolean {
  refuseOpaque(object);
  refuseBytes(object);
  const { exotic } = object, grows = canGrow(m, object);
  if (exotic.kind === "array") {
    if (!grows) return breakGraph("frozen");
    const index = indexOfKey(key);
    if (index !== null) {
      const elements = elementsOf(m, object);
      if (index < elements.length) elements[index] = HOLE;
      return true;
    }
    if (key === "length") return false;
  }
  refuseReplaced(m, object, key);
  const changed = object.slots.get(key);
  const descriptor = object.real && !object.readded.has(key)
    ? programDescriptor(object.real, key)
    : undefined;
  if (changed && changed.kind !== "deleted" && !changed.configurable) return false;
  if (!changed && descriptor && relyOnFlags(m, object, key)?.configurable === false) return false;
  const own = changed || object.real ? null : closureSlot(m, object, key);
  if (own?.kind === "data" && !own.configurable) return false;
  if (object.real ? programDescriptor(object.real, key) : closureSlot(m, object, key)) {
    object.slots.set(key, { kind: "deleted" });
  } else {
    object.slots.delete(key);
    if (object.real === null) return true;
    if (object.source) m.output.guard({ kind: "ownKey", source: object.source, key, present: false });
  }
  return true;
}
