/**
 * Index-set splitting: cuts parallel loops where conditions on their counter change, and where piecewise linear indices
 * change slope, so that padding, window borders, concatenation and rolling need no check at each element: a compiler
 * vectorises unconditional loads of adjacent elements. In each part such a condition is constant, and indices are
 * linear. Invariant: every element is computed by the same operations.
 */
import type { ValueType } from "../base/dtype.ts";
import { add, boundsOf, type Dim, mul, operandsOf, sub, type Sym } from "../sym/expr.ts";
import type { Loop, Statement, ValueId } from "../loops/ir.ts";
import { coefficientOf, substituteIndices } from "../loops/nest.ts";
import { allOf } from "../loops/uses.ts";
import { nextId, valueTypes } from "../loops/value_types.ts";
import { cloneIndex, cloneStatement, type Renaming } from "./statement_list.ts";
import { axisOf } from "./strip_mining.ts";

/** Up to how many parts, and up to how many statements in all parts together, cutting a loop is worth it. */
interface Limits {
  readonly parts: number;
  readonly statements: number;
  /** Whether cutting is worth it even if no part is most of the loop. */
  readonly even: boolean;
}

/** Limits for inner loops, and for long outermost loops, whose parts become kernels. */
const INNER: Limits = { parts: 4, statements: 800, even: false };
const OUTERMOST: Limits = { parts: 16, statements: 1500, even: true };
/** Shorter loops stay whole. */
const SHORT = 8;
/** Length from which parts are worth it although none is most of the loop, as in a concatenation along rows. */
const EACH = 64;
/** A loop around other loops stays whole if fewer iterations surround it: threads divide them together. */
const APART = 16;

/** Minimum number of iterations that are worth a kernel of their own. */
const LONG = 2 ** 14;

/**
 * Cuts long loops that are neither inside others nor around others: a concatenation of many tensors along their first
 * dimension then copies each in a loop of its own.
 */
export function splitOutermost(body: readonly Statement[]): readonly Statement[] {
  return isCuttable(body) ? new Cutter(body).outermost(body) : body;
}

/** The statements with loops cut. */
export function splitIndexSets(body: readonly Statement[]): readonly Statement[] {
  return isCuttable(body) ? new Cutter(body).inside(body, 0) : body;
}

const isCuttable = (body: readonly Statement[]): boolean =>
  allOf(body).some((s) =>
    s.kind === "masked" || ((s.kind === "load" || s.kind === "store") && bendsOf(s.index).length > 0)
  );

/** The subexpressions that are only piecewise linear in a counter. */
function bendsOf(d: Dim): readonly Sym[] {
  if (typeof d === "number") return [];
  const { kind } = d.node, inner = operandsOf(d).flatMap(bendsOf);
  return kind === "mod" || kind === "min" || kind === "max" ? [...inner, d] : inner;
}

const COMPARISONS = {
  lt: (a: number, b: number): boolean => a < b,
  le: (a: number, b: number): boolean => a <= b,
  gt: (a: number, b: number): boolean => a > b,
  ge: (a: number, b: number): boolean => a >= b,
} as const;

const comparisonOf = (op: string) =>
  Object.hasOwn(COMPARISONS, op) ? COMPARISONS[op as keyof typeof COMPARISONS] : undefined;

type Scalar = Statement & { readonly kind: "scalar" };

class Cutter {
  readonly #types: Map<ValueId, ValueType>;
  /** Integers that are expressions of counters, and conditions whose value is known. */
  readonly #indices = new Map<ValueId, Dim>();
  readonly #truths = new Map<ValueId, boolean>();
  #next: ValueId;

  constructor(body: readonly Statement[]) {
    this.#types = valueTypes(body);
    this.#next = nextId(body);
    for (const s of allOf(body)) this.#see(s);
  }

