/**
 * Resampled, unfolded and shuffled images [batch, channels, …spatial]. Invariant: compositions; resampling works
 * along one dimension after the other, each reading the elements that the weights apply to.
 */
import { snakeCase } from "../../base/names.ts";
import { DynError } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { isAtMost, isEqual, isLess, sizeText } from "../../sym/decide.ts";
import { add, type Dim, floorDiv, mod, mul, product, sub } from "../../sym/expr.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { type NumberOf, ratioOf } from "../numbers.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText, sliceLength, spread } from "../shapes.ts";
import { GENERAL_POWERS } from "../elementwise/known_power.ts";
import { composeWideOp } from "../wide.ts";
import { checkPositions } from "./convolution.ts";
import { extentOf } from "./windows.ts";

const MODES = ["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"] as const;

interface Resizing {
  readonly sizes: readonly Dim[];
  /** Input steps per output step, if a scale was given; else null. */
  readonly steps: readonly (number | null)[];
}

interface ResizeArgs {
  readonly self: TensorLike;
  readonly size: Dim | readonly Dim[] | null;
  readonly scaleFactor: number | readonly number[] | null;
  readonly recomputeScaleFactor: boolean | null;
}

/** Powers of 2 by which factors are integers: 1.5, 0.25 and the like are exact beside sizes. */
const EXACT = 2 ** 16;

/** ⌊size · by⌋. */
function scaled(size: Dim, by: number): Dim {
  const isExact = Number.isInteger(by * EXACT) && by > 0 && by < EXACT;
  if (typeof size === "number" || !isExact) return Math.floor(knownSize(size) * by);
  return floorDiv(mul(size, by * EXACT), EXACT);
}

function resizing({ self, size, scaleFactor, recomputeScaleFactor }: ResizeArgs): Resizing {
  const spatial = self.shape.slice(2);
  if (spatial.length < 1 || spatial.length > 3) {
    throw new DynError(`Expected 1 to 3 spatial dimensions but found shape ${shapeText(self.shape)}`);
  }
  checkPositions(self, spatial.length);
  if ((size === null) === (scaleFactor === null)) {
    throw new DynError(`Expected either size or scaleFactor but found ${size === null ? "neither" : "both"}`);
  }
  if (size !== null) {
    const sizes = spread(size, spatial.length, "size");
    if (sizes.some((s) => isLess(s, 1))) {
      throw new DynError(`Expected positive sizes but found ${shapeText(sizes)}`);
    }
    return { sizes, steps: sizes.map(() => null) };
  }
  const scales = spread(scaleFactor ?? 1, spatial.length, "scaleFactor");
  const sizes = spatial.map((s, d) => scaled(s, scales[d] ?? 1));
  return { sizes, steps: scales.map((s) => recomputeScaleFactor ? null : 1 / s) };
}

/** Sizes and scale for resampling one dimension. */
interface Axis {
  readonly dim: number;
  readonly size: Dim;
  readonly step: number | null;
  readonly mode: string;
  readonly alignCorners: boolean;
}

/** Input steps per output step between the outer elements. */
function cornerStep<T extends TensorLike>(
  o: OpApi<T>,
  places: T,
  { own, size }: { readonly own: Dim; readonly size: Dim },
): NumberOf<T> {
  return isLess(1, size) ? ratioOf(o, places, { over: sub(own, 1), by: sub(size, 1) }) : 0;
}

function resampleAxis<T extends TensorLike>(o: OpApi<T>, x: T, axis: Axis): T {
  const own = x.shape[axis.dim] ?? 1;
  const { dim, size, mode, alignCorners } = axis;
  const dtype = isFloat(x.dtype) ? x.dtype : "float32";
  const places = o.arange(size, { dtype, device: x.device });
  const step = axis.step ?? ratioOf(o, places, { over: own, by: size });
  const clamped = (index: T) => o.to(o.clamp(index, 0, sub(own, 1)), "int64");
  if (mode === "nearest" || mode === "nearest-exact") {
    const shifted = mode === "nearest" ? places : o.add(places, 0.5);
    return o.indexSelect(x, dim, clamped(o.floor(o.mul(shifted, step))));
  }
  const shape = x.shape.map((_, d) => d === dim ? size : 1);
  const corner = cornerStep(o, places, { own, size });
  const centre = alignCorners ? o.mul(places, corner) : o.sub(o.mul(o.add(places, 0.5), step), 0.5);
  if (mode === "bicubic") return cubic(o, x, { dim, shape, centre, clamped });
  const source = o.clamp(centre, 0, null), low = o.floor(source);
  const weight = o.reshape(o.sub(source, low), shape);
  const a = o.indexSelect(x, dim, clamped(low)), b = o.indexSelect(x, dim, clamped(o.add(low, 1)));
  return o.add(o.mul(a, o.rsub(weight, 1)), o.mul(b, weight));
}

