/**
 * Work beside elements that all arrays inherit forever: a program may define an accessor or a constant, which cannot be
 * removed, at an index of Array.prototype or Object.prototype. Assignments to that index of any list, and `push`, then
 * call the program's setter or throw.
 *
 * Invariant: whatever fills lists in that way is refused with the name of the element; the rest works.
 */
import { DynError } from "./errors.ts";
import { runsAsLoaded } from "./loaded_builtins.ts";
import { defineOwn } from "./isolated_objects.ts";
import { preferringOwnBuiltins, ReplacedBuiltins, withOwnBuiltins } from "./own_builtins.ts";

const { getOwnPropertyDescriptor, ownKeys } = Reflect,
  { prototype: array } = Array,
  { prototype: object } = Object;

/** The element that stands in the way of the current work. */
let standing: string | null = null;

/**
 * Runs work with the builtins used at run time as they were loaded, as `withRuntimeBuiltins` does; where it would fill
 * lists it calls `refuseElements`.
 */
export function besideElements<T>(work: () => T): T {
  return runsAsLoaded() ? work() : beside(work);
}

/** Like `besideElements`, for work that fills lists throughout: refuses at once. */
export function withOwnLists<T>(work: () => T): T {
  if (runsAsLoaded()) return work();
  return beside(() => {
    refuseElements();
    return work();
  });
}

/** Appends to a list, also beside elements that all arrays inherit. */
export function append<T>(list: T[], item: T): void {
  if (standing === null) list.push(item);
  else defineOwn(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

/** Returns whether an element stands in the way of filling lists, so that work which can wait should. */
export function elementsStand(): boolean {
  return standing !== null;
}

/** Throws DynError if an element stands in the way of filling lists. */
export function refuseElements(): void {
  if (standing === null) return;
  throw new DynError(
    `The program has permanently defined ${standing}, which all arrays inherit, so that dyn can fill no lists: ` +
      "only operations that have run before can run",
  );
}

function beside<T>(work: () => T): T {
  let hasBegun = false;
  try {
    return withOwnBuiltins(() => {
      hasBegun = true;
      return work();
    });
  } catch (error) {
    if (hasBegun || !(error instanceof ReplacedBuiltins)) throw error;
  }
  const former = standing;
  standing = standingElement();
  try {
    return preferringOwnBuiltins(work);
  } finally {
    standing = former;
  }
}

/** The first element that can neither be removed nor be replaced by an assignment. */
export function standingElement(): string | null {
  return elementOf(array, "Array.prototype") ?? elementOf(object, "Object.prototype");
}

function elementOf(owner: object, name: string): string | null {
  const keys = ownKeys(owner);
  for (let k = 0; k < keys.length; k++) {
    const key = String(keys[k]);
    // Elements come first among keys
    if (`${+key >>> 0}` !== key) return null;
    const found = getOwnPropertyDescriptor(owner, key);
    if (found?.configurable === false && found.writable !== true) return `${name}[${key}]`;
  }
  return null;
}
