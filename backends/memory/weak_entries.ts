/**
 * Lists the live entries of a WeakSet in the middle of a job: `WeakRef` and `FinalizationRegistry` know of an
 * object's death only when the job has ended, but the entries of a WeakSet go with the collection itself, and
 * `Deno.inspect` shows entries, calling a method of each.
 */
const CUSTOM: unique symbol = Symbol.for("Deno.customInspect");
const { inspect } = Deno;

/** The entries that the look in progress has come by. */
let seen: Visible[] | undefined;

/** An object that is seen in a WeakSet. */
export class Visible {
  [CUSTOM](): string {
    seen?.push(this);
    return this.constructor.name;
  }
}

/** The entries of a set that no collection has taken. Costs some microseconds for each. */
export function entriesOf(set: WeakSet<Visible>): Visible[] {
  const found: Visible[] = seen = [];
  try {
    inspect(set, { showHidden: true, iterableLimit: Infinity, depth: 1 });
  } finally {
    seen = undefined;
  }
  return found;
}
