/**
 * Cold compile times: chains of 40 to 400 sines with their backward pass, and transformers of 2 to 24 equal layers
 * with the phases of their compilation, each in a fresh process with an empty cache (CPU seconds of the C++ compiler
 * included); the cost of a further equal layer in a whole training step with AdamW; and the first result of a new small
 * function in a process that has compiled others.
 *
 *   deno run -A cli.ts bench compile
 */
import { compile, compiler, config, nn, optim, randn, type Tensor } from "../mod.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import { threadTime } from "./support/thread_time.ts";

const ELEMENTS = 1 << 16;

/** x.sin().sin()…, its sum and gradient as one graph. */
function chain(length: number): (x: Tensor) => Tensor {
  return compile((x: Tensor) => {
    let y = x;
    for (let i = 0; i < length; i++) y = y.sin();
    y.sum().backward();
    return y.detach();
  });
}

if (Deno.args[0] === "chain") {
  const run = chain(Number(Deno.args[1])), x = randn([ELEMENTS]).requiresGrad_();
  const start = performance.now();
  run(x);
  console.log(performance.now() - start);
  Deno.exit(0);
}

const WIDTH = 128, HEADS = 4;

/** A transformer layer. */
class Layer extends nn.Module {
  readonly before = new nn.LayerNorm(WIDTH);
  readonly between = new nn.LayerNorm(WIDTH);
  readonly joined = new nn.Linear(WIDTH, 3 * WIDTH);
  readonly out = new nn.Linear(WIDTH, WIDTH);
  readonly wide = new nn.Linear(WIDTH, 4 * WIDTH);
  readonly narrow = new nn.Linear(4 * WIDTH, WIDTH);

  override forward(x: Tensor): Tensor {
    const [b = 1, t = 1] = x.shape, all = this.joined.call(this.before.call(x));
    const heads = all.reshape([b, t, 3, HEADS, WIDTH / HEADS]).permute([2, 0, 3, 1, 4]);
    const [q = x, k = x, v = x] = heads.unbind(0);
    const mixed = nn.functional.scaledDotProductAttention(q, k, v, { isCausal: true });
    const y = x.add(this.out.call(mixed.transpose(1, 2).reshape([b, t, WIDTH])));
    return y.add(this.narrow.call(nn.functional.gelu(this.wide.call(this.between.call(y)))));
  }
}

if (Deno.args[0] === "layers") {
  const layers = Array.from({ length: Number(Deno.args[1]) }, () => new Layer());
  const run = compile((x: Tensor) => layers.reduce((y, layer) => layer.call(y), x).pow(2).mean());
  const x = randn([4, 32, WIDTH]), start = performance.now();
  const step = () => run(x).backward();
  step();
  console.log(performance.now() - start);
  const { functions: [times] } = compiler.compileTimes();
  const phases = Object.entries(times?.phases ?? {}).map(([name, ms]) => `${name} ${ms.toFixed(0)}`);
  console.log(`${phases.join(", ")} ms`);
  Deno.exit(0);
}

if (Deno.args[0] === "steps") {
  for (const count of Deno.args.slice(1).map(Number)) {
    const layers = Array.from({ length: count }, () => new Layer());
    const optimizer = new optim.AdamW(layers.flatMap((layer) => [...layer.parameters()]));
    const step = compile((x: Tensor) => {
      optimizer.zeroGrad();
      layers.reduce((y, layer) => layer.call(y), x).pow(2).mean().backward();
      optimizer.step();
    });
    const x = randn([4, 32, WIDTH]);
    const [first = 0, , later = 0] = [0, 1, 2].map(() => {
      const start = threadTime();
      step(x);
      return threadTime() - start;
    });
    console.log(first - later);
  }
  Deno.exit(0);
}

/** Runs this file in a separate process and returns its output and CPU seconds. */
function freshly(...args: readonly string[]): { readonly lines: readonly string[]; readonly cpu: string } {
  const cache = Deno.makeTempDirSync();
  const { success, stdout, stderr } = new Deno.Command("/usr/bin/env", {
    args: [
      "bash",
      "-c",
      'time "$@"',
      "-",
      Deno.execPath(),
      "run",
      "-A",
      import.meta.filename ?? "",
      ...args,
    ],
    env: { DYN_CACHE_DIR: cache, DYN_TIER: "wait", TIMEFORMAT: "%U" },
  }).outputSync();
  Deno.removeSync(cache, { recursive: true });
  const errors = new TextDecoder().decode(stderr);
  if (!success) throw new Error(errors);
  return {
    lines: new TextDecoder().decode(stdout).trim().split("\n"),
    cpu: errors.trim().split("\n").at(-1) ?? "",
  };
}

console.log(describeMachine());
console.log("\nchain of sines with backward, empty cache");
for (const length of [40, 160, 400]) {
  const { lines: [wall], cpu } = freshly("chain", `${length}`);
  console.log(
    `  ${String(length).padStart(3)} sines: first call ${
      Number(wall).toFixed(0)
    } ms; whole process ${cpu} CPU s`,
  );
}

console.log("\ntransformer of equal layers with backward, empty cache");
for (const count of [2, 6, 24]) {
  const { lines: [wall, phases], cpu } = freshly("layers", `${count}`);
  const first = `first call ${Number(wall).toFixed(0)} ms`;
  console.log(`  ${String(count).padStart(3)} layers: ${first} (${phases}); whole process ${cpu} CPU s`);
}

console.log("\ncompiling a training step of equal layers with AdamW, CPU ms of dyn itself");
const counts = [1, 2, 24, 48], { lines: times } = freshly("steps", ...counts.map(String));
for (const [at, count] of counts.entries()) {
  const ms = Number(times[at]), more = ms - Number(times[at - 1]);
  const each = at > 1
    ? `, ${(more / (count - (counts[at - 1] ?? 0))).toFixed(1)} ms for each further one`
    : "";
  console.log(`  ${String(count).padStart(3)} layers: ${ms.toFixed(0)} ms${each}`);
}

console.log("\nfirst result of a new small function, process warm");
const x = randn([64, 64]);
/** A different function each time, so that nothing about it is cached. */
const fresh = (n: number) => compile((t: Tensor) => t.mul(n + 0.25).add(0.5 * n).relu().sum(1));
for (const tier of ["wasm", "background", "wait"] as const) {
  const times: number[] = [];
  for (let n = 0; n < 12; n++) {
    const seed = Math.random() * 1e6, run = fresh(seed);
    const start = performance.now();
    config.patch({ inductor: { tier } }, () => run(x));
    if (n >= 2) times.push(performance.now() - start);
  }
  console.log(`  tier ${tier.padEnd(10)} median ${medianOf(times).toFixed(1)} ms`);
}