  /** Records the integers and conditions that a statement defines. */
  #see(s: Statement): void {
    if (s.kind === "index") this.#indices.set(s.id, s.index);
    if (s.kind !== "constant") return;
    if (typeof s.value === "boolean") this.#truths.set(s.id, s.value);
    else if (s.dtype === "int32" || s.dtype === "int64") this.#indices.set(s.id, Number(s.value));
  }

  /** Handles statements outside of all loops. */
  outermost(body: readonly Statement[]): readonly Statement[] {
    // Several loops in one kernel may have been fused on purpose
    if (body.filter(({ kind }) => kind === "loop").length > 1) return body;
    return body.flatMap((s): readonly Statement[] => {
      if (s.kind !== "loop" || s.body.some(({ kind }) => kind === "loop")) return [s];
      const { size } = s.axis;
      return typeof size === "number" && size >= LONG ? this.#parts(s, APART, OUTERMOST) : [s];
    });
  }

  /** Handles statements inside of parallel loops with this many iterations in all; 0: outside of any. */
  inside(body: readonly Statement[], around: number): readonly Statement[] {
    return body.flatMap((s): readonly Statement[] => {
      if (s.kind !== "loop") return [s];
      const { size } = s.axis, each = typeof size === "number" ? size : 1;
      const within = s.order === "parallel" ? Math.max(1, around) * each : around;
      return this.#parts(s, around).map((part) => ({ ...part, body: this.inside(part.body, within) }));
    });
  }

  /** A loop, or its parts, at most as many as the limits allow. */
  #parts(loop: Loop, around: number, limits: Limits = INNER): readonly Loop[] {
    const { parts: most, statements, even } = limits;
    const { body, axis: { size, symbol } } = loop;
    const plain = loop.order === "parallel" && loop.carried.length + loop.reductions.length === 0;
    if (!plain || around === 0 || (around < APART && body.some((s) => s.kind === "loop"))) return [loop];
    if (typeof size !== "number" || size < SHORT || !isCuttable(body)) return [loop];
    const places = [...this.#places(body, { symbol, size })].toSorted((a, b) => a - b);
    if (places.length === 0) return [loop];
    const starts = [0, ...places], lengths = starts.map((start, at) => (places[at] ?? size) - start);
    if (starts.length > most || starts.length * [...allOf(body)].length > statements) return [loop];
    if (!even && 2 * Math.max(...lengths) < size && Math.min(...lengths) < EACH) return [loop];
    // Nested piecewise indices are made linear from the inside out
    return starts.flatMap((start, at) =>
      this.#parts(this.#part(loop, start, lengths[at] ?? 0), around, {
        ...limits,
        parts: most - places.length,
      })
    );
  }

  /** Returns the counter values at which conditions change or indices change slope. */
  #places(body: readonly Statement[], axis: { readonly symbol: Sym; readonly size: number }): Set<number> {
    const found = new Set<number>();
    for (const s of allOf(body)) {
      if (s.kind === "load" || s.kind === "store") {
        for (const bend of bendsOf(s.index)) for (const place of this.#bends(bend, axis)) found.add(place);
      }
      const holds = s.kind === "scalar" ? this.#condition(s, axis.symbol) : undefined;
      const place = holds ? firstChange(holds, axis.size) : axis.size;
      if (place < axis.size) found.add(place);
    }
    return found;
  }

  /** A comparison of two expressions that are linear in a counter. */
  #condition({ op, args }: Scalar, counter: Sym): ((at: number) => boolean) | undefined {
    const holds = comparisonOf(op), [a, b] = args.map((id) => this.#line(id, counter));
    return holds && a && b ? (at) => holds(a(at), b(at)) : undefined;
  }

  #line(id: ValueId, counter: Sym): ((at: number) => number) | undefined {
    const index = this.#indices.get(id);
    return index === undefined ? undefined : lineOf(index, counter);
  }

  /** Returns the counter values at which a piecewise linear expression changes slope; none if there are too many. */
  #bends(
    { node }: Sym,
    { symbol, size }: { readonly symbol: Sym; readonly size: number },
  ): readonly number[] {
    if (node.kind === "min" || node.kind === "max") {
      const difference = lineOf(sub(node.left, node.right), symbol);
      const place = difference ? firstChange((at) => difference(at) < 0, size) : size;
      return place < size ? [place] : [];
    }
    const left = node.kind === "mod" ? lineOf(node.left, symbol) : undefined;
    if (node.kind !== "mod" || !left || typeof node.right !== "number") return [];
    const turns = (at: number) => Math.floor(left(at) / Number(node.right)), found: number[] = [];
    if (Math.abs(turns(size - 1) - turns(0)) >= INNER.parts) return [];
    for (let from = 0; from < size;) {
      const now = turns(from), place = from + firstChange((at) => turns(from + at) === now, size - from);
      if (place < size) found.push(place);
      from = place;
    }
    return found;
  }

  /** Iterations of a loop from `start` on, with the conditions that are known there. */
  #part(loop: Loop, start: number, length: number): Loop {
    const axis = axisOf("m", length), { symbol } = loop.axis;
    const moved = substituteIndices(loop.body, (s) => s === symbol ? add(axis.symbol, start) : s);
    return { ...loop, axis, body: this.#copy(moved, new Names((dtype) => this.#fresh(dtype))) };
  }

  #fresh(dtype: ValueType): ValueId {
    this.#types.set(this.#next, dtype);
    return this.#next++;
  }

  /** A copy of statements that does not evaluate known conditions. */
  #copy(body: readonly Statement[], names: Names): Statement[] {
    return body.flatMap((s): Statement[] => {
      if (s.kind === "loop") return [this.#copyLoop(s, names)];
      if (s.kind === "masked" || s.kind === "select") {
        const truth = this.#truths.get(names.use(s.condition));
        const inner = s.kind === "masked" && truth !== false ? this.#copy(s.body, names) : [];
        if (truth !== undefined) {
          const then = s.kind === "masked" ? s.value : s.then;
          names.same(s.id, truth ? then : s.otherwise);
          return inner;
        }
        if (s.kind === "masked") {
          const { condition, otherwise, value } = s, { use } = names;
          const id = names.define(s.id, s.dtype);
          return [{
            ...s,
            id,
            condition: use(condition),
            otherwise: use(otherwise),
            value: use(value),
            body: inner,
          }];
        }
      }
      if (s.kind === "scalar" && s.dtype === "bool") {
        const truth = this.#truthOf(s, names);
        if (typeof truth === "object") {
          names.same(s.id, truth.as);
          return [];
        }
        if (truth !== undefined) {
          const id = names.define(s.id, "bool");
          this.#truths.set(id, truth);
          return [{ kind: "constant", id, value: truth, dtype: "bool" }];
        }
      }
      const made = cloneStatement(s, names);
      this.#see(made);
      return [made];
    });
  }

  #copyLoop(loop: Loop, names: Names): Loop {
    const axis = axisOf("m", cloneIndex(loop.axis.size, names));
    names.counters.set(loop.axis.symbol, axis.symbol);
    const carried = loop.carried.map((c) => ({
      ...c,
      initial: names.use(c.initial),
      id: names.define(c.id, c.dtype),
    }));
    const body = this.#copy(loop.body, names);
    const reductions = loop.reductions.map((r) => ({
      ...r,
      value: names.use(r.value),
      ...(r.index === undefined ? {} : { index: names.use(r.index) }),
      id: names.define(r.id, r.dtype),
    }));
    return {
      ...loop,
      axis,
      body,
      reductions,
      carried: carried.map((c) => ({ ...c, next: names.use(c.next) })),
    };
  }

  /**
   * Returns the constant value of a condition, or another condition that it equals; undefined if neither is known.
   */
  #truthOf({ op, args }: Scalar, { use }: Names): boolean | { readonly as: ValueId } | undefined {
    const [first, second] = args;
    if (first === undefined) return undefined;
    const a = this.#truths.get(use(first));
    if (op === "not") return a === undefined ? undefined : !a;
    if (second === undefined) return undefined;
    const b = this.#truths.get(use(second));
    if (op === "and" || op === "or") {
      const deciding = op === "or";
      if (a === deciding || b === deciding) return deciding;
      return a !== undefined ? (b ?? { as: second }) : b !== undefined ? { as: first } : undefined;
    }
    const left = this.#indices.get(use(first)), right = this.#indices.get(use(second));
    return left === undefined || right === undefined ? undefined : decided(op, left, right);
  }
}

