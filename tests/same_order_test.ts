/**
 * Compiled functions add in the order of eager calls: reductions over one dimension and several, of dense, transposed,
 * strided and expanded tensors, small and large, alone and next to each other, and means of windows, whichever sizes
 * eager calls had before. The numbers give other bits in any other order. The seed of a run selects the cases.
 */
import { assert, assertEquals } from "@std/assert";
import { config } from "../lib/base/config.ts";
import { compile, nn, noGrad, type Tensor, tensor } from "../mod.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { orderedNumbers } from "./support/special_numbers.ts";
import { randomNumbers, sampleBySeed, testSeed } from "./support/sampling.ts";

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
