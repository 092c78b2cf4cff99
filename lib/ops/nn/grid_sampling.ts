/**
 * Sampling of [batch, channels, …spatial] at grid points in [−1, 1], the last dimension first: [batch, channels,
 * …places]. Invariant: compositions, so that gradients flow to activations and grid; elements outside are never read.
 */
import { DynError, invariant } from "../../base/errors.ts";
import { isFloat } from "../../base/dtype.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import { type Dim, product, sub } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { cubicShares } from "./resampling.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { ratioOf } from "../numbers.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";

const MODES = ["bilinear", "nearest", "bicubic"] as const;
const PADDINGS = ["zeros", "border", "reflection"] as const;

interface Sampling {
  readonly mode: string;
  readonly paddingMode: string;
  readonly alignCorners: boolean;
}

/** A coordinate in [−1, 1] as one in elements. */
function inElements<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { size, aligned }: { size: Dim; aligned: boolean },
): T {
  const shifted = o.add(x, 1);
  return aligned
    ? o.mul(shifted, o.div(sizeLike(o, x, sub(size, 1)), 2))
    : o.div(o.sub(o.mul(shifted, size), 1), 2);
}

/** A size as a number that may be divided. */
const sizeLike = <T extends TensorLike>(o: OpApi<T>, x: T, size: Dim): T =>
  o.fullLike(o.newEmpty(x, []), size);

/** A coordinate moved to the nearest element inside, NaN to the first; moved ones have no gradient. */
function clipped<T extends TensorLike>(o: OpApi<T>, x: T, size: Dim): T {
  const last = sub(size, 1), inside = o.logicalAnd(o.gt(x, 0), o.lt(x, last));
  return o.where(inside, x, o.where(o.gt(x, 0), last, o.zerosLike(x)));
}

/** A coordinate mirrored at the edges: at the outer elements' centres, or half an element beyond. */
function mirrored<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { size, aligned }: { size: Dim; aligned: boolean },
): T {
  const low = aligned ? 0 : -0.5, span = aligned ? sub(size, 1) : size;
  if (isEqual(span, 0)) return o.zerosLike(x);
  const distance = o.abs(o.sub(x, low)), flips = o.detach(o.floor(o.div(distance, span)));
  const extra = o.sub(distance, o.mul(flips, span)), odd = o.ne(o.remainder(flips, 2), 0);
  return o.add(o.where(odd, o.rsub(extra, span), extra), low);
}

/** A coordinate after padding. */
function padded<T extends TensorLike>(o: OpApi<T>, x: T, at: { size: Dim; sampling: Sampling }): T {
  const { size, sampling: { paddingMode, alignCorners: aligned } } = at;
  if (paddingMode === "zeros") return x;
  return clipped(o, paddingMode === "border" ? x : mirrored(o, x, { size, aligned }), size);
}

/** An element along one dimension and its weight in the result. */
interface Tap<T> {
  readonly place: T;
  readonly share: T;
}

/** The taps of a bicubic interpolation. */
function cubicTaps<T extends TensorLike>(o: OpApi<T>, x: T, at: { size: Dim; sampling: Sampling }): Tap<T>[] {
  const low = o.detach(o.floor(x));
  return cubicShares(o, o.sub(x, low)).map((share, i) => ({
    place: padded(o, o.add(low, i - 1), at),
    share,
  }));
}

function tapsOf<T extends TensorLike>(o: OpApi<T>, x: T, at: { size: Dim; sampling: Sampling }): Tap<T>[] {
  const { sampling } = at, elements = inElements(o, x, { size: at.size, aligned: sampling.alignCorners });
  if (sampling.mode === "bicubic") return cubicTaps(o, elements, at);
  const place = padded(o, elements, at);
  if (sampling.mode === "nearest") {
    // The weight is 1 and does not depend on the coordinate, whose gradient is 0 but must exist
    const nearest = o.round(place), whole = o.detach(nearest);
    return [{ place: whole, share: o.add(o.sub(nearest, whole), 1) }];
  }
  const low = o.detach(o.floor(place)), share = o.sub(place, low);
  return [{ place: low, share: o.rsub(share, 1) }, { place: o.add(low, 1), share }];
}

/** All combinations of one tap per dimension. */
function corners<T>(taps: readonly (readonly Tap<T>[])[]): (readonly Tap<T>[])[] {
  return taps.reduce<(readonly Tap<T>[])[]>(
    (before, own) => before.flatMap((corner) => own.map((tap) => [...corner, tap])),
    [[]],
  );
}

