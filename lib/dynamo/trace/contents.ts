/**
 * Contents of traced objects: elements of arrays, entries of Maps and Sets, and objects created in the trace. Those of
 * real objects are loaded on first access. Invariant: loaded contents are guarded.
 */
import { types } from "node:util";
import { settleKey } from "./texts.ts";
import { programDescriptor } from "../../base/own_builtins.ts";
import { hasKey, sizeOf, valueAtKey } from "../../base/collections.ts";
import { invariant } from "../../base/errors.ts";
import { breakGraph } from "../break_reasons.ts";
import type { CodeObject } from "../bytecode/code.ts";
import { ANY_KEY } from "../guards/guard.ts";
import { entrySource, isPassedIn, lookupSource, propertySource, type Source, sourceText } from "../source.ts";
import { specializeNumber } from "../variables/numbers.ts";
import {
  constant,
  dataSlot,
  type Element,
  type Entry,
  HOLE,
  isPassed,
  isPrimitive,
  type KeyIdentity,
  LAZY,
  type ListIteratorExotic,
  ObjectValue,
  PassedValue,
  type Primitive,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import { refuseInheritedElements } from "./inherited_elements.ts";
import type { Interpreter } from "./interpreter.ts";
import { Restart } from "./restart.ts";

/** The prototype with the methods of all generators. */
export const GENERATORS: object = Object.getPrototypeOf(Object.getPrototypeOf((function* () {})()));

const ASYNC_GENERATORS: object = Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})()));

/** The prototype from which a generator function's own prototype object inherits. */
export function generatorMethods({ async }: CodeObject): object {
  return async ? ASYNC_GENERATORS : GENERATORS;
}

/** A plain object created in the trace. */
export function newObject(
  m: Interpreter,
  slots: Iterable<readonly [string | symbol, Value]> = [],
): ObjectValue {
  const object = new ObjectValue(
    { kind: "plain" },
    builtinPrototype(m, Object.prototype, "Object"),
    null,
    null,
  );
  for (const [key, value] of slots) object.slots.set(key, dataSlot(value));
  return object;
}

/** An array created in the trace. */
export function newArray(m: Interpreter, elements: Element[]): ObjectValue {
  return new ObjectValue(
    { kind: "array", elements, originals: [], loaded: true, growing: null },
    builtinPrototype(m, Array.prototype, "Array"),
    null,
    null,
  );
}

/** A builtin prototype as a value. */
export function builtinPrototype(m: Interpreter, prototype: object, label: string): ObjectValue {
  const value = m.wrapper.known(prototype, `${label}.prototype`);
  invariant(value.kind === "object", `Expected an object for ${label}.prototype`);
  return value;
}

/** Refuses objects whose properties cannot even be read. */
export function refuseHidden(object: ObjectValue): void {
  const { exotic } = object;
  if (exotic.kind !== "opaque" || !exotic.isOrdinary) refuseOpaque(object);
}

/** Refuses objects whose behaviour is unknown. */
export function refuseOpaque({ exotic }: ObjectValue): void {
  if (exotic.kind === "opaque") breakGraph("opaqueObject", exotic.what);
  if (exotic.kind === "elements") breakGraph("tensorItem", `${exotic.method}()`);
  if (exotic.kind === "called" && exotic.gives === "object") {
    breakGraph("opaqueObject", "the result of a call of the runtime");
  }
  // Plain JavaScript, to which the instruction is left, throws the real error.
  if (exotic.kind === "thrown") throw new Restart(exotic.step, { kind: "break", cause: exotic.cause });
}

/** Returns whether properties can be added to an object that is being changed, and relies on that. */
export function canGrow(m: Interpreter, object: ObjectValue): boolean {
  const { real, source, frozen, exotic } = object;
  object.written = true;
  if (frozen !== "no") return real ? breakGraph("frozen") : false;
  if (!real) return true;
  // Elements may be inherited from another object
  if (exotic.kind === "array") m.wrapper.relyOnPrototype(object);
  const present = Object.isExtensible(real);
  if (source) m.output.guard({ kind: "extensible", source, present });
  return present;
}

/** Refuses to change objects that cannot be extended. */
export function refuseIntegrity(m: Interpreter, object: ObjectValue): void {
  if (!canGrow(m, object)) breakGraph("frozen");
}

/** Longer arrays are not traced element by element. */
export const MOST_ELEMENTS = 1e6;

