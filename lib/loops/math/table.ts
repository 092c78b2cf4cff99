/** All scalar functions. */
import type { ValueType } from "../../base/dtype.ts";
import type { ScalarOpName } from "../scalar.ts";
import type { MathOps } from "./body.ts";
import { expF32 } from "./exponential.ts";
import { bfloatToFloat, floatToBfloat, floatToHalf, halfToFloat } from "./half.ts";
import { tanhF32 } from "./hyperbolic.ts";
import { logF32 } from "./logarithm.ts";
import { cosF32, sinF32, tanF32 } from "./trigonometry.ts";

/** A function as a body. */
export interface Definition {
  /** Records the result; surplus operands are to be ignored. */
  readonly body: <V>(o: MathOps<V>, a: V, b: V, c: V) => V;
  /** A bound of its error, in units in the last place of the result. */
  readonly ulps: number;
}

const F: Partial<Record<ScalarOpName, Partial<Record<ValueType, Definition>>>> = {
  exp: { float32: { body: expF32, ulps: 1 } },
  log: { float32: { body: logF32, ulps: 1 } },
  tanh: { float32: { body: tanhF32, ulps: 1 } },
  sin: { float32: { body: sinF32, ulps: 1 } },
  cos: { float32: { body: cosF32, ulps: 1 } },
  tan: { float32: { body: tanF32, ulps: 1 } },
  halfToFloat: { int32: { body: halfToFloat, ulps: 0 } },
  floatToHalf: { float32: { body: floatToHalf, ulps: 0 } },
  bfloatToFloat: { int32: { body: bfloatToFloat, ulps: 0 } },
  floatToBfloat: { float32: { body: floatToBfloat, ulps: 0 } },
};

/** The definition of an operation on a type; undefined where it is primitive. */
export function definitionOf(op: ScalarOpName, dtype: ValueType): Definition | undefined {
  return F[op]?.[dtype];
}
