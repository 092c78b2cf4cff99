/**
 * Finds repeated stretches in a list of numbers that represent calls (equal calls have the same number):
 * stretches of equal adjacent pieces. Invariant: stretches do not overlap; if several choices exist, the one that
 * leaves the least work is preferred.
 */

/** Equal pieces of the same length, one after another. */
interface Stretch {
  readonly start: number;
  readonly period: number;
  readonly count: number;
}

/** When a stretch is worth outlining. */
interface Worth {
  /** Minimum number of calls in a piece; shorter ones are combined. */
  readonly least: number;
  /** Minimum length of pieces after combining short ones. */
  readonly together: number;
  /** Minimum number of calls that outlining must save. */
  readonly saved: number;
  /** Maximum length of a piece. */
  readonly longest: number;
  /**
   * Returns the number of values computed after `from` that are read at or after each position up to `to`. A stretch is
   * cut where this is smallest, so that pieces pass few values.
   */
  readonly alive: (from: number, to: number) => readonly number[];
}

/** The stretches of a list, in order. */
export function equalStretches(list: readonly number[], worth: Worth): Stretch[] {
  const within = (from: number, to: number): Stretch[] => {
    const best = longestRun(list, { from, to, worth });
    if (!best) return [];
    const { start, period, count } = best;
    return [...within(from, start), best, ...within(start + count * period, to)];
  };
  return within(0, list.length);
}

/** The stretch between two places that saves most calls; of equal ones, the one with the shortest pieces. */
function longestRun(
  list: readonly number[],
  { from, to, worth }: { readonly from: number; readonly to: number; readonly worth: Worth },
): Stretch | null {
  let best: Stretch | null = null, most = worth.saved - 1;
  const longest = Math.min(worth.longest, (to - from) >> 1);
  // Longer pieces save no more than all calls that follow the first piece
  for (let period = 1; period <= longest && to - from - period > most; period++) {
    const end = to - period, least = Math.max(period, most + 1);
    // Any run of sufficient length includes one of these places
    for (let probe = from + least - 1; probe < end; probe += least) {
      if (list[probe] !== list[probe + period]) continue;
      let start = probe, after = probe + 1;
      while (start > from && list[start - 1] === list[start - 1 + period]) start--;
      while (after < end && list[after] === list[after + period]) after++;
      const run = after - start;
      probe += least * Math.floor((after - probe) / least);
      if (run < least || run <= most) continue;
      most = run;
      best = { start, period, count: Math.floor(run / period) + 1 };
    }
  }
  return best && cut(best, worth);
}

/** The same stretch with pieces that are long enough, starting where the fewest values are live. */
function cut(
  { start, period: shortest, count: most }: Stretch,
  { least, together, alive }: Worth,
): Stretch | null {
  const period = shortest < least ? shortest * Math.ceil(together / shortest) : shortest;
  const end = start + shortest * most;
  const living = alive(start, Math.min(end, start + period + shortest));
  let best: Stretch | null = null, fewest = Infinity;
  for (let first = start; first < start + shortest; first++) {
    const count = Math.floor((end - first) / period);
    if (count < 2) break;
    const values = living[first + period - start] ?? Infinity;
    if (values >= fewest) continue;
    fewest = values;
    best = { start: first, period, count };
  }
  return best;
}
