/**
 * Forty eager ops on 2²⁰ elements, each compared with PyTorch's: warm, with native code; without a compiler, as
 * WebAssembly; and first calls in a process, with an empty cache, with a full one and without a compiler, compared with
 * PyTorch's first calls, in CPU time of the calling thread. Results are dropped, as programs drop them. Processes
 * alternate; the minimum time of each op counts.
 *
 *   DYN_NUM_THREADS=2 DYN_BENCH_PYTHON=python deno run -A cli.ts bench eager_ops
 */
import { arange, cat, config, nn, noGrad, rand, randint, randn, type Tensor, zeros } from "../mod.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import { threadTime } from "./support/thread_time.ts";

const SIDE = 1024, COUNT = SIDE * SIDE;
const F = nn.functional;

const x = randn([SIDE, SIDE]), y = randn([SIDE, SIDE]), p = rand([SIDE, SIDE]).add(0.1);
const row = randn([SIDE]), column = randn([SIDE, 1]), flat = randn([COUNT]);
const whole = randint(0, 1000, [SIDE, SIDE]), mask = x.gt(0), target = zeros([SIDE, SIDE]);
const places = randint(0, SIDE, [SIDE]), image = randn([16, 64, 32, 32]), channel = rand([64]).add(0.5);
const query = randn([4, 8, 128, 64]);

/** An op here and in Python. */
type Row = readonly [name: string, run: () => Tensor, python: string];

const ROWS: readonly Row[] = [
  ["add", () => x.add(y), "x + y"],
  ["add a number", () => x.add(1.5), "x + 1.5"],
  ["mul a row", () => x.mul(row), "x * row"],
  ["mul a column", () => x.mul(column), "x * column"],
  ["add transposed", () => x.t().add(y), "x.t() + y"],
  ["div", () => x.div(p), "x / p"],
  ["exp", () => x.exp(), "x.exp()"],
  ["log", () => p.log(), "p.log()"],
  ["sqrt", () => p.sqrt(), "p.sqrt()"],
  ["tanh", () => x.tanh(), "x.tanh()"],
  ["sigmoid", () => x.sigmoid(), "x.sigmoid()"],
  ["relu", () => x.relu(), "x.relu()"],
  ["gelu", () => F.gelu(x), "F.gelu(x)"],
  ["sin", () => x.sin(), "x.sin()"],
  ["pow 2", () => x.pow(2), "x.pow(2)"],
  ["pow 1.7", () => p.pow(1.7), "p.pow(1.7)"],
  ["clamp", () => x.clamp(-1, 1), "x.clamp(-1, 1)"],
  ["where", () => x.where(mask, y), "torch.where(mask, x, y)"],
  ["gt", () => x.gt(y), "x > y"],
  ["add int64", () => whole.add(whole), "whole + whole"],
  ["to float64", () => x.to("float64"), "x.to(torch.float64)"],
  ["clone", () => x.clone(), "x.clone()"],
  ["transposed copy", () => x.t().contiguous(), "x.t().contiguous()"],
  ["cat", () => cat([x, y]), "torch.cat([x, y])"],
  ["add_", () => noGrad(() => target.add_(x)), "target.add_(x)"],
  ["fill_", () => target.fill_(2), "target.fill_(2)"],
  ["arange", () => arange(COUNT), "torch.arange(COUNT)"],
  ["rand", () => rand([COUNT]), "torch.rand(COUNT)"],
  ["randn", () => randn([COUNT]), "torch.randn(COUNT)"],
  ["sum", () => x.sum(), "x.sum()"],
  ["sum rows", () => x.sum(1), "x.sum(1)"],
  ["sum columns", () => x.sum(0), "x.sum(0)"],
  ["max rows", () => x.amax(1), "x.amax(1)"],
  ["argmax rows", () => x.argmax(1), "x.argmax(1)"],
  ["cumsum", () => x.cumsum(1), "x.cumsum(1)"],
  ["softmax", () => x.softmax(1), "x.softmax(1)"],
  ["layerNorm", () => F.layerNorm(x, [SIDE], row, row), "F.layer_norm(x, [SIDE], row, row)"],
  [
    "batchNorm inference",
    () => F.batchNorm(image, channel, channel),
    "F.batch_norm(image, channel, channel)",
  ],
  [
    "attention",
    () => F.scaledDotProductAttention(query, query, query),
    "F.scaled_dot_product_attention(query, query, query)",
  ],
  ["index rows", () => x.indexSelect(0, places), "x.index_select(0, places)"],
  ["topk", () => x.topk(10)[0] ?? x, "x.topk(10)[0]"],
  ["sort", () => flat.sort()[0] ?? flat, "flat.sort()[0]"],
];

