/**
 * Validates JSON data from files of former processes, piece by piece. Invariant: malformed data throws `DamagedForm`.
 */
import type { Plain } from "../../base/recording.ts";

/** A value cannot be kept between processes; the message says why. */
export class NotStorable extends Error {
  override readonly name = "NotStorable";
}

/** Data from a former process does not fit. */
export class DamagedForm extends Error {
  override readonly name = "DamagedForm";
}

/** The list that data should be. */
export function listIn(form: Plain | undefined): readonly Plain[] {
  if (isPlainList(form)) return form;
  throw new DamagedForm(`Expected a list but found ${typeof form}`);
}

/** The record that data should be. */
export function recordIn(form: Plain | undefined): { readonly [key: string]: Plain } {
  if (typeof form === "object" && form !== null && !isPlainList(form)) return form;
  throw new DamagedForm(`Expected a record but found ${typeof form}`);
}

/** The text that data should be. */
export function textIn(form: Plain | undefined): string {
  if (typeof form === "string") return form;
  throw new DamagedForm(`Expected a text but found ${typeof form}`);
}

/** The number that data should be. */
export function numberIn(form: Plain | undefined): number {
  if (typeof form === "number") return form;
  throw new DamagedForm(`Expected a number but found ${typeof form}`);
}

function isPlainList(form: Plain | undefined): form is readonly Plain[] {
  return Array.isArray(form);
}
