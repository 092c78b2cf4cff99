/**
 * Names of the nodes of a graph, which are those of variables in printed code. Invariant: each is given once, and none
 * is a reserved word.
 */
import { checkKind } from "../base/checked_input.ts";
import { RESERVED_WORDS } from "../base/names.ts";

const RESERVED: ReadonlySet<string> = new Set(RESERVED_WORDS);

/** Most names are valid already. */
const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The names that a graph has given. */
export class NodeNames {
  /** For each name the number that the next one like it ends in. */
  readonly #next = new Map<string, number>();

  /** A wanted name as a variable's, made unique by a number. */
  unique(wanted: string): string {
    checkKind(wanted, "a string", "the target of a node");
    const base = IDENTIFIER.test(wanted)
      ? wanted
      : wanted.replace(/[^A-Za-z0-9_$]/g, "_").replace(/^(?=\d)/, "_");
    if (RESERVED.has(base) && !this.#next.has(base)) this.#next.set(base, 1);
    let next = this.#next.get(base) ?? 0, name = base;
    while (next > 0 && this.#next.has(name)) name = `${base}_${next++}`;
    this.#next.set(name, 1).set(base, Math.max(next, 1));
    return name;
  }
}
