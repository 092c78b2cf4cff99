/**
 * Symbolic integers: interned, simplified expressions over symbols. They represent sizes that may differ between
 * calls and the index arithmetic of loops. Known results are numbers; others are one shared object for each distinct
 * expression, so that `===` is structural equality. Invariant: every constructor simplifies; sums are sums of
 * products with integer coefficients, in the order of order.ts.
 */
import { InternalError } from "../base/errors.ts";
import { type Dim, Sym, type SymbolRole, type SymNode } from "./node.ts";
import { compare } from "./order.ts";

export {
  type Decider,
  type Dim,
  print,
  type Relation,
  Sym,
  type SymbolRole,
  type SymNode,
  type UnbackedDecider,
} from "./node.ts";

const interned = new Map<string, WeakRef<Sym>>();
function intern(key: string, make: () => Sym): Sym {
  const found = interned.get(key)?.deref();
  if (found) return found;
  const made = make();
  interned.set(key, new WeakRef(made));
  return made;
}

const keyOf = (d: Dim): string => typeof d === "number" ? `${d}` : `#${d.id}`;

/** Inclusive bounds of a size or index. */
export function boundsOf(d: Dim): readonly [number, number] {
  return typeof d === "number" ? [d, d] : [d.lower, d.upper];
}

/** Creates a symbol; two calls create two symbols, whatever their names. */
export function symbol(
  name: string,
  role: SymbolRole,
  bounds: readonly [number, number] = [0, Infinity],
): Sym {
  return new Sym({ kind: "symbol", name, role }, bounds[0], bounds[1]);
}

type Terms = Map<Sym, number>;

function addInto(terms: Terms, d: Dim, scale: number): number {
  if (typeof d === "number") return d * scale;
  if (d.node.kind === "sum") {
    for (const { term, coefficient } of d.node.terms) bump(terms, term, coefficient * scale);
    return d.node.constant * scale;
  }
  bump(terms, d, scale);
  return 0;
}

function bump(terms: Terms, term: Sym, by: number): void {
  const sum = (terms.get(term) ?? 0) + by;
  if (sum === 0) terms.delete(term);
  else terms.set(term, sum);
}

function makeSum(start: number, terms: Terms): Dim {
  const constant = start + rejoin(terms);
  if (terms.size === 0) return constant;
  const sorted = [...terms].sort(([a], [b]) => compare(a, b));
  const [first] = sorted;
  if (sorted.length === 1 && constant === 0 && first && first[1] === 1) return first[0];
  const key = `+${constant};${sorted.map(([t, c]) => `${c}*${t.id}`).join()}`;
  return intern(key, () => {
    let lower = constant, upper = constant;
    for (const [t, c] of sorted) {
      lower += c > 0 ? c * t.lower : c * t.upper;
      upper += c > 0 ? c * t.upper : c * t.lower;
    }
    return new Sym(
      { kind: "sum", constant, terms: sorted.map(([term, coefficient]) => ({ term, coefficient })) },
      lower,
      upper,
    );
  });
}

/**
 * c·(x mod q) + c·q·(x div q) → c·x, the definition of mod read backwards; c may hold symbolic factors. Simplifies
 * indices that were flattened and unflattened. Changes `terms`; returns what goes to the constant.
 */
function rejoin(terms: Terms): number {
  let constant = 0;
  for (const [term, coefficient] of terms) {
    const factors = factorsOf(term);
    const remainder = factors.find((f) => f.node.kind === "mod");
    if (remainder?.node.kind !== "mod") continue;
    const { left, right } = remainder.node;
    const others = factors.filter((f) => f !== remainder).reduce<Dim>((p, f) => mul(p, f), 1);
    const partner = singleTerm(mul(mul(floorDiv(left, right), right), others));
    if (!partner || terms.get(partner.term) !== coefficient * partner.coefficient) continue;
    terms.delete(term);
    terms.delete(partner.term);
    constant += addInto(terms, mul(left, others), coefficient);
    return constant + rejoin(terms);
  }
  return constant;
}

/** d as coefficient·term, if it has that form. */
function singleTerm(d: Dim): { readonly term: Sym; readonly coefficient: number } | undefined {
  if (typeof d === "number") return undefined;
  if (d.node.kind !== "sum") return { term: d, coefficient: 1 };
  return d.node.constant === 0 && d.node.terms.length === 1 ? d.node.terms[0] : undefined;
}

