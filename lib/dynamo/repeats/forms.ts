/**
 * Describes the structure of a module, for comparing two of them. Invariant: if two walks have equal texts, each read
 * of one returns for the other the object at the same position of its walk. No code of the program runs.
 */
import { orNull } from "../../base/errors.ts";
import { types } from "node:util";
import { NotStorable } from "../../sym/stored/forms.ts";
import type { Plain } from "../../base/recording.ts";
import {
  describe,
  isPlainTensor,
  type Numbering,
  type PropertiesOf,
  propertiesOf,
} from "../disk_cache/shapes.ts";

/** An object and everything reachable from it. */
export interface ObjectForm {
  /** Starting with itself. */
  readonly objects: readonly object[];
  readonly texts: readonly string[];
  /** Objects that are compared by identity: functions, and prototypes. */
  readonly identities: ReadonlySet<object>;
}

/** Returns whether a property of the object at a position of the walk is read; otherwise it may hold any primitive. */
export type IsRead = (at: number, key: string | symbol) => boolean;

/** Larger structures are not treated as layers. */
const MOST = 1000;

/** Numbers from here on refer to objects that are compared by identity; lower ones to positions of a walk. */
const FIRST_IDENTITY = 1e6;
const identityNumbers = new WeakMap<object, number>();
let nextIdentity = FIRST_IDENTITY;

function identityNumber(object: object): number {
  let number = identityNumbers.get(object);
  if (number === undefined) identityNumbers.set(object, number = nextIdentity++);
  return number;
}

const symbolNumbers = new WeakMap<symbol, number>();
let nextSymbol = 0;

/** A symbol, whose description another symbol may share. */
function symbolForm(symbol: symbol): Plain {
  const key = Symbol.keyFor(symbol);
  if (key !== undefined) return [key];
  let number = symbolNumbers.get(symbol);
  if (number === undefined) symbolNumbers.set(symbol, number = nextSymbol++);
  return [number];
}

/** The objects reachable from roots, starting with these; null if that is unknown, or if there are too many. */
export function objectsFrom(
  roots: readonly object[],
  read: PropertiesOf = propertiesOf,
): readonly object[] | null {
  const found = new Set(roots);
  return orNull(NotStorable, () => {
    // The set grows during the walk
    for (const object of found) {
      for (const child of childrenOf(object, read)) if (!isKnownByItself(child)) found.add(child);
      if (found.size > MOST) return null;
    }
    return [...found];
  });
}

/** The form of objects reachable from one; null if they have more state than a description covers. */
export function formOf(
  objects: readonly object[],
  isRead: IsRead,
  read: PropertiesOf = propertiesOf,
): ObjectForm | null {
  const numbers = new Map(objects.map((object, at) => [object, at])), identities = new Set<object>();
  const memory = new Map<object, number>();
  const numbering: Numbering = {
    propertiesOf: read,
    numberOf(object) {
      const number = numbers.get(object);
      if (number !== undefined) return number;
      identities.add(object);
      return identityNumber(object);
    },
    memoryOf(storage, tensor) {
      const known = memory.get(storage);
      if (known === undefined) memory.set(storage, tensor);
      return known ?? tensor;
    },
    keyOf: (key) => typeof key === "symbol" ? symbolForm(key) : key,
    isFree(object, key) {
      const at = numbers.get(object);
      // Only the length of an array is compared
      return at !== undefined && !Array.isArray(object) && !isRead(at, key);
    },
  };
  const textsOf = () => objects.map((object, at) => JSON.stringify(describe(object, at, numbering)));
  const texts = orNull(NotStorable, textsOf);
  return texts && { objects, texts, identities };
}

/** Returns the counterpart of each object of a form in another; null if the two differ. */
export function counterparts(form: ObjectForm, other: ObjectForm): ReadonlyMap<object, object> | null {
  const { objects, texts } = form;
  if (objects.length !== other.objects.length || texts.some((text, at) => text !== other.texts[at])) {
    return null;
  }
  return new Map(objects.map((object, at) => [object, other.objects[at] ?? object]));
}

/**
 * Returns whether an object is compared by identity: functions, whose variables are not visible, and modules' exports.
 */
function isKnownByItself(object: object): boolean {
  return typeof object === "function" || types.isModuleNamespaceObject(object);
}

/** The objects that an object holds, except behind accessors. */
export function childrenOf(object: object, read: PropertiesOf = propertiesOf): object[] {
  const found: object[] = [];
  const add = (value: unknown) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") found.push(value);
  };
  if (types.isProxy(object)) throw new NotStorable("a proxy");
  for (const [, descriptor] of read(object)) add(descriptor.value);
  if (isPlainTensor(object)) add(object.state?.grad);
  if (types.isMap(object)) {
    for (const [key, value] of Map.prototype.entries.call(object)) {
      add(key);
      add(value);
    }
  }
  if (types.isSet(object)) { for (const value of Set.prototype.values.call(object)) add(value); }
  return found;
}
