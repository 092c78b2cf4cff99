/**
 * Elementwise ops over batches. Invariant: types promote as for one element of the batch, where 0-d tensors rank lower.
 */
import { isScalar, resultTypeOf } from "../promotion.ts";
import { isTensorLike, type TensorLike } from "../tensor_like.ts";
import { type ArgsOf, isOperandNumber, type Params } from "../params.ts";
import type { BatchCall, BatchRule } from "./call.ts";

/** Operands that only select: their type does not affect promotion. */
const CHOOSING: ReadonlySet<string> = new Set(["condition", "mask"]);

/** The tensors of a call by parameter, without numbers that change: they rank as numbers do. */
function operandsOf<T extends TensorLike>(
  { definition, args }: BatchCall<Params, T>,
): readonly (readonly [name: string, value: T])[] {
  return Object.entries(definition.params).flatMap(([name, param]): (readonly [string, T])[] => {
    const value = args[name];
    return isTensorLike<T>(value) && !isOperandNumber(param) ? [[name, value]] : [];
  });
}

/** Widens operands to one rank and converts those whose type would rank differently with a batch. */
function aligned<T extends TensorLike>(call: BatchCall<Params, T>): ArgsOf<Params, T> {
  const operands = operandsOf(call), { o } = call;
  const rank = Math.max(0, ...operands.map(([, value]) => call.rankOf(value)));
  const promoting = operands.filter(([name]) => !CHOOSING.has(name));
  const ranked = promoting.map(([, value]) => ({ shape: call.shapeOf(value), dtype: value.dtype }));
  const numbers = Object.entries(call.definition.params).flatMap(([name, { kind }]) => {
    const value = call.args[name];
    return kind === "operand" && isScalar(value) ? [value] : [];
  });
  const mixes = ranked.some(({ shape }) => shape.length === 0) &&
    new Set(ranked.map(({ dtype }) => dtype)).size > 1;
  const common = mixes ? resultTypeOf([...ranked, ...numbers]) : null;
  const changed: Record<string, ArgsOf<Params, T>[string]> = { ...call.args };
  for (const [name, value] of operands) {
    const wide = call.widened(value, rank);
    // What is shared and still has no dimension ranks as before, and would lose digits
    const converts = common !== null && !CHOOSING.has(name) && value.dtype !== common &&
      wide.shape.length > 0;
    changed[name] = converts ? o.to(wide, common) : wide;
  }
  return changed;
}

/** The rule of ops that broadcast their operands. */
export const elementwise: BatchRule = {
  apply<T extends TensorLike>(call: BatchCall<Params, T>): T | readonly T[] {
    return call.run(aligned(call));
  },
};
