/**
 * Allocates names of local variables in generated code. Invariant: no name is a reserved word, nor one of the names
 * under which generated code finds its constants.
 */
import { RESERVED_WORDS } from "../../base/names.ts";

/** Names that nothing in generated code may have. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...RESERVED_WORDS,
  ..."NaN Infinity globalThis Math Object Reflect Array Map Set Number".split(" "),
]);

/** Hands out names. */
export class Names {
  /** Used names, with the number for the next similar one. */
  readonly #taken = new Map<string, number>();

  /** A free name similar to the wished one. */
  fresh(wish: string): string {
    const base = wish.replace(/[^A-Za-z0-9_$]/g, "_").replace(/^(?=\d)/, "_").replace(/^\$/, "_") || "_";
    let name = base, next = this.#taken.get(base) ?? 1;
    while (this.#taken.has(name) || RESERVED.has(name)) name = `${base}_${next++}`;
    this.#taken.set(name, 1).set(base, next);
    return name;
  }
}
