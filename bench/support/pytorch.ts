/**
 * PyTorch in the same benchmark run: Python code fills a dict `result` of name → milliseconds. The interpreter is
 * named by DYN_BENCH_PYTHON; without it there is no comparison, and the benchmark says so.
 */
import type { Timing } from "./measure.ts";

const PRELUDE = `
import json, os, sys, time, torch
torch.set_num_threads(int(os.environ.get("DYN_NUM_THREADS") or os.cpu_count()))
result = {}
def measure(name, run, seconds=0.6):
    run()
    start = time.perf_counter()
    for _ in range(2):
        if time.perf_counter() - start < seconds: run()
    samples, stop = [], time.perf_counter() + seconds
    while time.perf_counter() < stop or len(samples) < 3:
        t = time.perf_counter(); run(); samples.append((time.perf_counter() - t) * 1e3)
    samples.sort()
    result[name] = samples[len(samples) // 2]
`;

/** Runs Python code after a prelude that offers \`measure(name, run)\`; undefined without PyTorch. */
export function pytorch(code: string): Timing[] | undefined {
  const python = Deno.env.get("DYN_BENCH_PYTHON");
  if (!python) {
    console.log("  (no PyTorch comparison: DYN_BENCH_PYTHON names no Python interpreter)");
    return undefined;
  }
  const { success, stdout, stderr } = new Deno.Command(python, {
    args: ["-c", `${PRELUDE}${code}\nprint(json.dumps(result))`],
    stdout: "piped",
    stderr: "piped",
  }).outputSync();
  if (!success) {
    console.log(`  (PyTorch failed: ${new TextDecoder().decode(stderr).trim().split("\n").at(-1)})`);
    return undefined;
  }
  const last = new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "{}";
  const found: Record<string, number> = JSON.parse(last);
  return Object.entries(found).map(([name, median]) => ({ name, median, samples: 0 }));
}
