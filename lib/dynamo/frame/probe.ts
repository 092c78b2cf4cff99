/**
 * The entry point through which functions of rewritten modules expose their variables.
 *
 * Invariant: `probe` is null whenever code of the program runs, so that checking it costs a function one compare.
 * Rewritten modules import this file; it imports nothing.
 */

/** Returns the accessors of each of some variables. */
export type HandOut = () => readonly (readonly ((...args: readonly unknown[]) => unknown)[])[];
/**
 * The tag that a rewritten function calls with a template instead of running its body: with its number, an accessor of
 * its module's variables, and one of its other variables.
 */
export type Probe = (template: TemplateStringsArray, ...given: readonly [number, HandOut, HandOut?]) => void;

/** Set only during a probing call. */
export let probe: Probe | null = null;

/** The exposed variables. */
export interface Handed {
  readonly id: number;
  readonly module: HandOut;
  readonly own: HandOut | undefined;
}

/** Skips everything that a function would do before its body begins. */
const STOP: unique symbol = Symbol("stop");

/** Runs `call`, which enters one rewritten function, and returns what that exposes; null if nothing. */
export function probing(call: () => void, cutOff: boolean): Handed | null {
  const found: Handed[] = [];
  probe = (_, id, module, own) => {
    probe = null;
    found.push({ id, module, own });
    if (cutOff) throw STOP;
  };
  try {
    call();
  } catch (error) {
    if (error !== STOP) throw error;
  } finally {
    probe = null;
  }
  return found[0] ?? null;
}

const classes = new WeakMap<object, Handed>();

/** Called by a rewritten class while it is created. */
export function noteClass(
  _: TemplateStringsArray,
  ...[id, made, module, own]: readonly [number, object, HandOut, HandOut?]
): void {
  classes.set(made, { id, module, own });
}

/** Returns what a class exposed when it was created; undefined if it is not in a rewritten module. */
export function handedByClass(made: object): Handed | undefined {
  return classes.get(made);
}
