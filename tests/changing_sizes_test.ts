/**
 * Sizes that change between calls: of inputs, of results, and integers that say how elements move. One version serves
 * all of them (windows of equal and of different sizes are two), with the results and gradients of plain calls.
 */
import { assertEquals, equal } from "@std/assert";
import {
  arange,
  compile,
  compiler,
  config,
  istft,
  linspace,
  logspace,
  manualSeed,
  nn,
  ones,
  randint,
  stft,
  type Tensor,
  tensor,
} from "../mod.ts";
import { DynError } from "../lib/base/errors.ts";
import { isMethod } from "../lib/ops/api.ts";
import type { OpDefinition, SampleArgument } from "../lib/ops/definition.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { ops } from "../lib/tensor/eager.ts";
import "./support/eager_tier.ts";
import { assertClose } from "./support/close.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { shown } from "./support/shown.ts";

const { functional: F } = nn;

/** Images [2, 4, n, n + 3] and sequences [2, 4, n]. */
const images = (n: number): Tensor => arange(8 * n * (n + 3)).reshape([2, 4, n, n + 3]).div(100).sin();
const sequences = (n: number): Tensor => arange(8 * n).reshape([2, 4, n]).div(100).sin();

interface Case {
  readonly program: (x: Tensor, n: number) => Tensor | readonly Tensor[];
  readonly input: (n: number) => Tensor;
  readonly sizes: readonly number[];
  /** The number of versions. */
  readonly graphs: number;
}

const SIZES = [6, 8, 9, 13];

/** A case in which the input changes. */
const growing = (program: Case["program"], input: Case["input"] = images, graphs = 2): Case => ({
  program,
  input,
  sizes: SIZES,
  graphs,
});

/** A case in which an integer changes beside an input of one size. */
const counted = (program: Case["program"], x: Tensor, sizes: readonly number[], graphs = 2): Case => ({
  program,
  input: () => x,
  sizes,
  graphs,
});

const MAPS = tensor([[[1, 0.2, 0.1], [0.1, 1, 0]], [[1, 0, 0], [0, 1, 0.3]]]);

const MODES = ["nearest", "nearest-exact", "bilinear", "bicubic"] as const;
const SMOOTH = ["bilinear", "bicubic"] as const;

