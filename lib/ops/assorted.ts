/**
 * Ops of PyTorch that few programs use: extremes of both kinds, renormalization, histograms, modes, native
 * normalizations. Input: tensors; output: tensors. Invariant: compositions where sizes are known, else the host.
 */
import { isFloat } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { mul, product } from "../sym/expr.ts";
import { isEqual } from "../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { defineOp, type TensorLike } from "./definition.ts";
import type { OpApi } from "./generated.ts";
import { nullable, optional, required } from "./params.ts";
import { hostTensor } from "./host.ts";
import { checkIndex } from "./indexing.ts";
import { floatTypeOf } from "./promotion.ts";
import { checkCategory, pointwise, reduceTo, t, unary } from "./pointwise.ts";
import { broadcastShapes, knownSize, normalizeDim, reducedDims, reducedShape, shapeText } from "./shapes.ts";

const LIST = { method: false } as const;

const aminmax = defineOp({
  name: "aminmax",
  doc: "The minimum and the maximum of all elements or along a dimension, as `torch.aminmax`.",
  params: {
    self: required("tensor"),
    dim: nullable("int", { keyword: true }),
    keepdim: optional("bool", false, { keyword: true }),
  },
  results: ["min", "max"],
  infer({ self, dim, keepdim }) {
    const dims = reducedDims(dim, self.shape.length);
    if (dims.some((d) => isEqual(self.shape[d] ?? 1, 0))) {
      throw new DynError(
        `Expected aminmax over at least one element but found shape ${shapeText(self.shape)}`,
      );
    }
    const shape = dim === null ? [] : reducedShape(self.shape, dims, keepdim);
    const meta = contiguousMeta(
      keepdim ? reducedShape(self.shape, dims, true) : shape,
      self.dtype,
      self.device,
    );
    return [meta, meta];
  },
  implementation: {
    kind: "composite",
    compose(o, { self, dim, keepdim }) {
      const dims = reducedDims(dim, self.shape.length);
      return [o.amin(self, dims, keepdim), o.amax(self, dims, keepdim)];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4)], options: { dim: 1 } }],
});

const angle = unary({
  name: "angle",
  doc: "π for negative numbers, 0 for others, NaN for NaN, as `torch.angle` of real tensors.",
  rule: "float",
  body: (o, x) => {
    const zero = o.constant(0, o.dtypeOf(x));
    return o.select(o.lt(x, zero), o.constant(Math.PI, o.dtypeOf(x)), o.select(o.isNan(x), x, zero));
  },
  derivative: { reads: [], of: (o, { grad }) => o.zerosLike(grad) },
  inplace: false,
});

const renorm = defineOp({
  name: "renorm",
  doc: "Parts along a dimension scaled down to a norm of at most maxnorm, as `torch.renorm`.",
  params: {
    self: required("tensor"),
    p: required("float"),
    dim: required("int"),
    maxnorm: required("float"),
  },
  inplace: true,
  infer({ self, p, dim, maxnorm }) {
    checkCategory("renorm", self.dtype, ["float"]);
    if (self.shape.length < 2) {
      throw new DynError(`Expected at least 2 dimensions but found ${self.shape.length}`);
    }
    if (p <= 0 || maxnorm < 0) {
      throw new DynError(`Expected a positive p and no negative maxnorm but found ${p} and ${maxnorm}`);
    }
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  implementation: {
    kind: "composite",
    compose(o, { self, p, dim, maxnorm }) {
      const at = normalizeDim(dim, self.shape.length);
      const others = self.shape.flatMap((_, d) => d === at ? [] : [d]);
      const length = o.vectorNorm(self, p, others, true);
      return o.mul(
        self,
        o.where(o.gt(length, maxnorm), o.mul(o.reciprocal(o.add(length, 1e-7)), maxnorm), 1),
      );
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(3, 4), 2, 0, 0.5] }],
  errors: [{ args: [t(3), 2, 0, 1], message: "at least 2" }],
});

/** Normal values with the mean and 1/deviation over some dimensions (kept). */
function standard<T extends TensorLike>(o: OpApi<T>, x: T, dims: readonly number[], eps: number): [T, T, T] {
  const mean = o.mean(x, dims, true), centred = o.sub(x, mean);
  const rstd = o.rsqrt(o.add(o.mean(o.square(centred), dims, true), eps));
  return [o.mul(centred, rstd), mean, rstd];
}