/** Median milliseconds of a call. */
function timed(run: () => unknown, milliseconds: number): number {
  const samples: number[] = [], until = performance.now() + milliseconds;
  while (performance.now() < until || samples.length < 5) {
    const start = performance.now();
    run();
    samples.push(performance.now() - start);
  }
  return medianOf(samples);
}

/** Milliseconds by op: of the first call, and of calls after all compilers have finished. */
type Timings = Readonly<Record<string, readonly [first: number, later: number]>>;

/** The part that a process times: first calls are timed in separate processes. */
type Part = "all" | "first";

/** Number of processes of each kind that time first calls. */
const ROUNDS = 5;

function timings(part: Part): Timings {
  return noGrad(() => {
    const first = ROWS.map(([, run]) => {
      const start = threadTime();
      run();
      return threadTime() - start;
    });
    if (part === "all") {
      // Until every op has native code, which takes the compiler some tenths of a second each
      const patience = config.inductor.tier === "wasm" ? 20 : 700;
      for (const [, run] of ROWS) timed(run, patience);
    }
    return Object.fromEntries(
      ROWS.map(([name, run], i) => [name, [first[i] ?? NaN, part === "all" ? timed(run, 200) : Infinity]]),
    );
  });
}

/** Files and folders that processes import, in the order in which a checkout writes them. */
const IMPORTED = [
  "backends",
  "bench",
  "deno.json",
  "deno.lock",
  "lib",
  "mod.ts",
  "packaging",
  "preload.ts",
  "runtime",
];

/**
 * Copies the tree into a folder as a checkout would: shipped classes are used only if no file is newer, so that first
 * calls in a tree that is being edited take twice as long.
 */
function checkOut(folder: string): void {
  const copy = (path: string): void => {
    const from = new URL(`../${path}`, import.meta.url);
    if (!Deno.statSync(from).isDirectory) return Deno.copyFileSync(from, `${folder}/${path}`);
    Deno.mkdirSync(`${folder}/${path}`);
    for (const name of [...Deno.readDirSync(from)].map(({ name }) => name).sort()) copy(`${path}/${name}`);
  };
  Deno.mkdirSync(folder);
  IMPORTED.forEach(copy);
}

/** The timings of a separate process. */
function timingsIn(tree: string, part: Part, env: Readonly<Record<string, string>>): Timings {
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${tree}/bench/eager_ops.ts`, part],
    env: { ...env },
    stdout: "piped",
    stderr: "inherit",
  }).outputSync();
  const found: Record<string, readonly [number, number | null]> = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  return Object.fromEntries(
    Object.entries(found).map(([name, [first, later]]) => [name, [first, later ?? Infinity]]),
  );
}

/** PyTorch's timings, in a separate process; none if it is missing. */
function theirTimings(part: Part): Timings {
  const rows = ROWS.map(([name, , python]) => `  time_op(${JSON.stringify(name)}, lambda: ${python})`);
  const found = pytorch(`
import torch.nn.functional as F
SIDE, COUNT = ${SIDE}, ${COUNT}
x, y, p = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE), torch.rand(SIDE, SIDE) + 0.1
row, column, flat = torch.randn(SIDE), torch.randn(SIDE, 1), torch.randn(COUNT)
whole, mask, target = torch.randint(0, 1000, (SIDE, SIDE)), x > 0, torch.zeros(SIDE, SIDE)
places, image, channel = torch.randint(0, SIDE, (SIDE,)), torch.randn(16, 64, 32, 32), torch.rand(64) + 0.5
query = torch.randn(4, 8, 128, 64)
def time_first(name, run):
  start = time.thread_time(); run()
  result["first " + name] = (time.thread_time() - start) * 1e3
