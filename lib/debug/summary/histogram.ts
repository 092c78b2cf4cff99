/**
 * Histograms of event files, like `make_histogram` of torch.utils.tensorboard: counts between limits that grow by a
 * tenth each, from 1e-12 to 1e20 on both sides of zero. Invariant: empty buckets at the ends are dropped, except the
 * first.
 */
import { DynError } from "../../base/errors.ts";

/** A histogram of an event file: `counts[k]` numbers are between `limits[k - 1]` and `limits[k]`. */
export interface Histogram {
  readonly min: number;
  readonly max: number;
  readonly count: number;
  readonly sum: number;
  readonly sumOfSquares: number;
  readonly limits: readonly number[];
  readonly counts: readonly number[];
}

const POSITIVE: readonly number[] = (() => {
  const found: number[] = [];
  for (let value = 1e-12; value < 1e20; value *= 1.1) found.push(value);
  return found;
})();
const LIMITS: readonly number[] = [...POSITIVE.map((value) => -value).reverse(), 0, ...POSITIVE];

/** The number of limits that are at most a value. */
function limitsUpTo(value: number): number {
  let low = 0, high = LIMITS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((LIMITS[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The histogram of some numbers. Throws DynError if there are none, or one is not finite. */
export function histogramOf(values: ArrayLike<number>): Histogram {
  if (values.length === 0) throw new DynError("Expected numbers for a histogram but found none");
  const buckets = new Float64Array(LIMITS.length - 1);
  let min = Infinity, max = -Infinity, sum = 0, sumOfSquares = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? NaN;
    if (!Number.isFinite(value)) {
      throw new DynError(`Expected finite numbers for a histogram but found ${value}`);
    }
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
    sumOfSquares += value * value;
    const bucket = limitsUpTo(value) - 1;
    if (bucket >= 0 && bucket < buckets.length) buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  const start = Math.max(0, buckets.findIndex((count) => count > 0)),
    end = buckets.findLastIndex((count) => count > 0) + 1;
  const counts = start > 0 ? buckets.slice(start - 1, end) : [0, ...buckets.slice(0, end)];
  return {
    min,
    max,
    count: values.length,
    sum,
    sumOfSquares,
    limits: LIMITS.slice(start, end + 1),
    counts: [...counts],
  };
}
