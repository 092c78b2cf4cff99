/**
 * Integers of the program that may change: arithmetic and comparisons accept any value, 0, 1 and negative ones included.
 * Only an integer that becomes a size, a position or a stride is restricted to the range that sizes have. Invariant: the
 * two symbols of an integer have the same source, hence the same value in each call.
 */
import { isEqual } from "./decide.ts";
import { type Dim, substitute, Sym } from "./expr.ts";
import type { ShapeEnv } from "./shape_env.ts";
import type { SizeSource } from "./size_guards.ts";

/** Greatest magnitude of such an integer. */
const GREATEST = 0x7fffffff;

/** Returns whether a number may become such an integer; -0 differs from 0 in arithmetic. */
export function isSmallInteger(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= GREATEST && !Object.is(value, -0);
}

interface Known {
  readonly source: SizeSource;
  readonly hint: number;
  readonly variesAsSize: boolean;
}

/** The integers of one trace. */
export class Integers {
  readonly #known = new Map<Sym, Known>();
  readonly #sizes = new Map<Sym, Dim>();

  constructor(private readonly sizes: ShapeEnv) {}

  /** The symbol of an integer. `variesAsSize`: whether it becomes a symbol too, not a constant, where it is a size. */
  create(source: SizeSource, { hint, variesAsSize }: Omit<Known, "source">): Dim {
    const made = this.sizes.createSize(source, hint, { range: [-GREATEST, GREATEST], duck: false });
    if (made instanceof Sym) this.#known.set(made, { source, hint, variesAsSize });
    return made;
  }

  /** An expression as a size: its integers are in the range of sizes, and 0 and 1 are constants. */
  asSize(dim: Dim): Dim {
    return substitute(dim, (symbol) => this.#sizes.get(symbol) ?? this.#makeSize(symbol));
  }

  /** An expression with the symbols of those integers that have become sizes. */
  current(dim: Dim): Dim {
    return substitute(dim, (symbol) => this.#sizes.get(symbol) ?? symbol);
  }

  #makeSize(symbol: Sym): Dim {
    const known = this.#known.get(symbol);
    if (!known) return symbol;
    const { hint, source, variesAsSize } = known;
    let size: Dim = hint;
    if (!variesAsSize || hint === 0 || hint === 1) isEqual(symbol, hint);
    else {
      const [lower, upper] = this.sizes.boundsOf(symbol);
      const range = hint > 0 ? [Math.max(2, lower), upper] as const : [lower, Math.min(-1, upper)] as const;
      size = lower === upper ? hint : this.sizes.createSize(source, hint, { range, duck: false });
    }
    this.#sizes.set(symbol, size);
    return size;
  }
}
