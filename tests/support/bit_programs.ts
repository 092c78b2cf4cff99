/**
 * Random programs whose results depend on the order of additions: chains of elementwise ops over broadcast operands,
 * sums over some dimensions, norms, losses and views, of tensors in any layout, and their gradients. A seed determines
 * a program. Matrix products and convolutions, which round differently in each tier, are no part of them.
 */
import { assert } from "@std/assert";
import { autograd, cat, type DType, linalg, nn, Tensor, tensor } from "../../mod.ts";
import { randomNumbers } from "./sampling.ts";

const { functional: F } = nn;

/** An operand of a program. */
interface Leaf {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly layout: keyof typeof LAYOUTS;
  readonly hasGradient: boolean;
}

/** One op of a program over the tensors before it, its operands first. */
interface Step {
  readonly text: string;
  readonly of: (all: readonly Tensor[]) => Tensor;
}

/** A program. */
export interface BitProgram {
  readonly seed: number;
  readonly leaves: readonly Leaf[];
  readonly steps: readonly Step[];
  /** Places of the results among the operands and the results of steps. */
  readonly results: readonly number[];
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

const last = (shape: readonly number[]): number => shape.at(-1) ?? 1;

/** Layouts of tensors of a shape, made from dense ones. */
const LAYOUTS = {
  dense: (shape, dense) => dense(shape),
  turned(shape, dense) {
    const back = shape.map((_, d) => shape.length - 1 - d);
    return dense(shape.toReversed()).permute(back);
  },
  "at steps": (shape, dense) =>
    dense([...shape.slice(0, -1), 2 * last(shape)]).slice(shape.length - 1, 0, 2 * last(shape), 2),
  "in part": (shape, dense) =>
    dense([...shape.slice(0, -1), last(shape) + 3]).slice(shape.length - 1, 1, last(shape) + 1),
  rolled: (shape, dense) =>
    dense([...shape.slice(1), ...shape.slice(0, 1)]).permute(shape.map((_, d) => (d || shape.length) - 1)),
  "rows at steps": (shape, dense) =>
    dense([2 * (shape[0] ?? 1), ...shape.slice(1)]).slice(0, 1, 2 * (shape[0] ?? 1), 2),
  expanded: (shape, dense) => dense([1, ...shape.slice(1)]).expand([...shape]),
  "expanded inside": (shape, dense) => dense([...shape.slice(0, -1), 1]).expand([...shape]),
} satisfies Record<
  string,
  (shape: readonly number[], dense: (shape: readonly number[]) => Tensor) => Tensor
>;

const SIZES = [1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 40, 64, 65, 100, 129];
const LARGE_SIZES = [257, 300, 1000, 4100];

const UNARY: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  tanh: (x) => x.tanh(),
  "times 1.7": (x) => x.mul(1.7),
  sigmoid: (x) => x.sigmoid(),
  "root of magnitude": (x) => x.abs().add(0.5).sqrt(),
  relu: (x) => x.relu(),
  bell: (x) => x.mul(x).neg().exp(),
  gelu: (x) => F.gelu(x),
  cube: (x) => x.pow(3),
};

const BINARY: Readonly<Record<string, (a: Tensor, b: Tensor) => Tensor>> = {
  add: (a, b) => a.add(b),
  mul: (a, b) => a.mul(b),
  sub: (a, b) => a.sub(b),
  div: (a, b) => a.div(b.abs().add(1)),
  maximum: (a, b) => a.maximum(b),
  atan2: (a, b) => a.atan2(b),
  hypot: (a, b) => a.hypot(b),
  lerp: (a, b) => a.lerp(b, 0.3),
};

