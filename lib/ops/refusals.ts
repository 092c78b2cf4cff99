/**
 * Checks of elements inside compositions. A check is a tensor of zeros that is added to the values that depend on it.
 * Invariant: a call whose condition holds is refused like one with an index out of range, also when compiled.
 */
import { DynError } from "../base/errors.ts";
import type { TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";

/**
 * A zero of the type of `like`, read at index 0, or at 1, which is out of range, if `condition` holds for any element.
 */
export function zeroUnless<T extends TensorLike>(
  o: OpApi<T>,
  condition: T,
  { like, expected }: Refusal<T>,
): T {
  const index = o.unsqueeze(o.to(o.any(condition), "int64"), 0);
  try {
    return o.indexSelect(o.newZeros(like, [1]), 0, index);
  } catch (error) {
    // If elements are available, the index is refused immediately, with the message of the call
    throw error instanceof DynError ? new DynError(`Expected ${expected}`) : error;
  }
}

/** The message of a refusal, and a tensor with the type of its zeros. */
interface Refusal<T> {
  readonly like: T;
  /** Rest of the message after "Expected". */
  readonly expected: string;
}