const CASES: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(MODES.flatMap((mode): [string, Case][] => [
    [`${mode} by factors`, growing((x) => F.interpolate(x, { scaleFactor: [0.5, 1.5], mode }))],
    [`${mode} to known sizes`, growing((x) => F.interpolate(x, { size: [5, 21], mode }))],
    [
      `${mode} to changing sizes`,
      counted((x, n) => F.interpolate(x, { size: [n, n + 2], mode }), images(7), [5, 6, 9, 11]),
    ],
  ])),
  ...Object.fromEntries(SMOOTH.flatMap((mode): [string, Case][] => [
    [
      `${mode} between corners`,
      growing((x, n) => F.interpolate(x, { size: n + 1, mode, alignCorners: true })),
    ],
    [
      `${mode} without aliases`,
      growing((x) => F.interpolate(x, { size: [5, 4], mode, antialias: true })),
    ],
  ])),
  "back to the size of the input": growing((x) =>
    F.interpolate(F.avgPool2d(x, 2), { size: x.shape.slice(2), mode: "bilinear" })
  ),
  "areas": growing((x) => F.interpolate(x, { size: [2, 1], mode: "area" }), images, 3),
  "a mean of all": growing((x) => F.adaptiveAvgPool2d(x, 1)),
  "means of windows": growing((x) => F.adaptiveAvgPool2d(x, [2, null]), images, 3),
  "more windows than elements": growing((x) => F.adaptiveAvgPool1d(x, 40), sequences),
  "changing counts of windows": counted((x, n) => F.adaptiveAvgPool1d(x, n), sequences(31), [7, 8, 9, 11]),
  "maxima of windows": growing((x) => F.adaptiveMaxPool2d(x, [2, 1]), images, 3),
  "maxima of changing counts": counted((x, n) => F.adaptiveMaxPool1d(x, n), sequences(31), [7, 8, 9, 11]),
  "places of maxima": growing((x) => F.adaptiveMaxPool2d(x, [1, null], true)),
  "channels over pixels": growing((x) => F.pixelShuffle(x, 2)),
  "pixels as channels": growing((x) => F.pixelUnshuffle(x.slice(3, 1, -2).repeat([1, 1, 2, 2]), 2)),
  "windows as columns": growing((x) => F.unfold(x, [2, 3], { padding: 1, stride: 2 })),
  "samples on a moved grid": growing((x) => F.gridSample(x, F.affineGrid(MAPS.to(x.dtype), x.shape))),
  "an even scale": growing((x) => x.mul(linspace(-1, 2.5, x.shape[2] ?? 0)), sequences),
  "a scale of powers": growing((x) => x.mul(logspace(-1, 1, x.shape[2] ?? 0)), sequences),
  "every third place": growing((x, n) => x.sum().mul(arange(0, n, 3)), sequences),
  "places in reverse": growing((x, n) => x.mul(arange(n - 1, -1, -1)), sequences),
  "distances in both directions": growing(
    (x, n) => [arange(n - 1, -n, -1).mul(x.sum()), arange(1 - n, n).mul(x.sum())],
    sequences,
  ),
  "centres of elements": growing((x, n) => x.mul(arange(0.5, n).div(n)), sequences),
  "places around the middle": growing(
    (x, n) => x.sum().mul(arange(-Math.floor(n / 2), Math.floor(n / 2))),
    sequences,
  ),
  "rolled by half": growing((x) => x.roll(Math.floor((x.shape[2] ?? 0) / 2), 2).cumsum(2), sequences),
  "rolled by changing shifts": counted((x, n) => x.roll([n, -1], [2, 1]).cumsum(2), sequences(8), [
    3,
    9,
    5,
    17,
  ]),
  "medians": growing((x) => [x.median(-1).values, x.nanmedian(1).values], sequences),
  "quantiles": growing((x) => x.quantile(tensor([0.3, 0.8]).to(x.dtype), -1), sequences),
  "draws without replacement": growing((x) => x.abs().select(0, 1).multinomial(3), sequences),
  "changing counts of draws": counted((x, n) => x.abs().select(0, 1).multinomial(n), sequences(14), [
    3,
    5,
    9,
    7,
  ]),
  "draws from the places of an input": growing((x, n) => x.indexSelect(2, randint(n, [3])), sequences),
  "draws between changing bounds": counted((x, n) => x.add(randint(n, 2 * n, [8])), sequences(8), [
    3,
    9,
    5,
    17,
  ]),
  "spectra": growing(
    (x) => stft(x.detach().select(0, 0).float(), 4, 2, null, ones([4]), { returnComplex: false }),
    sequences,
  ),
  "signals of spectra": growing((x) => istft(stft(x.detach().select(0, 0).float(), 4, 2), 4, 2), sequences),
  "images of columns": growing((x) => F.fold(F.unfold(x, 2), x.shape.slice(2), 2)),
  "elements repeated by changing counts": counted((x, n) => x.repeatInterleave(n, 1), sequences(3), [
    3,
    2,
    5,
    4,
  ]),
  "sizes by rounding": counted(
    (x, n) => F.interpolate(x, { size: Math.round(2.5 * n), mode: "bilinear" }),
    images(5),
    [1.5, 2.25, 3.5, 2.75],
  ),
  "crops about the centre": counted(
    (x, n) => x.narrow(2, (17 - n) >> 1, n).add(x.narrow(2, Math.floor((17 - n) / 2), n)),
    sequences(17),
    [3, 5, 8, 10],
  ),
  "a crop that may reach to the edge": growing(
    (x) => x.narrow(2, Math.floor(((x.shape[2] ?? 0) - 6) / 2), 6),
    sequences,
  ),
  "padded to a multiple": growing(
    (x, n) => F.pad(x, [0, Math.ceil(n / 4) * 4 - n]).reshape([2, -1, 4]),
    sequences,
  ),
  "parts by shifts and bits": growing(
    (
      x,
      n,
    ) => [
      x.narrow(2, n >> 2, n >> 1).cumsum(2).mul(n & 3),
      x.slice(2, ~~n - 3, ~(-n)),
      x.sum().mul(arange(n | 0)),
    ],
    sequences,
  ),
  "places in a list": growing((x, n) => x.at(":", ":", [n - 1, 0, -Math.floor(n / 2)]), sequences),
  "a place by a rounded number": growing((x, n) => x.at(0, 1, Math.round(n * 0.4)), sequences),
  "bounds of integers": growing(
    (x, n) => x.sum().mul(arange(n).sub(n >> 1).clamp(-(n >> 2), n >> 2)),
    sequences,
  ),
  "integers scaled by fractions or by integers": growing(
    (x, n) => [x.mul(arange(n).mul(72 / n)), arange(n).lt(n / 2), arange(n).clamp({ max: n / 2 })],
    sequences,
    4,
  ),
  "sizes that are tested": growing(
    (x, n) => Number.isInteger(n) && Number.isFinite(n / 2) && !isNaN(n) ? x.mul(n) : x,
    sequences,
  ),
  "diagonals by changing offsets": counted(
    (
      x,
      n,
    ) => [
      x.diagonal(n - 10, 1, 2),
      x.diagonal(9 - n, 1, 2),
      x.select(0, 0).diagEmbed(n),
      x.select(0, 0).diagEmbed(-n),
    ],
    sequences(8),
    [7, 8, 9, 7],
  ),
  "ranks that follow from sizes": growing((x, n) => x.kthvalue(Math.ceil(n * 0.7), 2).values, sequences),
  "parts at changing places": counted((x, n) => x.tensorSplit([n, n + 2], 2), sequences(17), [3, 5, 8, 10]),
  "equal parts of changing sizes": growing((x) => x.tensorSplit(2, 2), sequences, 3),
  "windows of changing lengths and steps": counted((x, n) => x.unfold(2, n, n >> 1).mean(3), sequences(31), [
    6,
    8,
    9,
    13,
  ]),
  "as many classes as elements": growing(
    (x, n) => F.oneHot(arange(n).remainder(5), n).mul(x.sum()),
    sequences,
  ),
  "triangles from changing diagonals": counted((x, n) => x.triu(n).tril(n + 1), sequences(8), [2, 3, 5, 7]),
};

