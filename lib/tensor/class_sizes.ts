/**
 * The sizes of a class of calls: the numbers of a call that are symbols of its program, the assumptions about them,
 * and the key that all calls of the class share. Invariant: equal values of one call are one symbol; 0 and 1 stay
 * constants, since broadcasting changes the program for them.
 */
import { InternalError } from "../base/errors.ts";
import { contiguousStrides } from "../graph/meta.ts";
import type { TensorMeta } from "../graph/meta.ts";
import type { ArgsOf, ParamKind, Params } from "../ops/params.ts";
import {
  type Decider,
  type Dim,
  evaluate,
  freeSymbols,
  mul,
  type Relation,
  sub,
  type Sym,
  symbol,
} from "../sym/expr.ts";
import { Symbols } from "../sym/stored/symbols.ts";
import type { Layout } from "./layout.ts";
import { constantKey, type LoadedNumber, type OpEntry, type TensorArgs, tensorsOf } from "./plan.ts";
import { Tensor } from "./tensor.ts";

/** A call in terms of its class. */
export interface ClassCall {
  readonly key: string;
  /** The values of the symbols. */
  readonly values: readonly number[];
  /** The unit that each symbol counts: sizes are multiples of it. */
  readonly units: readonly number[];
}

/**
 * Sizes that are multiples of this are marked so where an operand is strided: transposed accesses are tiled, and
 * tiles must divide the sizes.
 */
const TILE = 32;

/**
 * Magnitudes of sizes, on which the best order of loops depends: a single program for all would use the one that is
 * best for the sizes seen first. Sums, whose bits depend on it, also assume what their order follows from.
 */
const MAGNITUDES: readonly number[] = [16, 256, 4096];

/** Parameters whose numbers may be symbols. */
const isSize = (kind: ParamKind | undefined): boolean => kind === "size" || kind === "sizes";

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((each) => typeof each === "number");
}

/** Returns whether the strides of a layout are those of a fresh tensor, also along dimensions of size 1. */
export function isFresh({ contiguous, shape, strides }: Layout): boolean {
  if (!contiguous) return false;
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    if (strides[d] !== step) return false;
    step *= shape[d] ?? 1;
  }
  return true;
}

/**
 * For each dimension the one that it continues, as in transposed tensors and slices; undefined if its stride is
 * independent. A stride that follows from sizes lets loops over both dimensions be merged, as with known numbers.
 */
export function followed(
  { shape, strides }: Pick<Layout, "shape" | "strides">,
): readonly (number | undefined)[] {
  return strides.map((stride, d) => {
    if (stride < 2) return undefined;
    const e = shape.findIndex((size, e) => e !== d && size > 1 && size * (strides[e] ?? 0) === stride);
    return e < 0 ? undefined : e;
  });
}

const magnitudeOf = (value: number): number => MAGNITUDES.filter((limit) => value > limit).length;

/** The class of a call. */
export function classOf(entry: OpEntry, args: TensorArgs, numbers: readonly LoadedNumber[]): ClassCall {
  const values: number[] = [], units: number[] = [], names = new Map<number, string>();
  const tiled = tensorsOf(entry, args).some(({ layout }) => layout.shape.length > 1 && !isFresh(layout));
  const name = (value: number): string => {
    if (value < 2) return `${value}`;
    const known = names.get(value);
    if (known !== undefined) return known;
    const unit = tiled && value >= 2 * TILE && value % TILE === 0 ? TILE : 1;
    units.push(unit);
    const made = `${unit === 1 ? "" : `${unit}*`}s${values.push(value / unit) - 1}^${magnitudeOf(value)}`;
    names.set(value, made);
    return made;
  };
  const ofTensor = ({ layout }: Tensor): string => {
    let key = `${layout.dtype}(`;
    for (const size of layout.shape) key += `${name(size)} `;
    if (isFresh(layout)) return `${key})`;
    const after = followed(layout);
    key += ":";
    layout.strides.forEach((stride, d) => {
      key += after[d] === undefined ? `${name(stride)} ` : `>${after[d]}^${magnitudeOf(stride)} `;
    });
    return `${key})`;
  };
  let key = "";
  for (const { name: param, kind } of entry.slots) {
    const value = args[param];
    if (value instanceof Tensor) key += ofTensor(value);
    else if (Array.isArray(value) && value.some((each) => each instanceof Tensor)) {
      for (const each of value) key += each instanceof Tensor ? ofTensor(each) : "null";
    } else if (isSize(kind)) key += sizeKey(value, name);
    else {
      const loaded = numbers.find((number) => number.param === param);
      key += loaded ? `#${loaded.dtype}` : constantKey(value, false);
    }
    key += ",";
  }
  return { key, values, units };
}

function sizeKey(value: TensorArgs[string] | undefined, name: (value: number) => string): string {
  if (typeof value === "number") return Number.isInteger(value) ? name(value) : `${value}`;
  if (!Array.isArray(value)) return constantKey(value, false);
  return `[${
    value.map((each: unknown) => typeof each === "number" ? name(each) : constantKey(each, false))
  }]`;
}

/** An answer about sizes that a class depends on. */
export interface Assumption {
  readonly relation: Relation;
  /** left − right */
  readonly difference: Dim;
  readonly outcome: boolean;
}

