/**
 * Lists of hooks: functions of the program that modules and optimizers call at given moments. Invariants: hooks run in
 * the order of registration, prepended ones first. A list is replaced, never changed: a hook that adds or removes others
 * hides none of those that are to run.
 */
import { checkFunction } from "./checked_input.ts";

/** Removes a hook. */
export interface HookHandle {
  /** Removes the hook; a second call does nothing. */
  remove(): void;
}

/** The position of a hook among others. */
export interface HookOptions {
  /** Whether to call it before the existing hooks; default false. */
  readonly prepend?: boolean;
}

/** A hook as it was registered. */
export interface RegisteredHook<H> {
  /** The function of the program. */
  readonly hook: H;
  /** Whether it is called even after a failure. */
  readonly always: boolean;
}

/** The hooks of one moment, in the order of their calls. */
export interface HookList<H> {
  /** The hooks; replaced at every change. */
  entries: readonly RegisteredHook<H>[];
}

/** Returns an empty list. */
export const noHooks = <H>(): HookList<H> => ({ entries: [] });

/** Adds a hook to a list. Throws DynError unless it is a function; `purpose` names it. */
export function addHook<H>(
  list: HookList<H>,
  hook: H,
  { purpose, prepend = false, always = false }: HookOptions & {
    readonly purpose: string;
    readonly always?: boolean;
  },
): HookHandle {
  checkFunction(hook, purpose);
  const entry = { hook, always };
  list.entries = prepend ? [entry, ...list.entries] : [...list.entries, entry];
  return { remove: () => removeHooks(list, (each) => each === entry) };
}

/** Removes the hooks that match. */
export function removeHooks<H>(list: HookList<H>, matches: (entry: RegisteredHook<H>) => boolean): void {
  list.entries = list.entries.filter((entry) => !matches(entry));
}