const nativeLayerNorm = defineOp({
  name: "nativeLayerNorm",
  doc: "layerNorm with the mean and 1/deviation of each sample, as `torch.native_layer_norm`.",
  params: {
    self: required("tensor"),
    normalizedShape: required("sizes"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    eps: required("float"),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, normalizedShape }) {
    const lead = self.shape.length - normalizedShape.length;
    const fits = lead >= 0 && normalizedShape.length > 0 &&
      normalizedShape.every((s, d) => isEqual(s, self.shape[lead + d] ?? -1));
    if (!fits) {
      throw new DynError(
        `Expected an input that ends in ${shapeText(normalizedShape)} but found ${shapeText(self.shape)}`,
      );
    }
    const kept: TensorMeta = contiguousMeta(
      self.shape.map((s, d) => d < lead ? s : 1),
      self.dtype,
      self.device,
    );
    return [contiguousMeta(self.shape, self.dtype, self.device), kept, kept];
  },
  implementation: {
    kind: "composite",
    compose(o, { self, normalizedShape, weight, bias, eps }) {
      const lead = self.shape.length - normalizedShape.length;
      const [normal, mean, rstd] = standard(o, self, normalizedShape.map((_, d) => lead + d), eps);
      const scaled = weight ? o.mul(normal, weight) : normal;
      return [bias ? o.add(scaled, bias) : scaled, o.detach(mean), o.detach(rstd)];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(2, 3), [3], t(3), t(3), 1e-5] }],
});

const nativeGroupNorm = defineOp({
  name: "nativeGroupNorm",
  doc: "groupNorm with the mean and 1/deviation of each group, as `torch.native_group_norm`.",
  params: {
    self: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    n: required("size"),
    c: required("size"),
    hxw: required("size"),
    group: required("int"),
    eps: required("float"),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, n, group }) {
    const statistics = contiguousMeta([n, group], self.dtype, self.device);
    return [contiguousMeta(self.shape, self.dtype, self.device), statistics, statistics];
  },
  implementation: {
    kind: "composite",
    compose(o, { self, weight, bias, n, c, hxw, group, eps }) {
      const size = Number(knownSize(mul(c, hxw))) / group;
      const [normal, mean, rstd] = standard(o, o.reshape(self, [n, group, size]), [2], eps);
      const channels = self.shape.map((s, d) => d === 1 ? s : 1);
      const output = o.reshape(normal, self.shape);
      const scaled = weight ? o.mul(output, o.reshape(weight, channels)) : output;
      const shifted = bias ? o.add(scaled, o.reshape(bias, channels)) : scaled;
      return [shifted, o.squeeze(mean, 2), o.squeeze(rstd, 2)];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5] }],
});

const nativeBatchNorm = defineOp({
  name: "nativeBatchNorm",
  doc:
    "batchNorm with the mean and 1/deviation of each channel, as `torch.native_batch_norm`, but that it leaves " +
    "running statistics as they are.",
  params: {
    self: required("tensor"),
    weight: nullable("tensor"),
    bias: nullable("tensor"),
    runningMean: nullable("tensor"),
    runningVar: nullable("tensor"),
    training: required("bool"),
    momentum: required("float"),
    eps: required("float"),
  },
  results: ["output", "mean", "rstd"],
  exposure: LIST,
  infer({ self, training }) {
    const statistics = contiguousMeta([training ? self.shape[1] ?? 1 : 0], self.dtype, self.device);
    return [contiguousMeta(self.shape, self.dtype, self.device), statistics, statistics];
  },
  implementation: {
    kind: "composite",
    compose(o, { self, weight, bias, runningMean, runningVar, training, eps }) {
      const channels = self.shape.map((s, d) => d === 1 ? s : 1);
      const wide = (x: typeof self) => o.reshape(x, channels);
      const affine = (normal: typeof self) => {
        const scaled = weight ? o.mul(normal, wide(weight)) : normal;
        return bias ? o.add(scaled, wide(bias)) : scaled;
      };
      if (training) {
        const dims = self.shape.flatMap((_, d) => d === 1 ? [] : [d]);
        const [normal, mean, rstd] = standard(o, self, dims, eps);
        return [affine(normal), o.reshape(o.detach(mean), [-1]), o.reshape(o.detach(rstd), [-1])];
      }
      if (!runningMean || !runningVar) {
        throw new DynError("Expected running statistics outside of training but found none");
      }
      const normal = o.mul(o.sub(self, wide(runningMean)), wide(o.rsqrt(o.add(runningVar, eps))));
      return [affine(normal), o.newEmpty(self, [0]), o.newEmpty(self, [0])];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(2, 3, 4), t(3), t(3), null, null, true, 0.1, 1e-5] }],
});