export function add(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (a === 0) return b;
  if (b === 0) return a;
  const terms: Terms = new Map();
  const constant = addInto(terms, a, 1) + addInto(terms, b, 1);
  return makeSum(constant, terms);
}

export function sub(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const terms: Terms = new Map();
  const constant = addInto(terms, a, 1) + addInto(terms, b, -1);
  return makeSum(constant, terms);
}

export function mul(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return a * b;
  if (typeof a === "number") return scale(b as Sym, a);
  if (typeof b === "number") return scale(a, b);
  // (a + b)·c → a·c + b·c, so that equal polynomials are the same object
  if (a.node.kind === "sum") return distribute(a, b);
  if (b.node.kind === "sum") return distribute(b, a);
  const factors = [...factorsOf(a), ...factorsOf(b)].sort(compare);
  return intern(`*${factors.map((f) => f.id).join()}`, () => {
    const corners = [a.lower * b.lower, a.lower * b.upper, a.upper * b.lower, a.upper * b.upper]
      .map((v) => Number.isNaN(v) ? 0 : v);
    return new Sym({ kind: "product", factors }, Math.min(...corners), Math.max(...corners));
  });
}

const factorsOf = (s: Sym): readonly Sym[] => s.node.kind === "product" ? s.node.factors : [s];

function scale(s: Sym, by: number): Dim {
  if (by === 1) return s;
  const terms: Terms = new Map();
  return makeSum(addInto(terms, s, by), by === 0 ? new Map() : terms);
}

function distribute(sum: Sym, by: Sym): Dim {
  if (sum.node.kind !== "sum") throw new InternalError(`Expected a sum but found ${sum}`);
  let total = mul(sum.node.constant, by);
  for (const { term, coefficient } of sum.node.terms) total = add(total, mul(coefficient, mul(term, by)));
  return total;
}

/** ceil(a / b), b > 0. */
export const ceilDiv = (a: Dim, b: Dim): Dim => floorDiv(add(a, sub(b, 1)), b);

/** floor(a / b), b > 0. */
export function floorDiv(a: Dim, b: Dim): Dim {
  // Offsets into an empty tensor, which are never accessed
  if (b === 0) return 0;
  if (typeof a === "number" && typeof b === "number") return Math.floor(a / b);
  if (b === 1) return a;
  if (a === b) return 1;
  const [la, ua] = boundsOf(a), [lb] = boundsOf(b);
  if (la >= 0 && (ua < lb || provablyLess(a, b))) return 0; // 0 ≤ a < b → 0
  const split = splitMultiples(a, b);
  // (k·b + r) div b → k + r div b, exact for any integers
  if (split && split.quotient !== 0) return add(split.quotient, floorDiv(split.rest, b));
  const lift = liftOf(a, b);
  if (lift > 0) return sub(floorDiv(add(a, mul(b, lift)), b), lift);
  // (g·A + r) div (g·m) → A div m, 0 ≤ r < g
  const common = splitCommon(a, b);
  if (common) return floorDiv(common.whole, common.divisor);
  const inner = typeof a === "number" ? undefined : a.node;
  // (x mod (p·q)) div q → (x div q) mod p
  if (inner?.kind === "mod") {
    const p = divideDims(inner.right, b);
    if (p !== undefined) return mod(floorDiv(inner.left, b), p);
  }
  // (x div p) div q → x div (p·q), p, q > 0
  if (inner?.kind === "floorDiv" && boundsOf(inner.right)[0] > 0 && lb > 0) {
    return floorDiv(inner.left, mul(inner.right, b));
  }
  return intern(`/${keyOf(a)},${keyOf(b)}`, () => {
    const [lo, hi] = quotientBounds([la, ua], boundsOf(b));
    return new Sym({ kind: "floorDiv", left: a, right: b }, lo, hi);
  });
}

