/**
 * The builtins as they were when dyn loaded, for dyn's own work: programs may replace, add and delete methods of
 * builtins, which must not affect the parser and the tracer. While dyn works, the program's replacements are set aside;
 * they can be looked up. Invariant: the program never sees its builtins set aside: they are restored whenever code of
 * the program runs.
 */

import { definingMethods } from "./defining_methods.ts";
import { ownDescriptor } from "./isolated_objects.ts";
import { keepingLastMatch, withProgramsMatch } from "./last_match.ts";
import { runsAsLoaded } from "./loaded_builtins.ts";
import {
  append,
  differAsBefore,
  type Difference,
  findDifferences,
  hasOwnRecords,
  isIndex,
  restoringIsAsLoaded,
} from "./original_builtins.ts";

const { ownKeys, getOwnPropertyDescriptor, deleteProperty, defineProperty: put } = Reflect;

/** The original: calls of compiled functions go through it. */
export const { apply }: { readonly apply: typeof Reflect.apply } = Reflect;

/** Returns whether restoring a plan from an earlier process depends on no replaced builtin. */
export function restoresAsLoaded(): boolean {
  return stuck === null && ((setAside !== null && isComplete) || untouched || restoringIsAsLoaded());
}

/** Returns whether every builtin is unchanged. */
export function hasOwnBuiltins(): boolean {
  return stuck === null &&
    (untouched || (setAside === null ? findDifferences().length === 0 : setAside.length === 0));
}

/** Whether work is in progress that found all builtins unchanged, and no code of the program has run since. */
let untouched = false;
/** The differences that are currently set aside, or null. */
let setAside: readonly Difference[] | null = null;
/** Whether these are all there are, as far as is known: work at run time sets the known ones aside. */
let isComplete = true;
/** Differences that were found when all were set aside the last time, and their tables. */
let lastFound: { readonly differences: readonly Difference[]; readonly tables: Replacements } | null = null;
let replacements: Replacements | null = null;
/** The replacement that stays during the current work since it cannot be undone, in words, or null. */
let stuck: string | null = null;

type Replacements = ReadonlyMap<object, ReadonlyMap<PropertyKey, Difference>>;

/** The program has replaced builtins in a way that cannot be set aside. */
export class ReplacedBuiltins extends Error {
  override readonly name = "ReplacedBuiltins";
}

/** Runs work of dyn. Throws ReplacedBuiltins if it cannot be isolated from the program's builtins. */
export function withOwnBuiltins<T>(work: () => T): T {
  if (stuck !== null) throw new ReplacedBuiltins(stuck);
  if (setAside !== null && !isComplete) setAsideOthers(setAside);
  return setAside !== null || untouched ? work() : keepingLastMatch(() => isolated(work));
}

/** Beside known differences, sets all others aside, until the work ends that has set aside these. */
function setAsideOthers(known: readonly Difference[]): void {
  const others = findDifferences();
  isComplete = true;
  if (others.length === 0) return;
  const all: Difference[] = [];
  appendAll(all, known);
  appendAll(all, others);
  setAside = all;
  try {
    putOriginals(others);
    replacements = byObject(all);
  } catch (error) {
    // Until that work ends, as beside replacements that cannot be undone
    putBack();
    putPossible();
    throw error;
  }
}

function isolated<T>(work: () => T): T {
  const differences = findDifferences();
  if (differences.length === 0) {
    untouched = true;
    try {
      return work();
    } finally {
      untouched = false;
    }
  }
  setAside = differences;
  try {
    putOriginals(differences);
    replacements = byObject(differences);
    lastFound = { differences, tables: replacements };
    return work();
  } finally {
    // Code of the program that ran meanwhile may have replaced others
    setAside ??= differences;
    putBack();
  }
}

/** Like `withOwnBuiltins`, but keeps replacements that cannot be undone: for work that must continue. */
export function preferringOwnBuiltins<T>(work: () => T): T {
  if (stuck !== null) return work();
  try {
    return withOwnBuiltins(work);
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
    return isStuck() ? work() : keepingLastMatch(() => besideStuck(work));
  }
}

/** Returns whether work is in progress beside a replacement that cannot be undone. */
const isStuck = (): boolean => stuck !== null;

function besideStuck<T>(work: () => T): T {
  try {
    putPossible();
    return work();
  } finally {
    putBack();
  }
}

/** Sets aside what can be; beside elements that all arrays inherit forever, lists are filled by definitions. */
function putPossible(): void {
  const differences = findDifferences(), possible: Difference[] = [];
  let standsInLists = false;
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (!each) continue;
    if (change(each, each.original)) append(possible, each);
    else {
      stuck ??= permanent(causeAmong(differences, each));
      standsInLists ||= each.original === undefined && isIndex(each.key);
    }
  }
  // Put back in this order: a method that the program has replaced, too, is its own again
  setAside = standsInLists ? [...definitions(), ...possible] : possible;
  replacements = byObject(setAside);
}

/** Sets aside what the last work has found, if it is all that matters at run time; returns whether it is. */
function setAsideKnown(): boolean {
  if (lastFound === null || !differAsBefore(lastFound.differences)) return false;
  const { differences, tables } = lastFound;
  setAside = differences;
  replacements = tables;
  isComplete = false;
  try {
    putOriginals(differences);
    if (runsAsLoaded()) return true;
  } catch (error) {
    putBack();
    if (!(error instanceof ReplacedBuiltins)) throw error;
    return false;
  }
  putBack();
  return false;
}