/**
 * The shares of the four elements around a place, `f` behind the second: Keys' cubic convolution with a = −0.75, as in
 * PyTorch.
 */
export function cubicShares<T extends TensorLike>(o: OpApi<T>, f: T): readonly T[] {
  const A = -0.75;
  const near = (d: T) => o.add(o.mul(o.mul(o.sub(o.mul(d, A + 2), A + 3), d), d), 1);
  const far = (d: T) => o.sub(o.mul(o.add(o.mul(o.sub(o.mul(d, A), 5 * A), d), 8 * A), d), 4 * A);
  return [far(o.add(f, 1)), near(f), near(o.rsub(f, 1)), far(o.rsub(f, 2))];
}

function cubic<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  at: {
    readonly dim: number;
    readonly shape: readonly Dim[];
    readonly centre: T;
    readonly clamped: (index: T) => T;
  },
): T {
  const low = o.floor(at.centre);
  const terms = cubicShares(o, o.sub(at.centre, low)).map((w, i) =>
    o.mul(o.indexSelect(x, at.dim, at.clamped(o.add(low, i - 1))), o.reshape(w, at.shape))
  );
  return terms.slice(1).reduce((sum, term) => o.add(sum, term), terms[0] ?? x);
}

/** Filters as functions of the distance from their centre; bicubic is Keys' with a = −0.5. */
const FILTERS = {
  bilinear: { at: <T extends TensorLike>(o: OpApi<T>, d: T): T => o.clamp(o.rsub(d, 1), 0, null) },
  bicubic: {
    at<T extends TensorLike>(o: OpApi<T>, d: T): T {
      const near = o.add(o.mul(o.mul(o.sub(o.mul(d, 1.5), 2.5), d), d), 1);
      const far = o.add(o.mul(o.add(o.mul(o.rsub(o.mul(d, 0.5), 2.5), d), -4), d), 2);
      return o.where(o.lt(d, 1), near, o.where(o.lt(d, 2), far, 0));
    },
  },
} as const;

/** One dimension by a filter as wide as the input steps, which sums to 1: a product with a matrix of weights. */
function smoothAxis<T extends TensorLike>(o: OpApi<T>, x: T, axis: Axis): T {
  const own = x.shape[axis.dim] ?? 1, { dim, size, mode, alignCorners } = axis;
  const dtype = x.dtype === "float64" ? "float64" : "float32", place = { dtype, device: x.device } as const;
  const places = o.arange(size, place);
  const step = alignCorners
    ? cornerStep(o, places, { own, size })
    : axis.step ?? ratioOf(o, places, { over: own, by: size });
  const width = typeof step === "number" ? Math.max(step, 1) : isAtMost(own, size) ? 1 : step;
  const centre = o.reshape(o.mul(o.add(places, 0.5), step), [size, 1]);
  const distance = o.abs(o.div(o.sub(o.add(o.arange(own, place), 0.5), centre), width));
  const weights = FILTERS[mode === "bicubic" ? "bicubic" : "bilinear"].at(o, distance);
  const shares = o.transpose(o.div(weights, o.sum(weights, [1], true)), 0, 1);
  return o.to(o.transpose(o.matmul(o.to(o.transpose(x, dim, -1), dtype), shares), dim, -1), x.dtype);
}

