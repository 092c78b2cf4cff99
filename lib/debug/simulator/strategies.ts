/**
 * Searches for the fastest layout of each strategy that fits, given a workload, a number of ranks and their memory.
 * Invariant: a layout that fits beats one that does not; of those that fit, the one with the highest throughput wins.
 */
import { type Layout, predict, type Prediction, type Terms } from "./predictions.ts";
import type { Workload } from "./workload.ts";

/** Ways of dividing a step, as the table names them. */
const STRATEGIES = ["data", "sharded", "tensor", "pipeline", "mixed"] as const;

/** One of `STRATEGIES`. "mixed": any of the others together. */
type StrategyName = typeof STRATEGIES[number];

/** Returns whether a layout belongs to a strategy; the remaining ranks hold copies. */
const IS_OF: Readonly<Record<StrategyName, (layout: Layout) => boolean>> = {
  data: ({ tensor, stages, sharded }) => tensor === 1 && stages === 1 && !sharded,
  sharded: ({ tensor, stages, sharded }) => tensor === 1 && stages === 1 && sharded,
  tensor: ({ tensor, stages, sharded }) => tensor > 1 && stages === 1 && !sharded,
  pipeline: ({ tensor, stages, sharded }) => tensor === 1 && stages > 1 && !sharded,
  mixed: ({ tensor, stages, sharded }) => [tensor > 1, stages > 1, sharded].filter(Boolean).length > 1,
};

/** The best layout of a strategy. */
export interface Choice {
  readonly strategy: StrategyName;
  readonly prediction: Prediction;
  readonly fits: boolean;
}

/** Powers of two up to a maximum that divide another number. */
function powers(most: number, of: number): number[] {
  const found: number[] = [];
  for (let k = 1; k <= most && of % k === 0; k *= 2) found.push(k);
  return found;
}

/** All layouts of a number of ranks: layers are divided within nodes. */
export function layoutsOf(ranks: number, ranksPerNode: number): Layout[] {
  return powers(Math.min(ranks, ranksPerNode), ranks).flatMap((tensor) =>
    powers(ranks / tensor, ranks / tensor).flatMap((stages) => {
      const data = ranks / tensor / stages;
      const layout = { data, tensor, stages };
      return [{ ...layout, sharded: false }, ...data > 1 ? [{ ...layout, sharded: true }] : []];
    })
  );
}

/** Batches per second. */
export function rateOf({ batches, seconds }: Prediction): number {
  return batches / seconds;
}

function isBetter(one: Choice, other: Choice): boolean {
  if (one.fits !== other.fits) return one.fits;
  return one.fits
    ? rateOf(one.prediction) > rateOf(other.prediction)
    : one.prediction.bytes < other.prediction.bytes;
}

/** The best layout of each strategy that has one, for a number of ranks with a given memory. */
export function choices(
  workload: Workload,
  terms: Terms,
  { ranks, memory }: { readonly ranks: number; readonly memory: number },
): Choice[] {
  const best = new Map<StrategyName, Choice>();
  for (const layout of layoutsOf(ranks, terms.cluster.ranksPerNode)) {
    const strategy = STRATEGIES.find((name) => IS_OF[name](layout)),
      prediction = predict(workload, layout, terms);
    if (!strategy || !prediction) continue;
    const choice = { strategy, prediction, fits: prediction.bytes <= memory }, known = best.get(strategy);
    if (!known || isBetter(choice, known)) best.set(strategy, choice);
  }
  return STRATEGIES.flatMap((name) => best.get(name) ?? []);
}

/** The best of all; undefined if none fits. */
export function fastest(found: readonly Choice[]): Choice | undefined {
  return found.filter(({ fits }) => fits).reduce<Choice | undefined>(
    (best, each) => !best || isBetter(each, best) ? each : best,
    undefined,
  );
}
