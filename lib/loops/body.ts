/**
 * Define-by-run loop bodies: how an op defines one element. `Body<V>` extends the scalar vocabulary by loads and masks;
 * the same function is run to record loop IR, to count operations or to find its reads. Invariant: a body is pure;
 * running it twice with equal handlers gives equal results.
 */
import type { DType } from "../base/dtype.ts";
import type { Tagged } from "../base/tagged.ts";
import type { Dim } from "../sym/expr.ts";
import type { ConvGeometry, ExternOp, ReductionOp } from "./ir.ts";
import type { ScalarOps } from "./scalar.ts";

/** The handler that a body is run with. V is opaque to bodies. */
export interface Body<V> extends ScalarOps<V> {
  /** An index expression as an integer value. */
  index(index: Dim, dtype: DType): V;
  /** A value (of an integer type) as an index, for indirect loads. It must lie in [0, size). */
  indirect(value: V, size: Dim): Dim;
  /** `body()` where the condition holds (its loads are valid only there), else `otherwise`. */
  masked(condition: V, body: () => V, otherwise: V): V;
  /** Loads an element of an operand. */
  load(operand: Operand, index: readonly Dim[]): V;
}

/** A tensor operand of a lowering, which can be loaded element by element. Created by the caller. */
export interface Operand {
  readonly shape: readonly Dim[];
  readonly dtype: DType;
}

/** One element, given its index in the output. Generic over the handler: write it once, run it anywhere. */
export type Element = <V>(o: Body<V>, index: readonly Dim[]) => V;

/** Lowerings of results. All shapes are those of the result unless named otherwise. */
interface LoweredResults {
  pointwise: { element: Element };
  reduction: {
    op: ReductionOp;
    /** Sizes of the reduced axes. */
    over: readonly Dim[];
    /** The contribution at (index in the result, index in the reduced axes), of type `accumulator`. */
    accumulator: DType;
    element: <V>(o: Body<V>, index: readonly Dim[], reduced: readonly Dim[]) => V;
    /** argmax, argmin: the index to report for a reduced position. */
    position?: (reduced: readonly Dim[]) => Dim;
  };
  /** Running combination along `dim`. */
  scan: {
    dim: number;
    initial: number;
    element: Element;
    combine: <V>(o: ScalarOps<V>, before: V, value: V) => V;
  };
  /** result = base, then for each position of `over`: result[target] (set | add)= value. */
  scatter: {
    base: Element;
    over: readonly Dim[];
    mode: "set" | "add";
    target: <V>(o: Body<V>, position: readonly Dim[]) => readonly Dim[];
    value: Element;
  };
}

interface LoweredCalls {
  extern: {
    call: ExternOp;
    /** Operands in the order of ExternOp, as strided views are allowed where `layout` says so. */
    inputs: readonly Operand[];
    outputs: readonly Operand[];
  };
}

/** The lowering of an op. */
export type Lowered =
  | Tagged<{ [K in keyof LoweredResults]: Operand & LoweredResults[K] }>
  | Tagged<LoweredCalls>;

export type { ConvGeometry };
