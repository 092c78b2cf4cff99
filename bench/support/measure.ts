/**
 * Timing for benchmarks, in milliseconds. Invariant: competitors alternate inside one process, so that a noisy machine
 * affects them equally; the median of the rounds is reported.
 */
import { Bench } from "tinybench";

/** The times of one competitor. */
export interface Timing {
  readonly name: string;
  /** Median milliseconds of one run. */
  readonly median: number;
  readonly samples: number;
}

/** Runs each function for at least `milliseconds` in all, in `rounds` turns. */
export async function measure(
  functions: Readonly<Record<string, () => unknown>>,
  { milliseconds = 600, rounds = 3 }: { milliseconds?: number; rounds?: number } = {},
): Promise<Timing[]> {
  const samples = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(functions)) {
      const bench = new Bench({
        time: milliseconds / rounds,
        warmupTime: milliseconds / rounds / 4,
        iterations: 3,
        warmupIterations: 1,
      });
      bench.add(name, () => void run());
      await bench.run();
      const result = bench.tasks[0]?.result;
      if (!result || !("latency" in result)) throw new Error(`Expected ${name} to run but it failed`);
      samples.set(name, [...samples.get(name) ?? [], ...result.latency.samples]);
    }
  }
  return [...samples].map(([name, all]) => ({ name, median: medianOf(all), samples: all.length }));
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** Prints timings with their ratios to one of them, and adds them to the history that `dyn bench` keeps. */
export function report(title: string, timings: readonly Timing[], base: string): void {
  const history = Deno.env.get("DYN_BENCH_HISTORY");
  if (history) {
    const line = { time: Date.now(), machine: describeMachine(), title, base, timings };
    Deno.writeTextFileSync(history, `${JSON.stringify(line)}\n`, { append: true });
  }
  const reference = timings.find((t) => t.name === base)?.median;
  console.log(`\n${title}`);
  for (const { name, median } of timings) {
    const ratio = reference ? `${(median / reference).toFixed(2)}× ${base}` : "";
    console.log(`  ${name.padEnd(28)} ${format(median).padStart(12)}   ${ratio}`);
  }
}

function format(milliseconds: number): string {
  return milliseconds < 0.1 ? `${(milliseconds * 1000).toFixed(2)} µs` : `${milliseconds.toFixed(3)} ms`;
}

/** Describes the machine of the measurements. */
export function describeMachine(): string {
  const cpu = /model name\s*:\s*(.*)/.exec(readIfThere("/proc/cpuinfo"))?.[1] ?? "unknown CPU";
  return `${cpu}, ${navigator.hardwareConcurrency} threads, Deno ${Deno.version.deno}`;
}

function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
