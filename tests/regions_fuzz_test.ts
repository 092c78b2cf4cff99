/**
 * Random functions called several times as regions, against the same calls inlined: views, writes in place, random
 * numbers, detached values, numbers that differ between calls, several results. Results, gradients and errors have
 * to be those of eager execution; a failure prints its seed. DYN_REGIONS_SEED sets the first seed, DYN_REGIONS_RUNS the
 * number of runs.
 */
import { assert, assertEquals } from "@std/assert";
import { clone, compile, compiler, manualSeed, nn, noGrad, rand, randn, type Tensor, where } from "../mod.ts";
import { counters } from "../lib/base/logs.ts";

const SEED = Number(Deno.env.get("DYN_REGIONS_SEED") ?? 1),
  RUNS = Number(Deno.env.get("DYN_REGIONS_RUNS") ?? 24);
const SIZE = 4;

/** Numbers from a seed. */
class Choices {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2654435761 >>> 0;
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * limit);
  }

  of<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined) throw new Error("Expected something to choose from");
    return found;
  }
}

/** One step: from the values so far to another, in a round of this number; all are square. */
type Step = (values: readonly Tensor[], pick: (from: readonly Tensor[]) => Tensor, round: number) => Tensor;

const STEPS: Readonly<Record<string, Step>> = {
  add: (v, pick) => pick(v).add(pick(v)),
  mul: (v, pick) => pick(v).mul(pick(v)).mul(0.5),
  tanh: (v, pick) => pick(v).tanh(),
  sin: (v, pick) => pick(v).sin(),
  matmul: (v, pick) => pick(v).matmul(pick(v)).mul(0.25),
  transposed: (v, pick) => pick(v).t(),
  flipped: (v, pick) => pick(v).flip([0]),
  reshaped: (v, pick) => pick(v).reshape([2, -1]).mul(0.5).reshape([SIZE, SIZE]),
  selected: (v, pick) => pick(v).select(0, 1).expand([SIZE, SIZE]),
  softmax: (v, pick) => nn.functional.softmax(pick(v), 1),
  normed: (v, pick) => nn.functional.layerNorm(pick(v), [SIZE]),
  dropped: (v, pick) => nn.functional.dropout(pick(v), 0.5),
  detached: (v, pick) => pick(v).detach(),
  unrecorded: (v, pick) => noGrad(() => pick(v).mul(2)),
  summed: (v, pick) => pick(v).sum(1, { keepdim: true }).add(pick(v)),
  addInPlace: (v, pick) => pick(v).mul(1).add_(pick(v)),
  written: (v, pick) => pick(v).add_(0.5),
  rowWritten: (v, pick) => {
    const made = pick(v).clone();
    made.select(0, 0).mul_(2);
    return made;
  },
  relu: (v, pick) => nn.functional.relu(pick(v).sub(0.1), { inplace: true }),
  scaled: (v, pick, round) => pick(v).mul(0.5 / (round + 1)),
  shifted: (v, pick, round) => pick(v).sub(round),
  divided: (v, pick, round) => pick(v).div(round === 1 ? -2 : 3 + round),
  raised: (v, pick, round) => pick(v).sigmoid().pow(round + 1),
  compared: (v, pick, round) => where(pick(v).gt(round / 4), pick(v), round === 2 ? -0 : 0.25 * round),
  scaledInPlace: (v, pick, round) => pick(v).clone().mul_(1 - round / 8),
  first: (v) => v[0] ?? rand([SIZE, SIZE]),
};

interface Plan {
  readonly names: readonly string[];
  readonly picks: readonly number[];
  readonly results: number;
}

function planOf(choices: Choices): Plan {
  const names = Array.from({ length: 2 + choices.below(7) }, () => choices.of(Object.keys(STEPS)));
  return {
    names,
    picks: Array.from({ length: 2 * names.length }, () => choices.below(1000)),
    results: 1 + choices.below(2),
  };
}

/** A function that takes the steps of a plan. */
function functionOf({ names, picks, results }: Plan): Called {
  return (x, w, round) => {
    const values = [x, w];
    let next = 0;
    for (const name of names) {
      const step = STEPS[name];
      // The latest values are taken most often
      const pick = (from: readonly Tensor[]) =>
        from.at(-1 - (picks[next++] ?? 0) % Math.min(3, from.length)) ?? x;
      if (step) values.push(step(values, pick, round));
    }
    return values.slice(-results);
  };
}

type Called = (x: Tensor, w: Tensor, round: number) => Tensor[];

type Run = (x: Tensor, weights: readonly Tensor[]) => Tensor[];

/** The function called for each weight, and what is done between the calls. */
function programOf(fn: Called, between: number): Run {
  return (x, weights) => {
    let y = x;
    const others: Tensor[] = [];
    for (const [round, w] of weights.entries()) {
      const [made = y, ...more] = fn(between === 0 ? y.mul(1) : y, w, round);
      others.push(...more);
      y = between === 1 ? made.mul(0.5) : made;
      if (between === 2) y = y.add(1).mul_(0.5);
    }
    return [y, ...others];
  };
}

function outcome(run: Run): readonly unknown[] {
  manualSeed(11);
  const x = randn([SIZE, SIZE]).requiresGrad_(), start = x.mul(1);
  const weights = [0, 1, 2].map((k) => randn([SIZE, SIZE]).requiresGrad_(k !== 1));
  try {
    const results = run(start, weights);
    const shown = results.map((each) => [each.shape, each.requiresGrad, clone(each.detach())]);
    const [loss] = results.flatMap((each) => each.requiresGrad ? [each.mul(each).sum()] : []);
    loss?.backward();
    return [...shown.flat(), ...[x, ...weights].map(({ grad }) => grad), clone(start.detach())];
  } catch (error) {
    return [error instanceof Error ? error.message.split("\n", 1).join() : error];
  }
}

function assertSame(found: readonly unknown[], expected: readonly unknown[], about: string): void {
  assertEquals(found.length, expected.length, `${about}: ${found[0]} instead of ${expected[0]}`);
  found.forEach((each, at) => {
    const other = expected[at];
    if (!isTensor(each) || !isTensor(other)) return assertEquals(each, other, `${about}: part ${at}`);
    const error = Number(each.sub(other).abs().max().item()), size = Number(other.abs().max().item());
    assert(
      error <= 2e-5 * (1 + size) || (Number.isNaN(error) && Number.isNaN(size)),
      `${about}: part ${at} is off by ${error} of ${size}`,
    );
  });
}

const isTensor = (value: unknown): value is Tensor =>
  typeof value === "object" && value !== null && "grad" in value;

for (const backend of ["aot_eager", "inductor"]) {
  Deno.test(`regions of random functions, ${backend}`, () => {
    const before = counters.get("aot", "regions");
    for (let seed = SEED; seed < SEED + RUNS; seed++) {
      const choices = new Choices(seed), plan = planOf(choices), between = choices.below(4);
      const fn = functionOf(plan), marked = compiler.nestedCompileRegion(functionOf(plan));
      const compiled = compile(programOf(marked, between), { backend, options: { tier: "wasm" } });
      const about = `seed ${seed}: ${plan.names.join(", ")}; ${plan.results} results, between ${between}`;
      const expected = outcome(programOf(fn, between));
      for (let call = 0; call < 2; call++) assertSame(outcome(compiled), expected, about);
    }
    assert(counters.get("aot", "regions") > before, "Expected some regions");
  });
}
