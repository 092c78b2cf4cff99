/** Tensors filled in place: with random numbers of known means and bounds, and along diagonals. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, DynError, empty, manualSeed, type Tensor, zeros } from "../mod.ts";

const N = 40_000;

/** Compiled and plain fills draw the same numbers. */
function drawn(fill: (x: Tensor) => Tensor, dtype: "float32" | "int64" = "float32"): Tensor {
  const make = () => empty([N], { dtype });
  manualSeed(11);
  const plain = fill(make());
  manualSeed(11);
  const compiled = compile(fill, { backend: "aot_eager", fullgraph: true })(make());
  assertEquals(compiled.tolist(), plain.tolist());
  return plain;
}

function assertNear(found: number, expected: number, within: number): void {
  assert(Math.abs(found - expected) <= within, `Expected ${expected} ± ${within} but found ${found}`);
}

Deno.test("cauchy_ has its median and quartiles", () => {
  const [low = 0, middle = 0, high = 0] = drawn((x) => x.cauchy_(1, 2)).sort()[0].at([
    N / 4,
    N / 2,
    3 * N / 4,
  ])
    .tolist<number[]>();
  assertNear(middle, 1, 0.06);
  assertNear(low, -1, 0.1);
  assertNear(high, 3, 0.1);
});

Deno.test("logNormal_ is the exponential of a normal distribution", () => {
  const logs = drawn((x) => x.logNormal_(0.5, 0.25)).log();
  assertNear(logs.mean().item(), 0.5, 0.01);
  assertNear(logs.std().item(), 0.25, 0.01);
});

Deno.test("geometric_ counts trials, in integers too", () => {
  for (const dtype of ["float32", "int64"] as const) {
    const trials = drawn((x) => x.geometric_(0.25), dtype), counts = trials.to("float64");
    assertNear(counts.mean().item(), 4, 0.1);
    assertNear(counts.eq(1).to("float64").mean().item(), 0.25, 0.01);
    assertEquals([counts.min().item() >= 1, counts.frac().abs().max().item()], [true, 0]);
  }
});

Deno.test("random_ draws integers within its bounds, or those of the type", () => {
  const two = drawn((x) => x.random_(2, 5), "int64");
  assertEquals([...new Set(two.tolist<number[]>())].sort(), [2, 3, 4]);
  assertEquals([...new Set(drawn((x) => x.random_(3)).tolist<number[]>())].sort(), [0, 1, 2]);
  const wide = drawn((x) => x.random_());
  assertEquals(wide.frac().max().item(), 0);
  assert(wide.max().item() > 2 ** 23 && wide.max().item() <= 2 ** 24);
  assertThrows(() => empty([2]).random_(5, 5), DynError, "from below to");
});

Deno.test("fillDiagonal_ writes where all indices are equal, and wraps around if requested", () => {
  assertEquals(zeros([2, 3]).fillDiagonal_(7).tolist(), [[7, 0, 0], [0, 7, 0]]);
  assertEquals(zeros([7, 2]).fillDiagonal_(1).tolist(), [[1, 0], [0, 1], ...new Array(5).fill([0, 0])]);
  // As in PyTorch: one row is skipped below each square
  assertEquals(zeros([7, 2]).fillDiagonal_(1, true).tolist(), [
    [1, 0],
    [0, 1],
    [0, 0],
    [1, 0],
    [0, 1],
    [0, 0],
    [1, 0],
  ]);
  assertEquals(zeros([2, 2, 2]).fillDiagonal_(3, { wrap: true }).tolist(), [[[3, 0], [0, 0]], [[0, 0], [
    0,
    3,
  ]]]);
  const x = zeros([3, 3]).requiresGrad_(), y = x.mul(2).fillDiagonal_(5);
  y.sum().backward();
  assertEquals(x.grad?.tolist(), [[0, 2, 2], [2, 0, 2], [2, 2, 0]]);
  const f = compile((a: Tensor, v: number) => a.mul(1).fillDiagonal_(v), {
    backend: "aot_eager",
    fullgraph: true,
  });
  for (const v of [2, 3, 4]) assertEquals(f(zeros([2, 2]), v).tolist(), [[v, 0], [0, v]]);
  assertThrows(() => zeros([3]).fillDiagonal_(1), DynError, "at least 2 dimensions");
});
