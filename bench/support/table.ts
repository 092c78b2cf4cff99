/**
 * Tables that compare two libraries: each row has a function here and a Python expression; rows are sorted by PyTorch's
 * time divided by ours, losses first, with the geometric mean. Invariant: both do the same work on the same sizes with
 * as many threads, one library after the other in one run; results are dropped, as programs drop them.
 */
import { compile, type Tensor } from "../../mod.ts";
import { medianOf } from "./measure.ts";
import { pytorch } from "./pytorch.ts";

/** The result of a row. */
export type Result = Tensor | readonly (Tensor | null)[];

export interface Row {
  readonly name: string;
  /** Compiled before it is timed. */
  readonly run: () => Result;
  /** The Python equivalent, or several, of which the fastest counts. */
  readonly python: string | readonly string[];
  /** Floating-point operations of a call, if rates are more informative than times. */
  readonly flops?: number;
}

interface TableOptions {
  /** The variables of Python's expressions. */
  readonly setup: string;
  /** Seconds for which a row is timed in each library. */
  readonly seconds?: number;
  /** Whether PyTorch records gradients. */
  readonly grad?: boolean;
}

const IMPORTS = "import torch.nn as nn, torch.nn.functional as F";

/** Median milliseconds of a call. */
function timed(run: () => unknown, seconds: number): number {
  for (let k = 0; k < 3; k++) run();
  const samples: number[] = [], until = performance.now() + 1000 * seconds;
  while (performance.now() < until || samples.length < 5) {
    const start = performance.now();
    run();
    samples.push(performance.now() - start);
  }
  return medianOf(samples);
}

/** Times rows in both libraries and prints them. */
export function compareRows(title: string, rows: readonly Row[], options: TableOptions): void {
  const { setup, seconds = 0.25, grad = false } = options;
  const measured = rows.flatMap(({ python }, row) =>
    [python].flat().map((text, way) => `measure("${row} ${way}", lambda: ${text}, ${seconds})`)
  );
  const body = grad ? measured.join("\n") : `with torch.no_grad():\n  ${measured.join("\n  ")}`;
  const theirs = new Map<string, number>();
  for (const { name, median } of pytorch(`${IMPORTS}\n${setup}\n${body}\n`) ?? []) {
    const row = name.split(" ")[0] ?? "";
    theirs.set(row, Math.min(median, theirs.get(row) ?? Infinity));
  }
  const compiled = rows.map(({ run }) => compile(run, { name: "row" }));
  // The first use of fresh memory is slow
  for (const run of compiled) timed(run, 0.05);
  const found = rows.map(({ name, flops }, row) => {
    const ms = timed(compiled[row] ?? (() => undefined), seconds), peer = theirs.get(`${row}`);
    return { name, ms, peer, ratio: peer === undefined ? NaN : peer / ms, flops };
  }).sort((a, b) => a.ratio - b.ratio);
  const width = Math.max(...found.map(({ name }) => name.length));
  console.log(`\n${title}: milliseconds, PyTorch's, theirs over ours`);
  for (const { name, ms, peer, ratio, flops } of found) {
    const rate = flops === undefined ? "" : `${(flops / ms / 1e6).toFixed(0).padStart(8)} GFLOP/s`;
    const beside = peer === undefined ? "" : `${peer.toFixed(3).padStart(11)}${ratio.toFixed(2).padStart(8)}`;
    console.log(`${name.padEnd(width)} ${ms.toFixed(3).padStart(11)}${beside}${rate}`);
  }
  const ratios = found.map(({ ratio }) => ratio).filter((ratio) => !Number.isNaN(ratio));
  if (ratios.length === 0) return;
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  console.log(`geometric mean of ${ratios.length}: ${mean.toFixed(2)}; least ${ratios[0]?.toFixed(2)}`);
}
