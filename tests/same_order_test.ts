/**
 * Compiled functions add in the order of eager calls: reductions over one dimension and several, of dense, transposed,
 * strided and expanded tensors, small and large, alone and next to each other, and means of windows, whichever sizes
 * eager calls had before. The numbers give other bits in any other order. So do sums of intermediate values, with
 * whatever they are fused: random programs and their gradients. The seed of a run selects the cases.
 */
import { assert, assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { compile, type CompileOptions, compiler, nn, noGrad, type Tensor, tensor } from "../mod.ts";
import {
  type BitProgram,
  bitsOf,
  drawProgram,
  drawSumOfView,
  functionOf,
  operandsOf,
  textOf,
} from "./support/bit_programs.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { orderedNumbers } from "./support/special_numbers.ts";
import { randomNumbers, sampleBySeed, TAKES_ALL, testSeed } from "./support/sampling.ts";

const { functional: F } = nn;

type Shape = readonly [number, number, number];

/** Sizes of three dimensions: less and more than lanes have, and so much that a first eager call is for many sizes. */
const SHAPES: readonly Shape[] = [[7, 5, 9], [3, 40, 6], [4, 6, 40], [2, 17, 16], [20, 30, 50]];

/** Number of eager calls with other sizes that make the next one share their program. */
const SHARED = 3;

const dense = (shape: readonly number[]): Tensor =>
  tensor([...orderedNumbers(shape.reduce((product, size) => product * size, 1))]).reshape(shape);

/** Layouts of a tensor of a given shape. */
const LAYOUTS: Readonly<Record<string, (shape: Shape) => Tensor>> = {
  dense,
  turned: ([a, b, c]) => dense([c, b, a]).permute([2, 1, 0]),
  rolled: ([a, b, c]) => dense([b, c, a]).permute([2, 0, 1]),
  "at steps": ([a, b, c]) => dense([a, b, 2 * c]).slice(2, 0, 2 * c, 2),
  "in part": ([a, b, c]) => dense([a, b + 3, c]).slice(1, 1, b + 1),
  "twice in part": ([a, b, c]) => dense([a, b + 3, c + 2]).slice(1, 1, b + 1).slice(2, 0, c),
  "turned and in part": ([a, b, c]) =>
    dense([b, a + 3, c + 2]).slice(1, 1, a + 1).slice(2, 0, c).permute([1, 0, 2]),
  expanded: ([a, b, c]) => dense([a, 1, c]).expand([a, b, c]),
  "expanded outside": ([a, b, c]) => dense([1, b, c]).expand([a, b, c]),
};

const DIMS: readonly (readonly number[])[] = [[0], [1], [2], [0, 1], [1, 2], [0, 2], [2, 0], [0, 1, 2]];

/** Ops over some dimensions, with as many results as are computed in one pass. */
const REDUCED: Readonly<Record<string, (x: Tensor, dims: readonly number[]) => readonly Tensor[]>> = {
  sum: (x, dims) => [x.sum(dims)],
  "sum to float64": (x, dims) => [x.sum(dims, { dtype: "float64" })],
  mean: (x, dims) => [x.mean(dims)],
  "mean, and more of it": (x, dims) => [x.mean(dims, true).mul(3).tanh()],
  prod: (x, [dim]) => [x.prod(dim)],
  "extremes beside a sum": (x, dims) => [x.amin(dims), x.sum(dims), x.amax(dims)],
  "a place beside a sum": (x, dims) =>
    dims.length === 1 ? [x.sum(dims), x.argmax(dims[0])] : [x.argmax(), x.sum()],
  "sums over other dimensions": (x, dims) => [x.sum(dims), x.sum(0), x.sum()],
};

/** Means of windows, and running sums. */
const OTHERS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  "windows of 3 by 2": (x) => F.avgPool2d(x.unsqueeze(0), 3, 2),
  "windows beyond the edges": (x) => F.avgPool2d(x.unsqueeze(0), 3, 2, 1),
  "windows as wide as rows": (x) => F.avgPool2d(x.unsqueeze(0), [2, x.shape[2] ?? 1], 1),
  "windows of even width beyond the edges": (x) => F.avgPool2d(x.unsqueeze(0), [3, 6], 1, [1, 3]),
  "windows of a row": (x) => F.avgPool1d(x, 3),
  "windows of any size": (x) => F.adaptiveAvgPool2d(x.unsqueeze(0), 2),
  "running sums": (x) => x.cumsum(1),
  "running products": (x) => x.cumprod(2),
};

