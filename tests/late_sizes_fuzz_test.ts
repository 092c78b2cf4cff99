/**
 * Random programs over tensors and numbers that depend on elements: reads, arithmetic, selections, slices, writes,
 * branches and loops. Results, final contents of arguments and gradients of compiled calls are those of plain ones.
 * DYN_TEST_SEED repeats a run.
 */
import { assertEquals } from "@std/assert";
import { arange, cat, clone, compile, cond, config, higherOrderOps, isTensor, maskedSelect } from "../mod.ts";
import { nonzero, ones, Tensor, tensor, unique, where, zeros } from "../mod.ts";
import type { ConfigPatch } from "../lib/base/config.ts";
import { randomNumbers, TAKES_ALL, testSeed } from "./support/sampling.ts";

/** One instruction: what to do with which earlier values. */
interface Step {
  readonly kind: number;
  readonly a: number;
  readonly b: number;
  readonly n: number;
}

interface State {
  readonly tensors: Tensor[];
  readonly numbers: number[];
}

const at = <T>(values: readonly T[], place: number): T => {
  const found = values[place % values.length];
  if (found === undefined) throw new Error("no values");
  return found;
};

const flat = (x: Tensor): Tensor => x.reshape([-1]);
const little = (n: number): number => Math.round(Math.abs(n)) % 5;

type Instruction = (state: State, a: Tensor, b: Tensor, n: number) => void;

const INSTRUCTIONS: readonly Instruction[] = [
  ({ tensors }, a, b) => void tensors.push(a.mul(b.sum().sin())),
  ({ tensors }, a) => void tensors.push(a.at(a.gt(0.1))),
  ({ tensors }, a) => void tensors.push(maskedSelect(a, a.lt(0.5)).mul(0.5)),
  ({ tensors }, a) => void tensors.push(nonzero(a.gt(0)).to("float32")),
  ({ tensors }, a) => void tensors.push(unique(a.mul(2).round())),
  ({ numbers }, a) => void numbers.push(Number(a.sum().item())),
  ({ numbers }, a) => void numbers.push(Number(a.gt(0).sum().item())),
  ({ numbers }, a) => void numbers.push(a.shape[0] ?? 0, a.numel()),
  ({ numbers }, _a, _b, n) => void numbers.push(n * 2 - 1, -n, Math.floor(n / 2)),
  ({ numbers }, a, _b, n) => void numbers.push(Math.min(n, a.numel()), Math.max(n, 1)),
  ({ numbers }, _a, _b, n) => void numbers.push(n > 1 ? n - 1 : n + 2, n % 3, Math.max(n, -n)),
  ({ numbers }, a, _b, n) => {
    let most = Number(a.gt(1).sum().item());
    if (most < n) most = n;
    numbers.push(most, most === n ? -1 : 4);
  },
  ({ tensors }, a, _b, n) => void tensors.push(a.mul(n * 0.25 + 1)),
  ({ tensors }, a, _b, n) => void tensors.push(a.add(n).sin()),
  ({ tensors }, a, _b, n) => void tensors.push(flat(a).slice(0, 0, Math.round(n))),
  ({ tensors }, a, _b, n) => void tensors.push(flat(a).at({ start: little(n) })),
  ({ tensors }, _a, _b, n) => void tensors.push(zeros([little(n)]).add(n), ones([2, little(n)])),
  ({ tensors }, _a, _b, n) => void tensors.push(arange(little(n)).to("float32")),
  ({ tensors }, a, b) => void tensors.push(cat([flat(a), flat(b)])),
  ({ tensors }, a, b) => void tensors.push(a.add(b)),
  ({ tensors }, a) => void tensors.push(a.t()),
  ({ tensors }, a, _b, n) => void tensors.push(a.at(Math.round(n))),
  ({ tensors }, a) => void tensors.push(a.detach().softmax(-1), a.sum(0, true)),
  ({ tensors }, a, b) => void tensors.push(cond(a.sum().gt(0), () => a.mul(2), () => b.sin())),
  ({ tensors }, a, b) => void tensors.push(cond(b.sum().lt(1), () => a.at(a.gt(0)), () => flat(a))),
  ({ tensors }, a) => void tensors.push(higherOrderOps.map((row: Tensor) => row.mul(row.sum()), a)),
  ({ tensors }, a) =>
    void tensors.push(
      ...higherOrderOps.scan((c: Tensor, r: Tensor) => [c.add(r.sum()), c.mul(r)], zeros([]), a),
    ),
  ({ tensors }, a) =>
    void tensors.push(
      ...higherOrderOps.whileLoop(
        (i, y) => i.lt(5).logicalAnd(y.abs().sum().lt(9)),
        (i, y) => [i.add(1), y.mul(1.5).add(1)],
        [tensor(0), a],
      ),
    ),
  ({ tensors }, a, b) => void tensors.push(where(a.gt(0), a, 0).mul(b.mean())),
  (state, a, _b, n) => {
    if (n > 1) state.tensors.push(a.neg());
    else state.numbers.push(n + 1);
  },
];

/** Writes in place. Where a gradient is recorded, graphs save other values than eager calls, and refuse other writes. */
const WRITES: readonly Instruction[] = [
  (_, a) => void a.add_(0.5),
  (_, a, _b, n) => void a.mul_(n % 3),
  (_, a) => void a.set([a.gt(0.5)], 0.25),
  (_, a) => void a.set([a.gt(0.5)], a.at(a.gt(0.5)).mul(0.5)),
  (_, a, _b, n) => void a.slice(0, 0, little(n)).mul_(0.5),
];

