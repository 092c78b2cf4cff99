/**
 * Reads at indices and keys that may differ between calls: each call computes the place, and a guard checks the kind of
 * what is found there. Invariant: only objects of the program that the trace has not changed are read so, and only as
 * own data properties, entries or elements.
 */
import { hasKey, valueAtKey } from "../../base/collections.ts";
import { isChanged } from "../codegen/effects.ts";
import { indexIn, isIn } from "../guards/reader.ts";
import { elementSource } from "../source.ts";
import { type HostExpression, placesIn } from "../variables/host_number.ts";
import { isPassed, type ObjectValue, type Value } from "../variables/value.ts";
import type { NumberValue } from "../variables/number_value.ts";
import type { Interpreter } from "./interpreter.ts";

/** A number or string that differs between calls, as each call computes it. */
interface ChangingKey {
  readonly at: HostExpression;
  readonly hint: number | string;
}

/** A value as a key that each call computes before the graph; null for all others. */
function changingKey(value: Value | undefined): ChangingKey | null {
  if (value?.kind === "number") {
    return isPlace(value.expression) ? { at: value.expression, hint: value.hint } : null;
  }
  if (!value || value.kind !== "constant" || !isPassed(value) || typeof value.hint !== "string") return null;
  const { text, hint } = value;
  return "kind" in text && text.kind === "source" ? { at: text, hint } : null;
}

/** Returns whether guards can compute an index: from what exists before the call. */
export function isPlace(index: HostExpression): boolean {
  return placesIn(index) !== null;
}

/** The element of a list so far behind an index that may differ between calls; null: the index must be known. */
export function elementAtPlace(
  m: Interpreter,
  list: ObjectValue,
  ...[index, behind = 0]: readonly [index: NumberValue, behind?: number]
): Value | null {
  const key = changingKey(index);
  if (list.exotic.kind !== "array" || !key) return null;
  const more: HostExpression = { kind: "literal", value: behind };
  const at: HostExpression = behind === 0
    ? key.at
    : { kind: "binary", operator: "+", left: key.at, right: more };
  return ownElement(m, list, { at, hint: index.hint + behind });
}

/** The own property of a plain object at a string that may differ between calls; null: the string must be known. */
export function propertyAtText(m: Interpreter, object: Value, name: Value): Value | null {
  if (object.kind !== "object" || object.exotic.kind !== "plain" || name.kind === "number") return null;
  const key = changingKey(name);
  return key && ownElement(m, object, key);
}

function ownElement(m: Interpreter, object: ObjectValue, { at, hint }: ChangingKey): Value | null {
  const { real, source } = object;
  if (real === null || !source || isChanged(object)) return null;
  const found: unknown = Reflect.getOwnPropertyDescriptor(real, hint)?.value;
  if (found === undefined) return null;
  relyOnList(m, object);
  return m.wrapper.wrap(found, elementSource(source, at));
}

/** Guards that a list is one; other objects are checked as such where they are found. */
function relyOnList(m: Interpreter, { exotic, source }: ObjectValue): void {
  if (source && exotic.kind === "array" && !exotic.loaded) m.output.guard({ kind: "list", source });
}

/** The answer of a Map or Set about a key that may differ between calls; null: the key must be known. */
export function answerAbout(
  m: Interpreter,
  { object, question, key }: {
    readonly object: ObjectValue;
    readonly question: "get" | "has";
    readonly key: Value | undefined;
  },
): Value | null {
  const { real, source } = object, changing = changingKey(key);
  if (!changing || real === null || !source || isChanged(object)) return null;
  const found = question === "get" ? valueAtKey(real, changing.hint) : hasKey(real, changing.hint);
  return m.wrapper.wrap(found, elementSource(source, changing.at, question));
}

/** The answer of a list about an element that may differ between calls; null: all elements must be compared. */
export function searchAnswer(
  m: Interpreter,
  { list, question, wanted }: {
    readonly list: ObjectValue;
    readonly question: "indexOf" | "includes";
    readonly wanted: Value | undefined;
  },
): Value | null {
  const { real, source, exotic } = list, changing = changingKey(wanted);
  if (!changing || exotic.kind !== "array" || !source || isChanged(list)) return null;
  const found = (question === "indexOf" ? indexIn : isIn)(real, changing.hint);
  if (found === undefined) return null;
  relyOnList(m, list);
  return m.wrapper.wrap(found, elementSource(source, changing.at, question));
}
