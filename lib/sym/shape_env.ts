/**
 * The sizes of one trace: creates symbols for sizes that callers may change, answers questions about them from their
 * hints, and records every answer that is not implied as a guard. Invariant: the hints satisfy all guards, and all
 * values that satisfy them lead to the recorded answers.
 */
import { InternalError, invariant } from "../base/errors.ts";
import { logs } from "../base/logs.ts";
import {
  add,
  type Decider,
  type Dim,
  evaluate,
  freeSymbols,
  gcd,
  mul,
  print,
  type Relation,
  sub,
  substitute,
  Sym,
  symbol,
  type UnbackedDecider,
} from "./expr.ts";
import { DataDependentSize, isUnbacked } from "./decide.ts";
import {
  inRange,
  mentionsUnbacked,
  rangeText,
  type SizeGuard,
  type SizeSource,
  sourceText,
  unique,
} from "./size_guards.ts";
import { EVERYTHING, linear, negated, type Range, rangeWithin, split } from "./terms.ts";

interface SymbolInfo {
  readonly source: SizeSource;
  readonly hint: number;
  /** A symbol named by the source's text, so that expressions print as guards. */
  readonly printed: Sym;
}

/** Sizes and strides of a tensor, symbolic if they may change. */
interface SymbolicLayout {
  readonly shape: readonly Dim[];
  readonly strides: readonly Dim[];
  readonly offset: Dim;
}

/** A tensor's layout in the traced call. */
interface LayoutHint {
  readonly shape: readonly number[];
  readonly strides: readonly number[];
  readonly offset: number;
}

/** Options of a new size. */
interface SizeOptions {
  /** Smallest and largest value, ends included; default [2, ∞). */
  readonly range?: readonly [number, number];
  /** Whether equal hints share a symbol, which guards that they stay equal; default true. */
  readonly duck?: boolean;
}

/** The events of a symbol: it is created, limited, or set equal to a number or to other sizes. */
export type Noted = "created" | "constrained" | "settled";

/** The symbols, facts and guards of one trace. */
export class ShapeEnv implements Decider, UnbackedDecider {
  readonly #symbols = new Map<Sym, SymbolInfo>();
  /** For duck shaping. */
  readonly #byHint = new Map<number, Sym>();
  /** Further sources of values that are already known. */
  readonly #equalSources: { readonly source: SizeSource; readonly equals: Dim }[] = [];
  /** Symbols proven equal to other expressions, which mention no replaced symbol. */
  readonly #replaced = new Map<Sym, Dim>();
  /** Known ranges of symbols and of sums without constant. */
  readonly #ranges = new Map<Sym, Range>();
  /** Expressions known to be zero (and not solvable for a symbol), and known not to be. */
  readonly #zero = new Set<Sym>();
  readonly #nonZero = new Set<Sym>();
  /** Data-dependent sizes, with the ranges that their operations imply. */
  readonly #unbacked = new Map<Sym, Range>();
  #frozen = false;
  /** Whether questions about data-dependent sizes are answered by assumptions rather than errors. */
  mayAssume = true;

  /**
   * `noted` is called with symbols that are created, constrained or settled, and returns the current place in the
   * program, for logs.
   */
  constructor(private readonly noted: (symbols: Iterable<Sym>, how: Noted) => string = () => "") {}

  /**
   * The symbol of a size with this value in the traced call. 0 and 1 stay constants: broadcasting and strides
   * make them different programs (the caller guards them as such).
   */
  createSize(
    source: SizeSource,
    hint: number,
    { range = [2, Infinity], duck = true }: SizeOptions = {},
  ): Dim {
    if (hint < range[0] || hint > range[1]) return hint;
    const known = duck ? this.#byHint.get(hint) : undefined;
    if (known) {
      this.#equalSources.push({ source, equals: known });
      return known;
    }
    const name = `s${this.#symbols.size}`;
    const made = symbol(name, { kind: "size", decider: this }, range);
    const printed = symbol(sourceText(source), { kind: "size", decider: this }, range);
    this.#symbols.set(made, { source, hint, printed });
    this.#ranges.set(made, { lower: range[0], upper: range[1] });
    if (duck) this.#byHint.set(hint, made);
    const where = this.noted([made], "created");
    logs.emit(
      "dynamic",
      () => `create_symbol ${name} = ${hint} for ${sourceText(source)} ${rangeText(range)}${where}`,
    );
    return made;
  }