/** The names in a copy, which are added as it is made. */
class Names implements Renaming {
  readonly #now = new Map<ValueId, ValueId>();
  readonly counters: Map<Sym, Sym> = new Map();

  constructor(private readonly fresh: (dtype: ValueType) => ValueId) {}

  readonly use = (id: ValueId): ValueId => this.#now.get(id) ?? id;

  readonly define = (id: ValueId, dtype: ValueType): ValueId => {
    const made = this.fresh(dtype);
    this.#now.set(id, made);
    return made;
  };

  readonly replace = (symbol: Sym): Dim => this.counters.get(symbol) ?? symbol;

  /** Makes a value an alias of another. */
  same(id: ValueId, as: ValueId): void {
    this.#now.set(id, this.use(as));
  }
}

/** Returns the result of a comparison that is the same for all values of two expressions. */
function decided(op: string, a: Dim, b: Dim): boolean | undefined {
  const holds = comparisonOf(op), ends = [...boundsOf(a), ...boundsOf(b)];
  if (!holds || !ends.every(Number.isFinite)) return undefined;
  const [first = 0, last = 0, least = 0, most = 0] = ends;
  const found = new Set([holds(first, least), holds(first, most), holds(last, least), holds(last, most)]);
  const [one] = found;
  return found.size === 1 ? one : undefined;
}

/** An expression as a linear function of a counter. */
function lineOf(index: Dim, counter: Sym): ((at: number) => number) | undefined {
  const slope = coefficientOf(index, counter);
  if (typeof slope !== "number") return undefined;
  const start = sub(index, mul(slope, counter));
  return typeof start === "number" ? (at) => slope * at + start : undefined;
}

/** The first place where a condition that changes at most once differs from place 0; `size` if it never does. */
function firstChange(holds: (at: number) => boolean, size: number): number {
  const before = holds(0);
  let low = 0, high = size;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
