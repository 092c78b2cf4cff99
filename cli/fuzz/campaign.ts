/**
 * Runs a fuzzer for a while in this process: batches of programs, each batch from its own seed; a failure is shrunk
 * by fast-check and reported with the seed and path that reproduce it. Invariant: the same seed and path produce the
 * same program wherever they run.
 */
import fc from "fast-check";
import { counters } from "../../lib/base/logs.ts";
import type { Fuzzer } from "./fuzzer.ts";
import type { CampaignEvent, Failure, Tier, WorkerTask } from "./protocol.ts";

/** A task, without the fuzzer that runs it. */
export interface CampaignOptions extends Omit<WorkerTask, "fuzzer" | "without"> {
  /** End after this many findings. */
  readonly enough?: number;
  /** End when the process holds this many bytes, to make way for a new one. By default it never does. */
  readonly mostBytes?: number;
  readonly report: (event: CampaignEvent) => void;
}

/**
 * Number of programs that share a module and a seed. To capture functions of a new module, dyn asks V8 for all its
 * scripts.
 */
const BATCH: Readonly<Record<Tier, number>> = {
  eager: 100,
  aot_eager: 100,
  wasm: 100,
  native: 25,
  webgpu: 8,
};

/** The seed of the batch after one. */
const next = (seed: number): number => (seed + 1) % 2 ** 31;

/** Runs batches until a limit is reached. */
export async function runCampaign<P>(fuzzer: Fuzzer<P>, options: CampaignOptions): Promise<void> {
  const { tier, mostBytes = Infinity } = options;
  const programs = fuzzer.generate(tier);
  let findings = 0, count = 0;
  const report = (event: CampaignEvent) => {
    if (event.event === "finding") findings++;
    options.report(event);
  };
  const isEnough = () => findings >= (options.enough ?? Infinity);
  if (options.path !== undefined) {
    await repeat(fuzzer, programs, { ...options, report, path: options.path });
    report({ event: "end", nextSeed: next(options.seed), counts: { programs: 1, ...fuzzer.counts() } });
    return;
  }
  const end = performance.now() + 1000 * options.seconds;
  let { seed } = options, left = options.programs;
  while (left > 0 && !isEnough() && performance.now() < end && Deno.memoryUsage().rss < mostBytes) {
    const batch = fc.sample(programs, { seed, numRuns: Math.min(left, BATCH[tier]) });
    left -= batch.length;
    let index = 0;
    for await (
      const failure of fuzzer.run(batch, tier, (k) => report({ event: "program", seed, index: k }))
    ) {
      if (failure) await repeat(fuzzer, programs, { ...options, report, seed, path: `${index}`, failure });
      index++;
      count++;
      if (performance.now() > end || isEnough()) break;
    }
    seed = next(seed);
  }
  report({ event: "end", nextSeed: seed, counts: { programs: count, ...fuzzer.counts() } });
}

/** Runs the program of a path again, and smaller ones as long as they fail in the same way. */
async function repeat<P>(
  fuzzer: Fuzzer<P>,
  programs: fc.Arbitrary<P>,
  options: CampaignOptions & { readonly path: string; readonly failure?: Failure },
): Promise<void> {
  const { tier, seed, path, shrinkSeconds, report } = options;
  let wanted = options.failure?.kind, last: Failure | undefined = options.failure;
  const runsAlike = async (program: P): Promise<boolean> => {
    for await (
      const failure of fuzzer.run([program], tier, () => report({ event: "shrinking" }))
    ) {
      if (failure === null || (wanted !== undefined && failure.kind !== wanted)) return true;
      wanted = failure.kind;
      last = failure;
      return false;
    }
    return true;
  };
  const result = await fc.check(fc.asyncProperty(programs, runsAlike), {
    seed,
    path,
    numRuns: 1,
    // Limits shrinking only; the first program always runs
    interruptAfterTimeLimit: 1000 * Math.max(1, shrinkSeconds),
  });
  counters.clear();
  const program = result.counterexample?.[0];
  const failure: Failure | undefined = last;
  if (program === undefined || !failure) {
    if (options.failure) reportUnshrunk(fuzzer, programs, { ...options, failure: options.failure });
    return;
  }
  report({
    event: "finding",
    seed,
    path: result.counterexamplePath ?? path,
    signature: fuzzer.signature(program, failure),
    failure,
    file: fuzzer.describe(program, failure),
  });
}

/** Reports a failure that did not recur when its program ran alone: it depends on what ran before. */
function reportUnshrunk<P>(
  fuzzer: Fuzzer<P>,
  programs: fc.Arbitrary<P>,
  options: CampaignOptions & { readonly path: string; readonly failure: Failure },
): void {
  const { seed, path, failure, report } = options;
  const program = fc.sample(programs, { seed, numRuns: Number(path) + 1 }).at(-1);
  if (program === undefined) return;
  report({
    event: "finding",
    seed,
    path,
    signature: `only after other programs, ${fuzzer.signature(program, failure)}`,
    failure: {
      ...failure,
      text: `${failure.text}\n  (only when other programs of the seed have run before)`,
    },
    file: fuzzer.describe(program, failure),
  });
}
