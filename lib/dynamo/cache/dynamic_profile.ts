/**
 * The changed sizes and numbers of a job, cached between its processes under `config.jobId`: a later process makes them
 * symbols immediately and compiles once instead of twice. Invariant: a profile only selects symbols, so that a stale or
 * foreign one costs speed and never correctness.
 */
import { config } from "../../base/config.ts";
import { cachedEntry, cacheEntry } from "../../base/cached_entries.ts";
import { logs } from "../../base/logs.ts";

/** The profile of one function, or of a resumed part. */
export interface DynamicProfile {
  /** Returns whether a number has changed, or a dimension of the tensor at a place. */
  changed(place: string, dim: number | null): boolean;
  /** Records such a change. */
  note(place: string, dim: number | null): void;
}

/** Places by function: `L["n"]` for numbers, `L["x"]:0` for dimensions. */
type Decisions = Map<string, Set<string>>;

const loaded = new Map<string, Decisions>();

/** Forgets the profiles read so far, so that they are read again. */
export function forgetProfiles(): void {
  loaded.clear();
}

/** The decisions under a key, read once. */
function decisionsOf(key: string): Decisions {
  let found = loaded.get(key);
  if (!found) loaded.set(key, found = parse(cachedEntry("profiles", key) ?? "{}"));
  return found;
}

function parse(text: string): Decisions {
  const found: Decisions = new Map();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    logs.emit("dynamic", "Saved decisions about dynamic sizes cannot be read and are ignored");
  }
  if (typeof value !== "object" || value === null) return found;
  for (const [unit, places] of Object.entries(value)) {
    if (!Array.isArray(places)) continue;
    found.set(unit, new Set(places.filter((place) => typeof place === "string")));
  }
  return found;
}

function keep(key: string, unit: string, place: string): void {
  const known = decisionsOf(key), places = known.get(unit) ?? new Set();
  if (places.has(place)) return;
  known.set(unit, places.add(place));
  const text = JSON.stringify(Object.fromEntries([...known].map(([name, set]) => [name, [...set]])));
  cacheEntry("profiles", key, text);
}

const keys = (...names: readonly string[]): string[] => names.filter((name) => name !== "");

/**
 * The profile of a function; `unit` returns its name, which is the same in all processes; it is called once there is a
 * job.
 */
export function profileOf(unit: () => string): DynamicProfile {
  const placeOf = (place: string, dim: number | null) =>
    `${place.replace(/(?<=["\])])#\d+/g, "")}${dim === null ? "" : `:${dim}`}`;
  return {
    changed: (place, dim) =>
      keys(config.jobId, config.pgoReadKey).some((key) =>
        decisionsOf(key).get(unit())?.has(placeOf(place, dim))
      ),
    note: (place, dim) => {
      for (const key of keys(config.jobId, config.pgoWriteKey)) keep(key, unit(), placeOf(place, dim));
    },
  };
}
