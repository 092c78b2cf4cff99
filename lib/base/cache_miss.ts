/**
 * Explains a cache miss: a line that lists how the nearest existing key differs, piece by piece. Invariant: it only
 * reads keys, and decides nothing.
 */
import { cachedKeys, type EntryKind } from "./cached_entries.ts";

/** Differences that are listed; the rest is counted. */
const SHOWN = 3;
/** With this many differences two keys are unrelated. */
const FAR = 40;
const LONGEST = 60;

/** Returns how the nearest existing key differs from a missed one, or null if none is similar. */
export function nearestDifference(kind: EntryKind, key: string): string | null {
  const wanted = parsed(key);
  let nearest: readonly string[] | null = null;
  for (const other of cachedKeys(kind)) {
    const found = differences(wanted, parsed(other));
    if (found.length <= FAR && found.length < (nearest?.length ?? Infinity)) nearest = found;
  }
  if (nearest === null) return null;
  const more = nearest.length > SHOWN ? ` and ${nearest.length - SHOWN} more` : "";
  return `the nearest saved entry has ${nearest.slice(0, SHOWN).join(", ")}${more}`;
}

/** Parses a key as data, including texts in it that are data themselves. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(
      text,
      (_, value) => typeof value === "string" && value.startsWith("{") ? parsed(value) : value,
    );
  } catch {
    return text;
  }
}

/** Returns the differences between two pieces of data, by path: the value found, and the one wanted. */
function differences(wanted: unknown, found: unknown, path = ""): string[] {
  if (Object.is(wanted, found)) return [];
  if (!isObject(wanted) || !isObject(found)) return [`${path} ${shown(found)} instead of ${shown(wanted)}`];
  const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]), all: string[] = [];
  for (const key of keys) {
    // The exact number beyond this does not matter
    if (all.length > FAR) break;
    all.push(...differences(wanted[key], found[key], path === "" ? key : `${path}.${key}`));
  }
  return all;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
