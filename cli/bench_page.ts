/**
 * The history of benchmarks as an HTML page, from the lines that benchmarks append to a file. Invariant: a line that
 * cannot be read is skipped and counted.
 */
import { isPlainObject } from "../lib/base/tree.ts";
import benchScript from "../lib/debug/pages/bench.js" with { type: "text" };
import { htmlPage } from "../lib/debug/pages/page.ts";

/** The result of one run of a benchmark. */
export interface BenchRun {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly machine: string;
  readonly title: string;
  /** The competitor with which the others are compared. */
  readonly base: string;
  /** Medians in milliseconds. */
  readonly timings: readonly { readonly name: string; readonly median: number }[];
}

function isRun(value: unknown): value is BenchRun {
  return isPlainObject(value) && typeof value["time"] === "number" && typeof value["machine"] === "string" &&
    typeof value["title"] === "string" && typeof value["base"] === "string" &&
    Array.isArray(value["timings"]) &&
    value["timings"].every((each: unknown) =>
      isPlainObject(each) && typeof each["name"] === "string" && typeof each["median"] === "number"
    );
}

/** The page of a history file's text. */
export function benchPage(history: string): string {
  const runs: BenchRun[] = [];
  let skipped = 0;
  for (const line of history.split("\n").filter((each) => each !== "")) {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Counted as unreadable
    }
    if (isRun(value)) runs.push(value);
    else skipped++;
  }
  return htmlPage({ title: "dyn bench", script: benchScript, data: { runs, skipped } });
}