  /** Creates a data-dependent size or integer within known inclusive bounds. */
  createUnbacked([lower, upper]: readonly [number, number]): Sym {
    const made = symbol(`u${this.#unbacked.size}`, { kind: "unbacked", decider: this }, [lower, upper]);
    this.#unbacked.set(made, { lower, upper });
    this.#ranges.set(made, { lower, upper });
    logs.emit("dynamic", () => `create_unbacked_symbol ${made} ${rangeText([lower, upper])}`);
    return made;
  }

  /** Number of unbacked symbols created so far. */
  get unbackedCount(): number {
    return this.#unbacked.size;
  }

  /**
   * Returns what the known ranges and relations imply for a relation between sizes; undefined if they leave it open.
   * Records nothing.
   */
  known(relation: Relation, [left, right]: readonly [Dim, Dim]): boolean | undefined {
    const difference = this.simplify(sub(left, right)), { lower, upper } = this.#rangeOf(difference);
    switch (relation) {
      case "eq":
        if (lower > 0 || upper < 0) return false;
        if (lower === 0 && upper === 0) return true;
        if (typeof difference === "number") return difference === 0;
        if (this.#zero.has(difference)) return true;
        return this.#nonZero.has(difference) || this.#nonZero.has(negated(difference)) ? false : undefined;
      case "lt":
        return upper < 0 ? true : lower >= 0 ? false : undefined;
      case "le":
        return upper <= 0 ? true : lower > 0 ? false : undefined;
      default:
        return relation satisfies never;
    }
  }

  /**
   * Answers a question of an op about a data-dependent size. The answer is that of most calls, and is checked in each:
   * such a size is neither 0 nor 1, matches where it must, and is small compared with other sizes. Throws
   * DataDependentSize if nothing may be assumed.
   */
  decide(relation: Relation, sides: readonly [Dim, Dim]): boolean {
    const known = this.known(relation, sides);
    if (known !== undefined) return known;
    const difference = this.simplify(sub(...sides));
    if (!this.mayAssume) {
      const sign = { eq: "==", lt: "<", le: "<=" }[relation];
      throw new DataDependentSize(`Expected to know whether ${sides[0]} ${sign} ${sides[1]}`);
    }
    const outcome = relation === "eq" ? !this.#isSmallCase(difference) : this.#usual(relation, difference);
    this.assume(relation, sides, outcome);
    return outcome;
  }

  /** Returns whether an expression is 0 only where an unknown size, or a product with one, is 0 or 1. */
  #isSmallCase(difference: Dim): boolean {
    const { constant, terms: [first, ...others] } = linear(difference);
    if (!first || others.length > 0) return false;
    const value = -constant / first.coefficient;
    return value === 0 || value === 1;
  }