interface Case {
  readonly label: string;
  readonly make: () => Tensor;
  /** Calls with other sizes, which come first. */
  readonly others: readonly (() => Tensor)[];
  readonly of: (x: Tensor) => readonly Tensor[];
}

function drawn(count: number): Case[] {
  const random = randomNumbers(testSeed());
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)];
    assert(item !== undefined);
    return item;
  };
  for (let i = 0; i < 8; i++) random();
  const size = (most: number) => 3 + Math.floor(random() * (most - 2));
  const drawnShape = (): Shape => random() < 0.5 ? pick(SHAPES) : [size(12), size(50), size(30)];
  return Array.from({ length: count }, (_, k): Case => {
    const shape = drawnShape(), [layout, make] = pick(Object.entries(LAYOUTS));
    const others = Array.from({ length: SHARED }, () => make.bind(null, drawnShape()));
    const at = { make: () => make(shape), others }, lying = `${shape} ${layout}`;
    if (k % 4 === 3) {
      const [name, of] = pick(Object.entries(OTHERS));
      return { label: `${name} of ${lying}`, ...at, of: (x) => [of(x)] };
    }
    const [name, of] = pick(Object.entries(REDUCED)), dims = pick(DIMS);
    return { label: `${name} over ${dims} of ${lying}`, ...at, of: (x) => of(x, dims) };
  });
}

const elementsOf = (found: Tensor): readonly unknown[] => [...found.toTypedArray()];

/** Returns the differences when all cases are one compiled function. */
function differences(cases: readonly Case[], tier: "wasm" | "wait"): string[] {
  const inputs = cases.map(({ make }) => make());
  const all = (...xs: readonly Tensor[]) => cases.map(({ of }, k) => xs[k] ? of(xs[k]) : []);
  const found = config.patch({ inductor: { tier } }, () => compile(all, { fullgraph: true })(...inputs));
  return cases.flatMap(({ label, others, of }, k) => {
    for (const other of others) of(other());
    const input = inputs[k], wanted = input ? of(input) : [];
    return wanted.flatMap((want, r) => {
      const [mine, theirs] = [found[k]?.[r], want].map((each) => each ? elementsOf(each) : []);
      assert(mine && theirs && mine.length === theirs.length && mine.length > 0, label);
      const at = theirs.findIndex((item, i) => !Object.is(item, mine[i]));
      return at < 0 ? [] : [`${label}, result ${r}: element ${at} is ${mine[at]}, eagerly ${theirs[at]}`];
    });
  });
}

const CASES = drawn(24);

Deno.test("WebAssembly adds in the order of eager calls, for all layouts of tensors", () => {
  assertEquals(noGrad(() => differences(CASES, "wasm")), []);
});

Deno.test({
  name: "C++ adds in the order of eager calls, however tensors lie",
  ignore: SKIP_NATIVE,
  fn() {
    assertEquals(noGrad(() => differences(sampleBySeed(CASES, 8), "wait")), []);
  },
});

/** Sums whose order was that of what they are fused with, or depended on whether their sizes were known. */
const LONG_SUMS: Readonly<Record<string, readonly [make: () => Tensor, of: (x: Tensor) => Tensor]>> = {
  "all elements": [() => dense([70_000]), (x) => x.sum()],
  "long rows": [() => dense([3, 40_000]), (x) => x.sum(1)],
  columns: [() => dense([1000, 64]), (x) => x.sum(0)],
  "columns that are not whole blocks": [() => dense([4001, 20]), (x) => x.sum(0)],
  "columns of batches": [() => dense([20, 130, 32]), (x) => x.sum([0, 1])],
  "columns of intermediate values": [() => dense([1000, 40]), (x) => x.tanh().mul(x).sum(0)],
  "a broadcast difference": [() => dense([300, 257]), (x) => x.sub(x.mean(0)).pow(2).mean()],
  "a mean and a variance, in part": [
    () => dense([300, 701]).to("float64").slice(1, 0, 650),
    (x) => x.sub(x.mean()).pow(2).sum(),
  ],
  "a mean and a variance of float64": [
    () => dense([100_000]).to("float64"),
    (x) => x.sub(x.mean()).pow(2).sum(),
  ],
  "a product": [() => dense([50_000]).tanh().mul(0.01).add(1), (x) => x.prod(0)],
  "transposed intermediate values": [() => dense([300, 200]), (x) => x.t().exp().add(x.t()).sum(0)],
  "a norm of groups": [() => dense([4, 8, 9, 11]), (x) => nn.functional.groupNorm(x.relu(), 2)],
  "a norm of transposed rows": [() => dense([64, 32]).t(), (x) => nn.functional.layerNorm(x, [64])],
};

