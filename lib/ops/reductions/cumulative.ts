/**
 * Cumulative ops along a dimension. Invariant: element i combines elements 0 … i, in order.
 */
import { type DType, isFloat } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { isLess } from "../../sym/decide.ts";
import { add, type Dim, floorDiv, mul, sub } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { Body, Lowered, Operand } from "../../loops/body.ts";
import { findDevice } from "../../loops/device.ts";
import type { ScalarOps } from "../../loops/scalar.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, required } from "../params.ts";
import { highest, lowest } from "../../base/dtype.ts";
import { finfo } from "../../base/type_info.ts";
import { castTo } from "../promotion.ts";
import { acceptedMeta, t } from "../pointwise.ts";
import { normalizeDim } from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

/** The type in which a scan accumulates: float64 for float32 if the device has it, as in PyTorch. */
function runningType({ dtype, device }: TensorMeta): DType {
  return dtype === "float32" && !findDevice(device)?.lacksFloat64 ? "float64" : dtype;
}

/** A scan of the converted elements of `self`. */
function scan(
  self: Operand,
  result: TensorMeta | undefined,
  spec: {
    readonly dim: number;
    readonly initial: number;
    readonly combine: <V>(o: ScalarOps<V>, before: V, value: V) => V;
  },
): Lowered[] {
  if (!result) return [];
  const { shape, dtype } = result;
  if (shape.length === 0) {
    return [{ kind: "pointwise", shape, dtype, element: (o) => castTo(o, o.load(self, []), dtype) }];
  }
  const type = runningType(result);
  const element = <V>(o: Body<V>, index: readonly Dim[]): V =>
    castTo(o, castTo(o, o.load(self, index), dtype), type);
  return [{ kind: "scan", shape, dtype, element, ...spec, dim: normalizeDim(spec.dim, shape.length) }];
}

const sumType = (dtype: DType): DType => isFloat(dtype) ? dtype : "int64";
/** Returns the type of a cumulative op. Throws DynError for bool. */
function scanType(name: string, dtype: DType): DType {
  if (dtype === "bool") throw new DynError(`Expected ${name} of numbers but found type bool`);
  return dtype;
}
const SAMPLES = [{ args: [t(3, 4), 0] }, { args: [t(3, 4), -1] }, { args: [t(0, 2), 0] }, {
  args: [t(), 0],
}] as const;

const cumsum = lowerWideOp({
  name: "cumsum",
  doc: "Running sums along a dimension, as `torch.cumsum`.",
  params: { self: required("tensor"), dim: required("int"), dtype: nullable("dtype", { keyword: true }) },
  inplace: true,
  infer({ self, dim, dtype }) {
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, scanType("cumsum", dtype ?? sumType(self.dtype)), self.device);
  },
  lower: ({ self, dim }, [result]) =>
    scan(self, result, { dim, initial: 0, combine: (o, before, value) => o.add(before, value) }),
  gradient: {
    saves: [],
    single(o, grad, { args: { self, dim } }) {
      const sums = reversedSums(o, grad, dim);
      return { self: sums.dtype === self.dtype ? sums : o.to(sums, self.dtype) };
    },
  },
  samples: SAMPLES,
  errors: [{ args: [t(3), 1], message: "Expected dim in [-1, 0]" }],
});

/** Sums of each element and all after it. */
function reversedSums<T extends TensorLike>(o: OpApi<T>, x: T, dim: number): T {
  if (x.shape.length === 0) return x;
  return o.flip(o.cumsum(o.flip(x, [dim]), dim), [dim]);
}

