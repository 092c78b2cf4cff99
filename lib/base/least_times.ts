/**
 * Times alternatives of the same work. Invariant: samples are interleaved, short and many, so that other work on the
 * machine does not affect the smallest.
 */

/**
 * Minimum milliseconds of one sample, maximum of all alternatives together; minimum and maximum number of samples of
 * each.
 */
const SAMPLE_MS = 0.025, ALL_MS = 200, SAMPLES = [9, 400] as const;

/** An alternative must take less than this share of the default's time: smaller differences are noise. */
export const CLEARLY = 0.95;

/** Returns the microseconds of each, the minimum of its samples. */
export function leastTimes(runs: readonly (() => void)[]): number[] {
  const least = runs.map(() => Infinity);
  const repeats = runs.map((run) => {
    run();
    const start = performance.now();
    run();
    return Math.min(1000, Math.max(1, Math.ceil(SAMPLE_MS / Math.max(1e-4, performance.now() - start))));
  });
  const [fewest, most] = SAMPLES, end = performance.now() + ALL_MS;
  for (let sample = 0; sample < fewest || (sample < most && performance.now() < end); sample++) {
    runs.forEach((run, i) => {
      const count = repeats[i] ?? 1, start = performance.now();
      for (let k = 0; k < count; k++) run();
      least[i] = Math.min(least[i] ?? Infinity, (performance.now() - start) * 1000 / count);
    });
  }
  return least;
}