function interpret(
  steps: readonly Step[],
  inputs: readonly Tensor[],
  instructions: readonly Instruction[],
): (Tensor | number)[] {
  const state: State = { tensors: [...inputs], numbers: [1] };
  // Numbers that only elements say, and of both kinds
  for (const input of inputs) {
    state.numbers.push(Number(input.gt(0).sum().item()), Number(input.sum().item()));
  }
  for (const { kind, a, b, n } of steps) {
    at(instructions, kind)(state, at(state.tensors, a), at(state.tensors, b), at(state.numbers, n));
  }
  return [...state.tensors.slice(inputs.length), ...state.numbers];
}

function shown(value: unknown): unknown {
  if (isTensor(value)) return [value.dtype, value.shape, shown(value.tolist())];
  if (Array.isArray(value)) return value.map(shown);
  return Object.is(value, -0) ? "-0" : value;
}

type Run = (...inputs: Tensor[]) => (Tensor | number)[];

/** The result of a call, its arguments afterwards, or its error, and the gradients. */
interface Observed {
  readonly seen: readonly unknown[];
  readonly gradients: readonly unknown[];
}

function observe(run: Run, given: readonly Tensor[], recording: boolean): Observed {
  const leaves = given.map((each) => recording ? clone(each).requiresGrad_() : clone(each));
  const inputs = leaves.map((leaf) => recording ? leaf.mul(1) : leaf);
  const seen: unknown[] = [], gradients: unknown[] = [];
  try {
    const results = run(...inputs);
    seen.push(
      results.map((each) => isTensor(each) ? [each.requiresGrad, shown(each.detach())] : shown(each)),
    );
    const losses = results.filter((each) => isTensor(each) && each.requiresGrad && each.numel() > 0);
    const total = losses.reduce<Tensor | null>((sum, each) => {
      if (!isTensor(each)) return sum;
      return sum ? sum.add(each.sum()) : each.sum();
    }, null);
    if (total) {
      total.backward();
      gradients.push(...leaves.map(({ grad }) => grad && shown(grad)));
    }
  } catch (error) {
    seen.push(error instanceof Error ? error.name : String(error));
  }
  return { seen: [...seen, inputs.map((each) => shown(each.detach()))], gradients };
}

/**
 * Gradients of one value that come from several are added in the order of graphs, and fused kernels add in their own:
 * both round differently.
 */
function near(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, k) => near(each, b[k]));
  }
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return Object.is(a, b) || Math.abs(a - b) <= 1e-5 * Math.max(1, Math.abs(b));
}

const CAPTURED: ConfigPatch = {
  captureScalarOutputs: true,
  captureDynamicOutputShapes: true,
  cacheSizeLimit: 64,
};

interface Tier {
  readonly name: string;
  readonly backend: string;
  readonly patch: ConfigPatch;
  /** Whether kernels are fused. */
  readonly fuses?: boolean;
}

const TIERS: readonly Tier[] = [
  { name: "eager", backend: "eager", patch: CAPTURED },
  { name: "aot_eager", backend: "aot_eager", patch: CAPTURED },
  {
    name: "WebAssembly",
    backend: "inductor",
    patch: { ...CAPTURED, inductor: { tier: "wasm" } },
    fuses: true,
  },
  { name: "eager, breaking", backend: "eager", patch: {} },
];

const INPUTS: readonly (readonly Tensor[])[] = [
  [[[0.5, -1, 2], [0.25, 0, -0.5]], [[1, 2, 3], [-1, -2, 0.75]]],
  [[[-0.5, -1, -2], [-0.25, 0, -0.5]], [[1, 2, 0.125], [1, 2, 0.75]]],
  [[[0.5, 1, 2], [0.25, 3, 0.5]], [[-1, 2, 0], [-1, -2, 0]]],
].map((pair) => pair.map((values) => tensor(values, { dtype: "float32" })));

for (let program = 0; program < (TAKES_ALL ? 400 : 14); program++) {
  const seed = testSeed() + program;
  Deno.test(`a random program of late sizes: ${program}`, () => {
    const random = randomNumbers(seed);
    for (let i = 0; i < 8; i++) random();
    const draw = (below: number) => Math.floor(random() * below);
    const steps = Array.from({ length: 2 + draw(6) }, (): Step => ({
      kind: draw(1000),
      a: draw(1000),
      b: draw(1000),
      n: draw(1000),
    }));
    const writes = random() < 0.5;
    const instructions = writes ? [...INSTRUCTIONS, ...WRITES, ...WRITES] : INSTRUCTIONS;
    const run: Run = (...inputs) => interpret(steps, inputs, instructions);
    for (const { name, backend, patch, fuses } of TIERS) {
      config.patch(patch, () => {
        const compiled = compile(run, { backend });
        for (const recording of writes ? [false] : [false, true]) {
          for (const given of INPUTS) {
            const plain = observe(run, given, recording);
            const found = observe(compiled, given, recording), which = `${name}, ${JSON.stringify(steps)}`;
            if (!fuses || !near(found.seen, plain.seen)) assertEquals(found.seen, plain.seen, which);
            if (!near(found.gradients, plain.gradients)) {
              assertEquals(found.gradients, plain.gradients, which);
            }
          }
        }
      });
    }
  });
}
