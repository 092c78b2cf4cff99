/**
 * Identifies builtins by their paths, among those that dyn found when it was loaded. Invariant: as long as no builtin
 * has been replaced, a path refers to the same builtin in all processes of one version of the runtime, or is refused.
 */
import { isReference } from "../../base/tree.ts";
import type { Plain } from "../../base/recording.ts";
import { fingerprintText } from "../../base/fingerprint.ts";
import { originalBuiltins } from "../../base/original_builtins.ts";
import { Parameter } from "../../nn/parameter.ts";
import { Tensor } from "../../tensor/tensor.ts";
import { AsyncFromSync } from "../bytecode/iteration.ts";
import { Box, LiveView, runtime } from "../bytecode/runtime.ts";
import * as polyfills from "../functions/polyfills.ts";
import { DamagedForm, listIn, numberIn } from "../../sym/stored/forms.ts";
import { isNative } from "../frame/source_text.ts";
import { describeKey } from "./plain_values.ts";

/** A part of a property of an original builtin, by their numbers. */
type Part = readonly [builtin: number, key: number, which: number];

/** The path of each builtin; its text is only written when it is asked for. */
let places: Map<object, string | Part> | null = null;

/** Objects that generated code and traces use without a path to them, by name. */
function roots(): [string, unknown][] {
  return [
    ["globalThis", globalThis],
    ["Tensor.prototype", Tensor.prototype],
    ["Parameter.prototype", Parameter.prototype],
    ["Box.prototype", Box.prototype],
    ["LiveView.prototype", LiveView.prototype],
    ["async", Object.getPrototypeOf(async () => {})],
    ["generator", Object.getPrototypeOf(function* () {})],
    ["asyncGenerator", Object.getPrototypeOf(async function* () {})],
    ["callee", calleeOfArguments()],
    ["asyncIterator", runtime.asyncIterator],
    ["AsyncFromSync.next", AsyncFromSync.prototype.next],
    ...Object.entries(polyfills),
  ];
}

/** The accessor that throws, which arguments have in place of a callee. */
function calleeOfArguments(): unknown {
  return Object.getOwnPropertyDescriptor(arguments, "callee")?.get;
}

/** Returns the contents of a builtin's property: value, getter and setter, in this order. */
const partsOf = ({ value, get, set }: PropertyDescriptor): readonly unknown[] => [value, get, set];

const keyForm = (key: PropertyKey): Plain => describeKey(typeof key === "number" ? `${key}` : key);

function findPlaces(): Map<object, string | Part> {
  const found = new Map<object, string | Part>();
  const add = (value: unknown, place: string | Part) => {
    if (isReference(value) && !found.has(value)) found.set(value, place);
  };
  for (const [name, value] of roots()) add(value, JSON.stringify(name));
  const originals = originalBuiltins();
  originals.forEach(({ object }, i) => add(object, JSON.stringify([i])));
  originals.forEach(({ keys, descriptors }, i) => {
    for (let k = 0; k < keys.length; k++) {
      const { value, get, set } = descriptors[k] ?? {};
      if (typeof value === "function") add(value, [i, k, 0]);
      if (get) add(get, [i, k, 1]);
      if (set) add(set, [i, k, 2]);
    }
  });
  return found;
}

/** Returns the text of a path; undefined for functions of a program, which replaced a builtin before dyn was loaded. */
function textOf(object: object, [i, k, which]: Part): string | undefined {
  const key = originalBuiltins()[i]?.keys[k];
  return key === undefined || !isNative(object) ? undefined : JSON.stringify([i, keyForm(key), which]);
}

let layout: string | null = null;

/** Returns a text that identifies this set of builtins: paths are comparable between runtimes with equal texts. */
export function layoutOfBuiltins(): string {
  return layout ??= fingerprintText(
    JSON.stringify(originalBuiltins().map(({ keys }) => keys.map(keyForm))),
  );
}

/** Returns the path of a builtin; undefined for other objects. */
export function placeOfBuiltin(object: object): string | undefined {
  places ??= findPlaces();
  const place = places.get(object);
  if (place === undefined || typeof place === "string") return place;
  const text = textOf(object, place);
  if (text === undefined) places.delete(object);
  else places.set(object, text);
  return text;
}

/**
 * Returns whether the object at a path is a builtin of the runtime, which is unchanged as long as no builtin was
 * replaced.
 */
export function isAsLoaded(place: string): boolean {
  return place.startsWith("[");
}

/** The builtin at a path. Throws DamagedForm if there is none. */
export function builtinAt(place: string): object {
  const form: Plain = JSON.parse(place);
  let found: unknown;
  if (typeof form === "string") found = new Map(roots()).get(form);
  else {
    const [i, key, which] = listIn(form), original = originalBuiltins()[numberIn(i)];
    found = original?.object;
    if (key !== undefined && original) {
      const wanted = JSON.stringify(key);
      const k = original.keys.findIndex((each) => JSON.stringify(keyForm(each)) === wanted);
      const each = partsOf(original.descriptors[k] ?? {})[numberIn(which)];
      found = isNative(each) ? each : undefined;
    }
  }
  if (isReference(found)) return found;
  throw new DamagedForm(`Expected a builtin but found ${place}`);
}