const interpolate = composeWideOp({
  name: "interpolate",
  doc:
    "Resampled to sizes or by scales: nearest, nearest-exact, linear, bilinear, bicubic, trilinear or area. As " +
    "`nn.functional.interpolate`.",
  params: {
    self: required("tensor"),
    size: nullable("sizeOrSizes"),
    scaleFactor: nullable("floatOrFloats"),
    mode: optional("string", "nearest", { oneOf: MODES }),
    alignCorners: nullable("bool"),
    recomputeScaleFactor: nullable("bool"),
    antialias: optional("bool", false),
  },
  exposure: { ...FUNCTIONAL, aliases: ["upsample"] },
  infer({ self, mode, alignCorners, antialias, ...args }) {
    const { sizes } = resizing({ self, ...args });
    const rank = { linear: 1, bilinear: 2, bicubic: 2, trilinear: 3 }[mode];
    if (rank !== undefined && rank !== sizes.length) {
      throw new DynError(`Expected ${rank} spatial dimension(s) for ${mode} but found ${sizes.length}`);
    }
    if (alignCorners !== null && rank === undefined) {
      throw new DynError(`Expected no alignCorners for mode ${mode} but found ${alignCorners}`);
    }
    if (antialias && (rank !== 2 || !isFloat(self.dtype))) {
      throw new DynError(
        `Expected mode bilinear or bicubic, and floats, for antialias but found ${mode} of ${self.dtype}`,
      );
    }
    if (rank !== undefined && !isFloat(self.dtype) && (self.dtype !== "uint8" || rank !== 2)) {
      throw new DynError(`Expected floats, or pictures of uint8, for mode ${mode} but found ${self.dtype}`);
    }
    return contiguousMeta([...self.shape.slice(0, 2), ...sizes], self.dtype, self.device);
  },
  compose(o, { self, mode, alignCorners, antialias, ...args }) {
    const { sizes, steps } = resizing({ self, ...args });
    const resample = antialias ? smoothAxis<typeof self> : resampleAxis<typeof self>;
    if (mode === "area") {
      return sizes.length === 1
        ? o.adaptiveAvgPool1d(self, sizes)
        : sizes.length === 2
        ? o.adaptiveAvgPool2d(self, sizes)
        : o.adaptiveAvgPool3d(self, sizes);
    }
    const along = (x: typeof self, d: number) =>
      resample(o, x, {
        dim: d + 2,
        size: sizes[d] ?? 1,
        step: steps[d] ?? null,
        mode,
        alignCorners: alignCorners ?? false,
      });
    const order = sizes.map((_, d) => d);
    if (self.dtype !== "uint8" || mode === "nearest" || mode === "nearest-exact") {
      return order.reduce(along, self);
    }
    // Images of bytes are rounded after each dimension, the last one first
    const rounded = (x: typeof self, d: number) => o.clamp(o.floor(o.add(along(x, d), 0.5)), 0, 255);
    return o.to(order.reduceRight(rounded, self), self.dtype);
  },
  samples: [
    { args: [t(2, 3, 4), 6] },
    { args: [t(1, 2, 3, 4), [6, 5]], options: { mode: "bilinear" } },
    { args: [t(1, 2, 3, 4), [6, 5]], options: { mode: "bilinear", alignCorners: true } },
    { args: [t(1, 2, 7, 6), [3, 4]], options: { mode: "bilinear", antialias: true } },
    { args: [t(1, 2, 7, 6), [3, 8]], options: { mode: "bicubic", antialias: true } },
  ],
  errors: [
    { args: [t(2, 3, 4)], message: "either size or scaleFactor" },
    { args: [t(2, 3, 0), 2], message: "an input with positions" },
  ],
});

/** upsampleNearest and upsampleBilinear: old names. */
function upsample(name: "upsampleNearest" | "upsampleBilinear", mode: "nearest" | "bilinear") {
  return composeWideOp({
    name,
    doc: `interpolate with mode ${mode}, as \`nn.functional.${snakeCase(name)}\`.`,
    params: {
      self: required("tensor"),
      size: nullable("sizeOrSizes"),
      scaleFactor: nullable("floatOrFloats"),
    },
    exposure: FUNCTIONAL,
    infer({ self, size, scaleFactor }) {
      const { sizes } = resizing({ self, size, scaleFactor, recomputeScaleFactor: null });
      return contiguousMeta([...self.shape.slice(0, 2), ...sizes], self.dtype, self.device);
    },
    compose: (o, { self, size, scaleFactor }) =>
      o.interpolate(self, size, scaleFactor, mode, mode === "bilinear" ? true : null),
    samples: [{ args: [t(1, 2, 3, 4), [4, 6]] }],
  });
}

interface FoldArgs {
  readonly kernelSize: Dim | readonly Dim[];
  readonly dilation: number | readonly number[];
  readonly padding: Dim | readonly Dim[];
  readonly stride: Dim | readonly Dim[];
}

/** Output rows and columns of windows over an image. */
function windowsOver(spatial: readonly Dim[], args: FoldArgs): Dim[] {
  const [kernel, dilation, padding, stride] = [args.kernelSize, args.dilation, args.padding, args.stride]
    .map((v) => spread(v, 2, "a parameter of unfold"));
  return spatial.map((size, d) => {
    const reach = extentOf(kernel?.[d], dilation?.[d]);
    const wide = add(size, mul(2, padding?.[d] ?? 0));
    if (isLess(wide, reach)) {
      throw new DynError(
        `Expected windows that fit into ${shapeText(spatial)} but found one of ${sizeText(reach)} for ${
          sizeText(wide)
        }`,
      );
    }
    return sliceLength({ start: 0, end: add(sub(wide, reach), 1) }, stride?.[d] ?? 1);
  });
}