/** The elements of an array value, loaded from the real array on first access. */
export function elementsOf(m: Interpreter, array: ObjectValue): Element[] {
  const { exotic } = array;
  invariant(exotic.kind === "array", "Expected an array");
  refuseInheritedElements(m, array);
  if (!exotic.loaded) {
    const { real, source } = array;
    invariant(Array.isArray(real) && source, "Expected a real array with a source");
    if (m.wrapper.changes.hasLengths(source, real.length)) breakGraph("changingLength", sourceText(source));
    // That of Array.prototype, which is an array, is set aside while dyn works
    if (programDescriptor(real, "length")?.value !== real.length) {
      return breakGraph("opaqueObject", "a builtin array whose length has changed");
    }
    // Kept until the end, so that a break on the way does not lose it
    const { growing } = exotic;
    if (growing?.length.kind === "number") specializeNumber(m.output, growing.length);
    if (real.length > MOST_ELEMENTS) return breakGraph("opaqueObject", "an array with too many elements");
    m.output.guard({ kind: "array", source, length: real.length });
    m.wrapper.changes.lengthChanges(real.length, propertySource(source, "length"));
    // Elements of other lists are only read
    const changes = Object.isExtensible(real);
    if (changes && !Reflect.getOwnPropertyDescriptor(real, "length")?.writable) {
      return breakGraph("opaqueObject", "an array whose length does not change");
    }
    exotic.elements = Array.from({ length: real.length }, (_, i): Element => {
      const found = Reflect.getOwnPropertyDescriptor(real, i);
      if (found && changes && !(found.writable && found.enumerable && found.configurable)) {
        return breakGraph("opaqueObject", "an array with elements that cannot be replaced");
      }
      if (found) return LAZY;
      m.output.guard({ kind: "ownKey", source, key: `${i}`, present: false });
      return HOLE;
    });
    exotic.originals = [...exotic.elements];
    exotic.loaded = true;
    if (growing) {
      const { dropped, popped, added, replaced } = growing;
      // Elements that move are read where they were
      if (dropped > 0) settledElements(m, array);
      exotic.growing = null;
      exotic.elements.length -= popped;
      exotic.elements.splice(0, dropped);
      exotic.elements.push(...added);
      for (const { index, value } of replaced) {
        exotic.elements[Number(specializeNumber(m.output, index).value)] = value;
      }
    }
  }
  return exotic.elements;
}

/** One element; undefined for holes and beyond the end. */
export function elementAt(m: Interpreter, array: ObjectValue, index: number): Value {
  const elements = elementsOf(m, array);
  const element = elements[index];
  if (element === undefined || element === HOLE) return UNDEFINED;
  if (element !== LAZY) return element;
  const { real, source, exotic } = array;
  invariant(Array.isArray(real) && source && exotic.kind === "array", "Expected a real array");
  const descriptor = Reflect.getOwnPropertyDescriptor(real, index);
  if (!descriptor || !("value" in descriptor)) return breakGraph("opaqueObject", "an array with accessors");
  const value = m.wrapper.wrap(descriptor.value, propertySource(source, `${index}`));
  // A hole reads as undefined, too.
  if (descriptor.value === undefined) {
    m.output.guard({ kind: "ownKey", source, key: `${index}`, present: true });
  }
  exotic.originals[index] = value;
  return elements[index] = value;
}

/** All elements, holes as undefined. */
export function allElements(m: Interpreter, array: ObjectValue): Value[] {
  return Array.from({ length: elementsOf(m, array).length }, (_, i) => elementAt(m, array, i));
}

/** All elements in their stored form, none of them lazy: for changes that move them. */
export function settledElements(m: Interpreter, array: ObjectValue): Element[] {
  const elements = elementsOf(m, array);
  for (let i = 0; i < elements.length; i++) if (elements[i] === LAZY) elementAt(m, array, i);
  return elements;
}

/** The identity of a Map key. */
export function keyIdentity(key: Value): KeyIdentity {
  switch (key.kind) {
    case "constant":
      return Object.is(key.value, -0) ? 0 : key.value;
    case "tensor":
    case "object":
      return key;
    default:
      return breakGraph("symbolicNumber", "a key of a Map or Set");
  }
}

/** A key of a real Map or Set; one that differs between calls is known only by its position. */
function keyAt(m: Interpreter, key: unknown, place: Source): Value {
  if (!isPrimitive(key)) return m.wrapper.object(key, place);
  const isText = typeof key === "string" && isPassedIn(place);
  return isText ? m.wrapper.changes.passed(key, place) ?? constant(key) : constant(key);
}

/** The entry of a key; all keys are inspected first. A key that is not found is relied on to be another one. */
export function entryOf(m: Interpreter, object: ObjectValue, key: Value): Entry | undefined {
  if (isPassed(key)) settleKey(m, key);
  if (key.kind === "object" && key.tensorProperty && object.real) {
    return breakGraph("opaqueObject", "a list of sizes as a key");
  }
  const identity = keyIdentity(key), { exotic } = object;
  if (isSearched(object) && isPrimitive(identity)) return lookedUp(m, object, identity);
  const entries = entriesOf(m, object);
  if ((exotic.kind === "map" || exotic.kind === "set") && exotic.passes) {
    const passed = [...entries.keys()].filter((key) => key instanceof PassedValue);
    for (const key of passed) settleKey(m, key);
    exotic.passes = false;
    // All cleared entries are gone
    if (passed.length > 0) {
      settleKeys(exotic.entries);
      settleKeys(exotic.originals);
      settleKeys(exotic.deleted);
      for (const iterator of iteratorsOver(m, object)) iterator.rest = null;
    }
  }
  return m.output.keys.find(entries, identity);
}

