/**
 * What a module consists of, so that two of them can be told apart or not. Input: an object; output: all objects that it
 * leads to, in the order of a walk, with a text for each. Invariant: where two walks give equal texts, each read of the
 * one object that a trace can make gives of the other what stands at the same place of its walk. No code of the program
 * runs.
 */
import { types } from "node:util";
import { NotStorable } from "../../sym/stored/forms.ts";
import { describe, isPlainTensor, type Numbering, propertiesOf } from "../kept/shapes.ts";

/** An object and what it leads to. */
export interface ObjectForm {
  /** Itself first. */
  readonly objects: readonly object[];
  readonly texts: readonly string[];
  /** What is only known by being itself: functions, and what objects inherit from. */
  readonly identities: ReadonlySet<object>;
}

/** Larger structures are no layers. */
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

/** The form of an object; null where there is more to it than a description says, or too much of it. */
export function formOf(root: object): ObjectForm | null {
  const numbers = new Map<object, number>([[root, 0]]), objects = [root], identities = new Set<object>();
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
  };
  try {
    for (const object of objects) {
      for (const child of childrenOf(object)) {
        if (numbers.has(child) || isKnownByItself(child)) continue;
        if (objects.length === MOST) return null;
        numbers.set(child, objects.length);
        objects.push(child);
      }
    }
    const texts = objects.map((object, at) => JSON.stringify(describe(object, at, numbering)));
    return { objects, texts, identities };
  } catch (error) {
    if (error instanceof NotStorable) return null;
    throw error;
  }
}

/** What of each object of a form stands in its place in another; null where the two differ. */
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