const im2col = composeWideOp({
  name: "im2col",
  doc: "The windows of images as columns [batch, channels · kernel, windows], as `nn.functional.unfold`.",
  params: {
    self: required("tensor"),
    kernelSize: required("sizeOrSizes"),
    dilation: optional("intOrInts", 1),
    padding: optional("sizeOrSizes", 0),
    stride: optional("sizeOrSizes", 1),
  },
  exposure: { ...FUNCTIONAL, aliases: ["unfold"] },
  infer({ self, ...args }) {
    if (self.shape.length !== 3 && self.shape.length !== 4) {
      throw new DynError(`Expected an input of 3 or 4 dimensions but found ${shapeText(self.shape)}`);
    }
    checkPositions(self, 2);
    const [rows = 1, columns = 1] = windowsOver(self.shape.slice(-2), args);
    const [kh = 1, kw = 1] = spread(args.kernelSize, 2, "kernelSize");
    if (isLess(kh, 1) || isLess(kw, 1)) {
      throw new DynError(`Expected a kernel with elements but found ${shapeText([kh, kw])}`);
    }
    const batch = self.shape.slice(0, -3), channels = self.shape.at(-3) ?? 1;
    return contiguousMeta(
      [...batch, product([channels, kh, kw]), mul(rows, columns)],
      self.dtype,
      self.device,
    );
  },
  compose(o, { self, ...args }) {
    const image = self.shape.length === 3 ? o.unsqueeze(self, 0) : self;
    const [ph = 0, pw = 0] = spread(args.padding, 2, "padding"),
      [kh = 1, kw = 1] = spread(args.kernelSize, 2, "kernelSize");
    const [sh = 1, sw = 1] = spread(args.stride, 2, "stride"),
      [dh = 1, dw = 1] = spread(args.dilation, 2, "dilation");
    const wide = isLess(0, ph) || isLess(0, pw)
      ? o.constantPadNd(image, [pw, pw, ph, ph], image.dtype === "bool" ? false : 0)
      : image;
    const [rows = 1, columns = 1] = windowsOver(self.shape.slice(-2), args);
    // [n, c, rows, columns, kh, kw], each window thinned by the dilation
    const windows = o.unfold(o.unfold(wide, 2, extentOf(kh, dh), sh), 3, extentOf(kw, dw), sw);
    const thin = o.slice(o.slice(windows, 4, 0, null, dh), 5, 0, null, dw);
    const [n = 1, c = 1] = image.shape;
    const columnwise = o.clone(o.permute(thin, [0, 1, 4, 5, 2, 3]));
    const out = o.reshape(columnwise, [n, product([c, kh, kw]), mul(rows, columns)]);
    return self.shape.length === 3 ? o.squeeze(out, 0) : out;
  },
  samples: [{ args: [t(2, 3, 5, 5), 2] }, {
    args: [t(1, 2, 5, 6), [2, 3]],
    options: { padding: 1, stride: 2 },
  }],
  errors: [
    { args: [t(3, 3), 2], message: "dimensions" },
    { args: [t(1, 1, 4, 4), [0, 1]], message: "a kernel with elements" },
  ],
});

/** The shape after shuffling by a factor. */
function shuffledShape(shape: readonly Dim[], r: Dim, up: boolean): Dim[] {
  if (shape.length < 3 || isLess(r, 1)) {
    throw new DynError(
      `Expected at least 3 dimensions and a positive factor but found ${shapeText(shape)} and ${sizeText(r)}`,
    );
  }
  const [c = 1, h = 1, w = 1] = shape.slice(-3);
  const fits = up ? isEqual(mod(c, mul(r, r)), 0) : isEqual(mod(h, r), 0) && isEqual(mod(w, r), 0);
  if (!fits) {
    throw new DynError(`Expected sizes that the factor ${sizeText(r)} divides but found ${shapeText(shape)}`);
  }
  const shuffled = up
    ? [floorDiv(c, mul(r, r)), mul(h, r), mul(w, r)]
    : [mul(c, mul(r, r)), floorDiv(h, r), floorDiv(w, r)];
  return [...shape.slice(0, -3), ...shuffled];
}

