/**
 * Second derivatives of every function of one tensor against differences of the first ones, around 0, where formulas
 * that cancel lose their digits first, and away from it. Samples of the generated tests never come that close.
 */
import { assert, fail } from "@std/assert";
import "../backends/cpu/device.ts";
import "../lib/autograd/autograd.ts";
import "../lib/tensor/install.ts";
import { grad } from "../lib/autograd/entry_points.ts";
import { DynError } from "../lib/base/errors.ts";
import type { OpDefinition } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { tensor } from "../lib/tensor/creation.ts";
import { callOp } from "../lib/tensor/eager.ts";
import type { Tensor } from "../lib/tensor/tensor.ts";
import "./support/turns/ops.ts";
import { resultsOf } from "./support/samples.ts";

const POINTS: readonly number[] = [
  0,
  1e-30,
  -1e-30,
  1e-9,
  1e-5,
  -1e-3,
  0.03,
  -0.3,
  0.55,
  0.7,
  -1.3,
  2.3,
  7.7,
];
const STEP = 1e-4;

/** Functions of each element alone. */
const FUNCTIONS = ALL_OPS.filter(({ params, gradient, implementation }) =>
  `${Object.keys(params)}` === "self" && gradient.kind !== "none" &&
  (implementation.kind === "lower" || implementation.kind === "composite")
);

const numbersOf = (x: Tensor): number[] => [...x.toTypedArray()].map(Number);
const shifted = (by: number) => POINTS.map((x) => x + by);

/** Returns whether an op maps a vector to one of its size: others are no functions of each element. */
function keepsVectors(definition: OpDefinition): boolean {
  try {
    const [y] = resultsOf(callOp(definition, [tensor([...POINTS], { dtype: "float64" })]));
    return y?.dtype === "float64" && `${y.shape}` === `${POINTS.length}`;
  } catch (thrown) {
    // Of matrices, or of complex numbers
    if (thrown instanceof DynError) return false;
    throw thrown;
  }
}

/** The derivative of an order at some points. */
function derivative(definition: OpDefinition, at: readonly number[], order: 1 | 2): number[] {
  const x = tensor([...at], { dtype: "float64", requiresGrad: true });
  let y: Tensor = resultsOf(callOp(definition, [x]))[0] ?? fail("a result");
  for (let k = 0; k < order; k++) {
    if (!y.requiresGrad) return at.map(() => 0);
    const slopes: readonly (Tensor | null)[] = grad([y.sum()], [x], null, {
      createGraph: true,
      allowUnused: true,
    });
    if (!slopes[0]) return at.map(() => 0);
    y = slopes[0];
  }
  return numbersOf(y.detach());
}

/** Returns whether a function has no second derivative at a point, or none that differences of this step show. */
const isKink = (below: number, at: number, above: number): boolean =>
  ![below, at, above].every(Number.isFinite) ||
  Math.abs((above - at) - (at - below)) > 1e-2 * (STEP + Math.abs(above - below));

for (const definition of FUNCTIONS) {
  Deno.test(`${definition.name}: its second derivative agrees with differences of the first, around 0 too`, () => {
    if (!keepsVectors(definition)) return;
    const at = (by: number) => derivative(definition, shifted(by), 1);
    const first = [0, STEP, -STEP, 2 * STEP, -2 * STEP].map(at);
    const found = derivative(definition, POINTS, 2);
    POINTS.forEach((x, k) => {
      const [m = NaN, a = NaN, b = NaN, a2 = NaN, b2 = NaN] = first.map((each) => each[k]);
      // A jump makes the slope depend on the step
      const isJump = Math.abs((a - b) / 2 - (a2 - b2) / 4) > 1e-2 * (STEP + Math.abs(a - b));
      if (isJump || isKink(b, m, a) || isKink(b2, m, a2)) return;
      const expected = (8 * (a - b) - (a2 - b2)) / (12 * STEP);
      const allowed = 1e-6 * (1 + Math.abs(expected)) + 1e-15 * Math.max(1, Math.abs(a)) / STEP;
      const value = found[k] ?? NaN;
      assert(Math.abs(value - expected) <= allowed, `Expected ${expected} at ${x} but found ${value}`);
    });
  });
}
