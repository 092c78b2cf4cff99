/**
 * All listed backends side by side: milliseconds per call of programs with different bottlenecks, and milliseconds of
 * CPU time, which is more meaningful while other programs are running. A dash marks a program on which a backend falls
 * back.
 *
 *   deno run -A cli.ts bench backends [name …]
 */
import { cpuUsage } from "node:process";
import { compile, compiler, logs, nn, noGrad, randn, type Tensor } from "../mod.ts";
import { describeMachine, measure, report } from "./support/measure.ts";
import "./support/native.ts";

const { functional: F } = nn;
const wide = randn([1024, 1024]),
  square = randn([512, 512]),
  images = randn([8, 64, 28, 28]),
  rows = randn([256, 512]);
const kernel = randn([64, 64, 3, 3]).mul(0.05);
const head = new nn.Sequential(
  new nn.Linear(512, 512),
  new nn.GELU(),
  new nn.LayerNorm(512),
  new nn.Linear(512, 10),
  new nn.Softmax(1),
).eval();

/** Programs of one argument, and the argument. */
const PROGRAMS: Readonly<Record<string, readonly [program: (x: Tensor) => Tensor, x: Tensor]>> = {
  "tanh(1.5x + 0.2)·sigmoid(x), 1024²": [(x) => x.mul(1.5).add(0.2).tanh().mul(x.sigmoid()), wide],
  "softmax, 1024²": [(x) => x.softmax(-1), wide],
  "product, 512³": [(x) => x.matmul(x), square],
  "convolution 8×64×28², 64 of 3²": [(x) => F.conv2d(x, kernel, null, 1, 1), images],
  "perceptron with layer norm, 256×512": [(x) => head.call(x), rows],
};

/** CPU milliseconds of a call on all threads: the minimum of some rounds. */
function processorTime(run: () => void): number {
  const turn = (): number => {
    const before = cpuUsage(), start = performance.now();
    let calls = 0;
    for (; calls < 3 || performance.now() - start < 200; calls++) run();
    const { user, system } = cpuUsage(before);
    return (user + system) / 1000 / calls;
  };
  return Math.min(...Array.from({ length: 3 }, turn));
}

console.log(describeMachine());
const asked = Deno.args;
const backends = compiler.describeBackends().filter(({ name }) => asked.length === 0 || asked.includes(name));
for (const { name, missing } of backends) if (missing !== null) console.log(`${name}: ${missing}`);
const names = ["eager", ...backends.filter(({ missing }) => missing === null).map(({ name }) => name)];
const table: Record<string, Record<string, string>> = {}, processor: typeof table = {};
for (const [work, [program, x]] of Object.entries(PROGRAMS)) {
  const row: Record<string, string> = table[work] = {}, busy: typeof row = processor[work] = {};
  const runs: Record<string, () => void> = {};
  for (const backend of names) {
    const compiled = compile(program, { backend });
    const run = () => {
      using _result = noGrad(() => compiled(x));
    };
    let fellBack = false;
    logs.capture("fallback", () => fellBack = true, run);
    if (fellBack) row[backend] = busy[backend] = "–";
    else runs[backend] = run;
  }
  const timings = await measure(runs);
  for (const { name, median } of timings) row[name] = median.toFixed(3);
  for (const [name, run] of Object.entries(runs)) busy[name] = processorTime(run).toFixed(3);
  report(work, timings, "inductor");
}
console.log("\nMilliseconds a call");
console.table(table);
console.log("Milliseconds of the processor's time a call");
console.table(processor);