const nativeDropoutBackward = defineOp({
  name: "nativeDropoutBackward",
  doc: "grad · mask · scale, as `torch.native_dropout_backward`.",
  params: { gradOutput: required("tensor"), mask: required("tensor"), scale: required("float") },
  exposure: LIST,
  infer({ gradOutput }) {
    return contiguousMeta(gradOutput.shape, floatTypeOf(gradOutput.dtype), gradOutput.device);
  },
  implementation: {
    kind: "composite",
    compose: (o, { gradOutput, mask, scale }) =>
      o.mul(
        o.to(gradOutput, floatTypeOf(gradOutput.dtype)),
        o.mul(o.to(mask, floatTypeOf(gradOutput.dtype)), scale),
      ),
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(3), { tensor: [3], dtype: "bool" }, 2] }],
});

const mode = defineOp({
  name: "mode",
  doc:
    "The most frequent element along a dimension, the least where several are, and its last index. As `torch.mode`.",
  params: { self: required("tensor"), dim: optional("int", -1), keepdim: optional("bool", false) },
  results: ["values", "indices"],
  infer({ self, dim, keepdim }) {
    const at = normalizeDim(dim, self.shape.length);
    const shape = self.shape.length === 0 ? [] : reducedShape(self.shape, [at], keepdim);
    return [contiguousMeta(shape, self.dtype, self.device), contiguousMeta(shape, "int64", self.device)];
  },
  implementation: {
    kind: "composite",
    compose(o, { self, dim, keepdim }) {
      if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
      const at = normalizeDim(dim, self.shape.length);
      const plain = o.detach(self);
      // How often each element occurs along the dimension, then the least of the most frequent, found last
      const rows = o.movedim(plain, at, -1);
      const counts = o.sum(o.eq(o.unsqueeze(rows, -1), o.unsqueeze(rows, -2)), -1);
      const frequent = o.eq(counts, o.amax(counts, [-1], true));
      const [, order] = o.sort(rows, -1);
      const sortedFrequent = o.gather(frequent, -1, order);
      const first = o.gather(order, -1, o.argmax(o.to(sortedFrequent, "uint8"), -1, true));
      const least = o.gather(rows, -1, first);
      const positions = o.arange(rows.shape.at(-1) ?? 1, { device: self.device });
      const index = o.amax(o.where(o.eq(rows, least), positions, 0), [-1], true);
      const indices = o.movedim(index, -1, at), values = o.gather(self, at, indices);
      return keepdim ? [values, indices] : [o.squeeze(values, at), o.squeeze(indices, at)];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [{ tensor: [3, 4], dtype: "int64", range: [0, 3] }] }],
});

const histc = defineOp({
  name: "histc",
  doc: "How many elements lie in each of `bins` equal parts of [min, max], as `torch.histc`.",
  params: {
    self: required("tensor"),
    bins: optional("int", 100),
    min: optional("float", 0),
    max: optional("float", 0),
  },
  infer({ self, bins, min, max }) {
    if (bins <= 0) throw new DynError(`Expected a positive number of bins but found ${bins}`);
    if (max < min) throw new DynError(`Expected min at most max but found ${min} and ${max}`);
    return contiguousMeta([bins], self.dtype, self.device);
  },
  implementation: {
    kind: "host",
    compute({ self, bins, min, max }) {
      const values = Array.from(self.data, Number);
      let [low, high] = [min, max];
      if (low === high && values.length > 0) [low, high] = [Math.min(...values), Math.max(...values)];
      if (!Number.isFinite(low) || !Number.isFinite(high)) {
        throw new DynError("Expected finite elements to count");
      }
      if (low === high) [low, high] = [low - 1, high + 1];
      const counts = new Array<number>(bins).fill(0);
      for (const v of values) {
        if (!(v >= low && v <= high)) continue;
        const bin = Math.min(bins - 1, Math.floor((v - low) / (high - low) * bins));
        counts[bin] = (counts[bin] ?? 0) + 1;
      }
      return [hostTensor([bins], self.dtype, counts)];
    },
  },
  gradient: { kind: "none", because: "its result counts" },
  samples: [{ args: [t(6), 3, -2, 2] }],
  errors: [{ args: [t(3), 0], message: "positive number" }],
});

