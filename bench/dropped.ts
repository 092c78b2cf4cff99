/**
 * Results that a loop drops without waiting, compared with results that are disposed of immediately: time per call,
 * alternately measured, and the memory of the whole run.
 *
 *   deno run -A bench/dropped.ts [cpu|webgpu] [elements]
 */
import {
  compile,
  emptyCache,
  init,
  maxMemoryReserved,
  memoryReserved,
  nn,
  noGrad,
  randn,
  resetPeakMemoryStats,
  type Tensor,
  tensor,
} from "../mod.ts";
import { findDevice } from "../lib/loops/device.ts";
import { describeMachine, medianOf } from "./support/measure.ts";
import "./support/native.ts";

const MEBI = 2 ** 20, COLUMNS = 1024;
const [name = "cpu", count = String(4 * MEBI)] = Deno.args;
await init({ device: name });
const device = findDevice(name);
if (!device) throw new Error(`Expected the device ${name} but found none`);
const elements = Math.ceil(Number(count) / COLUMNS) * COLUMNS;

/** Number of calls per round, and of rounds of each kind. */
const CALLS = 50, TURNS = 7;

/** Milliseconds per call, if nothing waits for the calls. */
function turn(call: () => void): number {
  const start = performance.now();
  for (let i = 0; i < CALLS; i++) call();
  device?.synchronize();
  return (performance.now() - start) / CALLS;
}

const on = { device: name };
const x = randn([elements / COLUMNS, COLUMNS], on);
const weight = randn([COLUMNS], on), bias = randn([COLUMNS], on), scalar = tensor([0.5], on);
const chain = (x: Tensor) => x.mul(1.5).add(scalar).tanh().mul(x.sigmoid());
const calls: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "add, eager": (x) => x.add(1),
  "add": compile((x: Tensor) => x.add(1)),
  "chain": compile(chain),
  "softmax": compile((x: Tensor) => x.softmax(-1)),
  "layerNorm": compile((x: Tensor) => nn.functional.layerNorm(x, [COLUMNS], weight, bias)),
};

console.log(
  `${describeMachine()}; ${name}, ${elements / MEBI} Mi float32 (${4 * elements / MEBI} MiB) a result`,
);
const rows = noGrad(() =>
  Object.entries(calls).map(([work, call]) => {
    const given = () => {
      using _result = call(x);
    };
    const dropped = () => void call(x);
    turn(given);
    turn(dropped);
    emptyCache(name);
    resetPeakMemoryStats(name);
    const before = memoryReserved(name);
    const times = Array.from({ length: TURNS }, () => ({ given: turn(given), dropped: turn(dropped) }));
    const atOnce = medianOf(times.map((t) => t.given)), later = medianOf(times.map((t) => t.dropped));
    return {
      work,
      "given back, ms": atOnce.toFixed(3),
      "dropped, ms": later.toFixed(3),
      "ratio": (later / atOnce).toFixed(2),
      "worst ratio": Math.max(...times.map((t) => t.dropped / t.given)).toFixed(2),
      "memory, MiB": ((maxMemoryReserved(name) - before) / MEBI).toFixed(0),
    };
  })
);
console.table(rows);
console.log(`resident: ${(Deno.memoryUsage().rss / MEBI).toFixed(0)} MiB`);

// All in one job: what does not come back in it stays
const loop = 2000, start = performance.now();
noGrad(() => {
  for (let i = 0; i < loop; i++) x.add(1);
});
x.at(0, 0).item();
console.log(
  `${loop} adds in one job: ${((performance.now() - start) / loop).toFixed(3)} ms each, ` +
    `at most ${(maxMemoryReserved(name) / MEBI).toFixed(0)} MiB held`,
);
