/**
 * Where a loop computes sines, cosines and tangents, and which of their arguments may be large. Input: a loop's
 * statements; output: each such value with what has to be computed to see its argument. Invariant: only values
 * computed by every iteration count; those of masked parts use the functions for all arguments.
 */
import type { DType } from "../../../lib/base/dtype.ts";
import type { Statement, ValueId } from "../../../lib/loops/ir.ts";
import { SCALAR_OPS } from "../../../lib/loops/scalar.ts";

/** A sine, cosine or tangent of float32 in a loop's body. */
export interface Trigonometry {
  readonly id: ValueId;
  readonly argument: ValueId;
  /** Whether the argument cannot be large. */
  readonly bounded: boolean;
  /** The computations in front of it. */
  readonly before: readonly Statement[];
}

/** The trigonometry among the statements of a loop, in order. `types` are those of all values. */
export function trigonometry(body: readonly Statement[], types: ReadonlyMap<ValueId, DType>): Trigonometry[] {
  const bounded = new Set<ValueId>();
  return body.flatMap((s, at): Trigonometry[] => {
    if (s.kind !== "scalar") return [];
    if (SCALAR_OPS[s.op].bounded) bounded.add(s.id);
    const [argument] = s.args;
    const isTrig = s.op === "sin" || s.op === "cos" || s.op === "tan";
    if (!isTrig || argument === undefined || types.get(argument) !== "float32") return [];
    const before = body.slice(0, at).filter((other) => other.kind !== "store");
    return [{ id: s.id, argument, bounded: bounded.has(argument), before }];
  });
}
