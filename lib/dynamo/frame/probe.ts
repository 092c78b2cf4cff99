/**
 * The door through which functions of rewritten modules hand out their variables.
 *
 * Input: what rewritten functions and classes call. Output: to the frame room, what they handed out.
 * Invariant: `probe` is null whenever code of the program runs, so that asking for it costs a function one compare.
 * Rewritten modules import this file; it imports nothing.
 */

/** Gives for each of some variables the functions that reach it. */
export type HandOut = () => readonly (readonly ((...args: readonly unknown[]) => unknown)[])[];
/**
 * What a rewritten function tags a template with in place of its body: with its number, what gives its module's
 * variables, and what gives its others.
 */
export type Probe = (template: TemplateStringsArray, ...given: readonly [number, HandOut, HandOut?]) => void;

/** Set during a probing call only. */
export let probe: Probe | null = null;

/** What was handed out. */
export interface Handed {
  readonly id: number;
  readonly module: HandOut;
  readonly own: HandOut | undefined;
}

/** Cuts off what a function would do before its body begins. */
export const STOP: unique symbol = Symbol("stop");

/** Runs `call`, which enters one rewritten function, and gives what that hands out; null: it handed out nothing. */
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

/** Called by a rewritten class while it is made. */
export function noteClass(
  _: TemplateStringsArray,
  ...[id, made, module, own]: readonly [number, object, HandOut, HandOut?]
): void {
  classes.set(made, { id, module, own });
}

/** What a class handed out while it was made; undefined: it is of no rewritten module. */
export function handedByClass(made: object): Handed | undefined {
  return classes.get(made);
}
