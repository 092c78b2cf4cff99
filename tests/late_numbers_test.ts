/**
 * Iterations that differ in a number are one region: operations that take numbers as arguments have the same bits as
 * with constants, for every type, with NaN, infinities and −0, in results and gradients; if a number decides more than
 * elements, the iterations stay separate.
 */
import { assertEquals } from "@std/assert";
import { compile, config, type DType, manualSeed, randn, type Tensor, tensor, where } from "../mod.ts";
import { aotAutograd, interpretGraph } from "../lib/aot/backend.ts";
import { counters } from "../lib/base/logs.ts";
import "./support/turns/gradients.ts";

/** Enough for two pieces. */
const ROUNDS = 130;

/** Returns the result of a program, and the number of regions in its graphs. */
function compiled<R>(fn: () => R): { readonly result: R; readonly regions: number } {
  const before = counters.get("aot", "regions"), result = fn();
  return { result, regions: counters.get("aot", "regions") - before };
}

/** Elements such that equal lists are equal bits, but for those of NaN. */
const elements = (each: Tensor): readonly unknown[] => [
  each.dtype,
  ...Array.from<number | bigint>(each.detach().contiguous().float().toTypedArray()),
];

type Operation = (x: Tensor, n: number) => Tensor;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  add: (x, n) => x.add(n),
  sub: (x, n) => x.sub(n),
  rsub: (x, n) => x.rsub(n),
  mul: (x, n) => x.mul(n),
  div: (x, n) => x.div(n),
  "div, floor": (x, n) => x.div(n, { roundingMode: "floor" }),
  floorDivide: (x, n) => x.floorDivide(n),
  remainder: (x, n) => x.remainder(n),
  fmod: (x, n) => x.fmod(n),
  copysign: (x, n) => x.copysign(n),
  eq: (x, n) => x.eq(n),
  gt: (x, n) => x.gt(n),
  where: (x, n) => where(x.gt(0), x, n),
  maskedFill: (x, n) => x.maskedFill(x.gt(0), n),
};

/** Elements of each type at which something may go wrong. */
const VALUES: Partial<Readonly<Record<DType, readonly number[]>>> = {
  float32: [0, -0, 1, -1.5, 0.1, 3e38, 1e-45, NaN, Infinity, -Infinity, 16777217],
  float64: [0, -0, 1, -1.5, 0.1, 1e308, 5e-324, NaN, Infinity, -Infinity],
  float16: [0, -0, 1, -1.5, 0.1, 60000, 6e-8, NaN, Infinity],
  bfloat16: [0, -0, 1, -1.5, 0.1, 3e38, NaN, -Infinity],
  int64: [0, 1, -7, 2 ** 40, -(2 ** 53)],
  int32: [0, 1, -7, 2 ** 31 - 1, -(2 ** 31)],
  uint8: [0, 1, 7, 255],
};

const FLOATS = [0.1, -0, 0, 1, -1, NaN, Infinity, -Infinity, 1e300, 1e-320, 16777217, 2.5, -3, 2 ** 53 + 2];
const numbersOf = (dtype: DType): readonly number[] =>
  Array.from(
    { length: ROUNDS },
    (_, k) => dtype.includes("float") ? FLOATS[k * 5 % FLOATS.length] ?? k : 1 + k % 100,
  );

/** Operations whose code is looked at, too. */
const IN_CODE: readonly string[] = ["div", "remainder", "where"];

/** Floats, and another type; those take turns. */
function* typesFor(turn: number): Generator<readonly [DType, readonly number[]]> {
  const all = Object.entries(VALUES);
  for (const [k, [dtype, values]] of all.entries()) {
    if (isKnown(dtype) && (k === 0 || k === 1 + turn % (all.length - 1))) yield [dtype, values];
  }
}

