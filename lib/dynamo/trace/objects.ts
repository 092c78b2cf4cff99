/**
 * Properties of traced objects, by JavaScript's rules: results of reads, and writes that stay in the trace.
 * Invariant: real objects are only read; observed contents of real objects are guarded at their source.
 */
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { accessorSource, isPassedIn, propertySource } from "../source.ts";
import { cellValue, readCell, writeCell } from "./bindings.ts";
import {
  type CellValue,
  constant,
  dataSlot,
  HOLE,
  isCallable,
  ObjectValue,
  type Slot,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import {
  builtinPrototype,
  canGrow,
  elementAt,
  elementsOf,
  generatorMethods,
  MOST_ELEMENTS,
  newObject,
  refuseHidden,
  refuseIntegrity,
  refuseOpaque,
  settledElements,
} from "./contents.ts";
import { inheritsAnew } from "../variables/wrap.ts";
import { growingOf, lengthOfGrowing } from "./growing_lists.ts";
import type { Interpreter } from "./interpreter.ts";
import { namespaceSlot } from "./namespaces.ts";
import { namesElement, typedElement, writeTyped } from "./typed_elements.ts";

export {
  allElements,
  builtinPrototype,
  canGrow,
  elementAt,
  elementsOf,
  entriesOf,
  entryOf,
  keyIdentity,
  MOST_ELEMENTS,
  newArray,
  newObject,
  refuseIntegrity,
  refuseOpaque,
  settledElements,
} from "./contents.ts";
import { types } from "node:util";

export type Key = string | symbol;

/** The result of a property read. */
export type Found =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "getter"; readonly getter: ObjectValue }
  | { readonly kind: "absent" };

const ABSENT: Found = { kind: "absent" };

/** The array index that a key represents, or null. */
export function indexOfKey(key: Key): number | null {
  if (typeof key !== "string" || !/^(0|[1-9]\d{0,9})$/.test(key)) return null;
  const index = Number(key);
  return index < 0xffffffff ? index : null;
}

/** An own property of the trace or the real object. */
export function ownSlot(m: Interpreter, object: ObjectValue, key: Key): Slot | null {
  refuseHidden(object);
  const changed = object.slots.get(key);
  if (changed) return changed.kind === "deleted" ? null : changed;
  const { exotic } = object;
  if (namesElement(object, key)) {
    const element = typedElement(m, object, key);
    return element ? dataSlot(element) : null;
  }
  if (exotic.kind === "array") {
    if (key === "length") {
      const growing = growingOf(m, object);
      const length = growing ? lengthOfGrowing(m, growing) : constant(elementsOf(m, object).length);
      const { writable } = elementFlags(object, key);
      return { kind: "data", value: length, writable, enumerable: false, configurable: false };
    }
    const index = indexOfKey(key);
    if (index !== null) {
      const element = elementsOf(m, object)[index];
      if (element === undefined || element === HOLE) return null;
      return { ...dataSlot(elementAt(m, object, index)), ...elementFlags(object, key) };
    }
  }
  if (object.real === null) return closureSlot(m, object, key);
  const { real, source } = object;
  invariant(source, "Expected a source for a real object");
  if (types.isModuleNamespaceObject(real) && typeof key === "string") {
    return namespaceSlot(m, object, { real, source, key });
  }
  const descriptor = programDescriptor(real, key);
  if (!descriptor) return null;
  const flags = {
    enumerable: descriptor.enumerable ?? false,
    configurable: descriptor.configurable ?? false,
  };
  if (!("value" in descriptor)) {
    const { get, set } = descriptor, isTrustedOne = isTrusted(real);
    // Accessors of an object that is created anew for each call are created anew, too
    const isAnew = !isTrustedOne && isPassedIn(source) &&
      (source.kind === "prototype" || object.prototype?.real === Object.prototype);
    if (isAnew) m.output.guard({ kind: "flags", source, key, flags: { writable: null, ...flags } });
    else if (!isTrustedOne) m.output.guard({ kind: "accessor", source, key, get, set });
    const wrapped = (f: unknown, part: "get" | "set") => {
      if (isAnew) return m.wrapper.wrap(f, accessorSource(source, key, part));
      return typeof f === "function" ? m.wrapper.known(f, `${part} ${String(key)}`) : UNDEFINED;
    };
    return { kind: "accessor", get: wrapped(get, "get"), set: wrapped(set, "set"), ...flags };
  }
  let value = object.reads.get(key);
  if (!value) {
    value = m.wrapper.wrap(descriptor.value, propertySource(source, key));
    object.reads.set(key, value);
  }
  return { kind: "data", value, writable: descriptor.writable ?? false, ...flags };
}