const pixelShuffle = composeWideOp({
  name: "pixelShuffle",
  doc: "Channels spread over pixels, as `nn.functional.pixel_shuffle`.",
  params: { self: required("tensor"), upscaleFactor: required("size") },
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer: ({ self, upscaleFactor }) =>
    contiguousMeta(shuffledShape(self.shape, upscaleFactor, true), self.dtype, self.device),
  compose(o, { self, upscaleFactor: r }) {
    const batch = self.shape.slice(0, -3), b = batch.length;
    const [c = 1, h = 1, w = 1] = self.shape.slice(-3);
    const split = o.reshape(self, [...batch, floorDiv(c, mul(r, r)), r, r, h, w]);
    const order = [...batch.map((_, d) => d), b, b + 3, b + 1, b + 4, b + 2];
    return o.reshape(o.clone(o.permute(split, order)), shuffledShape(self.shape, r, true));
  },
  samples: [{ args: [t(1, 4, 2, 3), 2] }],
  errors: [{ args: [t(2, 2), 2], message: "3 dimensions" }],
});

const pixelUnshuffle = composeWideOp({
  name: "pixelUnshuffle",
  doc: "Channels gathered from pixels, as `nn.functional.pixel_unshuffle`.",
  params: { self: required("tensor"), downscaleFactor: required("size") },
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer: ({ self, downscaleFactor }) =>
    contiguousMeta(shuffledShape(self.shape, downscaleFactor, false), self.dtype, self.device),
  compose(o, { self, downscaleFactor: r }) {
    const batch = self.shape.slice(0, -3), b = batch.length;
    const [c = 1, h = 1, w = 1] = self.shape.slice(-3);
    const split = o.reshape(self, [...batch, c, floorDiv(h, r), r, floorDiv(w, r), r]);
    const order = [...batch.map((_, d) => d), b, b + 2, b + 4, b + 1, b + 3];
    return o.reshape(o.clone(o.permute(split, order)), shuffledShape(self.shape, r, false));
  },
  samples: [{ args: [t(1, 1, 4, 6), 2] }],
  errors: [{ args: [t(2, 2), 2], message: "3 dimensions" }],
});

const channelShuffle = composeWideOp({
  name: "channelShuffle",
  doc: "Channels in groups, interleaved, as `nn.functional.channel_shuffle`.",
  params: { self: required("tensor"), groups: required("int") },
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ self, groups }) {
    const channels = self.shape[1] ?? 1;
    if (self.shape.length < 3 || groups <= 0 || !isEqual(mod(channels, groups), 0)) {
      throw new DynError(
        `Expected channels that divide into ${groups} groups but found ${shapeText(self.shape)}`,
      );
    }
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  compose(o, { self, groups }) {
    const [n = 1, c = 1, ...rest] = self.shape;
    const split = o.reshape(self, [n, groups, floorDiv(c, groups), ...rest]);
    return o.reshape(o.clone(o.transpose(split, 1, 2)), self.shape);
  },
  samples: [{ args: [t(1, 4, 2, 2), 2] }],
});

const localResponseNorm = composeWideOp({
  name: "localResponseNorm",
  doc:
    "Divided by a power of the mean square over neighbouring channels, as `nn.functional.local_response_norm`.",
  params: {
    self: required("tensor"),
    size: required("int"),
    alpha: optional("floatOperand", 1e-4, { changes: {} }),
    beta: optional("floatOperand", 0.75, { changes: GENERAL_POWERS }),
    k: optional("floatOperand", 1, { changes: {} }),
  },
  exposure: FUNCTIONAL,
  infer({ self }) {
    if (self.shape.length < 3) {
      throw new DynError(`Expected at least 3 dimensions but found ${shapeText(self.shape)}`);
    }
    // An input without elements is returned itself, whatever its type
    const kept = isFloat(self.dtype) || self.shape.includes(0);
    return contiguousMeta(self.shape, kept ? self.dtype : "float32", self.device);
  },
  compose(o, { self, size, alpha, beta, k }) {
    if (self.shape.includes(0)) return self;
    const squares = o.square(self), [n = 1, c = 1, ...rest] = self.shape;
    const flat = o.reshape(squares, [n, c, rest.reduce<Dim>(mul, 1)]);
    const wide = o.constantPadNd(flat, [0, 0, Math.floor(size / 2), Math.floor((size - 1) / 2)], 0);
    const sums = o.sum(o.unfold(wide, 1, size, 1), [-1], false, { dtype: self.dtype });
    const mean = isFloat(self.dtype) ? o.div(sums, size) : o.div(sums, size, { roundingMode: "trunc" });
    return o.div(self, o.pow(o.add(o.mul(o.reshape(mean, self.shape), alpha), k), beta));
  },
  samples: [{ args: [t(2, 5, 3), 3] }],
});

export const resampling = {
  interpolate,
  upsampleNearest: upsample("upsampleNearest", "nearest"),
  upsampleBilinear: upsample("upsampleBilinear", "bilinear"),
  im2col,
  pixelShuffle,
  pixelUnshuffle,
  channelShuffle,
  localResponseNorm,
} as const;