def time_later(name, run): measure(name, run, 0.2)
with torch.no_grad():
  time_op = time_first
${rows.join("\n")}
${part === "all" ? `  time_op = time_later\n${rows.join("\n")}` : ""}
`) ?? [];
  const of = (name: string) => found.find((timing) => timing.name === name)?.median ?? Infinity;
  return Object.fromEntries(ROWS.map(([name]) => [name, [of(`first ${name}`), of(name)]]));
}

/** The minimum times of several processes. */
function least(all: readonly Timings[]): Timings {
  const leastOf = (name: string, i: 0 | 1) =>
    Math.min(...all.map((timings) => timings[name]?.[i] ?? Infinity));
  return Object.fromEntries(ROWS.map(([name]) => [name, [leastOf(name, 0), leastOf(name, 1)]]));
}

const mean = (ratios: readonly number[]): number =>
  Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);

/** A column of times, and the one it is compared with. */
interface Column {
  readonly head: string;
  readonly of: (name: string) => number;
  readonly base?: (name: string) => number;
}

function print(columns: readonly Column[]): void {
  const cell = (text: string) => text.padStart(12);
  const heads = columns.flatMap(({ head, base }) => base ? [head, "×"] : [head]);
  console.log("milliseconds".padEnd(22) + heads.map(cell).join(""));
  for (const [name] of ROWS) {
    const cells = columns.flatMap(({ of, base }) => {
      const time = of(name).toFixed(3);
      return base ? [time, (of(name) / base(name)).toFixed(2)] : [time];
    });
    console.log(name.padEnd(22) + cells.map(cell).join(""));
  }
  const means = columns.flatMap(({ head, of, base }) =>
    base ? [`${head} ${mean(ROWS.map(([name]) => of(name) / base(name))).toFixed(2)}`] : []
  );
  console.log(`geometric means: ${means.join("; ")}`);
}

function main(): void {
  console.log(describeMachine());
  const folder = Deno.makeTempDirSync(), full = { DYN_CACHE_DIR: `${folder}/full` };
  const tree = `${folder}/tree`;
  checkOut(tree);
  const wasmCache = { DYN_TIER: "wasm", DYN_CACHE_DIR: `${folder}/wasm` };
  // The first run fills the caches
  const warm = timingsIn(tree, "all", full),
    wasm = timingsIn(tree, "all", wasmCache),
    theirs = theirTimings("all");
  const first: Record<"theirs" | "empty" | "full" | "wasm", Timings[]> = {
    theirs: [],
    empty: [],
    full: [],
    wasm: [],
  };
  for (let round = 0; round < ROUNDS; round++) {
    first.theirs.push(theirTimings("first"));
    first.empty.push(timingsIn(tree, "first", { DYN_CACHE_DIR: `${folder}/empty${round}` }));
    first.full.push(timingsIn(tree, "first", full));
    first.wasm.push(timingsIn(tree, "first", { DYN_TIER: "wasm", DYN_CACHE_DIR: `${folder}/none${round}` }));
  }
  Deno.removeSync(folder, { recursive: true });
  const later = (timings: Timings) => (name: string) => timings[name]?.[1] ?? NaN;
  const firstOf = (all: readonly Timings[]) => {
    const found = least(all);
    return (name: string) => found[name]?.[0] ?? NaN;
  };
  print([
    { head: "PyTorch", of: later(theirs) },
    { head: "warm", of: later(warm), base: later(theirs) },
    { head: "wasm", of: later(wasm), base: later(theirs) },
  ]);
  console.log("\nFirst calls");
  const base = firstOf(first.theirs);
  print([
    { head: "PyTorch", of: base },
    { head: "empty", of: firstOf(first.empty), base },
    { head: "full", of: firstOf(first.full), base },
    { head: "wasm", of: firstOf(first.wasm), base },
  ]);
}

const [part] = Deno.args;
if (part === "all" || part === "first") console.log(JSON.stringify(timings(part)));
else main();