const indexReduce = defineOp({
  name: "indexReduce",
  doc:
    "self combined with parts of source at a vector of indices: prod, mean, amax or amin. As `torch.index_reduce`.",
  params: {
    self: required("tensor"),
    dim: required("int"),
    index: required("tensor"),
    source: required("tensor"),
    reduce: required("string", { oneOf: ["prod", "mean", "amax", "amin"] }),
    includeSelf: optional("bool", true, { keyword: true }),
  },
  inplace: true,
  infer({ self, dim, index, source }) {
    checkIndex("indexReduce", index);
    normalizeDim(dim, self.shape.length);
    if (source.dtype !== self.dtype) {
      throw new DynError(`Expected source of type ${self.dtype} but found ${source.dtype}`);
    }
    return contiguousMeta(self.shape, self.dtype, self.device);
  },
  implementation: {
    kind: "composite",
    compose(o, { self, dim, index, source, reduce, includeSelf }) {
      const rank = self.shape.length, at = normalizeDim(dim, rank);
      const flat = rank === 0 ? o.reshape(self, [1]) : self,
        values = rank === 0 ? o.reshape(source, [1]) : source;
      const shape = flat.shape.map((_, d) => d === at ? product(index.shape) : 1);
      const wide = o.expand(o.reshape(index, shape), values.shape);
      const result = o.scatterReduce(flat, at, wide, values, reduce as "prod", { includeSelf });
      return rank === 0 ? o.reshape(result, []) : result;
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(3, 4), 0, { tensor: [2], dtype: "int64", range: [0, 3] }, t(2, 4), "mean"] }],
});

const unravelIndex = defineOp({
  name: "unravelIndex",
  doc: "Flat indices as one index for each dimension of a shape, as `torch.unravel_index`.",
  params: { indices: required("tensor"), shape: required("ints") },
  resultList: true,
  exposure: LIST,
  infer({ indices, shape }) {
    checkIndex("unravelIndex", indices);
    if (shape.some((s) => s < 0)) {
      throw new DynError(`Expected sizes that are not negative but found [${shape}]`);
    }
    return shape.map(() => contiguousMeta(indices.shape, "int64", indices.device));
  },
  implementation: {
    kind: "composite",
    compose(o, { indices, shape }) {
      let rest = o.to(indices, "int64");
      const out: (typeof indices)[] = [];
      for (let d = shape.length - 1; d >= 0; d--) {
        out.unshift(o.remainder(rest, shape[d] ?? 1));
        rest = o.floorDivide(rest, shape[d] ?? 1);
      }
      return out;
    },
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [{ tensor: [4], dtype: "int64", range: [0, 6] }, [2, 3]] }],
});

/** Choices of r positions out of n, in order. */
function choices(n: number, r: number, repeat: boolean, from = 0): number[][] {
  if (r === 0) return [[]];
  const found: number[][] = [];
  for (let i = from; i < n; i++) {
    for (const rest of choices(n, r - 1, repeat, repeat ? i : i + 1)) found.push([i, ...rest]);
  }
  return found;
}

const combinations = defineOp({
  name: "combinations",
  doc: "All choices of r elements of a vector, one a row, as `torch.combinations`.",
  params: { self: required("tensor"), r: optional("int", 2), withReplacement: optional("bool", false) },
  infer({ self, r, withReplacement }) {
    if (self.shape.length !== 1) {
      throw new DynError(`Expected a vector but found shape ${shapeText(self.shape)}`);
    }
    if (r < 0) throw new DynError(`Expected r that is not negative but found ${r}`);
    const n = knownSize(self.shape[0] ?? 1);
    const count = r === 0 ? 0 : choices(n, r, withReplacement).length;
    return contiguousMeta(r === 0 ? [0] : [count, r], self.dtype, self.device);
  },
  implementation: {
    kind: "composite",
    compose(o, { self, r, withReplacement }) {
      if (r === 0) return o.newEmpty(self, [0]);
      const indices = o.choiceIndices(knownSize(self.shape[0] ?? 1), r, withReplacement, {
        device: self.device,
      });
      return o.take(self, indices);
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(4)] }, { args: [t(3), 2, true] }],
});

const choiceIndices = defineOp({
  name: "choiceIndices",
  doc: "All choices of r of n positions, one a row.",
  params: {
    n: required("int"),
    r: required("int"),
    repeat: required("bool"),
    device: nullable("device", { keyword: true }),
  },
  exposure: { method: false, free: false },
  infer: ({ n, r, repeat, device }) =>
    contiguousMeta([choices(n, r, repeat).length, r], "int64", device ?? "cpu"),
  implementation: {
    kind: "host",
    compute({ n, r, repeat }) {
      const rows = choices(n, r, repeat);
      return [hostTensor([rows.length, r], "int64", rows.flat())];
    },
  },
  gradient: { kind: "none", because: "its result is made of indices" },
  samples: [{ args: [4, 2, false] }],
});

