/**
 * Which objects the program still has, asked in the middle of a job. Input: objects, as they are made; output: those
 * of them that V8's collector has not found dead. Invariant: the set itself keeps none of them alive.
 */
import { collectAll, collectYoung, plant, pressForYoung } from "./collector.ts";
import { entriesOf, Visible } from "./weak_entries.ts";

let serial = 0;

/** An object that a LiveSet can find. */
export class Findable extends Visible {
  /** Names the object after its death, too. */
  readonly id: number = ++serial;
  /** How many looks it has outlived. */
  age = 0;
}

/** Objects by generation, since young ones are collected alone, and in a hundredth of the time. */
export class LiveSet<T extends Findable> {
  readonly #isMember: (found: Visible) => found is T;
  #young = new WeakSet<Visible>();
  #old = new WeakSet<Visible>();

  constructor(isMember: (found: Visible) => found is T) {
    this.#isMember = isMember;
  }

  add(member: T): void {
    this.#young.add(member);
  }

  /** Those alive that were added since the last look or the one before; those of before are old from now on. */
  young(): T[] {
    plant(this.#young);
    pressForYoung();
    let members = this.#youngMembers();
    if (members === undefined) {
      collectYoung();
      members = entriesOf(this.#young).filter(this.#isMember);
    }
    this.#young = new WeakSet();
    for (const each of members) (each.age++ === 0 ? this.#young : this.#old).add(each);
    return members;
  }

  /** The young; undefined where there was no collection. */
  #youngMembers(): T[] | undefined {
    const found = entriesOf(this.#young), members = found.filter(this.#isMember);
    return members.length < found.length ? undefined : members;
  }

  /** All those alive; they are old from now on. */
  all(): T[] {
    collectAll();
    const young = entriesOf(this.#young).filter(this.#isMember);
    const found = [...young, ...entriesOf(this.#old).filter(this.#isMember)];
    this.#young = new WeakSet();
    for (const each of young) {
      each.age = 2;
      this.#old.add(each);
    }
    return found;
  }
}
