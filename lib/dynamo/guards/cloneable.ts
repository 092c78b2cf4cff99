/**
 * Tells data that structuredClone copies from objects of the engine's classes that it refuses, whatever these inherit
 * from: of most, only cloning one tells. Invariant: determining it runs no code of the program.
 */
import { types } from "node:util";
import { keysOf, membersOf, valuesOf } from "../../base/collections.ts";
import { engineState } from "./engine_state.ts";

const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { structuredClone } = globalThis;

/** Returns whether cloning a value reads data alone: no getter, no trap of a proxy, no object of another class. */
function isData(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  if (types.isProxy(value)) return false;
  if (seen.has(value)) return true;
  seen.add(value);
  const state = engineState(value), prototype = getPrototypeOf(value);
  if (state === null && prototype !== null && prototype !== Object.prototype) return false;
  if (state !== null && state !== "Array" && state !== "Map" && state !== "Set") return state === "Date";
  const entries = types.isMap(value)
    ? [...keysOf(value), ...valuesOf(value)]
    : types.isSet(value)
    ? membersOf(value)
    : [];
  return entries.every((each) => isData(each, seen)) && ownKeys(value).every((key) => {
    const found = getOwnPropertyDescriptor(value, key);
    if (!found?.enumerable || typeof key !== "string") return true;
    return "value" in found && isData(found.value, seen);
  });
}

/** Returns whether structuredClone copies an object, and all that it refers to, as data. */
export function isCloneable(object: object): boolean {
  if (!isData(object, new Set())) return false;
  try {
    structuredClone(object);
    return true;
  } catch {
    return false;
  }
}