Deno.test("long sums, and sums of intermediate values, have the bits of eager calls", () => {
  const found = noGrad(() =>
    sampleBySeed(Object.entries(LONG_SUMS), 6).flatMap(([label, [make, of]]) => {
      const x = make(), wanted = elementsOf(of(x));
      return [undefined, true].flatMap((dynamic) => {
        compiler.reset();
        const options: CompileOptions = { fullgraph: true, ...dynamic === undefined ? {} : { dynamic } };
        const got = elementsOf(config.patch({ inductor: { tier: "wasm" } }, () => compile(of, options)(x)));
        const at = wanted.findIndex((item, k) => !Object.is(item, got[k]));
        return at < 0 ? [] : [`${label}: element ${at} is ${got[at]}, eagerly ${wanted[at]}`];
      });
    })
  );
  assertEquals(found, []);
});

/** The ways in which programs run beside eager calls. */
const WAYS: Readonly<Record<string, { readonly tier: "wasm" | "wait"; readonly options: CompileOptions }>> = {
  "op by op": { tier: "wasm", options: { backend: "aot_eager" } },
  WebAssembly: { tier: "wasm", options: {} },
  "WebAssembly of any sizes": { tier: "wasm", options: { dynamic: true } },
  "C++": { tier: "wait", options: {} },
};

/** The first difference of a program between an eager and a compiled run. */
function differenceOf(program: BitProgram, way: string): string[] {
  const { tier, options } = WAYS[way] ?? {}, plain = functionOf(program), operands = operandsOf(program);
  const wanted = bitsOf(operands, plain(...operands));
  compiler.reset();
  const found = config.patch(
    { inductor: { tier: tier ?? "wasm" } },
    () => bitsOf(operands, compile(plain, options)(...operands)),
  );
  for (const [r, each] of wanted.entries()) {
    const at = each.findIndex((item, k) => !Object.is(item, found[r]?.[k]));
    if (at < 0) continue;
    const place = `result ${r}, element ${at - 2} is ${found[r]?.[at]}, eagerly ${each[at]}`;
    return [`${way}: ${place}, of ${textOf(program)}`];
  }
  return [];
}

/** Programs of a run; DYN_TEST_BIT_PROGRAMS asks for more. */
const PROGRAMS = Number(Deno.env.get("DYN_TEST_BIT_PROGRAMS") ?? (TAKES_ALL ? 400 : 12));

Deno.test("random programs and their gradients have the bits of eager calls", () => {
  const ways = ["WebAssembly", "WebAssembly of any sizes", "op by op"];
  const found = Array.from(
    { length: PROGRAMS },
    (_, k) => differenceOf(drawProgram(testSeed() + k), ways[k % ways.length] ?? ""),
  );
  assertEquals(found.flat(), []);
});

/** The first wrong element of a program that was compiled for other sizes. */
function wrongInOtherSizes(program: BitProgram): string[] {
  const grown = program.leaves.map((leaf) => ({
    ...leaf,
    shape: leaf.shape.map((n) => n === 1 ? 1 : n + 1),
  }));
  const others = operandsOf({ ...program, leaves: grown }), plain = functionOf(program);
  const compiled = compile(plain, { dynamic: true });
  const found = config.patch({ inductor: { tier: "wasm" } }, () => {
    compiled(...operandsOf(program));
    return compiled(...others);
  });
  return plain(...others).flatMap((want, r) => {
    const [mine, theirs] = [found[r], want].map((x) =>
      x ? elementsOf(x.detach().contiguous()).map(Number) : []
    );
    const at = theirs?.findIndex((x, k) => !(Math.abs(x - (mine?.[k] ?? NaN)) <= 1e-4 * (1 + Math.abs(x))));
    return at === undefined || at < 0 ? [] : [`element ${at} of result ${r} of ${textOf(program)}`];
  });
}

Deno.test("sums over random views of any sizes have the bits of eager calls, and the terms of others", () => {
  const found = Array.from({ length: PROGRAMS }, (_, k) => {
    const program = drawSumOfView(testSeed() + k);
    const differs = differenceOf(program, "WebAssembly of any sizes");
    return k % 4 === 0 ? [...differs, ...wrongInOtherSizes(program)] : differs;
  });
  assertEquals(found.flat(), []);
});

Deno.test({
  name: "random programs have the bits of eager calls in C++",
  ignore: SKIP_NATIVE,
  fn() {
    const count = Math.ceil(PROGRAMS / 6);
    const found = Array.from(
      { length: count },
      (_, k) => differenceOf(drawProgram(testSeed() + 1000 + k), "C++"),
    );
    assertEquals(found.flat(), []);
  },
});