/** a − b·floor(a / b), in [0, b). */
export function mod(a: Dim, b: Dim): Dim {
  if (b === 0) return 0;
  if (typeof a === "number" && typeof b === "number") return a - b * Math.floor(a / b);
  if (b === 1 || a === b) return 0;
  const [la, ua] = boundsOf(a), [lb, ub] = boundsOf(b);
  if (la >= 0 && (ua < lb || provablyLess(a, b))) return a; // 0 ≤ a < b → a
  const split = splitMultiples(a, b);
  if (split && split.quotient !== 0) return mod(split.rest, b);
  // a mod b → (a + k·b) mod b, so that the dividend is not negative
  const lift = liftOf(a, b);
  if (lift > 0) return mod(add(a, mul(b, lift)), b);
  // (g·A + r) mod (g·m) → g·(A mod m) + r, 0 ≤ r < g
  const common = splitCommon(a, b);
  if (common) return add(mul(common.factor, mod(common.whole, common.divisor)), common.rest);
  // (x mod (p·q)) mod q → x mod q
  if (typeof a !== "number" && a.node.kind === "mod" && divideDims(a.node.right, b) !== undefined) {
    return mod(a.node.left, b);
  }
  return intern(`%${keyOf(a)},${keyOf(b)}`, () => new Sym({ kind: "mod", left: a, right: b }, 0, ub - 1));
}

/**
 * Returns how many times b must be added to a to make it non-negative; 0 if that is not known, or if a has no
 * constant term (multiples of b are moved out of sums).
 */
function liftOf(a: Dim, b: Dim): number {
  if (typeof a === "number" || typeof b !== "number" || a.node.kind !== "sum") return 0;
  if (a.lower >= 0 || a.lower === -Infinity || a.node.constant % b === 0) return 0;
  return Math.ceil(-a.lower / b);
}

/** Splits a = quotient·b + rest, taking whole multiples of b out of a sum; undefined when none. */
function splitMultiples(a: Dim, b: Dim): { quotient: Dim; rest: Dim } | undefined {
  let quotient: Dim = 0, rest: Dim = 0;
  const parts: readonly { term: Dim; coefficient: number }[] = typeof a === "number"
    ? [{ term: 1, coefficient: a }]
    : a.node.kind === "sum"
    ? [{ term: 1, coefficient: a.node.constant }, ...a.node.terms]
    : [{ term: a, coefficient: 1 }];
  for (const { term, coefficient } of parts) {
    const q = divideExactly(term, coefficient, b);
    if (q === undefined) rest = add(rest, mul(term, coefficient));
    else quotient = add(quotient, q);
  }
  return quotient === 0 ? undefined : { quotient, rest };
}

/**
 * Finds a proper divisor g of b with a = g·whole + rest, 0 ≤ rest < g, b = g·divisor. Tries what b has in common
 * with each term of a, the largest first.
 */
function splitCommon(
  a: Dim,
  b: Dim,
): { factor: Dim; whole: Dim; rest: Dim; divisor: Dim } | undefined {
  if (typeof a === "number" || a.node.kind !== "sum") return undefined;
  const { terms, constant } = a.node;
  const candidates = new Set(terms.map(({ term, coefficient }) => commonFactor(term, coefficient, b)));
  for (const factor of candidates) {
    if (factor === 1 || factor === b) continue;
    const divisor = divideDims(b, factor);
    if (divisor === undefined) continue;
    let whole: Dim = 0, rest: Dim = 0;
    for (const { term, coefficient } of [...terms, { term: 1, coefficient: constant }]) {
      const quotient = divideExactly(term, coefficient, factor);
      if (quotient === undefined) rest = add(rest, mul(term, coefficient));
      else whole = add(whole, quotient);
    }
    if (whole !== 0 && boundsOf(rest)[0] >= 0 && provablyLess(rest, factor)) {
      return { factor, whole, rest, divisor };
    }
  }
  return undefined;
}

/** Returns the common factor of coefficient·term and b: a number times shared factors. */
function commonFactor(term: Sym, coefficient: number, b: Dim): Dim {
  if (typeof b === "number") return gcd(Math.abs(coefficient), b);
  const single = singleTerm(b);
  if (!single) return 1;
  const left = [...factorsOf(term)];
  let shared: Dim = gcd(Math.abs(coefficient), Math.abs(single.coefficient));
  for (const f of factorsOf(single.term)) {
    const at = left.indexOf(f);
    if (at < 0) continue;
    left.splice(at, 1);
    shared = mul(shared, f);
  }
  return shared;
}

