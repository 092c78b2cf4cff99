/**
 * Conditions on elements inside of compositions. Input: a condition that must not hold anywhere; output: zeros to be added
 * to what depends on it. Invariant: a call for which it holds is refused as one with an index out of range is, compiled too.
 */
import { DynError } from "../base/errors.ts";
import type { TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";

/** One zero of the type of `like`, read at index 0; at 1, which there is not, where `condition` holds for any element. */
export function zeroUnless<T extends TensorLike>(
  o: OpApi<T>,
  condition: T,
  { like, expected }: Refusal<T>,
): T {
  const index = o.unsqueeze(o.to(o.any(condition), "int64"), 0);
  try {
    return o.indexSelect(o.newZeros(like, [1]), 0, index);
  } catch (error) {
    // Where the elements are at hand, the index is refused at once: in the words of the call
    throw error instanceof DynError ? new DynError(`Expected ${expected}`) : error;
  }
}

/** What a refusal says, and the type of its zero. */
interface Refusal<T> {
  readonly like: T;
  /** How the message goes on after "Expected". */
  readonly expected: string;
}
