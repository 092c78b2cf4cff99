/**
 * Reads of properties of traced objects, by JavaScript's rules. Invariant: observed contents of real objects are guarded at
 * their source.
 */
import { type EngineState, engineState } from "../guards/engine_state.ts";
import { types } from "node:util";
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { accessorSource, isPassedIn, propertySource } from "../source.ts";
import { cellValue, readCell } from "./bindings.ts";
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
  elementAt,
  elementsOf,
  generatorMethods,
  newObject,
  refuseHidden,
} from "./contents.ts";
import { inheritsAnew } from "../variables/wrap.ts";
import { indexOfKey } from "./element_keys.ts";
import { growingOf, lengthOfGrowing } from "./growing_lists.ts";
import type { Interpreter } from "./interpreter.ts";
import { noteLaterRead, refuseLater, refuseLaterProperty } from "./later_reads.ts";
import { namespaceSlot } from "./namespaces.ts";
import { namesElement, typedElement } from "./typed_elements.ts";

export type Key = string | symbol;

/** The result of a property read. */
export type Found =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "getter"; readonly getter: ObjectValue }
  | { readonly kind: "absent" };

const ABSENT: Found = { kind: "absent" };

/** An own property of the trace or the real object. */
export function ownSlot(m: Interpreter, object: ObjectValue, key: Key): Slot | null {
  refuseHidden(object);
  const changed = object.slots.get(key);
  if (changed) {
    if (object.real !== null) refuseLater(m, `the property ${String(key)}`);
    return changed.kind === "deleted" ? null : changed;
  }
  const { exotic } = object;
  if (namesElement(object, key)) {
    const element = typedElement(m, object, key);
    return element ? dataSlot(element) : null;
  }
  if (exotic.kind === "array") {
    if (key === "length") {
      const growing = exotic.growing ?? growingOf(m, object);
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
    // Accessors of an object that is created in each call are also created in each call
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
  refuseLaterProperty(m, object, key, value);
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
  noteLaterRead(m, object, key);
  const known = object.reads.get(key);
  if (known && isAsRead(object, key)) {
    refuseLaterProperty(m, object, key, known);
    return { kind: "value", value: known };
  }
  let holder: ObjectValue | null = object;
  let steps = 0;
  let isAsFound = isOwnAsFound(object, key);
  const isAnew = inheritsAnew(object);
  while (holder) {
    if (steps > 0 && object.real && object.source && holder.real && isAsFound && !isAnew) {
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
      const found = foundIn(ownSlot(m, holder, key));
      if (found) {
        relyOnAbsence(m, object, key, holder);
        return found;
      }
    }
    isAsFound &&= !holder.prototypeChanged && !holder.slots.has(key);
    holder = holder.prototype;
    steps++;
  }
  if (object.real !== null) refuseLater(m, `whether there is ${String(key)}`);
  if (isAnew) {
    relyOnChain(m, object, null);
    relyOnAbsence(m, object, key);
  } else if (object.real && object.source && isAsFound) {
    const { source } = object;
    if (!types.isModuleNamespaceObject(object.real)) {
      m.output.guard({ kind: "constant", source: propertySource(source, key), value: undefined });
    }
  } else relyOnAbsence(m, object, key);
  return ABSENT;
}

/** Returns whether what the real objects had under a key is not changed or hidden by the trace. */
function isAsRead(object: ObjectValue, key: Key): boolean {
  for (let holder: ObjectValue | null = object; holder; holder = holder.prototype) {
    if (holder.slots.has(key)) return false;
    if (holder.real && programDescriptor(holder.real, key)) return true;
    if (holder.prototypeChanged) return false;
  }
  return true;
}

/** Returns whether an own property, or its absence, is unchanged by the trace. */
function isOwnAsFound({ real, slots, exotic }: ObjectValue, key: Key): boolean {
  const isElement = exotic.kind === "array" && indexOfKey(key) !== null;
  return !slots.has(key) && !(isElement && real && programDescriptor(real, key));
}

/** Relies on the absence of a property from an object up along its prototype chain, to a holder of it. */
export function relyOnAbsence(
  m: Interpreter,
  object: ObjectValue | null,
  key: Key,
  end: ObjectValue | null = null,
): void {
  for (let holder = object; holder && holder !== end; holder = holder.prototype) {
    if (!holder.real || !holder.source || !isOwnAsFound(holder, key)) continue;
    m.output.guard({ kind: "ownKey", source: holder.source, key, present: false });
  }
}

/** Relies on the prototype chain from an object to a holder. */
export function relyOnChain(m: Interpreter, object: ObjectValue, holder: ObjectValue | null): void {
  for (let at: ObjectValue | null = object; at && at !== holder; at = at.prototype) {
    m.wrapper.relyOnPrototype(at);
  }
}

/** Returns the state of the engine's own that a real object has, and relies on it; null for those of the trace. */
export function stateOf(m: Interpreter, { real, source }: ObjectValue): EngineState | null {
  const state = real && engineState(real);
  if (real && source && source.kind !== "known") m.output.guard({ kind: "engineState", source, state });
  return state;
}

function undefinedFound(): Found {
  return { kind: "value", value: UNDEFINED };
}

/** The result of reading an own property; null if there is none. */
function foundIn(slot: Slot | null): Found | null {
  if (slot?.kind === "data") return { kind: "value", value: slot.value };
  if (slot?.kind !== "accessor") return null;
  return isCallable(slot.get) ? { kind: "getter", getter: slot.get } : undefinedFound();
}

/** A data property that a real object inherits: guarded through the object, so that shadowing is detected. */
function inheritedRead(m: Interpreter, object: ObjectValue, holder: ObjectValue, key: Key): Found | null {
  if (holder.slots.has(key)) return foundIn(ownSlot(m, holder, key));
  refuseHidden(holder);
  const { real } = holder;
  invariant(real && object.source, "Expected a real object");
  if (holder.exotic.kind === "array" && indexOfKey(key) !== null) return null;
  const descriptor = programDescriptor(real, key);
  if (!descriptor) return null;
  if (!("value" in descriptor)) return foundIn(ownSlot(m, holder, key));
  const place = propertySource(object.source, key), found: unknown = descriptor.value;
  // Instances of a class have its methods
  const isMethod = typeof found === "function" && holder.source?.kind === "known";
  const value = isMethod ? m.wrapper.fixed(found, place) : m.wrapper.wrap(found, place);
  object.reads.set(key, value);
  refuseLaterProperty(m, holder, key, value);
  return { kind: "value", value };
}
