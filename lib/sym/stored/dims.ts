/**
 * Codecs of sizes and indices: symbols of one captured graph, loop counters and kernel values are written as numbers,
 * and read over the symbols of an equal graph.
 */
import type { Plain } from "../../base/recording.ts";
import {
  add,
  type Dim,
  floorDiv,
  max,
  min,
  mod,
  mul,
  type Sym,
  symbol as newSymbol,
  type SymbolRole,
} from "../expr.ts";
import type { SourcePart } from "../size_guards.ts";
import { type Codec, number, primitive, record, union } from "./codec.ts";
import { DamagedForm, listIn, numberIn, textIn } from "./forms.ts";
import type { Symbols } from "./symbols.ts";

function write(d: Dim, symbols: Symbols): Plain {
  if (typeof d === "number") return number.write(d, symbols);
  const { node } = d;
  switch (node.kind) {
    case "symbol":
      return node.role.kind === "axis" || node.role.kind === "value"
        ? writeLocal(d, { name: node.name, role: node.role }, symbols)
        : ["symbol", symbols.numberOf(d)];
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

type LocalRole = Extract<SymbolRole, { readonly kind: "axis" | "value" }>;

/** Serialises a counter of a loop, or a value of a kernel: in full at its first use, then as its number. */
function writeLocal(
  d: Sym,
  { name, role }: { readonly name: string; readonly role: LocalRole },
  symbols: Symbols,
): Plain {
  const known = symbols.locals.numberOf(d);
  if (known !== undefined) return ["local", known];
  const bounds = [primitive.write(d.lower, symbols), primitive.write(d.upper, symbols)];
  const written: Plain = role.kind === "value"
    ? ["value", name, ...bounds, role.id]
    : ["axis", name, ...bounds, ...role.size === undefined ? [] : [write(role.size, symbols)]];
  symbols.locals.add(d);
  return written;
}

function readLocal(kind: LocalRole["kind"], form: readonly Plain[], symbols: Symbols): Sym {
  const [name, lower = null, upper = null, more] = form;
  const role: LocalRole = kind === "value"
    ? { kind, id: numberIn(more) }
    : { kind, ...more === undefined ? {} : { size: read(more, symbols) } };
  const bound = (each: Plain) => Number(primitive.read(each, symbols));
  const made = newSymbol(textIn(name), role, [bound(lower), bound(upper)]);
  symbols.locals.add(made);
  return made;
}

const PAIRS = { floorDiv, mod, min, max } as const;

function read(form: Plain, symbols: Symbols): Dim {
  if (typeof form === "number") return form;
  const [kind, ...rest] = listIn(form);
  const again = (each: Plain | undefined) => read(each ?? null, symbols);
  switch (kind) {
    case "symbol":
      return symbols.at(numberIn(rest[0]));
    case "local":
      return symbols.locals.at(numberIn(rest[0]));
    case "axis":
    case "value":
      return readLocal(kind, rest, symbols);
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

/** Symbols alone. */
export const symbol: Codec<Sym> = {
  write,
  read(form, symbols) {
    const found = read(form, symbols);
    if (typeof found !== "number") return found;
    throw new DamagedForm(`Expected a symbol but found ${found}`);
  },
};

/** The part of an input in which a size is. */
export const part: Codec<SourcePart> = union<SourcePart>({
  value: record({}),
  shape: record({ dim: number }),
  stride: record({ dim: number }),
  offset: record({}),
});
