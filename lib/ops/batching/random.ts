/**
 * Random ops over batches: elements differ along the batch or are the same, as `randomness` says. Invariant: one call
 * draws once, however large the batch is.
 */
import { DynError } from "../../base/errors.ts";
import { isTensorLike, type TensorLike } from "../tensor_like.ts";
import type { ArgsOf, Params } from "../params.ts";
import type { BatchCall } from "./call.ts";

/** How random ops behave along a batch: refused, drawn for each element, or drawn once for all. */
export type Randomness = "error" | "different" | "same";

/** Makes a random call. Throws DynError if it is not allowed, or cannot be the same for all elements. */
export function drawn<T extends TensorLike>(
  call: BatchCall<Params, T>,
  randomness: Randomness,
): readonly T[] {
  const { definition, args, o } = call, { self, size, high } = args;
  if (randomness === "error") {
    throw new DynError(
      `Expected no random op under vmap but found ${definition.name}, in randomness error mode; ` +
        'pass randomness: "same" or "different" to say what is meant',
    );
  }
  const all: ArgsOf<Params, T> = args;
  if (isTensorLike<T>(self)) {
    const { p } = args, isChance = definition.name === "bernoulli";
    if (randomness === "different") {
      const chance = isTensorLike<T>(p) ? call.widened(p, call.rankOf(self)) : p;
      return call.run({ ...all, self: call.front(self), ...(isChance ? { p: chance ?? null } : {}) });
    }
    if (isChance && [self, p].some((x) => isTensorLike<T>(x) && call.isBatched(x))) {
      throw new DynError(
        'Expected probabilities without a batch for bernoulli with randomness: "same" but found one',
      );
    }
    const one = call.isBatched(self) ? o.select(self, 0, 0) : self;
    return call.run({ ...all, self: one }).map((result) => call.front(result));
  }
  if (randomness === "same") return call.run(all).map((result) => call.front(result));
  // randint(high, size) has its size in place of `high`
  if (Array.isArray(size)) return call.run({ ...all, size: [call.size, ...size] });
  if (Array.isArray(high)) return call.run({ ...all, high: [call.size, ...high] });
  throw new DynError(`Expected a random op of known form but found ${definition.name}`);
}
