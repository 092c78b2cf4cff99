/**
 * Smooth activations. Invariant: bodies neither overflow nor cancel for large arguments; gradients are expressed in
 * terms of the input, so that they fuse with the forward body.
 */
import { DynError } from "../../base/errors.ts";
import { type Dim, floorDiv, mod } from "../../sym/expr.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body } from "../../loops/body.ts";
import { FUNCTIONAL, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { numberIn, type NumberOf, numberOf, valueOfNumbers } from "../numbers.ts";
import { type NumberRange, optional, required } from "../params.ts";
import { acceptedMeta, eachElement, k, t, unary, unarySamples } from "../pointwise.ts";
import { normalizeDim, ownDim, shapeText, withSize } from "../shapes.ts";
import { sigmoidOf } from "./unary.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

const SAMPLES = unarySamples([-4, 4]);

const SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI), CUBE = 0.044715;

const gelu = lowerWideOp({
  name: "gelu",
  doc: "self · Φ(self), by erf, or by tanh where `approximate` says so. As `nn.functional.gelu`.",
  params: { self: required("tensor"), approximate: optional("string", "none", { oneOf: ["none", "tanh"] }) },
  exposure: FUNCTIONAL,
  elementwise: true,
  infer: ({ self }) => acceptedMeta("gelu", self),
  lower: ({ self, approximate }, [result]) =>
    eachElement(self, result, (o, x) => {
      const half = o.mul(x, k(o, x, 0.5)), one = k(o, x, 1);
      if (approximate === "none") return o.mul(half, o.add(one, o.erf(o.mul(x, k(o, x, Math.SQRT1_2)))));
      const inner = o.mul(k(o, x, SQRT_2_OVER_PI), o.fma(o.mul(k(o, x, CUBE), o.mul(x, x)), x, x));
      return o.mul(half, o.add(one, o.tanh(inner)));
    }),
  gradient: {
    saves: ["self"],
    single: (o, grad, { args: { self, approximate } }) => ({
      self: o.mul(grad, approximate === "none" ? geluSlope(o, self) : geluTanhSlope(o, self)),
    }),
  },
  samples: [...SAMPLES, { args: [t(3, 4)], options: { approximate: "tanh" } }],
  errors: [{ args: [{ tensor: [3], dtype: "int64" }], message: "float" }],
});

