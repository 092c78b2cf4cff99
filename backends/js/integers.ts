/**
 * Which int64 values of a kernel can be plain numbers: those that provably stay below 2⁵², and those that are
 * only used as indices or compared with such. Input: a kernel's statements; output: the ids of these values.
 * Invariant: a value that is computed with or stored as int64 is a bigint unless its bounds make numbers exact.
 */
import type { ValueType } from "../../lib/base/dtype.ts";
import type { Statement, ValueId } from "../../lib/loops/ir.ts";
import { boundsOf, type Dim } from "../../lib/sym/expr.ts";

/** Least and greatest value, both included. */
export type Bounds = readonly [low: number, high: number];

const EXACT = 2 ** 52, SMALL = 2 ** 31;

const COMPARISONS: ReadonlySet<string> = new Set(["eq", "ne", "lt", "le", "gt", "ge"]);

/** The int64 values that are numbers. */
export function numericIntegers(body: readonly Statement[]): ReadonlySet<ValueId> {
  const analysis = new Analysis();
  analysis.forward(body);
  analysis.backward(body);
  return analysis.numbers();
}

/**
 * Bounds of the integer values whose magnitude is known to be at most `limit` (and at most 2⁵²), where `indexBounds`
 * says in what range index expressions are.
 */
export function boundedIntegers(
  body: readonly Statement[],
  limit: number,
  indexBounds: (index: Dim) => Bounds,
): ReadonlyMap<ValueId, Bounds> {
  const analysis = new Analysis(indexBounds);
  analysis.forward(body);
  return analysis.bounded(limit);
}

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
  readonly #types = new Map<ValueId, ValueType>();
  readonly #bounds = new Map<ValueId, Bounds>();
  /** Values without bounds that may be numbers where no use needs a bigint. */
  readonly #flexible = new Set<ValueId>();
  readonly #needed = new Set<ValueId>();

  constructor(readonly indexBounds: (index: Dim) => Bounds = boundsOf) {}

  numbers(): Set<ValueId> {
    const found = new Set<ValueId>();
    for (const [id, dtype] of this.#types) {
      if (dtype !== "int64") continue;
      if (this.#within(id, EXACT) || (this.#flexible.has(id) && !this.#needed.has(id))) found.add(id);
    }
    return found;
  }

  bounded(limit: number): Map<ValueId, Bounds> {
    return new Map([...this.#bounds].filter(([id]) => this.#within(id, limit)));
  }

  #within(id: ValueId, limit: number): boolean {
    const bounds = this.#bounds.get(id);
    return bounds !== undefined && bounds[0] >= -limit && bounds[1] <= limit;
  }

  #define(id: ValueId, dtype: ValueType, bounds: Bounds | undefined): void {
    this.#types.set(id, dtype);
    const known = bounds ?? boundsOfType(dtype);
    if (known && Number.isFinite(known[0]) && Number.isFinite(known[1])) this.#bounds.set(id, known);
  }

  /** Bounds from operands to results. */
  forward(body: readonly Statement[]): void {
    for (const s of body) {
      switch (s.kind) {
        case "loop":
          for (const c of s.carried) this.#types.set(c.id, c.dtype);
          this.forward(s.body);
          for (const r of s.reductions) {
            const places = r.index === undefined ? undefined : this.#bounds.get(r.index);
            this.#define(r.id, r.dtype, places && [Math.min(0, places[0]), Math.max(0, places[1])]);
          }
          break;
        case "constant":
          this.#define(s.id, s.dtype, [Number(s.value), Number(s.value)]);
          break;
        case "index":
          this.#define(s.id, s.dtype, this.indexBounds(s.index));
          break;
        case "load":
          this.#define(s.id, s.dtype, undefined);
          if (s.dtype === "int64") this.#flexible.add(s.id);
          break;
        case "cast":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? this.#bounds.get(s.value) : undefined);
          if (isFloatType(this.#types.get(s.value))) this.#bounds.delete(s.id);
          break;
        case "scalar":
          this.#define(s.id, s.dtype, s.dtype === "int64" ? this.#combine(s.op, s.args) : undefined);
          if (s.dtype === "int64" && (s.op === "add" || s.op === "sub") && this.#someSmall(s.args)) {
            this.#flexible.add(s.id);
          }
          if (s.dtype === "int64" && (s.op === "minimum" || s.op === "maximum")) this.#flexible.add(s.id);
          break;
        case "select":
          this.#join(s.id, s.dtype, [s.then, s.otherwise]);
          break;
        case "masked":
          this.forward(s.body);
          this.#join(s.id, s.dtype, [s.value, s.otherwise]);
          break;
        case "store":
          break;
        default:
          s satisfies never;
      }
    }
  }

  #someSmall(args: readonly ValueId[]): boolean {
    return args.some((a) => this.#within(a, SMALL));
  }

  #join(id: ValueId, dtype: ValueType, values: readonly ValueId[]): void {
    const all = values.map((v) => this.#bounds.get(v));
    const known = all.every((b) => b !== undefined)
      ? [Math.min(...all.map((b) => b[0])), Math.max(...all.map((b) => b[1]))] as const
      : undefined;
    this.#define(id, dtype, known);
    if (dtype === "int64") this.#flexible.add(id);
  }

  #combine(op: string, args: readonly ValueId[]): Bounds | undefined {
    const [a, b = [0, 0] as const] = args.map((id) => this.#bounds.get(id));
    if (!a || !b || !args.every((id) => this.#within(id, EXACT))) return undefined;
    const small = args.every((id) => this.#within(id, SMALL));
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
        return small ? [-most, most] : undefined;
      }
      case "floorMod":
      case "truncMod": {
        const most = Math.max(Math.abs(b[0]), Math.abs(b[1]));
        return small ? [-most, most] : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Which values must be bigints, from uses to operands. */
  backward(body: readonly Statement[]): void {
    for (let k = body.length - 1; k >= 0; k--) {
      const s = body[k];
      if (s) this.#uses(s);
    }
  }

  #need(...ids: readonly ValueId[]): void {
    for (const id of ids) this.#needed.add(id);
  }

  #uses(s: Statement): void {
    switch (s.kind) {
      case "loop":
        for (const c of s.carried) this.#need(c.initial, c.next);
        for (const r of s.reductions) {
          this.#need(r.value);
          if (r.index !== undefined && !this.#within(r.id, EXACT)) this.#need(r.index);
        }
        return this.backward(s.body);
      case "store":
        return this.#need(s.value);
      case "cast":
        if (s.dtype === "int32") this.#need(s.value);
        return;
      case "select":
        if (this.#needed.has(s.id)) this.#need(s.then, s.otherwise);
        return;
      case "masked":
        if (this.#needed.has(s.id)) this.#need(s.value, s.otherwise);
        return this.backward(s.body);
      case "scalar": {
        const tolerant = COMPARISONS.has(s.op)
          ? s.args.some((a) => this.#within(a, EXACT))
          : this.#flexible.has(s.id) && !this.#needed.has(s.id) &&
            (s.op === "minimum" || s.op === "maximum" || this.#someSmall(s.args));
        if (!tolerant) this.#need(...s.args);
        return;
      }
      case "constant":
      case "index":
      case "load":
        return;
      default:
        s satisfies never;
    }
  }
}

const isFloatType = (dtype: ValueType | undefined): boolean => dtype === "float32" || dtype === "float64";
