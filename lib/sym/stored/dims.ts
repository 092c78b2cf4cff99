/**
 * Sizes as data. Input: sizes over the symbols of one captured graph; output: data in which those go by number, and the
 * same sizes over the symbols of an equal graph.
 */
import type { Plain } from "../../base/recording.ts";
import { add, type Dim, floorDiv, max, min, mod, mul, type Sym } from "../expr.ts";
import { type Codec, number } from "./codec.ts";
import { DamagedForm, listIn, numberIn } from "./forms.ts";
import type { Symbols } from "./symbols.ts";

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
