/**
 * Gradients that are handed on together, as soon as all of them are there. Input: parameters in buckets, in the order in
 * which backward passes are to come to them; output: the place of a parameter's bucket in that order. Invariant: what
 * compilers make of it changes no result.
 */
import type { Tensor } from "../tensor/tensor.ts";

const places = new WeakMap<Tensor, number>();

/** Says which gradients are handed on together; of a parameter that is in two models the last word counts. */
export function handOnTogether(buckets: readonly (readonly Tensor[])[]): void {
  buckets.forEach((members, place) => {
    for (const each of members) places.set(each, place);
  });
}

/** The place of a parameter's bucket; undefined for what is in none. */
export function bucketPlaceOf(parameter: Tensor): number | undefined {
  return places.get(parameter);
}
