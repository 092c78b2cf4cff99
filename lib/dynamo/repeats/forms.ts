/**
 * Describes the structure of a module, for comparing two of them. Invariant: if two walks have equal texts, each of
 * those reads returns for the other what is at the same place of its walk. No code of the program runs.
 */
import { orNull } from "../../base/errors.ts";
import { types } from "node:util";
import { NotStorable } from "../../sym/stored/forms.ts";
import type { Plain } from "../../base/recording.ts";
import { describe, isPlainTensor, type Numbering, propertiesOf } from "../kept/shapes.ts";

/** An object and what it leads to. */
export interface ObjectForm {
  /** Itself first. */
  readonly objects: readonly object[];
  readonly texts: readonly string[];
  /** Objects that are compared by identity: functions, and prototypes. */
  readonly identities: ReadonlySet<object>;
}

/** Returns whether a property is read of the object at a place of the walk; otherwise it may hold any primitive. */
export type IsRead = (at: number, key: string | symbol) => boolean;

/** Larger structures are not treated as layers. */
const MOST = 1000;

/** Numbers of objects that are known by being themselves; those of a walk are below. */
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

/** A symbol, which may have the description of another one. */
function symbolForm(symbol: symbol): Plain {
  const key = Symbol.keyFor(symbol);
  if (key !== undefined) return [key];
  let number = symbolNumbers.get(symbol);
  if (number === undefined) symbolNumbers.set(symbol, number = nextSymbol++);
  return [number];
}

/** The objects that some lead to, themselves first; null where nobody can say, or there are too many. */
export function objectsFrom(roots: readonly object[]): readonly object[] | null {
  const found = new Set(roots);
  return orNull(NotStorable, () => {
    // A set that grows is walked to its end
    for (const object of found) {
      for (const child of childrenOf(object)) if (!isKnownByItself(child)) found.add(child);
      if (found.size > MOST) return null;
    }
    return [...found];
  });
}

/** The form of objects that one leads to; null where there is more to them than a description says. */
export function formOf(objects: readonly object[], isRead: IsRead): ObjectForm | null {
  const numbers = new Map(objects.map((object, at) => [object, at])), identities = new Set<object>();
  const memory = new Map<object, number>();
  const numbering: Numbering = {
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
      // Of an array only the length is compared
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

/** Functions, whose variables nobody sees, and what modules export. */
function isKnownByItself(object: object): boolean {
  return typeof object === "function" || types.isModuleNamespaceObject(object);
}

/** The objects that an object holds, accessors apart. */
export function childrenOf(object: object): object[] {
  const found: object[] = [];
  const add = (value: unknown) => {
    if ((typeof value === "object" && value !== null) || typeof value === "function") found.push(value);
  };
  if (types.isProxy(object)) throw new NotStorable("a proxy");
  for (const [, descriptor] of propertiesOf(object)) add(descriptor.value);
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
