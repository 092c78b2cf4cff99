/** Captures thousands of closures with variables of their own, and compares them with uncompiled calls. */
import { compile, compiler, config, type Tensor, tensor } from "../../mod.ts";

type Step = (x: Tensor) => Tensor;

let total = 0;

function counterFrom(start: number): { readonly add: Step; readonly read: () => number } {
  let n = start;
  const add = (x: Tensor): Tensor => {
    n++;
    total++;
    return x.mul(n);
  };
  return { add, read: () => n };
}

class Gauge {
  #seen = 0;
  last = 0;
  readonly measure = (x: Tensor): Tensor => {
    this.#seen++;
    this.last = this.#seen;
    return x.add(this.last);
  };
  get seen(): number {
    return this.#seen;
  }
}

function* stepsOf(by: number): Generator<Step, void, void> {
  let at = 0;
  while (true) {
    yield (x: Tensor): Tensor => {
      at += by;
      return x.add(at);
    };
  }
}

const rounds = Number(Deno.args[0]);
const x = tensor([1, 2]);
const run = (x: Tensor, step: Step): Tensor => step(x).add(1);
let wrong = 0;

function hold(compiled: typeof run, one: Step, other: Step): void {
  const [found, expected] = [String(compiled(x, one)), String(run(x, other))];
  if (found !== expected) wrong++;
}

config.cacheSizeLimit = 64;
const [counters, gauges, generated] = [0, 1, 2].map(() =>
  compile((x: Tensor, step: Step) => run(x, step), {
    backend: "eager",
  })
);
if (!counters || !gauges || !generated) throw new Error("Expected three functions");
for (let i = 0; i < rounds; i++) {
  const [one, other] = [counterFrom(i % 7), counterFrom(i % 7)];
  hold(counters, one.add, other.add);
  if (one.read() !== other.read()) wrong++;
  if (i % 10 > 0) continue;
  const [a, b] = [new Gauge(), new Gauge()];
  const [c, d] = [stepsOf(1 + i % 3), stepsOf(1 + i % 3)];
  for (let k = 0; k < 3; k++) {
    hold(gauges, a.measure, b.measure);
    if (a.seen !== b.seen) wrong++;
    const [e, f] = [c.next().value, d.next().value];
    if (e && f) hold(generated, e, f);
  }
  // A function compiled for this one closure.
  const own = counterFrom(i % 5);
  if (compile(own.add, { backend: "eager" })(x).sum().item() !== 3 * own.read()) wrong++;
}
const uncompiled = [counters, gauges, generated].flatMap((each) => compiler.status(each).uncompiled);
console.log(wrong, uncompiled.length, total === rounds * 2 + Math.ceil(rounds / 10));
