/**
 * Validates JSON data from files of earlier processes, piece by piece. Invariant: malformed data throws `DamagedForm`.
 */
import type { Plain } from "../../base/recording.ts";

/** A value cannot be serialised; the message says why. */
export class NotStorable extends Error {
  override readonly name = "NotStorable";
}

/** Data from an earlier process are malformed. */
export class DamagedForm extends Error {
  override readonly name = "DamagedForm";
}

/** Returns data that must be a list. */
export function listIn(form: Plain | undefined): readonly Plain[] {
  if (isPlainList(form)) return form;
  throw new DamagedForm(`Expected a list but found ${typeof form}`);
}

/** Returns data that must be a record. */
export function recordIn(form: Plain | undefined): { readonly [key: string]: Plain } {
  if (typeof form === "object" && form !== null && !isPlainList(form)) return form;
  throw new DamagedForm(`Expected a record but found ${typeof form}`);
}

/** Returns data that must be a text. */
export function textIn(form: Plain | undefined): string {
  if (typeof form === "string") return form;
  throw new DamagedForm(`Expected a text but found ${typeof form}`);
}

/** Returns data that must be a number. */
export function numberIn(form: Plain | undefined): number {
  if (typeof form === "number") return form;
  throw new DamagedForm(`Expected a number but found ${typeof form}`);
}

function isPlainList(form: Plain | undefined): form is readonly Plain[] {
  return Array.isArray(form);
}