function putBack(): void {
  const now = setAside;
  replacements = setAside = stuck = null;
  isComplete = true;
  if (now) putReplaced(now);
}

function definitions(): Difference[] {
  const { prototype: object } = Array, owner = "Array.prototype";
  return definingMethods.map(({ key, original }) => {
    return { object, owner, key, original, replaced: ownDescriptor(object, key) };
  }).filter((each) => change(each, each.original));
}

function appendAll(list: Difference[], items: readonly Difference[]): void {
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if (item) append(list, item);
  }
}

const { error: print } = console;
let isSaid = false;

/** Runs a report of dyn; prints one line on stderr instead if the program's builtins cannot be set aside. */
export function reportWithOwnBuiltins(report: () => void): void {
  try {
    withOwnBuiltins(report);
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
    if (!isSaid) print(`dyn: compiled functions run uncompiled, because ${error.message}`);
    isSaid = true;
  }
}

/** Like `preferringOwnBuiltins`, for work that must be fast: it first checks only the builtins used at run time. */
export function withRuntimeBuiltins<T>(work: () => T): T {
  if (runsAsLoaded()) return work();
  return setAside === null && stuck === null && lastFound !== null
    ? keepingLastMatch(() => besideKnown(work))
    : preferringOwnBuiltins(work);
}

/** Sets aside what is known: reading all builtins takes twenty times as long as a call of a small graph. */
function besideKnown<T>(work: () => T): T {
  if (!setAsideKnown()) return preferringOwnBuiltins(work);
  try {
    return work();
  } finally {
    putBack();
  }
}

/**
 * Like `withRuntimeBuiltins`, for work that reads records: these inherit what the program has given all objects.
 * `otherwise` gives the result of work that fails beside replacements that cannot be undone, which is reported.
 */
export function withOwnRecords<T>(work: () => T, otherwise: (error: unknown) => T): T {
  if (hasOwnRecords()) return work();
  try {
    return withOwnBuiltins(work);
  } catch (error) {
    if (!(error instanceof ReplacedBuiltins)) throw error;
  }
  try {
    return work();
  } catch (error) {
    const result = otherwise(error);
    reportWithOwnBuiltins(() => {});
    return result;
  }
}

/** Runs code of the program in the middle of dyn's work. */
export function asProgram<T>(run: () => T): T {
  return withProgramsMatch(() => withReplaced(run));
}

function withReplaced<T>(run: () => T): T {
  const former = setAside, wasStuck = stuck !== null, wasComplete = isComplete;
  untouched = false;
  if (former === null) return run();
  putBack();
  let result: T;
  try {
    result = run();
  } finally {
    if (wasStuck) putPossible();
    else if (wasComplete || !setAsideKnown()) {
      const now = findDifferences();
      putOriginals(now);
      setAside = now;
      replacements = byObject(now);
    }
  }
  return result;
}

function change({ object, key }: Difference, descriptor: PropertyDescriptor | undefined): boolean {
  return descriptor ? put(object, key, descriptor) : deleteProperty(object, key);
}

function putOriginals(differences: readonly Difference[]): void {
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (!each || change(each, each.original)) continue;
    throw new ReplacedBuiltins(permanent(causeAmong(differences, each)));
  }
}

function permanent({ key, owner }: Difference): string {
  return `${String(key)} of ${owner} was replaced permanently`;
}

/** The difference because of which one cannot be undone: elements keep the length of arrays from being put back. */
function causeAmong(differences: readonly Difference[], stuck: Difference): Difference {
  for (let i = 0; stuck.key === "length" && i < differences.length; i++) {
    const each = differences[i];
    if (each?.object === stuck.object && each.original === undefined && !each.replaced?.configurable) {
      return each;
    }
  }
  return stuck;
}

function putReplaced(differences: readonly Difference[]): void {
  for (let i = 0; i < differences.length; i++) {
    const each = differences[i];
    if (each) change(each, each.replaced);
  }
}

function byObject(differences: readonly Difference[]): Map<object, Map<PropertyKey, Difference>> {
  const found = new Map<object, Map<PropertyKey, Difference>>();
  for (const each of differences) {
    const known = found.get(each.object);
    if (known) known.set(each.key, each);
    else found.set(each.object, new Map([[each.key, each]]));
  }
  return found;
}

/** An own property as the program has it. */
export function programDescriptor(object: object, key: PropertyKey): PropertyDescriptor | undefined {
  const replaced = replacements?.get(object)?.get(key);
  return replaced ? replaced.replaced : getOwnPropertyDescriptor(object, key);
}

/** The own keys of an object as the program has them. */
export function programKeys(object: object): (string | symbol)[] {
  const keys = ownKeys(object);
  const replaced = replacements?.get(object);
  if (!replaced) return keys;
  const kept = keys.filter((key) => replaced.get(key)?.replaced !== undefined || !replaced.has(key));
  for (const [key, { original, replaced: now }] of replaced) {
    if (original === undefined && now !== undefined && typeof key !== "number") kept.push(key);
  }
  return kept;
}

/** Returns whether the program has replaced or deleted a property of a builtin object. */
export function isReplaced(object: object): boolean {
  const replaced = replacements?.get(object);
  return replaced !== undefined && [...replaced.values()].some(({ original }) => original !== undefined);
}