/** Φ(x) + x φ(x). */
function geluSlope<T extends TensorLike>(o: OpApi<T>, x: T): T {
  const area = o.mul(o.add(o.erf(o.mul(x, Math.SQRT1_2)), 1), 0.5);
  const density = o.mul(o.exp(o.mul(o.mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
  return o.add(area, o.mul(x, density));
}

function geluTanhSlope<T extends TensorLike>(o: OpApi<T>, x: T): T {
  const square = o.mul(x, x);
  const tanh = o.tanh(o.mul(o.mul(x, o.add(o.mul(square, CUBE), 1)), SQRT_2_OVER_PI));
  const inner = o.mul(o.add(o.mul(square, 3 * CUBE), 1), SQRT_2_OVER_PI);
  const rest = o.mul(o.mul(x, 0.5), o.mul(o.rsub(o.mul(tanh, tanh), 1), inner));
  return o.add(o.mul(o.add(tanh, 1), 0.5), rest);
}

const silu = unary({
  name: "silu",
  doc: "self · sigmoid(self), as `nn.functional.silu`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) => o.mul(x, sigmoidOf(o, x)),
  derivative: {
    reads: ["self"],
    of(o, { grad, self }) {
      const s = o.sigmoid(self);
      return o.mul(grad, o.mul(s, o.add(o.mul(self, o.rsub(s, 1)), 1)));
    },
  },
  range: [-4, 4],
  exposure: FUNCTIONAL,
});

const mish = unary({
  name: "mish",
  doc: "self · tanh(softplus(self)), as `nn.functional.mish`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) => o.mul(x, o.tanh(softplusOf(o, x))),
  derivative: {
    reads: ["self"],
    of(o, { grad, self }) {
      const tanh = o.tanh(o.softplus(self));
      const slope = o.mul(o.mul(self, o.sigmoid(self)), o.rsub(o.mul(tanh, tanh), 1));
      return o.mul(grad, o.add(tanh, slope));
    },
  },
  range: [-4, 4],
  exposure: FUNCTIONAL,
});

/** log(1 + e^x) = max(x, 0) + log1p(e^−|x|). */
function softplusOf<V>(o: Body<V>, x: V): V {
  return o.add(o.maximum(x, k(o, x, 0)), o.log1p(o.exp(o.neg(o.abs(x)))));
}

const softplus = lowerWideOp({
  name: "softplus",
  doc: "log(1 + e^(beta · self)) / beta, self itself beyond the threshold, as `nn.functional.softplus`.",
  params: {
    self: required("tensor"),
    beta: optional("floatOperand", 1, { changes: {} }),
    threshold: optional("floatOperand", 20, { changes: {} }),
  },
  exposure: FUNCTIONAL,
  elementwise: true,
  infer: ({ self }) => acceptedMeta("softplus", self),
  lower: ({ self, beta, threshold }, [result]) =>
    eachElement(self, result, (o, x) => {
      const z = beta === 1 ? x : o.mul(x, numberIn(o, x, beta));
      const smooth = softplusOf(o, z);
      return o.select(
        o.gt(z, numberIn(o, x, threshold)),
        x,
        beta === 1 ? smooth : o.div(smooth, numberIn(o, x, beta)),
      );
    }),
  gradient: {
    saves: ["self", "beta", "threshold"],
    single(o, grad, { args: { self, beta, threshold } }) {
      const z = beta === 1 ? self : o.mul(self, beta);
      return { self: o.mul(grad, o.where(o.gt(z, threshold), 1, o.sigmoid(z))) };
    },
  },
  samples: [...SAMPLES, { args: [t(3), 2, 3] }],
});

const logsigmoid = unary({
  name: "logsigmoid",
  doc: "log(sigmoid(self)), as `nn.functional.logsigmoid`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) => o.sub(o.minimum(x, k(o, x, 0)), o.log1p(o.exp(o.neg(o.abs(x))))),
  derivative: { reads: ["self"], of: (o, { grad, self }) => o.mul(grad, o.sigmoid(o.neg(self))) },
  range: [-4, 4],
  inplace: false,
  exposure: FUNCTIONAL,
});

const softsign = unary({
  name: "softsign",
  doc: "self / (1 + |self|), as `nn.functional.softsign`.",
  rule: "float",
  accepts: ["integer", "float", "complex"],
  body: (o, x) => o.div(x, o.add(k(o, x, 1), o.abs(x))),
  derivative: {
    reads: ["self"],
    of: (o, { grad, self }) => o.div(grad, o.square(o.add(o.abs(self), 1))),
  },
  inplace: false,
  exposure: FUNCTIONAL,
});

const tanhshrink = unary({
  name: "tanhshrink",
  doc: "self − tanh(self), as `nn.functional.tanhshrink`.",
  rule: "float",
  accepts: ["integer", "float", "complex"],
  body: (o, x) => o.sub(x, o.tanh(x)),
  derivative: { reads: ["self"], of: (o, { grad, self }) => o.mul(grad, o.square(o.tanh(self))) },
  inplace: false,
  exposure: FUNCTIONAL,
});

/** scale · (x above 0, alpha (e^(rate·x) − 1) below). */
interface Exponential<T> {
  readonly alpha: NumberOf<T>;
  readonly scale: number;
  readonly rate: NumberOf<T>;
}

const eluLinear = lowerWideOp({
  name: "eluLinear",
  doc: "scale · self above 0, scale · alpha · (e^(rate · self) − 1) below.",
  params: {
    self: required("tensor"),
    alpha: required("floatOperand"),
    scale: required("float"),
    rate: required("floatOperand"),
  },
  exposure: { method: false, free: false },
  elementwise: true,
  infer: ({ self }) => acceptedMeta("elu", self),
  lower: ({ self, alpha, scale, rate }, [result]) =>
    eachElement(self, result, (o, x) => {
      const slope = valueOfNumbers(o, o.dtypeOf(x), [alpha, scale], (m, a, s) => m.mul(a, s));
      const below = o.mul(slope, o.expm1(rate === 1 ? x : o.mul(x, numberIn(o, x, rate))));
      return o.select(o.gt(x, k(o, x, 0)), scale === 1 ? x : o.mul(x, k(o, x, scale)), below);
    }),
  gradient: {
    saves: ["self", "alpha", "rate"],
    single(o, grad, { args: { self, alpha, scale, rate } }) {
      const slope = numberOf(o, [alpha, scale, rate], (m, a, s, r) => m.mul(m.mul(a, s), r));
      const below = o.mul(o.exp(o.mul(self, rate)), slope);
      return { self: o.mul(grad, o.where(o.le(self, 0), below, scale)) };
    },
  },
  samples: [{ args: [t(3, 4), 1, 1, 1] }],
});

const eluParams = (changes: NumberRange) =>
  ({ self: required("tensor"), alpha: optional("floatOperand", 1, { changes }) }) as const;

function exponential<T extends TensorLike>(o: OpApi<T>, self: T, { alpha, scale, rate }: Exponential<T>): T {
  return o.eluLinear(self, alpha, scale, rate);
}

const elu = composeWideOp({
  name: "elu",
  doc: "self above 0, alpha · (e^self − 1) below, as `nn.functional.elu`.",
  params: eluParams({}),
  inplace: true,
  exposure: FUNCTIONAL,
  infer: ({ self }) => acceptedMeta("elu", self),
  compose: (o, { self, alpha }) => exponential(o, self, { alpha, scale: 1, rate: 1 }),
  samples: SAMPLES,
});

const celu = composeWideOp({
  name: "celu",
  doc: "max(self, 0) + min(0, alpha · (e^(self / alpha) − 1)), as `nn.functional.celu`.",
  params: eluParams({ not: [0] }),
  inplace: true,
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer({ self, alpha }) {
    if (alpha === 0) throw new DynError("Expected a nonzero alpha for celu but found 0");
    return acceptedMeta("celu", self);
  },
  compose: (o, { self, alpha }) =>
    exponential(o, self, {
      alpha,
      scale: 1,
      rate: numberOf(o, [alpha], (m, a) => m.div(m.constant(1), a)),
    }),
  samples: SAMPLES,
});

const selu = composeWideOp({
  name: "selu",
  doc: "The self-normalizing elu, as `nn.functional.selu`.",
  params: { self: required("tensor") },
  inplace: true,
  exposure: { method: false, namespaces: ["nn.functional"] },
  infer: ({ self }) => acceptedMeta("selu", self),
  compose: (o, { self }) =>
    exponential(o, self, { alpha: 1.6732632423543772848, scale: 1.0507009873554804934, rate: 1 }),
  samples: SAMPLES,
});

const glu = composeWideOp({
  name: "glu",
  doc: "The first half along a dimension times the sigmoid of the second, as `nn.functional.glu`.",
  params: { self: required("tensor"), dim: optional("int", -1) },
  exposure: FUNCTIONAL,
  infer({ self, dim }) {
    const at = ownDim(dim, self.shape), size = self.shape[at] ?? 1;
    if (!isEqual(mod(size, 2), 0)) {
      throw new DynError(`Expected an even size at dimension ${at} but found ${shapeText(self.shape)}`);
    }
    return contiguousMeta(withSize(self.shape, at, floorDiv(size, 2)), self.dtype, self.device);
  },
  compose(o, { self, dim }) {
    const at = normalizeDim(dim, self.shape.length), size: Dim = self.shape[at] ?? 1;
    const half = floorDiv(size, 2);
    return o.mul(o.slice(self, at, 0, half), o.sigmoid(o.slice(self, at, half, size)));
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(4, 3), 0] }],
  errors: [{ args: [t(3, 3)], message: "even size" }],
});

export const activations = {
  gelu,
  silu,
  mish,
  softplus,
  logsigmoid,
  softsign,
  tanhshrink,
  eluLinear,
  elu,
  celu,
  selu,
  glu,
} as const;
