/**
 * The errors of instructions that the engine rejects: writes, deletions, and property reads of null or undefined. They
 * are obtained by performing the operation on the object itself, which stays unchanged, or on a similar one. Invariant:
 * nothing is written, and no code of the program runs.
 */
import { types } from "node:util";
import { programDescriptor } from "../../base/own_builtins.ts";
import { engineErrorOf, refuseCall, throwError } from "../break_reasons.ts";
import { runtime, writeAsSuper } from "../bytecode/runtime.ts";
import type { ObjectValue, Value } from "../variables/value.ts";
import type { Key } from "./objects.ts";

type Action = "read" | "write" | "delete";
type Properties = Record<PropertyKey, unknown>;

/** Throws the error of a rejected operation. */
function thrownBy(refused: () => void, words: string): never {
  try {
    refused();
  } catch (error) {
    const found = engineErrorOf(error);
    if (found) throwError(found);
  }
  return refuseCall(words);
}

/** The same for an access, in strict code, as in all modules. */
function raise(target: unknown, key: Key, action: Action): never {
  const object = target as Properties;
  return thrownBy(() => {
    if (action === "read") void object[key];
    else if (action === "write") object[key] = undefined;
    else delete object[key];
  }, WORDS[action]);
}

const WORDS: Readonly<Record<Action, string>> = {
  read: "a property of null or undefined",
  write: "a write that is refused",
  delete: "a deletion that is refused",
};

/** Ends an instruction that the engine rejects for a primitive: null, undefined, or one that cannot be changed. */
export function refuseOfPrimitive(value: unknown, key: Key, action: Action): never {
  return raise(value, key, action);
}

/** Ends an instruction that writes or deletes a property if the object rejects it. */
export function refuseChange(object: ObjectValue, key: Key, action: "write" | "delete"): never {
  const target = placeholderFor(object, key);
  return target && isRefused(target, key, action) ? raise(target, key, action) : refuseCall(WORDS[action]);
}

/** Ends an assignment to a property of `super` if a property found from `from` on rejects it. */
export function refuseSuper(from: ObjectValue, object: ObjectValue, key: Key): never {
  const source = placeholderFor(from, key), receiver = placeholderFor(object, key);
  // The receiver's own properties are not considered
  const refuses = source && receiver && isRefused(Object.create(source), key, "write");
  return refuses
    ? thrownBy(() => writeAsSuper(source, receiver, key, undefined), WORDS.write)
    : refuseCall(WORDS.write);
}

/** The object itself if the trace has left it unchanged, or a similar one; null if there is none. */
function placeholderFor(object: ObjectValue, key: Key): object | null {
  for (let at: ObjectValue | null = object; at; at = at.prototype) {
    const isUnchanged = at.real !== null && !at.slots.has(key) && at.frozen === "no" && !at.prototypeChanged;
    if (!isUnchanged && at !== object) return null;
  }
  const { real, slots, exotic, prototype } = object;
  if (real) return slots.has(key) || object.frozen !== "no" ? null : real;
  if (exotic.kind !== "plain" || object.arguments || object.prototypeOf || (prototype && !prototype.real)) {
    return null;
  }
  const made: object = Object.create(prototype?.real ?? null), slot = slots.get(key);
  if (slot?.kind === "data") {
    const { writable, configurable } = slot;
    Object.defineProperty(made, key, { value: undefined, writable, configurable });
  } else if (slot?.kind === "accessor") {
    Object.defineProperty(made, key, { get: () => undefined, configurable: slot.configurable });
  }
  return object.frozen === "no" ? made : Object.preventExtensions(made);
}

/** Returns whether the engine rejects writing or deleting a property, by its descriptors alone. */
function isRefused(target: object, key: Key, action: "write" | "delete"): boolean {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at)) {
    if (types.isProxy(at) || types.isModuleNamespaceObject(at) || ArrayBuffer.isView(at)) return false;
    const own = programDescriptor(at, key);
    if (action === "delete") return own?.configurable === false;
    if (!own) continue;
    if (!("value" in own)) return own.set === undefined;
    return own.writable === false || (at !== target && !Object.isExtensible(target));
  }
  return !Object.isExtensible(target);
}

/** Rejects destructuring null or undefined: `words` is the engine's name for the value. */
export function refuseMatch(value: Value, words: string, key: Key): void {
  if (value.kind !== "constant" || (value.value ?? null) !== null) return;
  thrownBy(() => runtime.matched(value.value, words, String(key)), WORDS.read);
}

/** Rejects iterating a primitive that has no iterator: `words` is the engine's name for it. */
export function refuseIteration(source: Value, words: string): void {
  if (source.kind !== "constant" || typeof source.value === "string") return;
  const { value } = source;
  if (value !== undefined && value !== null && Symbol.iterator in Object(value)) return;
  thrownBy(() => void runtime.iterator(value, words), "a value that is not iterable");
}