/** x · 2^−exponent in two steps, since one factor may overflow. */
function timesPower<T extends TensorLike>(o: OpApi<T>, x: T, exponent: T): T {
  const half = o.trunc(o.mul(exponent, 0.5));
  return o.mul(o.mul(x, o.exp2(o.neg(half))), o.exp2(o.sub(half, exponent)));
}

const frexpMantissa = defineOp({
  name: "frexp",
  doc: "Mantissas in [½, 1) and exponents of 2, as `torch.frexp`.",
  params: { self: required("tensor") },
  results: ["mantissa", "exponent"],
  infer({ self }) {
    checkCategory("frexp", self.dtype, ["float"]);
    return [
      contiguousMeta(self.shape, self.dtype, self.device),
      contiguousMeta(self.shape, "int32", self.device),
    ];
  },
  implementation: {
    kind: "composite",
    compose(o, { self }) {
      const size = o.abs(o.detach(self));
      const guess = o.add(o.floor(o.log2(size)), 1);
      // The logarithm may be off by one next to a power of 2
      const scaled = timesPower(o, size, guess);
      const fixed = o.add(
        guess,
        o.sub(o.to(o.ge(scaled, 1), self.dtype), o.to(o.lt(scaled, 0.5), self.dtype)),
      );
      const exponent = o.where(o.logicalAnd(o.isfinite(self), o.ne(size, 0)), fixed, 0);
      return [timesPower(o, self, exponent), o.to(exponent, "int32")];
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [t(3, 4)] }],
});

const mvlgamma = defineOp({
  name: "mvlgamma",
  doc: "The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`.",
  params: { self: required("tensor"), p: required("int") },
  inplace: true,
  exposure: { namespaces: ["special"], aliases: ["multigammaln"] },
  infer({ self, p }) {
    if (p < 1) throw new DynError(`Expected p of at least 1 but found ${p}`);
    return contiguousMeta(self.shape, floatTypeOf(self.dtype), self.device);
  },
  implementation: {
    kind: "composite",
    compose(o, { self, p }) {
      const x = isFloat(self.dtype) ? self : o.to(self, floatTypeOf(self.dtype));
      const shifts = Array.from({ length: p }, (_, j) => o.lgamma(o.sub(x, j / 2)));
      const total = shifts.reduce((sum, term) => o.add(sum, term));
      return o.add(total, p * (p - 1) / 4 * Math.log(Math.PI));
    },
  },
  gradient: { kind: "composite" },
  samples: [{ args: [{ tensor: [3], range: [2, 5] }, 2] }],
});

/** The next number of a float type towards another: one unit in the last place. */
const nextafter = defineOp({
  name: "nextafter",
  doc: "The next float32 after self towards other, as `torch.nextafter`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer({ self, other }) {
    if (self.dtype !== "float32" || other.dtype !== "float32") {
      throw new DynError(`Expected float32 tensors in nextafter but found ${self.dtype} and ${other.dtype}`);
    }
    return contiguousMeta(broadcastShapes(self.shape, other.shape), "float32", self.device);
  },
  implementation: {
    kind: "lower",
    lower: ({ self, other }, [result]) =>
      pointwise(result, {
        operands: [self, other],
        compute: "float32",
        body(o, [a, b]) {
          if (a === undefined || b === undefined) throw new DynError("Expected operands");
          const zero = o.constant(0, "float32"), bits = o.floatToBits(a), one = o.constant(1, "int32");
          // Away from 0 the bits grow, whatever the sign
          const away = o.eq(o.lt(a, b), o.gt(a, zero));
          const moved = o.bitsToFloat(o.select(away, o.add(bits, one), o.sub(bits, one)));
          const least = o.bitsToFloat(one);
          const fromZero = o.select(o.gt(b, zero), least, o.neg(least));
          const next = o.select(o.eq(a, zero), fromZero, moved);
          const nan = o.or(o.isNan(a), o.isNan(b));
          return o.select(nan, o.add(a, b), o.select(o.eq(a, b), b, next));
        },
      }),
  },
  gradient: {
    kind: "rule",
    saves: ["self", "other"],
    rule: (o, { args: { self, other }, grads: [grad] }) =>
      grad ? { self: reduceTo(o, o.where(o.eq(self, other), 0, grad), self), other: o.zerosLike(other) } : {},
  },
  samples: [],
});

export const assorted = {
  aminmax,
  angle,
  renorm,
  nativeLayerNorm,
  nativeGroupNorm,
  nativeBatchNorm,
  nativeDropoutBackward,
  mode,
  histc,
  indexReduce,
  unravelIndex,
  combinations,
  choiceIndices,
  frexp: frexpMantissa,
  mvlgamma,
  nextafter,
} as const;
