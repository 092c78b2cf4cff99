/**
 * Lists the live entries of a WeakSet in the middle of a job: `WeakRef` and `FinalizationRegistry` report an object's
 * death only after the job has ended, but the entries of a WeakSet vanish in the collection itself, and `Deno.inspect`
 * visits entries, calling a method of each.
 */
const CUSTOM: unique symbol = Symbol.for("Deno.customInspect");
const { inspect } = Deno;

/** The entries that the current inspection has visited. */
let seen: Visible[] | undefined;

/** An object that inspecting a WeakSet makes visible. */
export class Visible {
  [CUSTOM](): string {
    seen?.push(this);
    return this.constructor.name;
  }
}

/** The entries of a set that no collection has removed. Costs some microseconds for each. */
export function entriesOf(set: WeakSet<Visible>): Visible[] {
  const found: Visible[] = seen = [];
  try {
    inspect(set, { showHidden: true, iterableLimit: Infinity, depth: 1 });
  } finally {
    seen = undefined;
  }
  return found;
}
