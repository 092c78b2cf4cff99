/**
 * Programs with sizes and numbers that change between calls, as people write them. Invariant: `versions` is the exact
 * number of graphs that ten calls with ten values compile: the first, and one for all others where none is stated.
 */
import {
  arange,
  bartlettWindow,
  blackmanWindow,
  cat,
  eye,
  fft,
  full,
  hammingWindow,
  hannWindow,
  kaiserWindow,
  linspace,
  logspace,
  meshgrid,
  nn,
  ones,
  randint,
  randperm,
  signal,
  stft,
  type Tensor,
  where,
} from "../../mod.ts";

const { functional: F } = nn;

/** Images [2, 4, n, n]. */
export const images = (n: number): Tensor => arange(8 * n * n).reshape([2, 4, n, n]).div(97).sin();
/** Sequences [2, 4, n]. */
export const sequences = (n: number): Tensor => arange(8 * n).reshape([2, 4, n]).div(97).sin();
/** Tokens [2, n, 8]. */
export const tokens = (n: number): Tensor => arange(16 * n).reshape([2, n, 8]).div(97).sin();

const KERNEL = arange(48).reshape([4, 4, 3]).div(50).cos();
const PLANAR = arange(144).reshape([4, 4, 3, 3]).div(50).cos();

/** One idiom. */
export interface SizeIdiom {
  readonly run: (x: Tensor, n: number) => unknown;
  readonly input: (n: number) => Tensor;
  readonly versions: number;
  /**
   * Exported programs: of all sizes; of one, since numbers that only the language computes are constants of programs
   * without it; or refused, since the host computes a part.
   */
  readonly exported: "dynamic" | "constant" | "refused";
  readonly sizes: readonly number[];
}

const SIZES: readonly number[] = [4, 6, 8, 9, 10, 12, 13, 16, 17, 20];

interface Further {
  readonly versions?: number;
  readonly exported?: SizeIdiom["exported"];
  readonly sizes?: readonly number[];
}

type Made = Omit<SizeIdiom, "versions" | "sizes" | "exported"> & Further;

/** Sizes of the input change. */
const sized = (input: SizeIdiom["input"], run: (x: Tensor) => unknown, further: Further = {}): Made => ({
  run: (x) => run(x),
  input,
  ...further,
});

/** A number changes beside an input of one size. */
const beside = (x: Tensor, run: SizeIdiom["run"], further: Further = {}): Made => ({
  run,
  input: () => x,
  ...further,
});

const size = (x: Tensor, dim: number): number => x.shape[dim] ?? 0;

