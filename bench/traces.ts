/**
 * The cost of capture by the length of the program: straight-line functions of 100, 1,000 and 5,000 operations, the
 * first of a process and another one of the same length, again with a changing size, the same operations in a loop, 64
 * versions of a small function, 200 layers, blocks of a transformer; and the memory that 10,000 compiled and dropped
 * closures retain. The backend compiles nothing. CPU milliseconds, each row in a separate process; PyTorch's tracer in
 * the same run.
 *
 *   DYN_BENCH_PYTHON=python deno run -A cli.ts bench traces
 */
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { compile, config, nn, ones, type Tensor } from "../mod.ts";
import type { GraphModule } from "../lib/graph/graph_module.ts";
import { describeMachine } from "./support/measure.ts";
import { pytorch } from "./support/pytorch.ts";
import "./support/native.ts";

type Step = (x: Tensor) => Tensor;

/** Returns the first input as every result. */
const backend = (gm: GraphModule) => {
  const [results] = gm.graph.output.args;
  const count = Array.isArray(results) ? results.length : 1;
  return (first: unknown) => Array(count).fill(first);
};

const LENGTHS = [100, 1000, 5000];

/** CPU milliseconds of some work. */
function cpuOf(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Two modules, each with a function of `length` operations. */
async function straightLines(length: number): Promise<readonly Step[]> {
  const folder = await Deno.makeTempDir();
  const body = Array.from({ length }, (_, i) => `  x = ${["x.sin()", "x.mul(2)", "x.add(1)"][i % 3]};`);
  const text = `export const run = (x) => {\n${body.join("\n")}\n  return x;\n};\n`;
  const found: Step[] = [];
  for (const name of ["first", "second"]) {
    const path = join(folder, `${name}.js`);
    await Deno.writeTextFile(path, text);
    const { run } = await import(`file://${path}`);
    found.push(compile(run, { backend }));
  }
  return found;
}

const ROWS: Readonly<Record<string, () => Promise<readonly number[]> | readonly number[]>> = {
  ...Object.fromEntries(LENGTHS.map((length) => [
    `${length} operations: first, another, with another size`,
    async () => {
      const [first, second] = await straightLines(length);
      if (!first || !second) throw new Error("Expected two functions");
      const x = ones([4, 2]), y = ones([5, 2]);
      return [cpuOf(() => first(x)), cpuOf(() => second(x)), cpuOf(() => second(y))];
    },
  ])),
  "1,000 operations in a loop: first, another": () =>
    [0, 1].map(() => {
      const run = compile((x: Tensor) => {
        for (let i = 0; i < 500; i++) x = x.sin().mul(2);
        return x;
      }, { backend });
      return cpuOf(() => run(ones([4, 2])));
    }),
  "each of 64 versions of a small function": () => {
    config.cacheSizeLimit = 64;
    const run = compile((x: Tensor, how: string) => x.mul(how.length).add(1), { backend });
    const names = Array.from({ length: 64 }, (_, i) => "a".repeat(i + 1)), x = ones([4, 2]);
    return [cpuOf(() => names.forEach((name) => run(x, name))) / 64];
  },
  "200 linear layers": () => {
    const net = new nn.Sequential(...Array.from({ length: 200 }, () => new nn.Linear(2, 2)));
    const run = compile((x: Tensor) => net.call(x), { backend });
    return [cpuOf(() => run(ones([1, 2])))];
  },
  ...Object.fromEntries([1, 24, 48].map((count) => [
    `${count} blocks of a transformer`,
    () => {
      const block = () => new nn.TransformerEncoderLayer(32, 4, { dimFeedforward: 64, batchFirst: true });
      const blocks = Array.from({ length: count }, block), first = new nn.Linear(32, 32);
      const run = compile((x: Tensor) => blocks.reduce((y, each) => each.call(y), first.call(x)), {
        backend,
      });
      return [cpuOf(() => run(ones([2, 8, 32])))];
    },
  ])),
  "KiB that 10,000 compiled and dropped closures leave": async () => {
    const { gc } = globalThis as { gc?: (how: object) => void }, x = ones([2]);
    const heap = async () => {
      for (let i = 0; i < 3; i++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        // Other kinds of collection keep compiled code that has run recently
        gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
      }
      return Deno.memoryUsage().heapUsed / 1024;
    };
    const make = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const k = i;
        compile((x: Tensor) => x.mul(k + 0.5).add(1), { backend })(x);
        // Weakly held values stay alive until the end of the job
        if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
      }
    };
    await make(2000);
    const before = await heap();
    await make(10_000);
    return [await heap() - before];
  },
};

const [asked = ""] = Deno.args, row = ROWS[asked];
if (row) {
  console.log(JSON.stringify(await row()));
  Deno.exit(0);
}

/** Modules are rewritten on load, as in programs that dyn starts. */
const PRELOAD = fileURLToPath(new URL("../preload.ts", import.meta.url)),
  FILE = fileURLToPath(import.meta.url);

console.log(describeMachine());
console.log("\nCaptures, ms of CPU");
for (const name of Object.keys(ROWS)) {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--v8-flags=--expose-gc", `--preload=${PRELOAD}`, FILE, name],
    env: { DYN_GRAPH_CACHE: "0" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const numbers: number[] = JSON.parse(new TextDecoder().decode(stdout));
  console.log(`  ${name.padEnd(56)} ${numbers.map((each) => each.toFixed(1).padStart(8)).join(" ")}`);
}

const torch = pytorch(`
import torch._dynamo
nothing = lambda gm, examples: gm.forward
def cpu(name, run):
    t = time.process_time(); run(); result[name] = (time.process_time() - t) * 1e3
for length in (100, 1000):
    for which in ("first", "another"):
        body = "\\n".join("    x = " + ("x.sin()", "x * 2", "x + 1")[i % 3] for i in range(length))
        scope = {}
        exec(compile(f"def run(x):\\n{body}\\n    return x", f"{which}{length}", "exec"), scope)
        step = torch.compile(scope["run"], backend=nothing)
        cpu(f"{length} operations: {which}", lambda: step(torch.ones(4, 2)))
    cpu(f"{length} operations: with another size", lambda: step(torch.ones(5, 2)))
net = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(200)])
cpu("200 linear layers", lambda: torch.compile(net, backend=nothing)(torch.ones(1, 2)))
for count in (1, 24, 48):
    block = lambda: torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    blocks = torch.nn.Sequential(torch.nn.Linear(32, 32), *[block() for _ in range(count)])
    run = torch.compile(blocks, backend=nothing)
    cpu(f"{count} blocks of a transformer", lambda: run(torch.ones(2, 8, 32)))
`);
for (const { name, median } of torch ?? []) {
  console.log(`  PyTorch, ${name.padEnd(47)} ${median.toFixed(1).padStart(8)}`);
}
