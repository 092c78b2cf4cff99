/**
 * Tracks which objects are still alive in the middle of a job: those that V8 has not collected. Invariant: the set
 * itself keeps none of them alive.
 */
import { collectAll, collectYoung, pressForYoung } from "./collector.ts";
import { entriesOf, Visible } from "./weak_entries.ts";
import { ownWeakSet } from "../../lib/base/collections.ts";

let serial = 0;

/** An object that a LiveSet can find. */
export class Findable extends Visible {
  /** Identifies the object even after its death. */
  readonly id: number = ++serial;
  /** Number of searches it has survived. */
  age = 0;
}

/** Number of young collections after which survivors are old, plus one for safety. */
const OLD_AGE = 3;

/** An unreferenced object that only a full collection removes, since it was referenced until it was old. */
class AgeProbe {
  readonly #set = ownWeakSet<Visible>();
  #held: Visible | undefined = new Visible();
  #age = 0;

  constructor() {
    if (this.#held) this.#set.add(this.#held);
  }

  /** Called at each young collection. */
  outlive(): void {
    if (++this.#age >= OLD_AGE) this.#held = undefined;
  }

  get isGone(): boolean {
    return this.#held === undefined && entriesOf(this.#set).length === 0;
  }
}

/** Objects by generation, since young ones are collected separately, in a hundredth of the time. */
export class LiveSet<T extends Findable> {
  readonly #isMember: (found: Visible) => found is T;
  #young = ownWeakSet<Visible>();
  #old = ownWeakSet<Visible>();
  #elder = new AgeProbe();

  constructor(isMember: (found: Visible) => found is T) {
    this.#isMember = isMember;
  }

  add(member: T): void {
    this.#young.add(member);
  }

  /**
   * Returns the live objects that were added since the last search or the one before; older ones are then old.
   * Undefined while V8 is marking, which prevents a search; an urgent search always runs.
   */
  young(isUrgent: boolean): T[] | undefined {
    let left = pressForYoung(this.#young);
    if (left === undefined) {
      if (!isUrgent) return undefined;
      collectYoung();
      left = entriesOf(this.#young);
    }
    const members = left.filter(this.#isMember);
    this.#young = ownWeakSet();
    for (const each of members) (each.age++ === 0 ? this.#young : this.#old).add(each);
    this.#elder.outlive();
    return members;
  }

  /** The live old objects, if V8 has run a full collection by itself since the last query. */
  old(): T[] | undefined {
    if (!this.#elder.isGone) return undefined;
    this.#elder = new AgeProbe();
    return entriesOf(this.#old).filter(this.#isMember);
  }

  /** All live objects, which count as old afterwards. */
  all(): T[] {
    collectAll();
    const young = entriesOf(this.#young).filter(this.#isMember);
    const found = [...young, ...entriesOf(this.#old).filter(this.#isMember)];
    this.#young = ownWeakSet();
    for (const each of young) {
      each.age = 2;
      this.#old.add(each);
    }
    return found;
  }
}
