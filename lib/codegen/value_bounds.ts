/**
 * Bounds of the integer values of a kernel. Invariant: a bound holds whatever the buffers contain. Bounds of index
 * expressions follow from those of counters and sizes.
 */
import { isFloat, type ValueType } from "../base/dtype.ts";
import type { Statement, ValueId } from "../loops/ir.ts";
import { boundsOf, type Dim, type Sym } from "../sym/expr.ts";
import { type Range, rangeWithin } from "../sym/terms.ts";
import { allOf } from "../loops/uses.ts";

/** Integers up to here, and their sums, are exact as numbers. */
const EXACT = 2 ** 52, SMALL = 2 ** 31;

/** Bounds of the integer values whose magnitude is at most `limit`, which is at most 2⁵². */
export function boundedIntegers(
  body: readonly Statement[],
  limit: number,
  indexBounds: (index: Dim) => Bounds,
): ReadonlyMap<ValueId, Bounds> {
  const analysis = new Analysis(indexBounds);
  analysis.visit(body);
  return new Map([...analysis.bounds].filter(([, bounds]) => isWithin(bounds, limit)));
}

const isWithin = ([low, high]: Bounds, limit: number): boolean => low >= -limit && high <= limit;

function boundsOfType(dtype: ValueType): Bounds | undefined {
  switch (dtype) {
    case "bool":
      return [0, 1];
    case "int32":
      return [-SMALL, SMALL - 1];
    case "int64":
    case "float32":
    case "float64":
      return undefined;
    default:
      return dtype satisfies never;
  }
}

class Analysis {
  readonly bounds = new Map<ValueId, Bounds>();

  constructor(readonly indexBounds: (index: Dim) => Bounds) {}

  #define(id: ValueId, dtype: ValueType, bounds?: Bounds): void {
    const known = (isFloat(dtype) ? undefined : bounds) ?? boundsOfType(dtype);
    if (known && Number.isFinite(known[0]) && Number.isFinite(known[1])) this.bounds.set(id, known);
  }

  /** Propagates bounds from operands to results. */
  visit(body: readonly Statement[]): void {
    for (const s of body) {
      switch (s.kind) {
        case "loop":
          for (const c of s.carried) this.#define(c.id, c.dtype);
          this.visit(s.body);
          for (const r of s.reductions) {
            const places = r.index === undefined ? undefined : this.bounds.get(r.index);
            this.#define(r.id, r.dtype, places && [Math.min(0, places[0]), Math.max(0, places[1])]);
          }
          break;
        case "constant":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? [Number(s.value), Number(s.value)] : undefined);
          break;
        case "index":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? this.indexBounds(s.index) : undefined);
          break;
        case "load":
          this.#define(s.id, s.dtype);
          break;
        case "cast":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? this.bounds.get(s.value) : undefined);
          break;
        case "scalar":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? this.#combine(s.op, s.args) : undefined);
          break;
        case "select":
          this.#join(s.id, s.dtype, [s.then, s.otherwise]);
          break;
        case "masked":
          this.visit(s.body);
          this.#join(s.id, s.dtype, [s.value, s.otherwise]);
          break;
        case "store":
          break;
        default:
          s satisfies never;
      }
    }
  }

  #join(id: ValueId, dtype: ValueType, values: readonly ValueId[]): void {
    const all = values.map((v) => this.bounds.get(v));
    const known = all.every((b) => b !== undefined)
      ? [Math.min(...all.map((b) => b[0])), Math.max(...all.map((b) => b[1]))] as const
      : undefined;
    this.#define(id, dtype, known);
  }

  #combine(op: string, args: readonly ValueId[]): Bounds | undefined {
    const operands = args.map((id) => this.bounds.get(id));
    const [a, b = [0, 0] as const] = operands;
    const within = (limit: number) => operands.every((bounds) => bounds && isWithin(bounds, limit));
    if (!a || !within(EXACT)) return undefined;
    const corners = (f: (x: number, y: number) => number): Bounds => {
      const all = [f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])];
      return [Math.min(...all), Math.max(...all)];
    };
    switch (op) {
      case "add":
        return corners((x, y) => x + y);
      case "sub":
        return corners((x, y) => x - y);
      case "mul":
        return corners((x, y) => x * y);
      case "minimum":
        return corners(Math.min);
      case "maximum":
        return corners(Math.max);
      case "neg":
        return [-a[1], -a[0]];
      case "abs":
        return [0, Math.max(Math.abs(a[0]), Math.abs(a[1]))];
      case "floorDiv":
      case "truncDiv": {
        const most = Math.max(Math.abs(a[0]), Math.abs(a[1])) + 1;
        return within(SMALL) ? [-most, most] : undefined;
      }
      case "floorMod":
      case "truncMod": {
        const most = Math.max(Math.abs(b[0]), Math.abs(b[1]));
        return within(SMALL) ? [-most, most] : undefined;
      }
      default:
        return undefined;
    }
  }
}

/** Least and greatest value, both included. */
export type Bounds = readonly [low: number, high: number];

/** The range of index expressions in a kernel, where every size is below `limit`. */
export function boundsWithin(
  body: readonly Statement[],
  sizes: readonly Sym[],
  limit: number,
): (index: Dim) => Bounds {
  if (sizes.length === 0) return boundsOf;
  const known = new Map<Sym, Range>();
  const rangeOf = (d: Dim): Range =>
    typeof d === "number" ? { lower: d, upper: d } : known.get(d) ?? rangeWithin(d, rangeOf);
  for (const s of sizes) known.set(s, { lower: s.lower, upper: Math.min(s.upper, limit - 1) });
  for (const s of allOf(body)) {
    if (s.kind !== "loop") continue;
    known.set(s.axis.symbol, { lower: 0, upper: Math.max(0, rangeOf(s.axis.size).upper - 1) });
  }
  return (d) => {
    const { lower, upper } = rangeOf(d);
    return [lower, upper];
  };
}
