/**
 * Buckets of gradients that are passed on together once all of them are complete, in the order in which backward
 * passes reach them. Invariant: using or ignoring the order changes no result.
 */
import type { Tensor } from "../tensor/tensor.ts";

const places = new WeakMap<Tensor, number>();

/** Sets which gradients are passed on together; for a parameter in two models, the last call wins. */
export function setGradientBuckets(buckets: readonly (readonly Tensor[])[]): void {
  buckets.forEach((members, place) => {
    for (const each of members) places.set(each, place);
  });
}

/** Returns the position of a parameter's bucket, or undefined if it is in none. */
export function bucketPlaceOf(parameter: Tensor): number | undefined {
  return places.get(parameter);
}