const REDUCED: Readonly<Record<string, (x: Tensor, dims: readonly number[], keepdim: boolean) => Tensor>> = {
  sum: (x, dims, keepdim) => x.sum(dims, keepdim),
  mean: (x, dims, keepdim) => x.mean(dims, keepdim),
  variance: (x, dims, keepdim) => x.variance(dims, { keepdim, correction: 0 }),
  std: (x, dims, keepdim) => x.std(dims, { keepdim, correction: 0 }),
  amax: (x, dims, keepdim) => x.amax(dims, keepdim),
  logsumexp: (x, dims, keepdim) => x.logsumexp(dims, keepdim),
  norm: (x, dims, keepdim) => linalg.vectorNorm(x, 2, dims, keepdim),
  prod: (x, [dim], keepdim) => x.mul(0.1).add(1).prod(dim, keepdim),
  nansum: (x, dims, keepdim) => x.nansum(dims, keepdim),
};

const VIEWS: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  transpose: (x) => x.transpose(0, -1),
  flatten: (x) => x.flatten(),
  "every second": (x) => x.slice(x.ndim - 1, 0, last(x.shape), 2),
  "every third": (x) => x.slice(x.ndim - 1, 1, last(x.shape), 3),
  "every second row": (x) => x.slice(0, 0, x.shape[0], 2),
  "first columns": (x) => x.narrow(-1, 0, Math.ceil(last(x.shape) / 2)),
  "last dimension first": (x) => x.movedim(-1, 0),
  unsqueeze: (x) => x.unsqueeze(0),
  "dense transpose": (x) => x.transpose(0, -1).contiguous(),
  flip: (x) => x.flip([0]),
  "cat with twice": (x) => cat([x, x.mul(2)], 0),
  roll: (x) => x.roll(1, 0),
  "first half": (x) => x.narrow(0, 0, Math.max(1, (x.shape[0] ?? 1) >> 1)),
  "first two joined": (x) => x.flatten(0, 1),
};

/** Reductions that add elements one by one. */
const ADDING = ["sum", "mean", "variance", "norm", "prod", "nansum"];

/** Views whose strides follow from the sizes of their tensor, or by chance from their own. */
const STRIDED = ["every second", "every third", "every second row", "first columns", "transpose"];

const WHOLE: Readonly<Record<string, (x: Tensor) => Tensor>> = {
  softmax: (x) => x.softmax(-1),
  "softmax of columns": (x) => x.softmax(0),
  logSoftmax: (x) => x.logSoftmax(-1),
  layerNorm: (x) => F.layerNorm(x, [last(x.shape)]),
  rmsNorm: (x) => F.rmsNorm(x, [last(x.shape)]),
  groupNorm: (x) => F.groupNorm(x, (x.shape[1] ?? 1) % 2 ? 1 : 2),
  batchNorm: (x) => F.batchNorm(x, null, null, { training: true }),
  normalize: (x) => F.normalize(x),
  cumsum: (x) => x.cumsum(0),
  mseLoss: (x) => F.mseLoss(x, x.mul(0.9).add(0.1)),
  avgPool1d: (x) => F.avgPool1d(x.unsqueeze(0).flatten(1), 3),
};

/** Choices that a seed determines. */
class Draws {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomNumbers(seed);
    for (let k = 0; k < 8; k++) this.#next();
  }

  number = (): number => this.#next();

  below = (count: number): number => Math.floor(this.#next() * count);

  one<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    assert(item !== undefined);
    return item;
  }
}

function drawnShape(draws: Draws, leastRank: number): number[] {
  const isLarge = draws.number() < 0.15, most = isLarge ? 120_000 : 3000;
  let shape = Array.from(
    { length: leastRank + draws.below(4 - leastRank) },
    () => draws.one(isLarge && draws.number() < 0.5 ? LARGE_SIZES : SIZES),
  );
  while (sizeOf(shape) > most) shape = shape.map((size) => Math.max(1, size >> 1));
  return shape;
}