/** Greatest common divisor. */
export function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

/** a / b where it is exact for every value of the symbols, else undefined. */
export function divideDims(a: Dim, b: Dim): Dim | undefined {
  if (a === b) return 1;
  if (typeof a === "number") return typeof b === "number" && b !== 0 && a % b === 0 ? a / b : undefined;
  const single = singleTerm(a);
  return single && divideExactly(single.term, single.coefficient, b);
}

/** Returns whether a < b for all values: by bounds, or with every axis of a at its last position. */
export function provablyLess(a: Dim, b: Dim): boolean {
  if (boundsOf(a)[1] < boundsOf(b)[0]) return true;
  if (typeof a === "number" || typeof b === "number") return false;
  const most = mostOf(a);
  return most !== undefined && boundsOf(sub(b, most))[0] > 0;
}

/** An expression over sizes that a never exceeds: a with every axis at its last position; undefined if none is known. */
function mostOf(a: Dim): Dim | undefined {
  if (typeof a === "number" || !hasAxes(a)) return a;
  const { node } = a;
  switch (node.kind) {
    case "symbol":
      return node.role.kind === "axis" && node.role.size !== undefined ? sub(node.role.size, 1) : a;
    case "sum": {
      let most: Dim = node.constant;
      for (const { term, coefficient } of node.terms) {
        const last = coefficient < 0 ? undefined : mostOf(term);
        if (last === undefined) return undefined;
        most = add(most, mul(coefficient, last));
      }
      return most;
    }
    case "product": {
      let most: Dim = 1;
      for (const factor of node.factors) {
        // Larger factors give a larger product only if none is negative
        const last = factor.lower < 0 ? undefined : mostOf(factor);
        if (last === undefined) return undefined;
        most = mul(most, last);
      }
      return most;
    }
    case "floorDiv": {
      // An axis in the divisor would be smallest, not last
      const last = boundsOf(node.right)[0] > 0 && !hasAxes(node.right) ? mostOf(node.left) : undefined;
      return last === undefined ? undefined : floorDiv(last, node.right);
    }
    case "mod": {
      const last = mostOf(node.right);
      return last === undefined ? undefined : sub(last, 1);
    }
    case "min":
    case "max":
      return undefined;
    default:
      return node satisfies never;
  }
}

function hasAxes(d: Dim): boolean {
  return freeSymbols(d).values().some(({ node }) => node.kind === "symbol" && node.role.kind === "axis");
}

/** coefficient·term / b where it is exact, else undefined. */
function divideExactly(term: Dim, coefficient: number, b: Dim): Dim | undefined {
  if (coefficient === 0) return undefined;
  if (typeof b === "number") return coefficient % b === 0 ? mul(term, coefficient / b) : undefined;
  if (typeof term === "number") return undefined;
  const divisor = singleTerm(b) ?? { term: b, coefficient: 1 }, quotient = coefficient / divisor.coefficient;
  if (!Number.isInteger(quotient)) return undefined;
  const left = [...factorsOf(term)];
  for (const f of factorsOf(divisor.term)) {
    const at = left.indexOf(f);
    if (at < 0) return undefined;
    left.splice(at, 1);
  }
  return left.reduce<Dim>((p, f) => mul(p, f), quotient);
}

function quotientBounds(
  [la, ua]: readonly [number, number],
  [lb, ub]: readonly [number, number],
): readonly [number, number] {
  if (lb <= 0) return [-Infinity, Infinity];
  const lo = la >= 0 ? Math.floor(la / ub) : Math.floor(la / lb);
  const hi = ua >= 0 ? Math.floor(ua / lb) : Math.floor(ua / ub);
  return [Number.isNaN(lo) ? 0 : lo, Number.isNaN(hi) ? Infinity : hi];
}

/** Returns whether an operand is among those of nested minima, or of nested maxima. */
function isAmong(kind: "min" | "max", operand: Dim, d: Dim): boolean {
  if (d === operand) return true;
  if (typeof d === "number" || d.node.kind !== kind) return false;
  return isAmong(kind, operand, d.node.right) || isAmong(kind, operand, d.node.left);
}

