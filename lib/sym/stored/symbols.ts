/**
 * Sizes as data. Input: sizes over the symbols of one captured graph; output: data in which those go by number, and the
 * same sizes over the symbols of an equal graph. Invariant: symbols are numbered in the order in which the captured
 * graph mentions them, so that equal graphs of two processes number them alike.
 */
import type { Plain } from "../../base/recording.ts";
import { hintOf, isUnbacked } from "../decide.ts";
import { add, type Dim, floorDiv, max, min, mod, mul, type Sym } from "../expr.ts";
import { type Codec, DamagedForm, listIn, NotStorable, number, numberIn } from "./codec.ts";

/** The size symbols of a captured graph. */
export class Symbols {
  readonly #numbers = new Map<Sym, number>();
  readonly #list: Sym[] = [];

  /** `isOpen`: whether symbols that were not seen before get a number, as those of the captured graph do. */
  constructor(public isOpen = true) {}

  /** The number of a symbol. Throws NotStorable for one that is none of the captured graph's. */
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

  at(number: number): Sym {
    const found = this.#list[number];
    if (found) return found;
    throw new DamagedForm(`Expected one of ${this.#list.length} symbols but found ${number}`);
  }

  /** What is known of each: its value in the call that is compiled, and its bounds. */
  describe(): Plain {
    return this.#list.map((symbol) => [hintOf(symbol), `${symbol.lower}`, `${symbol.upper}`]);
  }

  get size(): number {
    return this.#list.length;
  }
}

function write(d: Dim, symbols: Symbols): Plain {
  if (typeof d === "number") return number.write(d, symbols);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return ["symbol", symbols.numberOf(d)];
    case "sum":
      return [
        "sum",
        node.constant,
        ...node.terms.map(({ term, coefficient }) => [coefficient, write(term, symbols)]),
      ];
    case "product":
      return ["product", ...node.factors.map((factor) => write(factor, symbols))];
    case "floorDiv":
    case "mod":
    case "min":
    case "max":
      return [node.kind, write(node.left, symbols), write(node.right, symbols)];
    default:
      return node satisfies never;
  }
}

const PAIRS = { floorDiv, mod, min, max } as const;

function read(form: Plain, symbols: Symbols): Dim {
  if (typeof form === "number") return form;
  const [kind, ...rest] = listIn(form);
  const again = (each: Plain | undefined) => read(each ?? null, symbols);
  switch (kind) {
    case "symbol":
      return symbols.at(numberIn(rest[0]));
    case "sum": {
      const [constant, ...terms] = rest;
      return terms.reduce<Dim>((sum, each) => {
        const [coefficient, term] = listIn(each);
        return add(sum, mul(numberIn(coefficient), again(term)));
      }, numberIn(constant));
    }
    case "product":
      return rest.reduce<Dim>((product, factor) => mul(product, again(factor)), 1);
    case "floorDiv":
    case "mod":
    case "min":
    case "max":
      return PAIRS[kind](again(rest[0]), again(rest[1]));
    default:
      throw new DamagedForm(`Expected a size but found ${JSON.stringify(kind)}`);
  }
}

/** Sizes, strides and offsets. */
export const dim: Codec<Dim> = { write, read };

/** Size symbols alone. */
export const symbol: Codec<Sym> = {
  write: (value, symbols) => symbols.numberOf(value),
  read: (form, symbols) => symbols.at(numberIn(form)),
};