for (const [turn, [name, operation]] of Object.entries(OPERATIONS).entries()) {
  Deno.test(`numbers of rounds: ${name}`, () => {
    for (const [dtype, values] of typesFor(turn)) {
      const x = tensor(values, { dtype }), numbers = numbersOf(dtype);
      const run = (x: Tensor) => numbers.map((n) => operation(x, n));
      const expected = run(x).map(elements), isInCode = dtype === "float32" && IN_CODE.includes(name);
      for (const backend of isInCode ? ["aot_eager", "inductor"] : ["aot_eager"]) {
        config.patch({ inductor: { tier: "wasm" } }, () => {
          const { result, regions } = compiled(() => compile(run, { backend, fullgraph: true })(x));
          assertEquals(result.map(elements), expected, `${dtype}, ${backend}`);
          assertEquals(regions, 1, `${dtype}, ${backend}`);
        });
      }
    }
  });
}

const isKnown = (dtype: string): dtype is DType => Object.hasOwn(VALUES, dtype);

/** The result and the gradient of rounds on a value that each hands to the next. */
function trained(run: Run, dtype: DType): readonly (readonly unknown[])[] {
  manualSeed(1);
  const x = randn([3, 4]).to(dtype).detach().requiresGrad_(), result = run(x, randn([3, 4]).to(dtype));
  result.float().pow(2).sum().backward();
  return [result, x.grad].map((each) => each ? elements(each) : []);
}

type Run = (x: Tensor, w: Tensor) => Tensor;

interface Loop {
  readonly round: (y: Tensor, w: Tensor, i: number) => Tensor;
  readonly regions: number;
}

const LOOPS: Readonly<Record<string, Loop>> = {
  "rates by the index": {
    round: (y, w, i) => y.mul(1 - i / 512).add(w.div(i + 2)).sub(0.25 * i).tanh(),
    regions: 1,
  },
  "in place": { round: (y, w, i) => y.mul(0.5).add_(i).mul_(1 / (i + 1)).add(w), regions: 1 },
  "choices": {
    round: (y, w, i) => where(y.gt(i / 200), y.mul(0.9), i % 3).add(w.remainder(i + 1)),
    regions: 1,
  },
  // Gradients of powers are other powers
  "exponents": { round: (y, w, i) => y.sigmoid().pow(i + 2).add(w).tanh(), regions: 0 },
  "several numbers of a call": { round: (y, w, i) => y.clamp(-i, i + 1).add(w).tanh().mul(0.5), regions: 0 },
};

for (const [name, { round, regions: expected }] of Object.entries(LOOPS)) {
  Deno.test(`numbers of rounds, ${name}: results and gradients`, () => {
    const run: Run = (x, w) => {
      let y = x;
      for (let i = 0; i < 44; i++) y = round(y, w, i);
      return y;
    };
    for (const dtype of ["float32", "bfloat16"] as const) {
      const through = (regions: boolean) =>
        compile(run, { backend: aotAutograd({ fwCompiler: interpretGraph, regions }), fullgraph: true });
      const { result, regions } = compiled(() => trained(through(true), dtype));
      assertEquals(result, trained(through(false), dtype), dtype);
      assertEquals(regions, expected, dtype);
    }
  });
}

Deno.test("numbers of rounds keep their types in decisions", () => {
  const x = tensor([1, -2, 5], { dtype: "int64" });
  // Integers give integers, others floats, and a number that int32 does not hold is no element of a table
  const run = (x: Tensor) =>
    Array.from(
      { length: 200 },
      (_, i) => x.mul(i % 7 === 0 ? i + 0.5 : i).add(i % 5 === 0 ? 2 ** 40 + i : i),
    );
  for (const backend of ["aot_eager", "inductor"]) {
    assertEquals(compile(run, { backend })(x).map(elements), run(x).map(elements));
  }
});

Deno.test("changes outside a loop change its numbers", () => {
  const run = (x: Tensor, rate: number) => {
    let y = x;
    for (let i = 0; i < 80; i++) y = y.mul(rate / (i + 1)).add(i);
    return y;
  };
  const compiledRun = compile(run, { backend: "aot_eager" }), x = randn([3]);
  for (const rate of [0.5, 2, -0, 2]) assertEquals(elements(compiledRun(x, rate)), elements(run(x, rate)));
});
