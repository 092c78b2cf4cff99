/**
 * Models of defining and describing properties. Invariant: exactly the definitions that the language rejects are
 * rejected; the flags on which that depends are guarded.
 */
import { breakGraph } from "../../break_reasons.ts";
import {
  constant,
  isCallable,
  type ObjectValue,
  type Slot,
  UNDEFINED,
  type Value,
} from "../../variables/value.ts";
import type { Interpreter } from "../interpreter.ts";
import { sameValue } from "../operators.ts";
import { type Key, ownSlot } from "../objects.ts";
import { newObject } from "../contents.ts";
import { defineOwn, relyOnFlags } from "../property_writes.ts";
import { hasOwn, hasProperty } from "../object_keys.ts";
import { eachProperty } from "../proxies.ts";

type Property = Exclude<Slot, { readonly kind: "deleted" }>;

/** The fields of a descriptor; null for absent ones. */
interface Descriptor {
  readonly get: Value | null;
  readonly set: Value | null;
  readonly value: Value | null;
  readonly writable: boolean | null;
  readonly enumerable: boolean | null;
  readonly configurable: boolean | null;
}

/** Object.getOwnPropertyDescriptor. */
export function describeProperty(m: Interpreter, target: ObjectValue, key: Key): Value {
  if (target.frozen !== "no" && (target.real || target.exotic.kind === "array")) breakGraph("frozen");
  const slot = ownProperty(m, target, key);
  if (!slot) return UNDEFINED;
  const flags: [string, Value][] = [["enumerable", constant(slot.enumerable)], [
    "configurable",
    constant(slot.configurable),
  ]];
  return slot.kind === "data"
    ? newObject(m, [["value", slot.value], ["writable", constant(slot.writable)], ...flags])
    : newObject(m, [["get", slot.get], ["set", slot.set], ...flags]);
}

/** Object.defineProperty; returns false if the definition is rejected. */
export function defineProperty(
  m: Interpreter,
  target: ObjectValue,
  { key, descriptor }: { readonly key: Key; readonly descriptor: ObjectValue },
): boolean {
  return defineAs(m, target, key, readDescriptor(m, descriptor));
}

function defineAs(m: Interpreter, target: ObjectValue, key: Key, given: Descriptor): boolean {
  const former = ownProperty(m, target, key);
  if (former && isRefused(m, former, given)) return false;
  defineOwn(m, target, key, defined(former, given));
  return true;
}

/** Object.defineProperties: every descriptor is read before the first property is defined. */
export function defineProperties(
  m: Interpreter,
  target: ObjectValue,
  properties: ObjectValue,
  then: () => void,
): void {
  const all: [Key, Descriptor][] = [];
  const take = (key: Key, value: Value, next: () => void): void => {
    if (value.kind === "tensor") return breakGraph("opaqueObject", "a tensor as a descriptor");
    if (value.kind !== "object") return breakGraph("throws", "a descriptor that is not an object");
    all.push([key, readDescriptor(m, value)]);
    next();
  };
  eachProperty(m, properties, { isWanted: () => true, take }, () => {
    for (const [key, given] of all) {
      if (!defineAs(m, target, key, given)) breakGraph("throws", "a property that cannot be redefined");
    }
    then();
  });
}

/** An own property with its flags, on which the program depends from here on. */
function ownProperty(m: Interpreter, target: ObjectValue, key: Key): Property | null {
  if (!hasOwn(m, target, key)) return null;
  const slot = ownSlot(m, target, key);
  if (!slot || slot.kind === "deleted") return null;
  relyOnFlags(m, target, key);
  return slot;
}

function readDescriptor(m: Interpreter, descriptor: ObjectValue): Descriptor {
  const given = (name: string) =>
    hasProperty(m, descriptor, name) ? m.plainProperty(descriptor, name) ?? UNDEFINED : null;
  const flag = (name: string): boolean | null => {
    const value = given(name);
    if (value?.kind === "number" || value?.kind === "item") return breakGraph("symbolicNumber", "a flag");
    return value && (value.kind === "constant" ? Boolean(value.value) : true);
  };
  const read: Descriptor = {
    enumerable: flag("enumerable"),
    configurable: flag("configurable"),
    value: given("value"),
    writable: flag("writable"),
    get: given("get"),
    set: given("set"),
  };
  for (const each of [read.get, read.set]) {
    if (each && !isCallable(each) && !(each.kind === "constant" && each.value === undefined)) {
      return breakGraph("throws", "an accessor that is not a function");
    }
  }
  if ((read.get || read.set) && (read.value || read.writable !== null)) {
    return breakGraph("throws", "a property with a value and an accessor");
  }
  return read;
}

/** Returns whether the language refuses to change an existing property. */
function isRefused(m: Interpreter, former: Property, given: Descriptor): boolean {
  if (former.configurable) return false;
  const { get, set, value, writable } = given;
  if (given.configurable || (given.enumerable ?? former.enumerable) !== former.enumerable) return true;
  if (former.kind === "accessor") {
    return value !== null || writable !== null || (get !== null && !isSame(m, get, former.get)) ||
      (set !== null && !isSame(m, set, former.set));
  }
  if (get || set) return true;
  return !former.writable && (writable === true || (value !== null && !isSame(m, value, former.value)));
}

/** SameValue. */
function isSame(m: Interpreter, a: Value, b: Value): boolean {
  const same = sameValue(m, a, b);
  return same ? same.value === true : breakGraph("symbolicNumber", "the value of a property");
}

/** The property after a definition. */
function defined(former: Property | null, given: Descriptor): Slot {
  const enumerable = given.enumerable ?? former?.enumerable ?? false;
  const configurable = given.configurable ?? former?.configurable ?? false;
  const { get, set, value, writable } = given;
  const wasAccessor = former?.kind === "accessor" ? former : null;
  if (get || set || (wasAccessor && !value && writable === null)) {
    return {
      kind: "accessor",
      get: get ?? wasAccessor?.get ?? UNDEFINED,
      set: set ?? wasAccessor?.set ?? UNDEFINED,
      enumerable,
      configurable,
    };
  }
  const wasData = former?.kind === "data" ? former : null;
  return {
    kind: "data",
    value: value ?? wasData?.value ?? UNDEFINED,
    writable: writable ?? wasData?.writable ?? false,
    enumerable,
    configurable,
  };
}
