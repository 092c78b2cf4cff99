/**
 * Classes of calls cached between processes, with the code of their programs: created by earlier processes, or shipped
 * with dyn. Invariant: the key contains everything that making a class depends on, including dyn itself and the
 * settings, and is compared as a whole; custom ops are not cached.
 */
import { config, InductorConfig, settingChanges } from "../base/config.ts";
import type { DType } from "../base/dtype.ts";
import { messageOf } from "../base/errors.ts";
import { cachedEntry, cacheSoon, dropEntry, type EntryKind } from "../base/cached_entries.ts";
import { preferringOwnBuiltins } from "../base/own_builtins.ts";
import { fingerprintText } from "../base/fingerprint.ts";
import { ownIdentity } from "../base/own_sources.ts";
import { shippedEntry } from "../base/shipped_entries.ts";
import { counters } from "../base/logs.ts";
import type { Plain } from "../base/recording.ts";
import { dtype } from "../graph/stored/values.ts";
import type { ClassSource } from "../loops/device.ts";
import { type Codec, flag, list, number, oneOf, record, text } from "../sym/stored/codec.ts";
import { dim } from "../sym/stored/dims.ts";
import { DamagedForm, listIn, recordIn } from "../sym/stored/forms.ts";
import { type Assumption, type ClassCall, ClassSizes } from "./class_sizes.ts";
import type { Dim } from "../sym/expr.ts";

/** A result of a class. */
export interface ClassResult {
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
  readonly dtype: DType;
}

/** A class without its code. */
export interface CachedClass {
  readonly sizes: ClassSizes;
  readonly programSizes: readonly Dim[];
  readonly reads: readonly number[];
  readonly results: readonly ClassResult[];
  /** Its program. */
  readonly kernelCount: number;
  /** The complete text of its program, by which classes share one, or its `shippedText`. */
  readonly text: string;
}

/** The settings and versions on which all cached entries depend. */
interface Identity {
  readonly text: string;
  /** Whether the entries shipped with dyn are valid under these settings. */
  readonly isShipped: boolean;
}

/** The identity, as long as the settings are unchanged. */
let known: { readonly changes: number; readonly identity: Identity | null } | undefined;

/** The current identity; null if nothing is cached. */
function identity(): Identity | null {
  const changes = settingChanges();
  if (known?.changes !== changes) known = { changes, identity: preferringOwnBuiltins(identityNow) };
  return known.identity;
}

function identityNow(): Identity | null {
  const own = config.graphCache ? ownIdentity() : null;
  if (own === null) return null;
  const { trace: _, ...settings } = config.inductor;
  return {
    text: JSON.stringify({ own, settings }),
    isShipped: decisive(config.inductor) === decisive(new InductorConfig()),
  };
}

/** The settings that classes and their WebAssembly depend on; the others are about compilers, caches and graphs. */
function decisive(settings: InductorConfig): string {
  const {
    trace: _,
    tier: _1,
    cppThreads: _2,
    cppTimeout: _3,
    errorOnFallback: _4,
    kernelCache: _5,
    ...others
  } = settings;
  return JSON.stringify(others);
}

function keyOf(key: string): string | null {
  const all = identity();
  return all === null ? null : `${all.text}\n${key}`;
}

/** A key without the environment that it depends on, by which shipped entries are found. */
export const shippedKey = (key: string): string => key.slice(key.indexOf("\n") + 1);

/** Returns the short name of a program whose code dyn ships. */
export const shippedText = (text: string): string => `shipped ${fingerprintText(text)}`;

/** The entry under a key, cached or shipped with dyn; null if there is none. */
function kept<T>(kind: EntryKind, key: string | null, read: (form: Plain) => T): T | null {
  if (key === null) return null;
  const own = cachedEntry(kind, key);
  const found = own ?? (identity()?.isShipped ? shippedEntry(shippedKey(key)) : undefined);
  if (found === undefined) return null;
  try {
    const made = read(JSON.parse(found));
    counters.add(`cached_${kind}`, own === undefined ? "shipped" : "hits");
    return made;
  } catch (error) {
    if (!(error instanceof DamagedForm || error instanceof SyntaxError)) throw error;
    dropEntry(kind, key, messageOf(error));
    return null;
  }
}

const assumption: Codec<Assumption> = record<Assumption>({
  relation: oneOf("eq", "lt", "le"),
  difference: dim,
  outcome: flag,
});

/** A class without its sizes, over their symbols. */
const rest = record<Omit<CachedClass, "sizes">>({
  programSizes: list(dim),
  reads: list(number),
  results: list(record<ClassResult>({ shape: list(dim), strides: list(dim), dtype })),
  kernelCount: number,
  text,
});

/**
 * The classes of a family that earlier processes created, empty if its calls run op by op; null if nothing is known.
 * `call`: one of its calls.
 */
export function cachedClasses(family: string, call: ClassCall): readonly CachedClass[] | null {
  return kept("classes", keyOf(family), (form) =>
    listIn(form).map((each): CachedClass => {
      const { hints = null, assumptions = null, rest: others = null } = recordIn(each);
      const none = new ClassSizes(call).numbered;
      const sizes = new ClassSizes(call, list(number).read(hints, none)), symbols = sizes.numbered;
      sizes.assumeAgain(list(assumption).read(assumptions, symbols));
      return { sizes, ...rest.read(others, symbols) };
    }));
}

/** Caches the classes of a family, replacing any earlier ones. */
export function cacheClasses(family: string, classes: readonly CachedClass[]): void {
  const key = keyOf(family);
  if (key === null) return;
  cacheSoon("classes", key, () =>
    JSON.stringify(classes.map(({ sizes, ...others }): Plain => {
      const symbols = sizes.numbered;
      return {
        hints: sizes.hints,
        assumptions: list(assumption).write(sizes.assumptions, symbols),
        rest: rest.write(others, symbols),
      };
    })));
}

/** Returns the cache access for the code of a program. */
export function cachedCode(program: string): Pick<ClassSource, "cached" | "store"> {
  const key = keyOf(program);
  return {
    cached: kept("programs", key, (form) => form),
    store(form) {
      if (key !== null) cacheSoon("programs", key, () => JSON.stringify(form()));
    },
  };
}
