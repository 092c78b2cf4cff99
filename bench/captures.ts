/**
 * Captures of functions: the first of a process, those of further modules, a closure that is created for each call
 * compared with a constant one, and closures that are compiled anew; also loops over large collections.
 *
 *   deno run -A cli.ts bench captures          # modules are rewritten as they are loaded deno run -A bench/captures.ts
 * # the functions of this file come from the inspector
 *
 * captures/frames.ts and captures/compiled_closures.ts take ten thousand of them, with the engine under pressure.
 */
import { captureFunction } from "../lib/dynamo/frame/capture.ts";
import { compile, type Tensor, tensor } from "../mod.ts";
import { second } from "./captures/second.ts";
import { third } from "./captures/third.ts";
import { describeMachine, measure, report } from "./support/measure.ts";

type Step = (x: Tensor) => Tensor;

let total = 0;
const first: Step = (x) => x.add(total++);

/** Milliseconds until a function's code and variables are there. */
function captured(fn: Step): string {
  const start = performance.now();
  const found = captureFunction(fn);
  if (found.kind !== "function") throw new Error(`Expected a function but found ${found.kind}`);
  const kinds = found.code.free.map((_, index) => found.binding(index).kind);
  return `${(performance.now() - start).toFixed(2)} ms (${kinds.join(", ")})`;
}

console.log(describeMachine());
console.log(`\nFirst capture of the process ${captured(first)}`);
console.log(`of another module            ${captured(second)}`);
console.log(`of a third                   ${captured(third)}`);

const x = tensor([1, 2]);
const [kept, constant, changing] = [0, 1, 2].map(() =>
  compile((x: Tensor, step: Step) => step(x).add(1), { backend: "eager" })
);
if (!kept || !constant || !changing) throw new Error("Expected three functions");
const stays: Step = (x) => x.mul(2);
let turn = 0;
report(
  "A call with a function as its argument, which",
  await measure({
    "stays the same": () => kept(x, stays),
    "is new, captures constants": () => {
      const by = turn++ % 2;
      return constant(x, (x) => x.mul(by));
    },
    "is new, captures variables": () => {
      let n = turn++ % 2;
      return changing(x, (x) => {
        n++;
        return x.mul(n);
      });
    },
  }),
  "stays the same",
);
report(
  "A closure of known code, compiled and called once, which",
  await measure({
    "captures constants": () => {
      const by = turn++ % 7;
      return compile((x: Tensor) => x.mul(by), { backend: "eager" })(x);
    },
    "captures variables": () => {
      let n = turn++ % 7;
      return compile((x: Tensor) => x.add(n++), { backend: "eager" })(x);
    },
  }),
  "captures constants",
);
const counterFrom = (start: number): Step => {
  let n = start;
  return (x) => x.add(n++);
};
report(
  "Capture of a closure of known code, with its variables",
  await measure({ capture: () => captured(counterFrom(1)) }),
  "capture",
);
console.log("\nA first call with a loop over");
for (const count of [1_000, 10_000, 100_000]) {
  const keys = Array.from({ length: count }, (_, k) => k);
  for (const collection of [keys, new Set(keys), new Map(keys.map((k) => [k, k]))]) {
    const loop = compile((x: Tensor) => {
      let last = 0;
      for (const k of collection.keys()) last = k;
      return x.add(last);
    }, { backend: "eager" });
    const start = performance.now();
    loop(x);
    console.log(
      `  ${count} entries of a ${collection.constructor.name}: ${(performance.now() - start).toFixed(0)} ms`,
    );
  }
}