export function min(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return Math.min(a, b);
  // min(min(a, b), b) → min(a, b)
  if (isAmong("min", b, a)) return a;
  if (isAmong("min", a, b)) return b;
  const [la, ua] = boundsOf(a), [lb, ub] = boundsOf(b);
  if (ua <= lb) return a;
  if (ub <= la) return b;
  return intern(
    `min${keyOf(a)},${keyOf(b)}`,
    () => new Sym({ kind: "min", left: a, right: b }, Math.min(la, lb), Math.min(ua, ub)),
  );
}

export function max(a: Dim, b: Dim): Dim {
  if (typeof a === "number" && typeof b === "number") return Math.max(a, b);
  // max(max(a, b), b) → max(a, b)
  if (isAmong("max", b, a)) return a;
  if (isAmong("max", a, b)) return b;
  const [la, ua] = boundsOf(a), [lb, ub] = boundsOf(b);
  if (la >= ub) return a;
  if (lb >= ua) return b;
  return intern(
    `max${keyOf(a)},${keyOf(b)}`,
    () => new Sym({ kind: "max", left: a, right: b }, Math.max(la, lb), Math.max(ua, ub)),
  );
}

/** Product of sizes; 1 for none. */
export function product(dims: readonly Dim[]): Dim {
  return dims.reduce<Dim>(mul, 1);
}

/** The operands of an expression, outermost first. */
export function operandsOf(s: Sym): readonly Dim[] {
  const { node } = s;
  switch (node.kind) {
    case "symbol":
      return [];
    case "sum":
      return node.terms.map((t) => t.term);
    case "product":
      return node.factors;
    case "floorDiv":
    case "mod":
    case "min":
    case "max":
      return [node.left, node.right];
    default:
      return node satisfies never;
  }
}

const NO_SYMBOLS: ReadonlySet<Sym> = new Set();

/** Symbols of each expression; expressions are interned. */
const symbolsIn = new WeakMap<Sym, ReadonlySet<Sym>>();

/** Collects all symbols of an expression, or of several, in `into`. */
export function freeSymbols(d: Dim, into?: Set<Sym>): ReadonlySet<Sym> {
  if (typeof d === "number") return into ?? NO_SYMBOLS;
  if (into) return collectSymbols(d, into);
  let known = symbolsIn.get(d);
  if (!known) symbolsIn.set(d, known = collectSymbols(d, new Set()));
  return known;
}

function collectSymbols(d: Dim, into: Set<Sym>): Set<Sym> {
  if (typeof d === "number") return into;
  if (d.node.kind === "symbol") into.add(d);
  else for (const o of operandsOf(d)) collectSymbols(o, into);
  return into;
}

/** Rebuilds an expression with `replace(symbol)` in place of each symbol. */
export function substitute(d: Dim, replace: (symbol: Sym) => Dim): Dim {
  if (typeof d === "number") return d;
  const { node } = d;
  const again = (x: Dim) => substitute(x, replace);
  switch (node.kind) {
    case "symbol":
      return replace(d);
    case "sum":
      return substituteSum(d, node, again);
    case "product":
      return node.factors.reduce<Dim>((p, f) => mul(p, again(f)), 1);
    case "floorDiv":
      return floorDiv(again(node.left), again(node.right));
    case "mod":
      return mod(again(node.left), again(node.right));
    case "min":
      return min(again(node.left), again(node.right));
    case "max":
      return max(again(node.left), again(node.right));
    default:
      return node satisfies never;
  }
}

/** The sum of the substituted terms; the same object if none changes. */
function substituteSum(
  sum: Sym,
  { constant: start, terms: list }: Extract<SymNode, { readonly kind: "sum" }>,
  again: (term: Dim) => Dim,
): Dim {
  const terms: Terms = new Map();
  let constant = start, stays = true;
  for (const { term, coefficient } of list) {
    const found = again(term);
    stays &&= found === term;
    constant += addInto(terms, found, coefficient);
  }
  return stays ? sum : makeSum(constant, terms);
}

/** The value under an assignment of all symbols. */
export function evaluate(d: Dim, valueOf: (symbol: Sym) => number): number {
  const result = substitute(d, valueOf);
  if (typeof result !== "number") throw new InternalError(`Expected a known size but found ${result}`);
  return result;
}