/** The flags of an element of an array, or of its length: they can differ only for arrays that cannot be changed. */
export function elementFlags(
  { real }: ObjectValue,
  key: Key,
): { readonly writable: boolean; readonly enumerable: boolean; readonly configurable: boolean } {
  const found = real && !Object.isExtensible(real) ? programDescriptor(real, key) : undefined;
  const { writable = true, enumerable = true, configurable = true } = found ?? {};
  return { writable, enumerable, configurable };
}

const trusted = new WeakSet<object>();

/** Declares that accessors of a prototype never change: those of dyn's own classes and builtins. */
export function trustAccessors(prototype: object): void {
  trusted.add(prototype);
}

function isTrusted(real: object): boolean {
  return trusted.has(real);
}

/** The stack of an error is that of the place where it is really created. */
export function refuseStack({ exotic }: ObjectValue, key: Key): void {
  if (exotic.kind !== "constructed" || key !== "stack" || exotic.constructor.real === RegExp) return;
  breakGraph("opaqueObject", "the stack of an error");
}

/** name, length and prototype of functions created in the trace. */
export function closureSlot(m: Interpreter, object: ObjectValue, key: Key): Slot | null {
  refuseStack(object, key);
  const { exotic } = object;
  if (exotic.kind !== "function" || !exotic.closure) return null;
  const hidden = { writable: false, enumerable: false, configurable: true } as const;
  const { code } = exotic.closure;
  if (key === "length") return { kind: "data", value: constant(code.length), ...hidden };
  if (key === "name") {
    const { functionName, namePrefix } = exotic.closure;
    const text = typeof functionName !== "symbol"
      ? functionName
      : functionName.description === undefined
      ? ""
      : `[${functionName.description}]`;
    return { kind: "data", value: constant(namePrefix ? `${namePrefix} ${text}` : text), ...hidden };
  }
  if (key === "prototype" && (code.kind === "function" && !code.async || code.generator)) {
    const prototype = newObject(m);
    prototype.prototypeOf = object;
    if (code.generator) prototype.prototype = builtinPrototype(m, generatorMethods(code), "Generator");
    else {
      prototype.slots.set("constructor", {
        kind: "data",
        value: object,
        writable: true,
        enumerable: false,
        configurable: true,
      });
    }
    const slot: Slot = {
      kind: "data",
      value: prototype,
      writable: true,
      enumerable: false,
      configurable: false,
    };
    object.slots.set("prototype", slot);
    return slot;
  }
  return null;
}

/** The variable that an object of generated code holds under this key. */
export function variableAt(m: Interpreter, { variable, source }: ObjectValue, key: Key): CellValue | null {
  if (!variable || !source || key !== "v") return null;
  return cellValue(m, variable.name, { kind: "box", cell: variable.cell, source });
}

/** Reads a property: own ones, then along the prototypes. */
export function findProperty(m: Interpreter, object: ObjectValue, key: Key): Found {
  const variable = variableAt(m, object, key);
  if (variable) {
    const value = readCell(m, variable);
    return value.kind === "uninitialized" ? breakGraph("throws", variable.name) : { kind: "value", value };
  }
  if (namesElement(object, key)) {
    const element = typedElement(m, object, key);
    return element ? { kind: "value", value: element } : undefinedFound();
  }
  const known = object.reads.get(key);
  if (known && !object.slots.has(key) && !object.prototypeChanged) return { kind: "value", value: known };
  let holder: ObjectValue | null = object;
  let steps = 0;
  const isAsFound = isOwnAsFound(object, key), isAnew = inheritsAnew(object);
  while (holder) {
    if (
      steps > 0 && object.real && object.source && !object.prototypeChanged && holder.real && isAsFound &&
      !isAnew
    ) {
      const inherited = inheritedRead(m, object, holder, key);
      if (inherited) {
        if (inherited.kind === "getter" || holder.slots.has(key)) {
          relyOnChain(m, object, holder);
          relyOnAbsence(m, object, key, holder);
        }
        return inherited;
      }
    } else {
      if (steps > 0) relyOnChain(m, object, holder);
      const slot = ownSlot(m, holder, key);
      if (slot && isAnew) relyOnAbsence(m, object, key, holder);
      if (slot?.kind === "data") return { kind: "value", value: slot.value };
      if (slot?.kind === "accessor") {
        return isCallable(slot.get) ? { kind: "getter", getter: slot.get } : undefinedFound();
      }
    }
    holder = holder.prototype;
    steps++;
  }
  if (isAnew) {
    relyOnChain(m, object, null);
    relyOnAbsence(m, object, key);
  } else if (object.real && object.source && isAsFound && !object.prototypeChanged) {
    const { source } = object;
    if (!types.isModuleNamespaceObject(object.real)) {
      m.output.guard({ kind: "constant", source: propertySource(source, key), value: undefined });
    }
  } else relyOnAbsence(m, object.prototype, key);
  return ABSENT;
}