/** Thrown where sizes are equal by chance: a program of such calls alone has loops in another order. */
export class EqualByChance extends Error {
  override readonly name = "EqualByChance";

  constructor(readonly symbols: readonly Sym[]) {
    super("Sizes are equal by chance");
  }
}

/** The symbols of a class, and the answers about them that its program assumes. */
export class ClassSizes implements Decider {
  readonly #places = new Map<Sym, number>();
  #assumptions: Assumption[] = [];
  readonly #constants: Assumption[] = [];

  readonly #dims = new Map<number, Dim>();

  /** The sizes of a call; `hints`: the values of the symbols in the call that created the class, if it is another. */
  constructor({ values, units }: ClassCall, readonly hints: readonly number[] = values) {
    values.forEach((value, place) => {
      const made = symbol(`s${place}`, { kind: "size", decider: this }, [2, Infinity]),
        unit = units[place] ?? 1;
      this.#places.set(made, place);
      this.#dims.set(value * unit, mul(made, unit));
    });
  }

  /** The assumptions made so far. */
  get assumptions(): readonly Assumption[] {
    return this.#assumptions;
  }

  /** The symbols by the numbers that they have between processes. */
  get numbered(): Symbols {
    const symbols = new Symbols();
    for (const each of this.#places.keys()) symbols.numberOf(each);
    symbols.isOpen = false;
    return symbols;
  }

  /** A number of the call over the symbols; numbers below 2 are themselves. */
  symbolOf(value: number): Dim {
    return this.#dims.get(value) ?? value;
  }

  hintOf(s: Sym): number {
    return this.hints[this.#place(s)] ?? 0;
  }

  /** Repeats the assumptions of an earlier process. */
  assumeAgain(assumptions: readonly Assumption[]): void {
    this.#assumptions.push(...assumptions);
  }

  assume(relation: Relation, [left, right]: readonly [Dim, Dim], outcome: boolean): void {
    this.#assumptions.push({ relation, difference: sub(left, right), outcome });
  }

  /** Assumes the answer, so that results do not depend on which call of the class came first. */
  prefer(relation: Relation, sides: readonly [Dim, Dim], outcome: boolean): void {
    if (relation === "eq" && outcome) throw new EqualByChance([...freeSymbols(sub(...sides))]);
    this.assume(relation, sides, outcome);
  }

  /** Makes constants of symbols and forgets what was assumed: the trace starts again. */
  fix(symbols: readonly Sym[]): void {
    const fixed = new Set<Dim>(symbols);
    for (const [value, size] of this.#dims) {
      if (freeSymbols(size).values().some((each) => fixed.has(each))) this.#dims.delete(value);
    }
    for (const each of symbols) {
      this.#constants.push({ relation: "eq", difference: sub(each, this.hintOf(each)), outcome: true });
    }
    this.#assumptions = [...this.#constants];
  }

  /**
   * Returns whether an expression is at most a number in the call that creates the class, and therefore in the whole
   * class.
   */
  isAtMost(d: Dim, limit: number): boolean {
    const outcome = evaluate(d, (s) => this.hintOf(s)) <= limit;
    this.assume("le", [d, limit], outcome);
    return outcome;
  }

  /** Returns whether the program serves a call with these values. */
  admits(values: readonly number[]): boolean {
    return this.#assumptions.every(({ relation, difference, outcome }) => {
      const value = this.evaluate(difference, values);
      return (relation === "eq" ? value === 0 : relation === "lt" ? value < 0 : value <= 0) === outcome;
    });
  }

  /** An expression over the symbols under the values of a call. */
  evaluate(d: Dim, values: readonly number[]): number {
    return typeof d === "number" ? d : evaluate(d, (s) => values[this.#place(s)] ?? 0);
  }

  /** A tensor of the call, with symbols. */
  metaOf({ layout }: Tensor): TensorMeta {
    const { dtype, device } = layout;
    const shape = layout.shape.map((size) => this.symbolOf(size));
    if (isFresh(layout)) return { shape, strides: contiguousStrides(shape), offset: 0, dtype, device };
    const after = followed(layout);
    const strideOf = (d: number): Dim => {
      const e = after[d];
      return e === undefined ? this.symbolOf(layout.strides[d] ?? 0) : mul(strideOf(e), shape[e] ?? 1);
    };
    return { shape, strides: shape.map((_, d) => strideOf(d)), offset: 0, dtype, device };
  }

  /** Arguments with symbols in place of their sizes; everything else stays. */
  constants<T>(entry: OpEntry, args: ArgsOf<Params, T>): ArgsOf<Params, T> {
    const changed: Record<string, ArgsOf<Params, T>[string]> = { ...args };
    for (const { name, kind } of entry.slots) {
      const value = args[name];
      if (!isSize(kind)) continue;
      if (typeof value === "number") changed[name] = this.symbolOf(value);
      else if (isNumbers(value)) changed[name] = value.map((each) => this.symbolOf(each));
    }
    return changed;
  }

  #place(s: Sym): number {
    const place = this.#places.get(s);
    if (place === undefined) throw new InternalError(`Expected a size of the class but found ${s}`);
    return place;
  }
}