const cumprod = lowerWideOp({
  name: "cumprod",
  doc: "Running products along a dimension, as `torch.cumprod`.",
  params: { self: required("tensor"), dim: required("int"), dtype: nullable("dtype", { keyword: true }) },
  inplace: true,
  infer({ self, dim, dtype }) {
    normalizeDim(dim, self.shape.length);
    return contiguousMeta(self.shape, scanType("cumprod", dtype ?? sumType(self.dtype)), self.device);
  },
  lower: ({ self, dim }, [result]) =>
    scan(self, result, { dim, initial: 1, combine: (o, before, value) => o.mul(before, value) }),
  gradient: {
    saves: ["self", "out"],
    single(o, grad, { args: { self, dim }, out: [out] }) {
      if (!out) return {};
      if (self.shape.length === 0) return { self: grad };
      const product = productGradient(o, { self, out, grad, dim: normalizeDim(dim, self.shape.length) });
      return { self: product.dtype === self.dtype ? product : o.to(product, self.dtype) };
    },
  },
  samples: SAMPLES,
});

/**
 * Σ over outputs j ≥ i of grad[j] · ∏ of all factors up to j but i: the product of those before i, times the running sum
 * from the end in which each step multiplies by the next factor. Without a division, so that zeros and second gradients
 * need no cases of their own.
 */
function productGradient<T extends TensorLike>(
  o: OpApi<T>,
  { self, out, grad, dim }: { self: T; out: T; grad: T; dim: number },
): T {
  const delayed = (x: T): T => o.slice(o.constantPadNd(o.movedim(x, dim, -1), [1, 0], 1), -1, 0, -1);
  const factors = delayed(o.flip(self, [dim]));
  const sums = multipliedSums(o, factors, o.movedim(o.flip(grad, [dim]), dim, -1));
  return o.movedim(o.mul(delayed(out), o.flip(sums, [-1])), -1, dim);
}

const BLOCK = 32;

/**
 * y[k] = value[k] + factor[k] · y[k − 1] along the last dimension: within blocks by triangles of products, between them
 * by the same rule for the ends of the blocks.
 */
function multipliedSums<T extends TensorLike>(o: OpApi<T>, factors: T, values: T): T {
  const size = factors.shape.at(-1) ?? 1, lead = factors.shape.slice(0, -1);
  if (isLess(size, 2 * BLOCK)) return sumsOfBlock(o, factors, values);
  const blocks = floorDiv(add(size, BLOCK - 1), BLOCK), padded = mul(blocks, BLOCK);
  const split = (x: T, filling: number): T =>
    o.reshape(o.constantPadNd(x, [0, sub(padded, size)], filling), [...lead, blocks, BLOCK]);
  const own = split(factors, 1), sums = sumsOfBlock(o, own, split(values, 0)), through = o.cumprod(own, -1);
  const ends = multipliedSums(o, o.select(through, -1, -1), o.select(sums, -1, -1));
  const entering = o.unsqueeze(o.slice(o.constantPadNd(ends, [1, 0], 0), -1, 0, -1), -1);
  return o.slice(o.reshape(o.addcmul(sums, through, entering), [...lead, padded]), -1, 0, size);
}

/** multipliedSums of few elements; rows of the triangle: the value, columns: the sum. */
function sumsOfBlock<T extends TensorLike>(o: OpApi<T>, factors: T, values: T): T {
  const size = factors.shape.at(-1) ?? 1;
  const later = o.triu(o.ones([size, size], { dtype: "bool", device: factors.device }), 1);
  const products = o.triu(o.cumprod(o.where(later, o.unsqueeze(factors, -2), 1), -1));
  return o.sum(o.mul(products, o.unsqueeze(values, -1)), -2);
}