  /** Returns the answer for sizes of the traced call, with unknown ones as small as possible from 2 on. */
  #usual(relation: "lt" | "le", difference: Dim): boolean {
    const value = evaluate(difference, (s) => {
      const known = this.#unbacked.has(s) ? this.#rangeOf(s) : undefined;
      return known ? Math.min(Math.max(2, known.lower), known.upper) : this.hintOf(s);
    });
    return relation === "lt" ? value < 0 : value <= 0;
  }

  /**
   * The layout of an input whose dimensions in `dynamic` may change. A stride that is the product of another
   * dimension's size and stride in the traced call is assumed always to be that product (and guarded). "unbacked": a
   * size that no guard may mention.
   */
  createLayout(
    base: string,
    hint: LayoutHint,
    options: {
      readonly dynamic: (dim: number) => SizeOptions | "unbacked" | undefined;
      /** Whether a stride is a symbol where all sizes are constant. */
      readonly dynamicStride?: (dim: number) => boolean;
    },
  ): SymbolicLayout {
    let anySize = false;
    const shape = hint.shape.map((size, dim): Dim => {
      const chosen = options.dynamic(dim);
      if (chosen === "unbacked") {
        anySize = true;
        return this.createUnbacked([0, Infinity]);
      }
      return chosen ? this.createSize({ base, part: { kind: "shape", dim } }, size, chosen) : size;
    });
    // Strides that depend on such a size are known only in the call
    if (anySize) {
      const strides = hint.strides.map((stride) => stride <= 1 ? stride : this.createUnbacked([0, Infinity]));
      return { shape, strides, offset: hint.offset };
    }
    const strideOf = (dim: number, stride: number) =>
      this.createSize({ base, part: { kind: "stride", dim } }, stride, { duck: false });
    const dynamic = shape.some((size) => typeof size !== "number");
    if (!dynamic) {
      const strides = hint.strides.map((stride, dim) =>
        stride > 1 && options.dynamicStride?.(dim) ? strideOf(dim, stride) : stride
      );
      return { shape, strides, offset: hint.offset };
    }
    const strides: (Dim | undefined)[] = hint.strides.map((stride) => stride <= 1 ? stride : undefined);
    const order = [...hint.strides.keys()].sort((a, b) =>
      (hint.strides[a] ?? 0) - (hint.strides[b] ?? 0) || b - a
    );
    for (const dim of order) {
      const stride = hint.strides[dim] ?? 0;
      if (strides[dim] !== undefined) continue;
      const inner = order.find((other) =>
        other !== dim && strides[other] !== undefined &&
        (hint.strides[other] ?? 0) * (hint.shape[other] ?? 0) === stride
      );
      if (inner === undefined) strides[dim] = strideOf(dim, stride);
      else {
        const product = mul(shape[inner] ?? 1, strides[inner] ?? 1);
        strides[dim] = product;
        this.#equalSources.push({ source: { base, part: { kind: "stride", dim } }, equals: product });
      }
    }
    return { shape, strides: strides.map((stride) => stride ?? 0), offset: hint.offset };
  }

  /** Forbids further guards: an assumption that is not implied is then an error. */
  freeze(): void {
    this.#frozen = true;
  }

  /** The symbols created so far. */
  get symbols(): readonly Sym[] {
    return [...this.#symbols.keys()];
  }

  /** Returns the symbols that decide on the value of a source. */
  symbolsOf(source: SizeSource): ReadonlySet<Sym> {
    const own = this.symbols.filter((symbol) => this.sourceOf(symbol) === source);
    const copied = this.#equalSources.find((each) => each.source === source);
    return new Set(own.length > 0 || !copied ? own : freeSymbols(copied.equals));
  }

  /** Returns the source of a symbol's value. */
  sourceOf(s: Sym): SizeSource {
    return this.#infoOf(s).source;
  }

  hintOf(s: Sym): number {
    return this.#infoOf(s).hint;
  }

  /** Returns the only value that the guards allow for a size, or undefined. */
  constantOf(d: Dim): number | undefined {
    const known = this.simplify(d);
    return typeof known === "number" ? known : undefined;
  }

  /** Substitutes known facts into an expression. */
  simplify(d: Dim): Dim {
    return substitute(d, (s) => this.#replaced.get(s) ?? s);
  }

  /** Inclusive bounds of a size, given all known facts. */
  boundsOf(d: Dim): readonly [number, number] {
    const { lower, upper } = this.#rangeOf(this.simplify(d));
    return [lower, upper];
  }

  assume(relation: Relation, [left, right]: readonly [Dim, Dim], outcome: boolean): void {
    const difference = this.simplify(sub(left, right));
    switch (relation) {
      case "eq":
        return outcome ? this.#assumeZero(difference) : this.#assumeNonZero(difference);
      case "lt": // a < b is a − b + 1 ≤ 0 for integers
        return this.#assumeAtMostZero(outcome ? add(difference, 1) : mul(difference, -1));
      case "le":
        return this.#assumeAtMostZero(outcome ? difference : sub(1, difference));
      default:
        return relation satisfies never;
    }
  }

  /** Returns the simplified conditions to check before a call: sources, ranges, then relations. */
  guards(): SizeGuard[] {
    return this.#facts().filter((fact) => !mentionsUnbacked(fact));
  }

  /** Returns the assumptions about data-dependent sizes, to be checked as soon as those are known. */
  runtimeAsserts(): SizeGuard[] {
    return this.#facts().filter((fact) => {
      if (fact.kind !== "range") return mentionsUnbacked(fact);
      const given = this.#unbacked.get(fact.symbol);
      return given !== undefined && (fact.lower > given.lower || fact.upper < given.upper);
    });
  }

  #facts(): SizeGuard[] {
    const guards: SizeGuard[] = [];
    const same = (source: SizeSource, equals: Dim) =>
      guards.push({ kind: "source", source, equals, text: `${sourceText(source)} == ${this.#text(equals)}` });
    const copies = this.#equalSources.map(({ source, equals }) => ({
      source,
      equals: this.simplify(equals),
    }));
    for (const { source, equals } of copies) if (typeof equals !== "number") same(source, equals);
    for (const [s, value] of this.#replaced) {
      const info = this.#symbols.get(s);
      if (info) same(info.source, value);
      else guards.push(this.#relation("eq", sub(s, value)));
    }
    // After the sizes that the program needs: a stride of 12 says less than the size that makes it so
    for (const { source, equals } of copies) if (typeof equals === "number") same(source, equals);
    const rest: SizeGuard[] = [];
    for (const [form, stored] of this.#ranges) {
      const now = this.simplify(form);
      if (typeof now === "number" || this.#replaced.has(form)) continue;
      if (this.#symbols.has(form) || this.#unbacked.has(form)) {
        const { lower, upper } = stored;
        guards.push({ kind: "range", symbol: form, lower, upper, text: inRange(this.#text(form), stored) });
        continue;
      }
      const plain = this.#rangeOf(now, now);
      if (stored.upper < plain.upper) rest.push(this.#relation("le", sub(now, stored.upper)));
      if (stored.lower > plain.lower) rest.push(this.#relation("le", sub(stored.lower, now)));
    }
    for (const [set, relation] of [[this.#zero, "eq"], [this.#nonZero, "ne"]] as const) {
      for (const e of set) {
        const now = this.simplify(e);
        if (typeof now === "number") continue;
        const { lower, upper } = this.#rangeOf(now);
        if (relation === "ne" && (lower > 0 || upper < 0)) continue;
        rest.push(this.#relation(relation, now));
      }
    }
    return unique([...guards, ...rest]);
  }

  /** The guards as printed. */
  guardTexts(): string[] {
    return this.guards().map((guard) => guard.text);
  }

  /** Returns whether a call with these values satisfies a guard; `valueOf` reads a source. */
  static holds(guard: SizeGuard, env: ShapeEnv, valueOf: (source: SizeSource) => number): boolean {
    const value = (d: Dim) => evaluate(d, (s) => valueOf(env.sourceOf(s)));
    switch (guard.kind) {
      case "range": {
        const found = value(guard.symbol);
        return guard.lower <= found && found <= guard.upper;
      }
      case "source":
        return valueOf(guard.source) === value(guard.equals);
      case "relation": {
        const left = value(guard.left), right = value(guard.right);
        return guard.relation === "eq"
          ? left === right
          : guard.relation === "ne"
          ? left !== right
          : left <= right;
      }
      default:
        return guard satisfies never;
    }
  }

  #infoOf(s: Sym): SymbolInfo {
    const info = this.#symbols.get(s);
    if (!info) throw new InternalError(`Expected a size of this trace but found ${s}`);
    return info;
  }

  #text(d: Dim): string {
    return print(substitute(d, (s) => this.#unbacked.has(s) ? s : this.#infoOf(s).printed));
  }

  /** left relation right, rearranged so that no coefficient is negative. */
  #relation(relation: "eq" | "ne" | "le", difference: Dim): SizeGuard {
    const [left, right] = split(difference);
    const constant = linear(left).constant;
    // a + 1 ≤ b reads better as a < b
    const strict = relation === "le" && constant === 1 && typeof left !== "number";
    const sign = strict ? "<" : { eq: "==", ne: "!=", le: "<=" }[relation];
    const text = `${this.#text(strict ? sub(left, 1) : left)} ${sign} ${this.#text(right)}`;
    return { kind: "relation", relation, left, right, text };
  }

  #adding(of: Sym, what: () => string, how: Noted = "constrained"): void {
    invariant(!this.#frozen, `Expected no more guards on sizes but found ${this.#frozen ? what() : ""}`);
    const where = this.noted(freeSymbols(of), how);
    logs.emit("dynamic", () => `eval ${what()} [guard added]${where}`);
  }

  #assumeZero(e: Dim): void {
    if (typeof e === "number") {
      invariant(e === 0, `Expected a size relation that holds in the traced call but found ${e} == 0`);
      return;
    }
    if (this.#zero.has(e)) return;
    this.#adding(e, () => `${e} == 0`, "settled");
    const solved = this.#solve(e);
    if (!solved) {
      this.#zero.add(e);
      return;
    }
    const [s, value] = solved;
    const former = this.#rangeOf(s);
    this.#replaced.set(s, value);
    const once = (d: Dim) => substitute(d, (each) => each === s ? value : each);
    for (const [each, old] of this.#replaced) this.#replaced.set(each, once(old));
    // Facts about the symbol, and about sums that contain it, now hold for its replacement.
    this.#refine(value, former);
    for (const [form, range] of [...this.#ranges]) {
      if (form !== s && freeSymbols(form).has(s)) this.#refine(once(form), range);
    }
  }

  /** e = 0 as symbol = value, for the newest symbol that is a term of its own with coefficient ±1. */
  #solve(e: Sym): readonly [Sym, Dim] | undefined {
    const { constant, terms } = linear(e), late = isUnbacked(e);
    const [only] = terms;
    if (only && terms.length === 1 && only.term.node.kind === "symbol") {
      return [only.term, -constant / only.coefficient];
    }
    for (const { term, coefficient } of terms.toReversed()) {
      if (term.node.kind !== "symbol" || Math.abs(coefficient) !== 1) continue;
      // Facts known before the call must not depend on sizes known later
      if (late && !isUnbacked(term)) continue;
      const rest = sub(e, mul(coefficient, term));
      if (!freeSymbols(rest).has(term)) return [term, mul(rest, -coefficient)];
    }
    return undefined;
  }

  #assumeNonZero(e: Dim): void {
    if (typeof e === "number") return;
    const { lower, upper } = this.#rangeOf(e);
    if (lower > 0 || upper < 0 || this.#nonZero.has(e) || this.#nonZero.has(negated(e))) return;
    this.#adding(e, () => `${e} != 0`);
    const { constant, terms: [first, ...others] } = linear(e);
    // At the end of a range an inequality shrinks the range
    if (first && others.length === 0 && Math.abs(first.coefficient) === 1) {
      const excluded = -constant / first.coefficient;
      const range = this.#rangeOf(first.term);
      if (excluded === range.lower) return this.#refine(first.term, { ...EVERYTHING, lower: excluded + 1 });
      if (excluded === range.upper) return this.#refine(first.term, { ...EVERYTHING, upper: excluded - 1 });
    }
    this.#nonZero.add(e);
  }

  #assumeAtMostZero(e: Dim): void {
    if (typeof e === "number" || this.#rangeOf(e).upper <= 0) return;
    this.#adding(e, () => `${e} <= 0`);
    this.#refine(e, { lower: -Infinity, upper: 0 });
  }

  /** Records that an expression lies in a range, in the form: sum without constant, first coefficient positive. */
  #refine(e: Dim, range: Range): void {
    if (typeof e === "number") return;
    const { constant, terms } = linear(e);
    const [first] = terms;
    if (!first) return;
    const divisor = terms.map((t) => Math.abs(t.coefficient)).reduce(gcd) * Math.sign(first.coefficient);
    const form = terms.reduce<Dim>((sum, t) => add(sum, mul(t.term, t.coefficient / divisor)), 0);
    if (typeof form === "number") return;
    const ends = [(range.lower - constant) / divisor, (range.upper - constant) / divisor];
    // Plain zero where a negative divisor gives -0
    const lower = Math.ceil(Math.min(...ends)) + 0, upper = Math.floor(Math.max(...ends)) + 0;
    const known = this.#ranges.get(form) ?? EVERYTHING;
    const now: Range = { lower: Math.max(known.lower, lower), upper: Math.min(known.upper, upper) };
    this.#ranges.set(form, now);
    if (form.node.kind === "symbol" && now.lower === now.upper && !this.#replaced.has(form)) {
      this.#assumeZero(sub(form, now.lower));
    }
    if (form.node.kind === "floorDiv" && typeof form.node.right === "number") {
      // lower ≤ x div k ≤ upper is lower·k ≤ x ≤ upper·k + k − 1
      const { left, right } = form.node;
      this.#refine(left, { lower: now.lower * right, upper: now.upper * right + right - 1 });
    }
  }

  /** Interval of an expression under the recorded ranges; those recorded for `except` itself are left out. */
  #rangeOf(d: Dim, except?: Dim): Range {
    if (typeof d === "number") return { lower: d, upper: d };
    let { lower, upper } = rangeWithin(d, (each) => this.#rangeOf(each));
    if (d !== except) {
      const { constant, terms } = linear(d);
      const divisor = terms[0] && terms[0].coefficient < 0 ? -1 : 1;
      const form = constant === 0 && divisor === 1 ? d : mul(sub(d, constant), divisor);
      const stored = typeof form === "number" ? undefined : this.#ranges.get(form);
      if (stored) {
        const ends = [stored.lower * divisor + constant, stored.upper * divisor + constant];
        lower = Math.max(lower, Math.min(...ends));
        upper = Math.min(upper, Math.max(...ends));
      }
    }
    return { lower, upper };
  }
}