/** The results of a case, and the gradient of its input. */
function withGradient(program: Case["program"]): (x: Tensor, n: number) => unknown {
  return (x, n) => {
    const leaf = x.detach().clone().requiresGrad_(), results = [program(leaf, n)].flat();
    const [first] = results;
    if (first?.requiresGrad) first.mul(first.detach().cos()).sum().backward();
    return [results.map((each) => each.detach()), leaf.grad];
  };
}

/** The results of a call, from the same random numbers each time. */
function seeded<A extends readonly unknown[]>(fn: (...args: A) => unknown, ...args: A): unknown {
  manualSeed(3);
  return shown(fn(...args));
}

for (const [name, { program, input, sizes, graphs }] of sampleBySeed(Object.entries(CASES), 16)) {
  Deno.test(`sizes that change: ${name}`, () => {
    for (const dtype of ["float32", "bfloat16"] as const) {
      const plain = withGradient(program), f = compile(withGradient(program), { backend: "eager" });
      for (const n of sizes) {
        const x = input(n).to(dtype);
        assertEquals(seeded(f, x, n), seeded(plain, x, n), `${name} ${n} ${dtype}`);
      }
      const found = compiler.status(f);
      assertEquals([found.graphs, found.graphBreaks], [graphs, 0]);
    }
  });
}

