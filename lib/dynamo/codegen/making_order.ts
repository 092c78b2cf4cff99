/**
 * The order in which generated code creates objects: first the objects without references to others, then the statements
 * that fill them, then those that follow all changes. Invariant: a statement refers only to objects that exist before it;
 * a statement whose objects do not exist yet keeps its position until they do.
 */
import type { ObjectValue } from "../variables/value.ts";

/** Statements of generated code that create objects. */
export class MakingOrder {
  /** Statements that create objects, before anything refers to them. */
  readonly creations: string[] = [];
  /** Statements that fill objects, after all of them exist. */
  readonly fills: string[] = [];
  /** Statements after all changes, which advance iterators to their positions. */
  readonly finals: string[] = [];
  /** Objects whose creation waits for the objects that it needs. */
  readonly #underway = new Set<ObjectValue>();
  /** Number of nested creations in progress. */
  #depth = 0;
  readonly #waiting: { readonly at: number; readonly statement: () => string }[] = [];
  #isFilling = false;

  /** Adds the creation of a named value. */
  create(name: string, expression: string): void {
    this.creations.push(`const ${name} = ${expression};`);
  }

  /** Creates an object, whose shell may need others to be created first, and fills it. */
  make(object: ObjectValue, name: string, { shell, fillIn }: { shell(): string; fillIn(): void }): void {
    this.together(() => {
      this.#underway.add(object);
      const made = shell();
      this.#underway.delete(object);
      this.create(name, made);
      fillIn();
    });
  }

  /** Returns whether the creation of an object waits for others. */
  isUnderway(object: ObjectValue): boolean {
    return this.#underway.has(object);
  }

  /** Creates objects; none is filled before all of them exist. */
  together(make: () => void): void {
    this.#depth++;
    make();
    this.#depth--;
    this.#fillWaiting();
  }

  /**
   * Adds a statement that refers to objects that may not exist yet. Its text, and the objects that only it refers to, are
   * created when all creations in progress are complete.
   */
  fill(statement: () => string): void {
    this.#waiting.push({ at: this.fills.push("") - 1, statement });
    this.#fillWaiting();
  }

  #fillWaiting(): void {
    if (this.#isFilling || this.#depth > 0) return;
    this.#isFilling = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      this.fills[next.at] = next.statement();
    }
    this.#isFilling = false;
  }
}