function sample<T extends TensorLike>(
  o: OpApi<T>,
  { input, grid }: { input: T; grid: T },
  sampling: Sampling,
): T {
  const [batch = 1, channels = 1, ...spatial] = input.shape, rank = spatial.length;
  const places = grid.shape.slice(1, -1), flat = o.reshape(input, [batch, channels, product(spatial)]);
  const columns = o.reshape(grid, [batch, 1, product(places), rank]);
  const taps = spatial.map((size, d) => tapsOf(o, o.select(columns, -1, rank - 1 - d), { size, sampling }));
  const terms = corners(taps).map((corner) => {
    let index: T | null = null, inside: T | null = null, share: T | null = null;
    corner.forEach((tap, d) => {
      const size = spatial[d] ?? 1, fits = o.logicalAnd(o.ge(tap.place, 0), o.le(tap.place, sub(size, 1)));
      const safe = o.to(o.where(fits, tap.place, 0), "int64");
      index = index ? o.add(o.mul(index, size), safe) : safe;
      inside = inside ? o.logicalAnd(inside, fits) : fits;
      share = share ? o.mul(share, tap.share) : tap.share;
    });
    invariant(index && inside && share, "Expected spatial dimensions but found none");
    const read = o.gather(flat, -1, o.expand(index, [batch, channels, product(places)]));
    // Neither what is read in place of nothing nor the share of an infinite coordinate enters a result or a gradient
    return o.where(inside, o.mul(read, o.where(inside, share, 0)), 0);
  });
  const total = terms.slice(1).reduce((sum, term) => o.add(sum, term), terms[0] ?? flat);
  return o.reshape(total, [batch, channels, ...places]);
}

/** The result's metadata. Throws DynError for shapes and types that do not match. */
function sampledMeta(input: TensorMeta, grid: TensorMeta, mode: string): TensorMeta {
  const rank = input.shape.length - 2, expected = grid.shape.at(-1) ?? 0;
  if (rank < 2 || rank > 3 || grid.shape.length !== rank + 2 || !isEqual(expected, rank)) {
    throw new DynError(
      `Expected an input of 4 or 5 dimensions and a grid of the same, the last of size ${rank}, but found ` +
        `${shapeText(input.shape)} and ${shapeText(grid.shape)}`,
    );
  }
  if (!isEqual(input.shape[0] ?? 1, grid.shape[0] ?? 1)) {
    throw new DynError(
      `Expected batches of one size but found ${shapeText(input.shape)} and ${shapeText(grid.shape)}`,
    );
  }
  if (input.shape.slice(2).some((size) => isLess(size, 1))) {
    throw new DynError(`Expected an input with elements but found ${shapeText(input.shape)}`);
  }
  if (!isFloat(input.dtype) || input.dtype !== grid.dtype) {
    throw new DynError(`Expected floats of one type but found ${input.dtype} and ${grid.dtype}`);
  }
  if (mode === "bicubic" && rank !== 2) {
    throw new DynError("Expected images for mode bicubic but found volumes");
  }
  return contiguousMeta([...input.shape.slice(0, 2), ...grid.shape.slice(1, -1)], input.dtype, input.device);
}

const gridSample = composeWideOp({
  name: "gridSample",
  doc: "Images [N, C, H, W], or volumes, sampled at the points of a grid [N, H', W', 2] in [−1, 1], as " +
    "`nn.functional.grid_sample`.",
  params: {
    input: required("tensor"),
    grid: required("tensor"),
    mode: optional("string", "bilinear", { oneOf: MODES }),
    paddingMode: optional("string", "zeros", { oneOf: PADDINGS }),
    alignCorners: optional("bool", false),
  },
  exposure: FUNCTIONAL,
  infer: ({ input, grid, mode }) => sampledMeta(input, grid, mode),
  compose: (o, { input, grid, ...sampling }) => sample(o, { input, grid }, sampling),
  samples: [
    { args: [t(1, 2, 3, 4), { tensor: [1, 2, 2, 2], range: [-0.9, 0.9] }] },
    {
      args: [t(1, 2, 3, 4), { tensor: [1, 2, 2, 2], range: [-1.7, 1.7] }],
      options: { paddingMode: "reflection", alignCorners: true },
    },
    { args: [t(1, 1, 2, 3, 2), { tensor: [1, 1, 2, 1, 3], range: [-0.9, 0.9] }] },
  ],
  errors: [{ args: [t(1, 2, 3, 4), t(1, 2, 2, 3)], message: "last of size 2" }],
});