Deno.test("sizes that only the language computes are checked in each call", () => {
  const programs: Readonly<Record<string, Case["program"]>> = {
    "a part": (x, n) => x.narrow(0, 0, n * 1.5),
    "a crop": (x, n) => x.narrow(0, Math.floor((9 - n) / 2), 2),
    "a rounded size": (x, n) => x.unsqueeze(0).expand([Math.round(n * 0.7), -1]),
    "a root": (x, n) => x.reshape([Math.sqrt(n), -1]),
  };
  const x = arange(36).to("float32");
  for (const [name, program] of Object.entries(programs)) {
    const f = compile(program, { backend: "eager" });
    const outcome = (fn: Case["program"], n: number) => {
      try {
        return shown(fn(x, n));
      } catch (error) {
        return String(error);
      }
    };
    for (const n of [4, 6, 3, 5, 8, 16, 9, 0, -1, 2.5, NaN, Infinity, 1, 36]) {
      assertEquals(outcome(f, n), outcome(program, n), `${name} ${n}`);
    }
  }
});

Deno.test("a tensor stands for a number beside numbers that change and must be known", () => {
  const x = arange(60).reshape([3, 4, 5]), program = (dim: number, start: number) => x.narrow(dim, start, 2);
  const f = compile(program, { backend: "eager", dynamic: true });
  for (const [dim, start] of [[-1, 2], [-1, 1], [1, 2], [0, 1]]) {
    const outcome = (fn: typeof program) => shown(Reflect.apply(fn, undefined, [dim, tensor(start ?? 0)]));
    assertEquals(outcome(f), outcome(program), `${dim} ${start}`);
  }
});

Deno.test("sizes that follow from changing ones are refused as known ones are", () => {
  const x = arange(36).to("float32"), sequence = x.reshape([1, 4, 9]), groups = x.reshape([2, 2, 9]);
  const programs: Readonly<Record<string, (n: number) => Tensor>> = {
    "a scale": (n) => x.add(linspace(0, 1, 7 - n).sum()),
    "a scale of powers": (n) => x.add(logspace(0, 1, 7 - n).sum()),
    "repeats": (n) => x.repeatInterleave(7 - n, 0),
    "counts of windows": (n) => F.adaptiveAvgPool1d(sequence, 7 - n),
    "counts of largest windows": (n) => F.adaptiveMaxPool1d(sequence, 7 - n),
    "windows of a part": (n) => F.adaptiveAvgPool1d(sequence.narrow(2, 0, 9 - n), 2),
    "windows of some channels": (n) => F.avgPool1d(sequence.narrow(1, 0, 4 - (n >> 1)), 2),
    "groups of a part": (n) => F.groupNorm(groups.narrow(2, 0, 9 - n), 2),
    "images of a part": (n) => F.instanceNorm(groups.narrow(2, 0, 9 - n)),
    "a sum to a size": (n) => x.reshape([4, 9]).sumToSize([4, 9 - n]),
    "ranks": (n) => x.kthvalue(7 - n).values,
    "windows": (n) => x.unfold(0, 7 - n, 8 - n),
    "diagonals": (n) => x.reshape([4, 9]).diagonal(7 - n),
    "classes": (n) => F.oneHot(arange(3), 9 - n),
    "a sum of a part": (n) => x.reshape([4, 9]).narrow(1, 0, 9 - n).sumToSize([4, 1]),
  };
  const outcome = (fn: (n: number) => Tensor, n: number) => {
    try {
      return shown(fn(n));
    } catch (error) {
      return String(error);
    }
  };
  const wrong = Object.entries(programs).flatMap(([name, program]) => {
    const f = compile(program),
      fast = (n: number) => config.patch({ inductor: { tier: "wasm" } }, () => f(n));
    return [4, 3, 2, 5, 6, 7, 8, 9, 10].filter((n) => !equal(outcome(fast, n), outcome(program, n)))
      .map((n) => `${name}: ${n}`);
  });
  assertEquals(wrong, []);
});