const IDIOMS: Readonly<Record<string, Made>> = {
  // Pooling
  "global pooling by a kernel of the size": sized(images, (x) => F.avgPool2d(x, size(x, 2)).flatten(1)),
  "global pooling by the last sizes": sized(images, (x) => F.avgPool2d(x, x.shape.slice(2)).flatten(1)),
  "global maxima": sized(images, (x) => F.maxPool2d(x, { kernelSize: [size(x, 2), size(x, 3)] }).flatten(1)),
  "maxima over time": sized(sequences, (x) => {
    const y = F.conv1d(x, KERNEL).relu();
    return F.maxPool1d(y, size(y, 2)).squeeze(2);
  }),
  "adaptive pooling by hand": sized(sequences, (x) => {
    const stride = Math.floor(size(x, 2) / 2);
    return F.avgPool1d(x, { kernelSize: size(x, 2) - stride, stride });
  }),
  "pooling by a ratio": beside(images(48), (x, n) => F.avgPool2d(x, n)),
  "pooling with half a kernel around": beside(
    images(24),
    (x, n) => F.maxPool2d(x, { kernelSize: n, stride: 2, padding: Math.floor(n / 2) }),
  ),
  "powers of windows of a size": sized(images, (x) => F.lpPool2d(x.abs(), 2, size(x, 2)).flatten(1)),
  "maxima back in their places": sized(images, (x) => {
    const { values, indices } = F.maxPool2d(x, 2, { returnIndices: true });
    return F.maxUnpool2d(values, indices, 2, { outputSize: x.shape });
  }),
  "patches of a size": beside(images(48), (x, n) => F.unfold(x, n, { stride: n }).sum(2)),
  // Convolutions
  "the padding of a strided convolution": sized(images, (x) => {
    const n = size(x, 2), out = Math.ceil(n / 2), pad = Math.max((out - 1) * 2 + 3 - n, 0);
    const left = Math.floor(pad / 2);
    return F.conv2d(F.pad(x, [left, pad - left, left, pad - left]), PLANAR, { stride: 2 });
  }),
  "a padding that changes": beside(images(6), (x, n) => F.conv2d(x, PLANAR, { padding: [n, n - 3] })),
  // Spectra and windows
  "weighed samples": sized(sequences, (x) => x.mul(hannWindow(size(x, 2)))),
  "windows of other shapes": sized(sequences, (x) => {
    const n = size(x, 2);
    return x.mul(hammingWindow(n, { periodic: false })).add(blackmanWindow(n)).sub(bartlettWindow(n));
  }),
  "windows by name": sized(sequences, (x) => {
    const n = size(x, 2), { gaussian, hann } = signal.windows;
    return x.mul(hann(n)).add(gaussian(n, { std: 2 }));
  }, { exported: "constant" }),
  "a size that is checked": sized(sequences, (x) => {
    const n = size(x, 2);
    return Number.isSafeInteger(n) && Number.isSafeInteger(2 * n) ? x.mul(2) : x;
  }),
  "a Kaiser window": sized(sequences, (x) => x.mul(kaiserWindow(size(x, 2)))),
  "spectra": sized(sequences, (x) => fft.rfft(x).abs(), { exported: "refused" }),
  "convolution by spectra": sized(sequences, (x) => {
    const n = size(x, 2), a = fft.rfft(x, 2 * n), b = fft.rfft(x.flip([2]), 2 * n);
    return fft.irfft(a.mul(b), 2 * n).slice(2, 0, n);
  }, { exported: "refused" }),
  "there and back": sized(
    sequences,
    (x) => fft.irfft(fft.rfft(x, { norm: "ortho" }), size(x, 2), -1, "ortho"),
    { exported: "refused" },
  ),
  "planar spectra": sized(images, (x) => fft.fftshift(fft.fft2(x).abs(), [2, 3]), { exported: "refused" }),
  "frequencies": sized(sequences, (x) => fft.rfft(x).abs().mul(fft.rfftfreq(size(x, 2), 0.5)), {
    exported: "refused",
  }),
  "all frequencies": sized(sequences, (x) => x.mul(fft.fftfreq(size(x, 2)))),
  "spectrograms by frames of a number of samples": beside(
    sequences(64),
    (x, n) => stft(x.select(0, 0), n, Math.floor(n / 4), n, hannWindow(n)).abs(),
  ),
  // Slices, padding, shapes
  "padded to a multiple": sized(sequences, (x) => {
    const n = size(x, 2), k = 3;
    return F.pad(x, [0, (k - n % k) % k]).reshape([2, 4, -1, k]).mean(3);
  }),
  "reflected around": beside(sequences(24), (x, n) => F.pad(x, [n, n - 1], { mode: "reflect" })),
  "rows by products": sized(images, (x) => {
    const [b = 0, , h = 0, w = 0] = x.shape;
    return x.reshape([b * h, -1, w]).sum(1);
  }),
  "partition into windows": sized((n) => images(2 * n), (x) => {
    const [b = 0, c = 0, h = 0, w = 0] = x.shape;
    return x.reshape([b, c, h / 2, 2, w / 2, 2]).permute([0, 2, 4, 3, 5, 1]).reshape([-1, 4, c]);
  }),
  "heads of a width": sized(
    (n) => sequences(4 * n),
    (x) => x.reshape([2, 4, size(x, 2) / 4, 4]).transpose(1, 2).softmax(-1),
  ),
  "windows that overlap by half": beside(sequences(24), (x, n) => x.unfold(2, n, Math.floor(n / 2))),
  "halves": sized((n) => sequences(2 * n), (x) => {
    const [a, b] = x.split(size(x, 2) / 2, 2);
    return a && b ? a.mul(b) : x;
  }),
  "a text that names sizes": sized(
    sequences,
    (x) => [x.mul(2), `n=${size(x, 2)} ${(size(x, 2) / 2).toFixed(1)}`],
  ),
  "a slice from a number": beside(sequences(24), (x, n) => x.at("...", `${n}:`).mul(2)),
  "the last of a number": beside(sequences(24), (x, n) => x.at(":", ":", `-${n}:`).cumsum(2)),
  "a slice between numbers": beside(sequences(24), (x, n) => x.at("...", `${n - 2}:${n + 3}:2`)),
  "a slice from the middle": sized(sequences, (x) => x.at(":", ":", `${Math.floor(size(x, 2) / 2)}:`).neg()),
  "a part that is cleared": beside(sequences(24), (x, n) => {
    const copy = x.clone();
    copy.set([":", ":", `${n}:`], 0);
    return copy;
  }),
  // Masks and tables
  "a causal mask": sized(tokens, (x) => {
    const n = size(x, 1), mask = ones([n, n]).triu(1).bool();
    return x.matmul(x.transpose(1, 2)).maskedFill(mask, -Infinity).softmax(-1);
  }),
  "a causal mask of sums": sized(tokens, (x) => {
    const n = size(x, 1);
    return x.matmul(x.transpose(1, 2)).add(full([n, n], -Infinity).triu(1)).softmax(-1);
  }),
  "no attention to oneself": sized(
    sequences,
    (x) => x.transpose(1, 2).matmul(x).maskedFill(eye(size(x, 2)).bool(), -1e9).softmax(-1),
  ),
  "positions by sines": sized(tokens, (x) => {
    const [, n = 0, d = 0] = x.shape, at = arange(n).unsqueeze(1);
    const rate = arange(0, d, 2).mul(-Math.log(10000) / d).exp();
    return x.add(cat([at.mul(rate).sin(), at.mul(rate).cos()], 1));
  }),
  "pixels of a grid": sized(images, (x) => {
    const [, , h = 0, w = 0] = x.shape,
      [rows, columns] = meshgrid([arange(h), arange(w)], { indexing: "ij" });
    return rows && columns ? x.mul(rows.div(h)).add(columns.div(w)) : x;
  }),
  "an even scale between fractions": sized(sequences, (x) => {
    const n = size(x, 2);
    return x.mul(linspace(1 / (2 * n), 1 - 1 / (2 * n), n)).add(logspace(-1 / n, 0.5, n));
  }, { exported: "constant" }),
  "an even scale around the middle": sized(sequences, (x) => {
    const n = size(x, 2);
    return x.mul(linspace(-(n - 1) / 2, (n - 1) / 2, n));
  }, { exported: "constant" }),
  "steps of a share": sized(sequences, (x) => x.mul(arange(0, 1, 1 / size(x, 2)).sum()), {
    exported: "constant",
  }),
  "half as many": sized(sequences, (x) => arange(0, size(x, 2) / 2).mul(x.sum()), { versions: 3 }),
  // Choices and draws
  "the largest share": sized(sequences, (x) => x.topk(Math.floor(size(x, 2) / 2)).values),
  "the largest few": beside(sequences(24), (x, n) => {
    const { values } = x.topk(n);
    return x.maskedFill(x.lt(values.slice(2, -1)), -Infinity).softmax(-1);
  }),
  "drawn places": sized(sequences, (x) => x.indexSelect(2, randint(0, size(x, 2), [5]))),
  "places in random order": sized(sequences, (x) => x.indexSelect(2, randperm(size(x, 2)))),
  // Numbers
  "a share that is dropped": beside(sequences(6), (x, n) => F.dropout(x, n / 40, true)),
  "a temperature": beside(sequences(6), (x, n) => x.div(0.1 * n).softmax(-1)),
  "a scaled sum": beside(sequences(6), (x, n) => x.add(x.sin(), { alpha: n / 7 })),
  "a weight of a mask": beside(sequences(6), (x, n) => x.gt(0).mul(n / 3.3)),
  "a weight of a mask that may be an integer": beside(sequences(6), (x, n) => x.gt(0).mul(n / 4), {
    versions: 3,
  }),
  "one of two numbers": beside(sequences(6), (x, n) => where(x.gt(0), n / 3.3, -n / 3.3)),
  "a small number of a norm": beside(sequences(6), (x, n) => F.layerNorm(x, [6], null, null, 1e-5 * n)),
};

/** The idioms by name. */
export const SIZE_IDIOMS: readonly (readonly [string, SizeIdiom])[] = Object.entries(IDIOMS).map(
  (
    [name, { versions = 2, sizes = SIZES, exported = "dynamic", ...made }],
  ) => [name, { ...made, versions, sizes, exported }],
);
