/**
 * Numbers the size symbols of a captured graph. Invariant: symbols are numbered in the order in which the graph
 * mentions them, so that equal graphs of two processes number them alike.
 */
import type { Plain } from "../../base/recording.ts";
import { hintOf, isUnbacked } from "../decide.ts";
import type { Sym } from "../expr.ts";
import { DamagedForm, NotStorable } from "./forms.ts";

/** The size symbols of a captured graph. */
export class Symbols {
  readonly #numbers = new Map<Sym, number>();
  readonly #list: Sym[] = [];

  /** Whether new symbols get a number, as those of the captured graph do. */
  isOpen = true;

  /** Returns the number of a symbol. Throws NotStorable for one that the captured graph does not mention. */
  numberOf(symbol: Sym): number {
    let found = this.#numbers.get(symbol);
    if (found === undefined) {
      const isSize = symbol.node.kind === "symbol" && symbol.node.role.kind === "size";
      if (!this.isOpen || !isSize || isUnbacked(symbol)) {
        throw new NotStorable(`the size ${symbol}, which no input gives`);
      }
      found = this.#list.push(symbol) - 1;
      this.#numbers.set(symbol, found);
    }
    return found;
  }

  /** Counters of loops and values of kernels, which are local to the serialised form. */
  readonly locals: Locals = new Locals();

  at(number: number): Sym {
    const found = this.#list[number];
    if (found) return found;
    throw new DamagedForm(`Expected one of ${this.#list.length} symbols but found ${number}`);
  }

  /** Describes each symbol: its value in the traced call, and its bounds. */
  describe(): Plain {
    return this.#list.map((symbol) => [hintOf(symbol), `${symbol.lower}`, `${symbol.upper}`]);
  }

  /** Whether no symbol has a number. */
  get isUnused(): boolean {
    return this.#list.length === 0 && this.locals.isUnused;
  }
}

/** Symbols local to a serialised form, in the order in which it mentions them. */
class Locals {
  readonly #numbers = new Map<Sym, number>();
  readonly #list: Sym[] = [];

  /** Returns the number of a symbol, if it has one. */
  numberOf(symbol: Sym): number | undefined {
    return this.#numbers.get(symbol);
  }

  /** Gives a symbol the next number. */
  add(symbol: Sym): number {
    const number = this.#list.push(symbol) - 1;
    this.#numbers.set(symbol, number);
    return number;
  }

  at(number: number): Sym {
    const found = this.#list[number];
    if (found) return found;
    throw new DamagedForm(`Expected one of ${this.#list.length} local symbols but found ${number}`);
  }

  /** Whether none has a number. */
  get isUnused(): boolean {
    return this.#list.length === 0;
  }

  /** Removes all symbols. */
  clear(): void {
    this.#numbers.clear();
    this.#list.length = 0;
  }
}