/** The operands; `isSum`: those of a sum of views, which is one of floats with several dimensions. */
function drawnLeaves(draws: Draws, isSum: boolean): readonly Leaf[] {
  const shape = drawnShape(draws, isSum ? 2 : 1),
    floats: DType = draws.number() < 0.2 ? "float64" : "float32";
  const layouts = Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[];
  const leafOf = (of: readonly number[]): Leaf => ({
    shape: of,
    dtype: !isSum && draws.number() < 0.1 ? "int32" : floats,
    layout: draws.number() < 0.25 ? "dense" : draws.one(layouts),
    hasGradient: draws.number() < 0.4,
  });
  const broadcast = () =>
    shape.slice(draws.below(shape.length)).map((size) => draws.number() < 0.35 ? 1 : size);
  if (isSum) return [leafOf(shape)];
  return [leafOf(shape), ...Array.from({ length: 1 + draws.below(3) }, () => leafOf(broadcast()))];
}

type Kind = "unary" | "binary" | "reduced" | "view" | "whole";

function drawnKind(draws: Draws): Kind {
  const drawn = draws.number();
  return drawn < 0.25
    ? "unary"
    : drawn < 0.5
    ? "binary"
    : drawn < 0.75
    ? "reduced"
    : drawn < 0.88
    ? "view"
    : "whole";
}

/**
 * Steps of programs whose sums follow views: whether a sum joins its loops depends on the strides of views, which
 * other programs hide behind other ops.
 */
const SUMS_OF_VIEWS: readonly (readonly Kind[])[] = [
  ["view", "reduced"],
  ["unary", "view", "reduced"],
  ["view", "view", "reduced"],
  ["unary", "view", "view", "reduced"],
];

/**
 * A step over tensors with these shapes; undefined if the drawn op takes none of them. `follows`: it is of a given kind
 * and takes the last tensor.
 */
function drawnStep(draws: Draws, all: readonly Tensor[], follows?: Kind): Step | undefined {
  const place = () =>
    follows !== undefined || draws.number() < 0.6 ? all.length - 1 : draws.below(all.length);
  const [a, b] = [place(), place()], kind = follows ?? drawnKind(draws);
  const x = (given: readonly Tensor[], at: number): Tensor => {
    const found = given[at];
    assert(found);
    return found;
  };
  if (kind === "unary") {
    const [name, op] = draws.one(Object.entries(UNARY));
    return { text: `${name}(t${a})`, of: (given) => op(x(given, a)) };
  }
  if (kind === "binary") {
    const [name, op] = draws.one(Object.entries(BINARY));
    return { text: `${name}(t${a}, t${b})`, of: (given) => op(x(given, a), x(given, b)) };
  }
  if (kind === "reduced") {
    const rank = x(all, a).ndim, isWide = follows !== undefined && draws.number() < 0.7;
    const some = [...Array(rank).keys()].filter(() => isWide || draws.number() < 0.55);
    if (rank === 0) return undefined;
    const dims = some.length > 0 ? some : [draws.below(rank)], keepdim = draws.number() < 0.4;
    const of = Object.entries(REDUCED);
    const [name, op] = draws.one(follows === undefined ? of : of.filter(([each]) => ADDING.includes(each)));
    return { text: `${name}(t${a}, [${dims}], ${keepdim})`, of: (given) => op(x(given, a), dims, keepdim) };
  }
  const group = Object.entries(kind === "view" ? VIEWS : WHOLE), isStrided = follows && draws.number() < 0.85;
  const [name, op] = draws.one(isStrided ? group.filter(([each]) => STRIDED.includes(each)) : group);
  return { text: `${name}(t${a})`, of: (given) => op(x(given, a)) };
}

/** Draws a program. */
export const drawProgram = (seed: number): BitProgram => drawn(new Draws(seed), seed, []);

/** Draws a program of one sum over a view. */
export function drawSumOfView(seed: number): BitProgram {
  const draws = new Draws(seed);
  return drawn(draws, seed, draws.one(SUMS_OF_VIEWS));
}

