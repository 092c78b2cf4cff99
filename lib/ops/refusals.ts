/**
 * Conditions on elements inside of compositions. Input: a condition that must not hold anywhere; output: zeros to be added
 * to what depends on it. Invariant: a call for which it holds is refused as one with an index out of range is, compiled too.
 */
import type { TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";

/** One zero of the type of `like`, read at index 0; at 1, which there is not, where `condition` holds for any element. */
export function zeroUnless<T extends TensorLike>(o: OpApi<T>, condition: T, like: T): T {
  return o.indexSelect(o.newZeros(like, [1]), 0, o.unsqueeze(o.to(o.any(condition), "int64"), 0));
}
