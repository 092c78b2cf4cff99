/**
 * Models structuredClone of data: primitives, arrays, Maps, Sets, dates and plain objects, preserving shared
 * references. Invariant: values that are not data, instances of classes, and properties with getters are left to the
 * engine.
 */
import { breakGraph } from "../../break_reasons.ts";
import { isCloneable } from "../../guards/cloneable.ts";
import { dataSlot, HOLE, isCallable, ObjectValue, UNDEFINED, type Value } from "../../variables/value.ts";
import { builtinPrototype, entriesOf, newArray, newObject, putEntry, settledElements } from "../contents.ts";
import type { CallRequest, CallResult, Interpreter } from "../interpreter.ts";
import { isEnumerable, ownKeys } from "../object_keys.ts";
import { findProperty, stateOf } from "../objects.ts";
import { newMap, newSet } from "./collections.ts";
import { timeOfDate } from "./dates.ts";
import type { ModelTable } from "./table.ts";

/** Clones of one call. */
interface Clones {
  /** Copies, by what they are copies of. */
  readonly made: Map<ObjectValue, ObjectValue>;
  /** Whether the object under way is part of one that is known to be data. */
  isKnown: boolean;
}

const refuse = (what: string): never => breakGraph("builtin", `structuredClone of ${what}`);

/** Clones a value for one call, whose earlier clones are shared. */
function clone(m: Interpreter, value: Value, clones: Clones): Value {
  if (value.kind === "constant" && typeof value.value === "symbol") return refuse("a symbol");
  if (value.kind === "constant" || value.kind === "number" || value.kind === "item") return value;
  if (value.kind !== "object") return refuse("a tensor");
  const found = m.output.keys.find(clones.made, value);
  if (found) return found;
  const isFunction: boolean = isCallable(value);
  if (isFunction) return refuse("a function");
  const { exotic } = value, time = timeOfDate(m, value);
  const begin = (made: ObjectValue): ObjectValue => {
    m.output.keys.put(clones.made, value, made);
    return made;
  };
  if (time) {
    const prototype = builtinPrototype(m, Date.prototype, "Date");
    return begin(new ObjectValue({ kind: "date", time }, prototype, null, null));
  }
  if (exotic.kind !== "plain") clones.isKnown = false;
  switch (exotic.kind) {
    case "array":
      return cloneArray(m, value, begin(newArray(m, [])), clones);
    case "map":
    case "set":
      return cloneCollection(m, value, begin(exotic.kind === "map" ? newMap(m, []) : newSet(m, [])), clones);
    case "plain":
      if (hasState(m, value)) return refuse("an object with state of its own");
      return cloneObject(m, value, begin(newObject(m)), clones);
    default:
      return refuse("a value that cannot be cloned");
  }
}

/** Returns whether an object without elements or entries is more than its properties, or may be. */
function hasState(m: Interpreter, object: ObjectValue): boolean {
  const { real, prototype, onlyTraced } = object;
  // Private members are not cloned; objects that models of builtins make for the trace alone stand for the engine's
  if (object.arguments !== null || (onlyTraced && onlyTraced.cause.kind !== "privateState")) return true;
  if (real === null) return false;
  m.wrapper.relyOnPrototype(object);
  return stateOf(m, object) !== null || (prototype !== null && prototype.real !== Object.prototype);
}

function cloneArray(m: Interpreter, list: ObjectValue, made: ObjectValue, clones: Clones): Value {
  const elements = settledElements(m, list), { exotic } = made;
  if (exotic.kind !== "array" || elements.includes(HOLE)) return refuse("an array with holes");
  for (const [key, value] of ownValues(m, list)) {
    if (!isIndex(key, elements.length)) return refuse("an array with properties");
    exotic.elements.push(clone(m, value, clones));
  }
  return made;
}

function isIndex(key: string, length: number): boolean {
  const index = Number(key);
  return String(index) === key && index >= 0 && index < length;
}

function cloneCollection(m: Interpreter, from: ObjectValue, made: ObjectValue, clones: Clones): Value {
  const isMap = from.exotic.kind === "map";
  for (const { key, value } of [...entriesOf(m, from).values()]) {
    const copy = clone(m, key, clones);
    putEntry(m, made, copy, isMap ? clone(m, value, clones) : copy);
  }
  return made;
}

function cloneObject(m: Interpreter, from: ObjectValue, made: ObjectValue, clones: Clones): Value {
  const { real, source } = from, { isKnown } = clones;
  if (real && !isKnown) {
    if (!isCloneable(real)) return refuse("an object of a class of the engine");
    if (source) m.output.guard({ kind: "cloneable", source });
  }
  // What the trace has put there is something else
  clones.isKnown = real !== null && from.slots.size === 0;
  for (const [key, value] of ownValues(m, from)) made.slots.set(key, dataSlot(clone(m, value, clones)));
  clones.isKnown = isKnown;
  return made;
}

/** The enumerable properties of an object. A getter may change what is yet to be cloned, which is left to the engine. */
function ownValues(m: Interpreter, object: ObjectValue): (readonly [key: string, value: Value])[] {
  return ownKeys(m, object, "enumerable").flatMap((key) => {
    if (typeof key !== "string" || !isEnumerable(m, object, key)) return [];
    const found = findProperty(m, object, key);
    if (found.kind === "getter") return refuse("a property with a getter");
    return [[key, found.kind === "value" ? found.value : UNDEFINED] as const];
  });
}

function model(m: Interpreter, { args }: CallRequest): CallResult {
  const [value, options = UNDEFINED] = args;
  if (!value) return breakGraph("throws", "structuredClone of nothing");
  if (options.kind !== "constant" || options.value !== undefined) return refuse("transferred objects");
  return clone(m, value, { made: new Map(), isKnown: false });
}

/** Adds the model of structuredClone. */
export function addClones(table: ModelTable): void {
  table.call(structuredClone, model);
}
