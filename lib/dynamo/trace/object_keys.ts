/**
 * Keys of traced objects. Invariant: the observed presence or absence of a key of a real object is guarded at its
 * source.
 */
import { types } from "node:util";
import { programDescriptor, programKeys } from "../../base/own_builtins.ts";
import { breakGraph } from "../break_reasons.ts";
import { HOLE, LAZY, type ObjectValue, UNDEFINED, type Value } from "../variables/value.ts";
import { elementAt, elementsOf, refuseOpaque } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import { indexOfKey } from "./element_keys.ts";
import { closureSlot, elementFlags, type Key, refuseStack } from "./objects.ts";
import { refuseBytes } from "./property_writes.ts";
import { namesElement, typedElement } from "./typed_elements.ts";

/**
 * Own keys in the language's order; those of real objects are guarded, only the enumerable ones if the program does not
 * see the others.
 */
export function ownKeys(m: Interpreter, object: ObjectValue, which: "enumerable" | "all" = "all"): Key[] {
  refuseOpaque(object);
  // Classes of the runtime mark their instances by keys of their own
  if (object.exotic.kind === "native" && programKeys(object.exotic.made).length > 0) {
    breakGraph("builtin", "the keys of an object of the runtime");
  }
  refuseBytes(object);
  if (which === "all") refuseStack(object, "stack");
  const keys: Key[] = [];
  const { exotic } = object;
  if (exotic.kind === "array") {
    elementsOf(m, object).forEach((element, i) => {
      if (element !== HOLE) keys.push(`${i}`);
    });
    keys.push("length");
  }
  const closureKeys: Key[] = exotic.kind === "function" && exotic.closure
    ? ["length", "name", "prototype"].filter((k) =>
      !object.readded.has(k) && object.slots.get(k)?.kind !== "deleted" && closureSlot(m, object, k) !== null
    )
    : [];
  keys.push(...closureKeys);
  if (object.real) {
    const { real, source } = object;
    const own = programKeys(real);
    if (source && !types.isModuleNamespaceObject(real)) {
      if (m.wrapper.changes.needsMany(`${which} keys of ${source.name}`, own.map(String).join())) {
        breakGraph("changingText");
      }
      m.output.guard({
        kind: "keys",
        source,
        which,
        keys: own.filter((k): k is string =>
          typeof k === "string" && (which === "all" || (programDescriptor(real, k)?.enumerable ?? false))
        ),
        symbols: own.filter((k): k is symbol => typeof k === "symbol"),
      });
    }
    for (const key of own) {
      if (exotic.kind === "array" && (indexOfKey(key) !== null || key === "length")) continue;
      if (object.slots.get(key)?.kind === "deleted" || object.readded.has(key)) continue;
      keys.push(key);
    }
  }
  const listed = new Set(keys);
  for (const [key, slot] of object.slots) if (slot.kind !== "deleted" && !listed.has(key)) keys.push(key);
  const indexes = keys.filter((k) => indexOfKey(k) !== null).sort((a, b) => Number(a) - Number(b));
  const names = keys.filter((k) => typeof k === "string" && indexOfKey(k) === null);
  return [...indexes, ...names, ...keys.filter((k) => typeof k === "symbol")];
}

/** Own enumerable string keys. */
export function enumerableKeys(m: Interpreter, object: ObjectValue): string[] {
  return ownKeys(m, object, "enumerable").filter((key): key is string => {
    if (typeof key !== "string") return false;
    return isEnumerable(m, object, key);
  });
}

/** The values of an object of options by name. Breaks the graph at accessors. */
export function optionsIn(m: Interpreter, object: ObjectValue): Record<string, Value> {
  return Object.fromEntries(
    enumerableKeys(m, object).map((key) => [key, m.plainProperty(object, key) ?? UNDEFINED]),
  );
}

/** Returns whether an own property is enumerable. */
export function isEnumerable(m: Interpreter, object: ObjectValue, key: Key): boolean {
  const changed = object.slots.get(key);
  if (changed) return changed.kind !== "deleted" && changed.enumerable;
  refuseBytes(object);
  if (object.exotic.kind === "array") {
    if (key === "length") return false;
    if (indexOfKey(key) !== null) return elementFlags(object, key).enumerable;
  }
  if (object.real) return programDescriptor(object.real, key)?.enumerable ?? false;
  const slot = closureSlot(m, object, key);
  return slot !== null && slot.kind !== "deleted" && slot.enumerable;
}

/** Returns whether an object has an own property. */
export function hasOwn(m: Interpreter, object: ObjectValue, key: Key): boolean {
  refuseOpaque(object);
  const changed = object.slots.get(key);
  if (changed) return changed.kind !== "deleted";
  if (namesElement(object, key)) return typedElement(m, object, key) !== undefined;
  if (object.exotic.kind === "array") {
    if (key === "length") {
      m.wrapper.relyOnPrototype(object);
      return true;
    }
    const index = indexOfKey(key);
    if (index !== null) {
      const element = elementsOf(m, object)[index];
      if (element === LAZY) elementAt(m, object, index);
      return element !== undefined && element !== HOLE;
    }
  }
  if (object.real === null) return closureSlot(m, object, key) !== null;
  const present = programDescriptor(object.real, key) !== undefined;
  if (object.source && !types.isModuleNamespaceObject(object.real)) {
    m.output.guard({ kind: "ownKey", source: object.source, key, present });
  }
  return present;
}

/** The `in` operator. */
export function hasProperty(m: Interpreter, object: ObjectValue, key: Key): boolean {
  for (let holder: ObjectValue | null = object; holder; holder = holder.prototype) {
    if (hasOwn(m, holder, key)) return true;
    m.wrapper.relyOnPrototype(holder);
  }
  return false;
}

/** Returns whether an object is one of names and values, rather than an instance of a class, and relies on that. */
export function isPlain(m: Interpreter, value: ObjectValue): boolean {
  if (value.exotic.kind !== "plain") return false;
  m.wrapper.relyOnPrototype(value);
  const { prototype } = value;
  return prototype === null || prototype.real === Object.prototype;
}