/** Returns whether an own property, or its absence, is unchanged by the trace. */
function isOwnAsFound({ real, slots, exotic }: ObjectValue, key: Key): boolean {
  const isElement = exotic.kind === "array" && indexOfKey(key) !== null;
  return !slots.has(key) && !(isElement && real && programDescriptor(real, key));
}

/** Relies on the absence of a property from an object up along its prototype chain, to a holder of it. */
function relyOnAbsence(
  m: Interpreter,
  object: ObjectValue | null,
  key: Key,
  end: ObjectValue | null = null,
): void {
  for (let holder = object; holder && holder !== end; holder = holder.prototype) {
    if (!holder.real || !holder.source || holder.slots.has(key)) continue;
    m.output.guard({ kind: "ownKey", source: holder.source, key, present: false });
  }
}

/** Relies on the prototype chain from an object to a holder. */
function relyOnChain(m: Interpreter, object: ObjectValue, holder: ObjectValue | null): void {
  for (let at: ObjectValue | null = object; at && at !== holder; at = at.prototype) {
    m.wrapper.relyOnPrototype(at);
  }
}

function undefinedFound(): Found {
  return { kind: "value", value: UNDEFINED };
}

/** A data property that a real object inherits: guarded through the object, so that shadowing is noticed. */
function inheritedRead(m: Interpreter, object: ObjectValue, holder: ObjectValue, key: Key): Found | null {
  if (holder.slots.has(key)) {
    const slot = ownSlot(m, holder, key);
    if (slot?.kind === "data") return { kind: "value", value: slot.value };
    if (slot?.kind === "accessor") {
      return isCallable(slot.get) ? { kind: "getter", getter: slot.get } : undefinedFound();
    }
    return null;
  }
  refuseHidden(holder);
  const { real } = holder;
  invariant(real && object.source, "Expected a real object");
  if (holder.exotic.kind === "array" && indexOfKey(key) !== null) return null;
  const descriptor = programDescriptor(real, key);
  if (!descriptor) return null;
  if (!("value" in descriptor)) {
    const slot = ownSlot(m, holder, key);
    return slot?.kind === "accessor" && isCallable(slot.get)
      ? { kind: "getter", getter: slot.get }
      : undefinedFound();
  }
  const place = propertySource(object.source, key), found: unknown = descriptor.value;
  // Instances of a class have its methods
  const isMethod = typeof found === "function" && holder.source?.kind === "known";
  const value = isMethod ? m.wrapper.fixed(found, place) : m.wrapper.wrap(found, place);
  object.reads.set(key, value);
  return { kind: "value", value };
}

/** The action that a write requires. */
export type WriteAction =
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
    const slot = ownSlot(m, holder, key);
    invariant(slot?.kind === "accessor", "Expected an accessor");
    return isCallable(slot.set) ? { kind: "setter", setter: slot.set } : { kind: "refused" };
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
    const slot = ownSlot(m, holder, key);
    invariant(slot?.kind === "accessor", "Expected an accessor");
    return isCallable(slot.set) ? { kind: "setter", setter: slot.set } : { kind: "refused" };
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
    return changed.writable ? "data" : "readonly";
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
  return descriptor.writable ? "data" : "readonly";
}

/** Returns whether a number is a valid length of arrays. */
export function isArrayLength(length: number): boolean {
  return Number.isInteger(length) && length >= 0 && length < 2 ** 32;
}

/** Sets an own data property. */
function writeOwn(m: Interpreter, object: ObjectValue, key: Key, value: Value): void {
  const { exotic } = object;
  if (exotic.kind === "bytes" && !object.real) refuseBytes(object);
  if (exotic.kind === "array") {
    const index = indexOfKey(key);
    if (index !== null) {
      const elements = elementsOf(m, object);
      if (index >= MOST_ELEMENTS) return breakGraph("builtin", "an array of so many elements");
      while (elements.length < index) elements.push(HOLE);
      elements[index] = value;
      return;
    }
    if (key === "length") {
      if (value.kind !== "constant" || typeof value.value !== "number") {
        return breakGraph("symbolicNumber", "a length");
      }
      const length = value.value;
      if (!isArrayLength(length)) return breakGraph("throws", "an invalid array length");
      if (length > MOST_ELEMENTS) return breakGraph("builtin", "an array of so many elements");
      const elements = settledElements(m, object);
      while (elements.length < length) elements.push(HOLE);
      elements.length = length;
      return;
    }
  }
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