/** Larger collections are searched key by key until all of their entries are needed. */
const MOST_LISTED = 64;

/** Returns whether a collection is one of the program in which only some keys have been looked up. */
function isSearched({ exotic, real }: ObjectValue): boolean {
  if ((exotic.kind !== "map" && exotic.kind !== "set") || exotic.loaded || real === null) return false;
  return (sizeOf(real) ?? 0) > MOST_LISTED;
}

/** The entry of one key of a collection that is searched. */
function lookedUp(m: Interpreter, { exotic, real, source }: ObjectValue, key: Primitive): Entry | undefined {
  invariant((exotic.kind === "map" || exotic.kind === "set") && source, "Expected a real collection");
  const found = exotic.entries.get(key);
  if (found || exotic.originals.has(key)) return found;
  const place = (part: "get" | "has") => lookupSource(source, part, key), isPresent = hasKey(real, key);
  m.output.guard({ kind: "constant", source: place("has"), value: isPresent });
  if (!isPresent) return undefined;
  const own = constant(key);
  const value = exotic.kind === "map" ? m.wrapper.wrap(valueAtKey(real, key), place("get")) : own;
  exotic.originals.set(key, value);
  exotic.entries.set(key, { key: own, value });
  return exotic.entries.get(key);
}

/** The number of entries of a collection. */
export function sizeOfEntries(m: Interpreter, object: ObjectValue): Value {
  const { exotic, real, source } = object;
  const isKept = isSearched(object) && !((exotic.kind === "map" || exotic.kind === "set") && exotic.changed);
  if (!isKept || !source) return constant(entriesOf(m, object).size);
  return m.wrapper.wrap(sizeOf(real), lookupSource(source, "size", undefined));
}

/** Adds an entry, or replaces one. */
export function putEntry(m: Interpreter, object: ObjectValue, key: Value, value: Value): void {
  const { exotic } = object;
  invariant(exotic.kind === "map" || exotic.kind === "set", "Expected a Map or Set");
  m.output.keys.put(exotic.entries, keyIdentity(key), { key, value });
  exotic.changed = true;
}

function settleKeys<V>(map: Map<KeyIdentity, V>): void {
  const all = [...map];
  map.clear();
  for (const [identity, value] of all) {
    map.set(identity instanceof PassedValue ? identity.value : identity, value);
  }
}

/** The iterators over a collection that have not ended. */
export function iteratorsOver(m: Interpreter, over: ObjectValue): ListIteratorExotic[] {
  return m.openIterators.flatMap(({ exotic }) =>
    exotic.kind === "listIterator" && exotic.over === over && !exotic.done ? [exotic] : []
  );
}

/** The entries of a Map or Set value, loaded from the real one on first access. */
export function entriesOf(m: Interpreter, object: ObjectValue): Omit<Map<KeyIdentity, Entry>, "set"> {
  const { exotic, real, source } = object;
  invariant(exotic.kind === "map" || exotic.kind === "set", "Expected a Map or Set");
  if (exotic.loaded || real === null) return exotic.entries;
  invariant(source, "Expected a source");
  const { entries, originals, deleted } = exotic, isNew = entries.size === 0 && originals.size === 0;
  const what = exotic.kind === "map" ? "Map" : "Set";
  const pairs: (readonly [unknown, unknown])[] = types.isMap(real)
    ? [...Map.prototype.entries.call(real)]
    : types.isSet(real)
    ? [...Set.prototype.entries.call(real)]
    : [];
  const keys = pairs.map(([key], index) =>
    isPrimitive(key) && !isNew
      ? constant(key)
      : keyAt(m, key, entrySource(source, what === "Map" ? "key" : "member", index))
  );
  const known = keys.map((key) => key.kind === "constant" && !isPassed(key) ? key.value : ANY_KEY);
  if (m.wrapper.changes.needsMany(`keys of ${source.name}`, known.map(String).join())) {
    breakGraph("changingText");
  }
  m.output.guard({ kind: "entries", source, what, keys: known });
  const found = pairs.map(([, realValue], index): [KeyIdentity, Entry] => {
    const key = keys[index] ?? UNDEFINED, identity = isPassed(key) ? key : keyIdentity(key);
    const value = originals.get(identity) ??
      (what === "Map" ? m.wrapper.wrap(realValue, entrySource(source, "value", index)) : key);
    return [identity, { key, value }];
  });
  // Only now: what ends the graph leaves the collection as it was
  exotic.loaded = true;
  exotic.passes = keys.some(isPassed);
  const former = [...entries], kept = new Map(former);
  entries.clear();
  for (const [identity, entry] of found) {
    originals.set(identity, entry.value);
    if (!deleted.has(identity)) entries.set(identity, kept.get(identity) ?? entry);
  }
  // Added entries come last
  for (const [identity, entry] of former) if (!entries.has(identity)) entries.set(identity, entry);
  return entries;
}
