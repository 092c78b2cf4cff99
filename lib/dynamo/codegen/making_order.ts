/**
 * The order in which generated code makes objects: all of them without what refers to others, then what fills them in, then
 * what comes after all changes. Invariant: a statement refers to objects that exist; one that cannot do so yet keeps its
 * place until it can.
 */
import type { ObjectValue } from "../variables/value.ts";

/** Statements of generated code that make objects. */
export class MakingOrder {
  /** Statements that make objects, before anything refers to them. */
  readonly creations: string[] = [];
  /** Statements that fill objects in, after all of them exist. */
  readonly fills: string[] = [];
  /** Statements that come after all changes: iterators are taken to where they stand. */
  readonly finals: string[] = [];
  /** Objects whose creation waits for those that it needs. */
  readonly #underway = new Set<ObjectValue>();
  /** How many objects are being made, each for the one before. */
  #depth = 0;
  readonly #waiting: { readonly at: number; readonly statement: () => string }[] = [];
  #isFilling = false;

  /** Adds the creation of what is known by a name from there on. */
  create(name: string, expression: string): void {
    this.creations.push(`const ${name} = ${expression};`);
  }

  /** Makes an object whose shell may need others to be made first, and fills it in. */
  make(object: ObjectValue, name: string, { shell, fillIn }: { shell(): string; fillIn(): void }): void {
    this.together(() => {
      this.#underway.add(object);
      const made = shell();
      this.#underway.delete(object);
      this.create(name, made);
      fillIn();
    });
  }

  /** Returns whether an object waits for those that it needs. */
  isUnderway(object: ObjectValue): boolean {
    return this.#underway.has(object);
  }

  /** Makes objects, of which none is filled in before all exist. */
  together(make: () => void): void {
    this.#depth++;
    make();
    this.#depth--;
    this.#fillWaiting();
  }

  /**
   * Adds a statement that refers to objects that may not exist yet: it is made, with what only it refers to, once all
   * those that are being made exist. Until then it keeps its place.
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