/** Ops that make a version for sizes of their samples, by reasons. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  "the number of results, or of rounds, follows from the size": [
    "unbind",
    "unbindCopy",
    "unsafeSplit",
    "split",
    "tensorSplit",
    "hsplit",
    "vsplit",
    "dsplit",
    "vander",
  ],
  "the smaller of two sizes decides, or whether windows are equal": [
    "diagonal",
    "diagonalCopy",
    "interpolate",
    "adaptiveAvgPool1d",
    "adaptiveAvgPool2d",
    "adaptiveAvgPool3d",
  ],
  "the host computes tables for a size": [
    "pdist",
    "combinations",
    "histogram",
    "fractionalMaxPool2d",
    "fractionalMaxPool3d",
  ],
  "sizes of weights and of heads are constants, or libraries add in an order of their own": [
    "embedding",
    "scaledDotProductAttention",
    "conv1d",
    "conv2d",
    "convTranspose1d",
    "convTranspose2d",
    "conv3d",
    "convTranspose3d",
    "groupNorm",
  ],
  "the size of the result depends on elements": [
    "maskedSelect",
    "nonzero",
    "argwhere",
    "unique",
    "uniqueConsecutive",
    "bincount",
  ],
};

const isFunction = ({ exposure }: OpDefinition): boolean =>
  exposure?.free !== false || exposure.namespaces !== undefined;

/** A sample in which all dimensions of one size are larger. */
function enlarged(sample: SampleArgument, size: number, by: number): SampleArgument {
  if (typeof sample !== "object" || sample === null) return sample;
  if ("tensor" in sample) return { ...sample, tensor: sample.tensor.map((d) => d === size ? d + by : d) };
  return sample.map((each) => enlarged(each, size, by));
}

const shapesIn = (sample: SampleArgument): readonly number[] =>
  typeof sample !== "object" || sample === null
    ? []
    : "tensor" in sample
    ? sample.tensor
    : sample.flatMap(shapesIn);

Deno.test("ops have one version for all sizes of their samples' dimensions", () => {
  const several = new Set(Object.values(VERSIONS).flat());
  const cases = ALL_OPS.flatMap((definition) => {
    const fn: unknown = Reflect.get(ops, definition.name);
    if (typeof fn !== "function" || (!isMethod(definition) && !isFunction(definition))) return [];
    return several.has(definition.name)
      ? []
      : definition.samples.flatMap((sample) =>
        [...new Set(sample.args.flatMap(shapesIn))].filter((size) => size > 1).map((size) => ({
          name: definition.name,
          run: (given: readonly unknown[]): unknown => fn(...given),
          calls: [0, 2, 4, 6].map((by) => ({
            ...sample,
            args: sample.args.map((each) => enlarged(each, size, by)),
          })),
        }))
      );
  });
  for (const { name, run, calls } of sampleBySeed(cases, 40, 5)) {
    const given = calls.map((call) => makeSample(call).given), f = compile(run, { backend: "eager" });
    const outcome = (fn: typeof run, args: readonly unknown[]) => {
      try {
        return seeded(fn, args);
      } catch (error) {
        if (error instanceof DynError) return null;
        throw error;
      }
    };
    const plain = given.map((args) => outcome(run, args));
    if (plain.includes(null)) continue;
    assertEquals(given.map((args) => outcome(f, args)), plain, name);
    const { graphs, graphBreaks } = compiler.status(f);
    assertEquals([Math.max(2, graphs), graphBreaks], [2, 0], name);
  }
});

Deno.test("kernels for sizes that change compute what those for known sizes do", () => {
  for (const [name, { program, input, sizes }] of sampleBySeed(Object.entries(CASES), 1, 3)) {
    const f = compile(withGradient(program));
    for (const n of sizes.slice(0, 3)) {
      const known = compile((x: Tensor) => withGradient(program)(x, n), { dynamic: false });
      assertClose(seeded(f, input(n), n), seeded(known, input(n)), `${name} ${n}`);
    }
  }
});
