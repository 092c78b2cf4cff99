/**
 * Describes objects created in a trace for code generation: names, whether a literal suffices, which parts exist
 * implicitly, and their references.
 */
import { programDescriptor } from "../../base/own_builtins.ts";
import {
  type Element,
  isPassed,
  type ObjectValue,
  type Slot,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";

/** An existing element. */
export function asValue(element: Element): Value {
  return typeof element === "symbol" ? UNDEFINED : element;
}

/** Returns the variable name for an object. */
export function nameOf(object: ObjectValue): string {
  switch (object.exotic.kind) {
    case "array":
    case "elements":
      return "list";
    case "map":
    case "set":
    case "generator":
    case "date":
      return object.exotic.kind;
    case "called":
      return object.exotic.gives === "function" ? "settle" : object.exotic.gives;
    case "function": {
      const name = object.exotic.closure?.functionName;
      return typeof name === "string" && name !== "" ? name : "fn";
    }
    case "constructed":
    case "native":
      return "made";
    default:
      return "object";
  }
}

/** Returns whether an object can be written as a literal: plain properties, nothing exotic. */
export function isLiteral(object: ObjectValue): boolean {
  if (object.frozen !== "no" || object.tensorProperty || object.arguments || object.prototypeOf) {
    return false;
  }
  if (object.privateFields.size > 0 || object.privates.size > 0) return false;
  if (object.exotic.kind === "array") {
    return object.slots.size === 0 && object.prototype?.real === Array.prototype;
  }
  // A promise of the object may have been created before it got the method
  if (object.exotic.kind !== "plain" || object.slots.has("then")) return false;
  return [...object.slots.values()].every((s) =>
    s.kind === "data" && s.writable && s.enumerable && s.configurable
  );
}

/** Returns whether assigning a new property would run an inherited setter, or be refused. */
export function mayRunCode(object: ObjectValue, key: string | symbol): boolean {
  for (let at = object.prototype; at; at = at.prototype) {
    const slot = at.slots.get(key);
    if (slot) return slot.kind === "accessor" || (slot.kind === "data" && !slot.writable);
    if (!at.real) continue;
    if (at.exotic.kind === "opaque") return true;
    const found = programDescriptor(at.real, key);
    if (found) return found.writable !== true;
  }
  return false;
}

/** Properties that constructing the object again provides by itself. */
export function isGivenByConstructor(object: ObjectValue, key: string | symbol, slot: Slot): boolean {
  const { exotic } = object;
  if (exotic.kind === "function" || exotic.kind === "bound") {
    return key === "prototype" && slot.kind === "data" && slot.value.kind === "object" &&
      slot.value.prototypeOf === object;
  }
  if (object.prototypeOf) {
    return key === "constructor" && slot.kind === "data" && slot.value === object.prototypeOf &&
      slot.writable && !slot.enumerable && slot.configurable;
  }
  if (object.arguments) {
    const given = argumentSlots(object);
    if (slot.kind === "accessor") return key === "callee" && !slot.configurable;
    if (slot.kind === "deleted") return false;
    if (!slot.writable || !slot.configurable) return false;
    if (key === "length") return !slot.enumerable && sameConstant(slot.value, given.length);
    if (key === Symbol.iterator) {
      return !slot.enumerable && slot.value.kind === "object" && slot.value.real === Array.prototype.values;
    }
    return slot.enumerable && given.includes(slot);
  }
  if (exotic.kind === "called") {
    if (exotic.gives !== "function" || slot.kind !== "data" || slot.writable) return false;
    return key === "length" ? sameConstant(slot.value, 1) : key === "name" && sameConstant(slot.value, "");
  }
  if (exotic.kind !== "constructed") return false;
  if (exotic.constructor.real === RegExp) {
    return key === "lastIndex" && slot.kind === "data" && slot.writable && sameConstant(slot.value, 0);
  }
  const message = exotic.args[othersIn(exotic.constructor).length];
  return key === "message" && slot.kind === "data" && sameConstants(message, slot.value);
}

/** The properties that the first arguments of an error's constructor provide. */
function othersIn({ real }: ObjectValue): readonly string[] {
  return real === AggregateError ? ["errors"] : real === SuppressedError ? ["error", "suppressed"] : [];
}

/** Properties that an object is created with and that may be deleted. */
export function givenKeys(object: ObjectValue): readonly (string | symbol)[] {
  const { exotic } = object;
  if (exotic.kind === "constructed" && exotic.constructor.real !== RegExp) {
    const others = othersIn(exotic.constructor), [message, options] = exotic.args.slice(others.length);
    const hasMessage = message !== undefined && !sameConstant(message, undefined);
    return [...others, ...hasMessage ? ["message"] : [], ...options ? ["cause"] : []];
  }
  if (exotic.kind === "called" && exotic.gives === "function") return ["length", "name"];
  if (object.prototypeOf) return isGenerator(object.prototypeOf) ? [] : ["constructor"];
  return object.arguments ? ["length", Symbol.iterator, "callee"] : [];
}

/** Returns whether it is a generator function. */
export function isGenerator({ exotic }: ObjectValue): boolean {
  return exotic.kind === "function" && exotic.closure?.code.generator === true;
}

/** Returns whether the prototype object that a function was created with has changed. */
export function isChangedPrototype(object: ObjectValue): boolean {
  const { prototypeOf, slots } = object;
  if (!prototypeOf) return false;
  return object.prototypeChanged || object.frozen !== "no" ||
    slots.size !== (isGenerator(prototypeOf) ? 0 : 1) ||
    [...slots].some(([key, slot]) => !isGivenByConstructor(object, key, slot));
}

/** The slots of the indexes of an arguments object, from 0 on. */
export function argumentSlots(object: ObjectValue): Slot[] {
  const slots: Slot[] = [];
  for (let i = 0; object.slots.has(`${i}`); i++) {
    const slot = object.slots.get(`${i}`);
    if (slot) slots.push(slot);
  }
  return slots;
}

function sameConstants(a: Value | undefined, b: Value): boolean {
  return a === b || (a?.kind === "constant" && !isPassed(a) && !isPassed(b) && sameConstant(b, a.value));
}

function sameConstant(value: Value, constant: unknown): boolean {
  return value.kind === "constant" && Object.is(value.value, constant);
}

/** The values to which an object created in the trace refers. */
export function* innerValues(object: ObjectValue): Generator<Value> {
  const { exotic } = object;
  if (object.prototype) yield object.prototype;
  if (object.prototypeOf) yield object.prototypeOf;
  switch (exotic.kind) {
    case "array":
      for (const e of exotic.elements) if (typeof e !== "symbol") yield e;
      break;
    case "map":
    case "set":
      for (const { key, value } of exotic.entries.values()) {
        yield key;
        if (exotic.kind === "map") yield value;
      }
      break;
    case "constructed":
      yield* exotic.args;
      break;
    case "native":
      yield* exotic.args;
      if (exotic.from) yield* [exotic.from.getter, exotic.from.self];
      break;
    case "called":
      yield exotic.callee;
      yield exotic.self;
      yield* exotic.args;
      break;
    case "elements":
      yield exotic.tensor;
      break;
    case "function":
      if (exotic.closure) {
        yield* exotic.closure.free;
        if (exotic.closure.home) yield exotic.closure.home;
      }
      break;
    case "bound":
      yield exotic.target;
      yield exotic.self;
      yield* exotic.args;
      break;
    case "generator":
      for (const value of exotic.frame?.registers ?? []) if (value) yield value;
      if (exotic.frame?.callee) yield exotic.frame.callee;
      if (exotic.frame?.delegates) yield exotic.frame.delegates.iterator;
      break;
    case "date":
      yield exotic.time;
      break;
    case "weakRef":
      yield exotic.target;
      break;
    case "listIterator":
      yield exotic.over;
      break;
    case "bytes":
      if (exotic.root) yield exotic.root;
      else for (const { given } of exotic.memory.cells.values()) yield given;
      break;
    case "opaque":
      if (exotic.proxy) yield* [exotic.proxy.target, exotic.proxy.handler];
      break;
    case "weak":
      for (const entry of exotic.entries) yield* entry;
      break;
    case "plain":
    case "privateName":
    case "thrown":
      break;
    default:
      exotic satisfies never;
  }
  for (const slot of object.slots.values()) {
    if (slot.kind === "data") yield slot.value;
    else if (slot.kind === "accessor") {
      yield slot.get;
      yield slot.set;
    }
  }
  for (const [, value] of privateValues(object)) yield value;
  for (const value of object.privates.values()) if (value) yield value;
}

/** The private fields of an object made in the trace, by their declarations. */
export function* privateValues({ privateFields }: ObjectValue): Generator<readonly [string, Value]> {
  for (const members of privateFields.values()) {
    for (const [declaration, member] of members) if ("kind" in member) yield [declaration, member];
  }
}
