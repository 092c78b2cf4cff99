/**
 * Codecs of call specifications of exported programs; they are read over the reader's own symbols. Invariant: sizes
 * come first: they number the symbols.
 */
import type { Plain } from "../base/recording.ts";
import { dtype } from "../graph/stored/values.ts";
import type { Sym } from "../sym/expr.ts";
import {
  type Codec,
  flag,
  list,
  number,
  oneOf,
  optional,
  primitive,
  record,
  text,
  union,
} from "../sym/stored/codec.ts";
import { DamagedForm, listIn, numberIn, recordIn, textIn } from "../sym/stored/forms.ts";
import { dim, part } from "../sym/stored/dims.ts";
import type { Symbols } from "../sym/stored/symbols.ts";
import { tree } from "../sym/stored/tree.ts";
import type {
  ArgumentSpec,
  CallSpec,
  ConstantLeaf,
  Constraint,
  InputSpec,
  ResultSpec,
  SizeOriginSpec,
  SizeSpec,
  ValueSource,
} from "./call_spec.ts";

/** Constants except undefined, which fields omit. */
const constant: Codec<Exclude<ConstantLeaf, undefined>> = {
  write: primitive.write,
  read(form, symbols) {
    const value = primitive.read(form, symbols);
    if (value !== undefined) return value;
    throw new DamagedForm("Expected a constant but found none");
  },
};

const nothing: Codec<null> = {
  write: () => null,
  read(form) {
    if (form === null) return null;
    throw new DamagedForm(`Expected null but found ${typeof form}`);
  },
};

/** Leaves of arguments. */
export const argumentSpec: Codec<ArgumentSpec> = union<ArgumentSpec>({
  tensor: record({ shape: list(dim), strides: list(dim), dtype, device: text, written: flag }),
  constant: record({ value: optional(constant) }),
  integer: record({}),
});

const fromArgument = record<{ leaf: number }>({ leaf: number }),
  fromHeld = record<{ name: string }>({ name: text });
/** The codec of value sources. */
const valueSource: Codec<ValueSource> = union<ValueSource>({ argument: fromArgument, held: fromHeld });

/** The codec of size origins. */
export const origin: Codec<SizeOriginSpec> = record<SizeOriginSpec>({ of: valueSource, part });

/** Inputs of a graph. */
export const inputSpec: Codec<InputSpec> = record<InputSpec>({
  name: text,
  value: union<InputSpec["value"]>({
    argument: fromArgument,
    held: fromHeld,
    size: record({ origin }),
  }),
});

/** Leaves of results. */
export const resultSpec: Codec<ResultSpec> = union<ResultSpec>({
  output: record({ output: number }),
  given: record({ value: valueSource }),
  constant: record({ value: optional(nothing) }),
});

/** The codec of constraints on sizes. */
export const constraint: Codec<Constraint> = union<Constraint>({
  source: record({ origin, equals: dim, text }),
  relation: record({ relation: oneOf("eq", "ne", "le", "lt"), left: dim, right: dim, holds: flag, text }),
});

/** Serialises a specification; its sizes are the first symbols. */
export function writeCall(call: CallSpec, symbols: Symbols): Record<string, Plain> {
  const sizes = call.sizes.map(({ symbol, hint, origin: from }) => {
    symbols.numberOf(symbol);
    return {
      hint,
      lower: primitive.write(symbol.lower, symbols),
      upper: primitive.write(symbol.upper, symbols),
      origin: origin.write(from, symbols),
    };
  });
  return {
    name: call.name,
    sizes,
    arguments: list(argumentSpec).write(call.arguments, symbols),
    argumentTree: tree.write(call.argumentTree, symbols),
    constraints: list(constraint).write(call.constraints, symbols),
  };
}

/** Creates a symbol for a size that had this value, within bounds. */
type SymbolMaker = (name: string, hint: number, bounds: readonly [number, number]) => Sym;

/** Reads a specification; it adds only its own symbols. Throws DamagedForm. */
export function readCall(
  form: { readonly [key: string]: Plain },
  symbols: Symbols,
  makeSymbol: SymbolMaker,
): CallSpec {
  const sizes = listIn(form.sizes).map((each, at): SizeSpec => {
    const { hint, lower = null, upper = null, origin: from = null } = recordIn(each);
    const bound = (given: Plain): number => Number(primitive.read(given, symbols));
    const symbol = makeSymbol(`s${at}`, numberIn(hint), [bound(lower), bound(upper)]);
    symbols.numberOf(symbol);
    return { symbol, hint: numberIn(hint), origin: origin.read(from, symbols) };
  });
  symbols.isOpen = false;
  return {
    name: textIn(form.name),
    arguments: list(argumentSpec).read(form.arguments ?? null, symbols),
    argumentTree: tree.read(form.argumentTree ?? null, symbols),
    sizes,
    constraints: list(constraint).read(form.constraints ?? null, symbols),
  };
}
