/**
 * How long compiling takes, cold: chains of 40 to 400 sines with their backward pass, each in a fresh process with an
 * empty cache (CPU seconds of the C++ compiler included), and the first result of a new small function in a process
 * that has compiled others.
 *
 *   deno run -A cli.ts bench compile
 */
import { compile, config, randn, type Tensor } from "../mod.ts";
import { describeMachine, medianOf } from "./support/measure.ts";

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

console.log(describeMachine());
console.log("\nchain of sines with backward, empty cache");
for (const length of [40, 160, 400]) {
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
      "chain",
      `${length}`,
    ],
    env: { DYN_CACHE_DIR: cache, TIMEFORMAT: "%U" },
  }).outputSync();
  Deno.removeSync(cache, { recursive: true });
  const errors = new TextDecoder().decode(stderr);
  if (!success) throw new Error(errors);
  const wall = Number(new TextDecoder().decode(stdout)), cpu = errors.trim().split("\n").at(-1);
  console.log(
    `  ${String(length).padStart(3)} sines: first call ${wall.toFixed(0)} ms; whole process ${cpu} CPU s`,
  );
}

console.log("\nfirst result of a new small function, process warm");
const x = randn([64, 64]);
/** A function of its own each time, so that nothing about it is cached. */
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