/** gridSampler, gridSampler2d and gridSampler3d: modes by number. */
function gridSampler(name: "gridSampler" | "gridSampler2d" | "gridSampler3d", rank: 2 | 3 | null) {
  return composeWideOp({
    name,
    doc: `As nn.functional.gridSample, with modes given by number, as \`torch.grid_sampler${
      rank ? `_${rank}d` : ""
    }\`.`,
    params: {
      input: required("tensor"),
      grid: required("tensor"),
      interpolationMode: required("int"),
      paddingMode: required("int"),
      alignCorners: required("bool"),
    },
    exposure: { method: false },
    infer({ input, grid, interpolationMode, paddingMode }) {
      const mode = MODES[interpolationMode];
      if (mode === undefined || PADDINGS[paddingMode] === undefined) {
        throw new DynError(`Expected modes in [0, 2] but found ${interpolationMode} and ${paddingMode}`);
      }
      if (rank !== null && input.shape.length !== rank + 2) {
        throw new DynError(`Expected an input of ${rank + 2} dimensions but found ${shapeText(input.shape)}`);
      }
      return sampledMeta(input, grid, mode);
    },
    compose: (o, { input, grid, interpolationMode, paddingMode, alignCorners }) =>
      o.gridSample(
        input,
        grid,
        MODES[interpolationMode] ?? MODES[0],
        PADDINGS[paddingMode] ?? PADDINGS[0],
        alignCorners,
      ),
    samples: [],
    errors: [{ args: [t(1, 2, 3, 4), t(1, 2, 2, 2), 3, 0, false], message: "modes" }],
  });
}

const affineGrid = composeWideOp({
  name: "affineGrid",
  doc:
    "The sampling grid of affine maps theta [N, 2, 3] for images of `size` [N, C, H, W], or [N, 3, 4] for volumes, as " +
    "`nn.functional.affine_grid`.",
  params: { theta: required("tensor"), size: required("sizes"), alignCorners: optional("bool", false) },
  exposure: { ...FUNCTIONAL, free: true, aliases: ["affineGridGenerator"] },
  infer({ theta, size }) {
    const rank = size.length - 2, [batch = 0] = size;
    const fits = theta.shape.length === 3 && isEqual(theta.shape[1] ?? 0, rank) &&
      isEqual(theta.shape[2] ?? 0, rank + 1) && isEqual(theta.shape[0] ?? 0, batch);
    if (rank < 2 || rank > 3 || !fits) {
      throw new DynError(
        `Expected maps of shape [N, 2, 3] for 4 sizes or [N, 3, 4] for 5 but found ${
          shapeText(theta.shape)
        } and ` +
          shapeText(size),
      );
    }
    if (!isFloat(theta.dtype)) throw new DynError(`Expected maps of floats but found ${theta.dtype}`);
    if (size.some((s) => isLess(s, 1))) {
      throw new DynError(`Expected positive sizes but found ${shapeText(size)}`);
    }
    return contiguousMeta([batch, ...size.slice(2), rank], theta.dtype, theta.device);
  },
  compose(o, { theta, size, alignCorners }) {
    const spatial = size.slice(2), rank = spatial.length, { dtype, device } = theta;
    const axes = spatial.map((n, d) => {
      const steps = o.linspace(-1, 1, n, { dtype, device });
      const scaled = isEqual(n, 1)
        ? o.zerosLike(steps)
        : alignCorners
        ? steps
        : o.mul(steps, ratioOf(o, steps, { over: sub(n, 1), by: n }));
      return o.expand(o.reshape(scaled, spatial.map((s, e) => e === d ? s : 1)), spatial);
    });
    const places = o.stack([...axes.toReversed(), o.ones(spatial, { dtype, device })], -1);
    const flat = o.reshape(places, [1, product(spatial), rank + 1]);
    return o.reshape(o.matmul(flat, o.mT(theta)), [size[0] ?? 1, ...spatial, rank]);
  },
  samples: [{ args: [t(2, 2, 3), [2, 1, 2, 3]] }, {
    args: [t(1, 3, 4), [1, 1, 2, 2, 1]],
    options: { alignCorners: true },
  }],
  errors: [{ args: [t(2, 2, 3), [2, 1, 2]], message: "maps of shape" }],
});

export const gridSampling = {
  gridSample,
  gridSampler: gridSampler("gridSampler", null),
  gridSampler2d: gridSampler("gridSampler2d", 2),
  gridSampler3d: gridSampler("gridSampler3d", 3),
  affineGrid,
} as const;
