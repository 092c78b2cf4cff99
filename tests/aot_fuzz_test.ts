/**
 * Random programs of views, in-place writes, detached parts and returned inputs: ahead-of-time graphs must give the
 * results of eager execution.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import "../backends/cpu/device.ts";
import "../lib/autograd/autograd.ts";
import "../lib/tensor/install.ts";
import { aotEager } from "../lib/pipeline.ts";
import { makeFx } from "../lib/autograd/make_fx.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { ops } from "../lib/tensor/eager.ts";
import { noGrad } from "../lib/tensor/modes.ts";
import { isTensor, type Tensor } from "../lib/tensor/tensor.ts";

/** One instruction: what to do with which earlier values. */
interface Step {
  readonly kind: number;
  readonly a: number;
  readonly b: number;
}

const pick = (values: readonly Tensor[], at: number): Tensor => {
  const found = values[at % values.length];
  if (!found) throw new Error("no values");
  return found;
};

/** All instructions keep values small and of two dimensions. */
const INSTRUCTIONS: readonly ((a: Tensor, b: Tensor) => Tensor)[] = [
  (a, b) => a.mul(b.sum().sin()),
  (a) => a.sin(),
  (a) => a.cos().mul(0.5),
  (a) => a.t(),
  (a) => a.slice(0, 1, 3),
  (a) => a.select(1, 0).unsqueeze(0),
  (a) => a.detach(),
  (a) => a.reshape([-1, 1]),
  (a) => a.add_(0.5),
  (a, b) => a.mul_(b.mean().cos()),
  (a) => a.slice(1, 0, 1).mul_(0.5),
  (a, b) => a.copy_(b.mean()),
  (a) => a.contiguous(),
  (a) => noGrad(() => a.mul_(0.75)),
  (a) => a.t().add_(0.25),
  (a, b) => ops.cat([a.reshape([1, -1]), b.reshape([1, -1])], 1),
];

function interpret(steps: readonly Step[], inputs: readonly Tensor[], results: readonly number[]): Tensor[] {
  const values = [...inputs];
  for (const { kind, a, b } of steps) {
    const run = INSTRUCTIONS[kind % INSTRUCTIONS.length];
    if (run) values.push(run(pick(values, a), pick(values, b)));
  }
  return results.map((at) => pick(values, at));
}

function makeInputs(): Tensor[] {
  const wave = (seed: number) =>
    [0, 1, 2, 3].map((i) => [0, 1, 2].map((j) => Math.sin(1.7 * (3 * i + j) + seed)));
  return [
    tensor(wave(1), { dtype: "float32", requiresGrad: true }),
    tensor(wave(2), { dtype: "float32" }),
    tensor(wave(3), { dtype: "float32", requiresGrad: true }),
  ];
}

/** Everything that can be seen of a run, as numbers and words. */
function observe(run: (...inputs: Tensor[]) => unknown): unknown[] {
  const leaves = makeInputs();
  const inputs = leaves.map((leaf) => leaf.requiresGrad ? leaf.mul(1) : leaf);
  const found = run(...inputs);
  const results = Array.isArray(found) ? found.filter(isTensor) : [];
  const seen: unknown[] = [
    results.map((each) => [`${each.shape}`, each.requiresGrad, inputs.indexOf(each), results.indexOf(each)]),
    results.map((each) => each.detach().tolist()),
    inputs.map((each) => each.detach().tolist()),
  ];
  const roots = results.filter((each) => each.requiresGrad);
  const [first, ...others] = roots.map((root, k) => root.mul(k + 1).sin().sum());
  if (first) others.reduce((sum, each) => sum.add(each), first).backward();
  seen.push(leaves.map((leaf) => leaf.grad?.tolist() ?? null));
  // Results alias what they aliased: a write through each is seen by the same others.
  for (const result of results) noGrad(() => result.mul_(1.5));
  seen.push(results.map((each) => each.detach().tolist()), inputs.map((each) => each.detach().tolist()));
  return seen;
}

function near(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((each, k) => near(each, b[k]));
  }
  if (typeof a === "number" && typeof b === "number") {
    return Object.is(a, b) || Math.abs(a - b) <= 1e-4 + 1e-3 * Math.abs(b);
  }
  return a === b;
}

const step = fc.record({ kind: fc.nat(INSTRUCTIONS.length - 1), a: fc.nat(12), b: fc.nat(12) });

Deno.test("random programs run ahead of time as in eager execution", () => {
  let compared = 0;
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(12), { minLength: 1, maxLength: 4 }),
      (steps, results) => {
        const program = (...inputs: Tensor[]) => interpret(steps, inputs, results);
        let expected: unknown[];
        try {
          expected = observe(program);
        } catch {
          return; // what eager execution refuses is no program
        }
        // A mean of nothing is NaN, which zeros in place of absent gradients would spread.
        if (Deno.inspect(expected, { depth: 9 }).includes("NaN")) return;
        const inputs = makeInputs().map((leaf) => leaf.requiresGrad ? leaf.mul(1) : leaf);
        const compiled = aotEager(makeFx(program)(...inputs), inputs);
        if (!compiled) throw new Error("declined");
        const found = observe(compiled);
        compared++;
        assertEquals(found[0], expected[0]);
        found.forEach((each, k) => {
          assert(
            near(each, expected[k]),
            `${k}: found ${Deno.inspect(each)}, expected ${Deno.inspect(expected[k])}`,
          );
        });
      },
    ),
    { numRuns: Number(Deno.env.get("FUZZ_RUNS") ?? 150) },
  );
  assert(compared > 20);
});