const logcumsumexp = lowerWideOp({
  name: "logcumsumexp",
  doc: "Logarithms of running sums of exponentials, added up in float64 on the CPU, as `torch.logcumsumexp`.",
  params: { self: required("tensor"), dim: required("int") },
  infer({ self, dim }) {
    normalizeDim(dim, self.shape.length);
    return acceptedMeta("logcumsumexp", self);
  },
  lower: ({ self, dim }, [result]) =>
    scan(self, result, {
      dim,
      initial: -Infinity,
      combine(o, a, b) {
        const high = o.maximum(a, b), low = o.minimum(a, b);
        const infinite = o.eq(o.abs(high), o.constant(Infinity, o.dtypeOf(a)));
        return o.select(infinite, high, o.add(high, o.log1p(o.exp(o.sub(low, high)))));
      },
    }),
  gradient: {
    saves: ["self", "out"],
    // d out[j] / d x[i] = exp(x[i] − out[j]) for i ≤ j
    single(o, grad, { args: { self, dim }, out: [out] }) {
      if (!out) return {};
      if (self.shape.length === 0) return { self: grad };
      // Positive and negative parts of the gradient are summed by logarithms, which keeps huge and tiny terms. The
      // logarithm of 0 is replaced by a finite number, since it has no derivative
      const least = finfo(self.dtype).min;
      const part = (g: typeof grad) => {
        const none = o.le(g, 0), logs = o.where(none, least, o.log(o.where(none, 1, g)));
        return o.exp(o.add(self, reversedLogSums(o, o.sub(logs, out), dim)));
      };
      const positive = part(grad), negative = part(o.neg(grad));
      return { self: o.sub(positive, negative) };
    },
  },
  samples: SAMPLES,
});

function reversedLogSums<T extends TensorLike>(o: OpApi<T>, x: T, dim: number): T {
  return o.flip(o.logcumsumexp(o.flip(x, [dim]), dim), [dim]);
}

/** An initial value that no element loses against: exact, or the largest double below 2^63. */
function startOf(kind: "max" | "min", dtype: DType): number {
  if (kind === "min" && dtype === "int64") return 2 ** 63 - 1024;
  return Number(kind === "max" ? lowest(dtype) : highest(dtype));
}

/** Running extremes: values. */
function runningValues(name: "runningMax" | "runningMin", kind: "max" | "min") {
  return lowerWideOp({
    name,
    doc: `The ${kind}imum so far along a dimension.`,
    params: { self: required("tensor"), dim: required("int") },
    exposure: { method: false, free: false },
    infer: ({ self }) => contiguousMeta(self.shape, self.dtype, self.device),
    lower: ({ self, dim }, [result]) =>
      scan(self, result, {
        dim,
        initial: startOf(kind, self.dtype),
        combine: (o, before, value) => kind === "max" ? o.maximum(before, value) : o.minimum(before, value),
      }),
    gradient: { kind: "none", because: "cummax and cummin gather instead" },
    samples: SAMPLES,
  });
}

/** cummax and cummin: the last index that attains the extreme so far. */
function running(name: "cummax" | "cummin", values: "runningMax" | "runningMin") {
  return composeWideOp({
    name,
    doc: `The ${name.slice(3)}imum so far along a dimension, and its last index, as \`torch.${name}\`.`,
    params: { self: required("tensor"), dim: required("int") },
    results: ["values", "indices"],
    infer({ self, dim }) {
      normalizeDim(dim, self.shape.length);
      return [
        contiguousMeta(self.shape, self.dtype, self.device),
        contiguousMeta(self.shape, "int64", self.device),
      ];
    },
    compose(o, { self, dim }) {
      if (self.shape.length === 0) return [o.clone(self), o.zerosLike(self, { dtype: "int64" })];
      const at = normalizeDim(dim, self.shape.length), size = self.shape[at] ?? 1;
      const plain = o.detach(self);
      const wide = plain.dtype === "bool" ? o.to(plain, "uint8") : plain;
      const best = o[values](wide, at);
      const shape = self.shape.map((_, d) => d === at ? size : 1);
      const positions = o.reshape(o.arange(size, { device: self.device }), shape);
      const attains = o.logicalOr(o.eq(wide, best), o.isnan(wide));
      const indices = o.runningMax(o.where(attains, positions, 0), at);
      return [o.gather(self, at, indices), indices];
    },
    samples: SAMPLES,
  });
}

export const cumulative = {
  cumsum,
  cumprod,
  logcumsumexp,
  runningMax: runningValues("runningMax", "max"),
  runningMin: runningValues("runningMin", "min"),
  cummax: running("cummax", "runningMax"),
  cummin: running("cummin", "runningMin"),
} as const;