/** A program of steps of given kinds; of any if there are none. */
function drawn(draws: Draws, seed: number, kinds: readonly Kind[]): BitProgram {
  const leaves = drawnLeaves(draws, kinds.length > 0), steps: Step[] = [];
  const all = leaves.map((leaf, k) => operandOf(leaf, seed + k)),
    memories = new Set(all.map(({ storage }) => storage));
  const most = 2 * Math.max(3000, ...leaves.map(({ shape }) => sizeOf(shape)));
  const wanted = kinds.length || 2 + draws.below(6);
  for (let tries = 0; steps.length < wanted && tries < 40; tries++) {
    const step = drawnStep(draws, all, kinds[steps.length]), made = step && tried(() => step.of(all));
    if (!step || !made || made.numel() === 0 || made.numel() > most) continue;
    all.push(made);
    steps.push({ ...step, text: `${step.text}: ${made.dtype}[${made.shape}]` });
  }
  // Views of operands and of other results are made beside the graph, so that their gradients are terms of their own
  const results = all.flatMap(({ storage }, k) => {
    const isWanted = !memories.has(storage) && (k === all.length - 1 || draws.number() < 0.4);
    if (isWanted) memories.add(storage);
    return isWanted ? [k] : [];
  });
  return { seed, leaves, steps, results };
}

function tried(body: () => Tensor): Tensor | undefined {
  try {
    return body();
  } catch (thrown) {
    if (thrown instanceof Error) return undefined;
    throw thrown;
  }
}

function operandOf({ shape, dtype, layout }: Leaf, seed: number): Tensor {
  const random = randomNumbers(31 * seed + 7);
  const value = () =>
    dtype === "int32" ? Math.floor(random() * 9) - 4 : (random() - 0.5) * (random() < 0.1 ? 8 : 2);
  return LAYOUTS[layout](
    shape,
    (of) => tensor(Array.from({ length: sizeOf(of) }, value), { dtype }).reshape([...of]),
  );
}

/** The operands of a program. */
export function operandsOf({ leaves, seed }: BitProgram): readonly Tensor[] {
  return leaves.map((leaf, k) => {
    const made = operandOf(leaf, seed + k);
    return leaf.hasGradient && leaf.dtype !== "int32" ? made.detach().requiresGrad_() : made;
  });
}

/** A program as a function. */
export function functionOf(
  { steps, results }: BitProgram,
): (...operands: readonly Tensor[]) => readonly Tensor[] {
  return (...operands) => {
    const all = [...operands];
    for (const { of } of steps) all.push(of(all));
    return results.flatMap((k) => all[k] ?? []);
  };
}

/** The elements of each result, and of the gradient of each operand that has one. */
export function bitsOf(
  operands: readonly Tensor[],
  results: readonly Tensor[],
): readonly (readonly unknown[])[] {
  const elements = (
    x: Tensor,
  ): readonly unknown[] => [x.dtype, `${x.shape}`, ...x.detach().contiguous().toTypedArray()];
  const wanted = operands.filter(({ requiresGrad }) => requiresGrad);
  const terms = results.filter(({ requiresGrad }) => requiresGrad).map((x) => {
    const weights = Array.from({ length: x.numel() }, (_, k) => k * 37 % 101 / 101 - 0.5);
    return x.mul(tensor(weights, { dtype: x.dtype }).reshape([...x.shape])).sum();
  });
  const [first, ...others] = terms;
  if (!first) return results.map(elements);
  const total = others.reduce((sum, term) => sum.add(term), first);
  const gradients = autograd.grad([total], wanted, undefined, { allowUnused: true });
  return [...results.map(elements), ...gradients.map((each) => each ? elements(each) : [])];
}

/** A program as text, for messages. */
export function textOf({ seed, leaves, steps, results }: BitProgram): string {
  const operands = leaves.map(({ dtype, shape, layout, hasGradient }, k) =>
    `t${k}: ${dtype}[${shape}] ${layout}${hasGradient ? ", differentiated" : ""}`
  );
  const ops = steps.map(({ text }, k) => `t${leaves.length + k} = ${text}`);
  return [`program ${seed}`, ...operands, ...ops, `results: ${results.map((k) => `t${k}`)}`].join("\n  ");
}
