/**
 * Mathematical functions of one tensor. Invariant: each body is the numerically careful form, stated once.
 */
import { isFloat } from "../../base/dtype.ts";
import type { Body, Operand } from "../../loops/body.ts";
import type { ScalarOps } from "../../loops/scalar.ts";
import { type Exposure, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { type Formula, numberIn, type NumberOf, numberOf, valueOfNumbers } from "../numbers.ts";
import { nullable, required } from "../params.ts";
import { floatTypeOf } from "../promotion.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import {
  acceptedMeta,
  eachElement,
  k,
  t,
  unary,
  type UnaryContext,
  unarySamples,
  type UnarySpec,
} from "../pointwise.ts";
import { nearZero, SINE_QUOTIENT } from "../special/near_zero.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

type Derivative = <T extends TensorLike>(o: OpApi<T>, context: UnaryContext<T>) => T;

/** A function on floats from the scalar vocabulary. */
function float(
  name: string,
  body: UnarySpec["body"],
  derivative: UnarySpec["derivative"],
  more: { range?: readonly [number, number]; exposure?: Exposure; doc?: string } = {},
) {
  return unary({
    name,
    doc: more.doc ?? `${name} of each element, as \`torch.${name}\`; integers are converted to floats.`,
    rule: "float",
    body,
    derivative,
    ...(more.range ? { range: more.range } : {}),
    ...(more.exposure ? { exposure: more.exposure } : {}),
  });
}

/** A derivative that reads the input. */
const ofSelf = (of: Derivative): UnarySpec["derivative"] => ({ reads: ["self"], of });
/** A derivative that reads the result. */
const ofOut = (of: Derivative): UnarySpec["derivative"] => ({ reads: ["out"], of });
const STEP = ofSelf((o, { grad }) => o.zerosLike(grad));

const special = (...aliases: readonly string[]): Exposure => ({ namespaces: ["special"], aliases });

const neg = unary({
  name: "neg",
  doc: "−self, as `torch.neg`.",
  rule: "promote",
  accepts: ["integer", "float"],
  body: (o, x) => o.neg(x),
  derivative: { reads: [], of: (o, { grad }) => o.neg(grad) },
  exposure: { aliases: ["negative"] },
});

const abs = unary({
  name: "abs",
  doc: "|self|, as `torch.abs`.",
  rule: "promote",
  accepts: ["integer", "float"],
  body: (o, x) => o.abs(x),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.sign(self))),
  exposure: { aliases: ["absolute"] },
});

const sign = unary({
  name: "sign",
  doc: "−1, 0 or 1, 0 for NaN too, as `torch.sign`.",
  rule: "promote",
  body(o, x) {
    const dtype = o.dtypeOf(x);
    if (!isFloat(dtype)) return dtype === "bool" ? x : o.sign(x);
    const zero = k(o, x, 0);
    return o.select(o.gt(x, zero), k(o, x, 1), o.select(o.lt(x, zero), k(o, x, -1), zero));
  },
  derivative: STEP,
});

const square = lowerWideOp({
  name: "square",
  doc: "self · self, of bools as integers, as `torch.square`.",
  params: { self: required("tensor") },
  inplace: true,
  infer: ({ self }) => contiguousMeta(self.shape, self.dtype === "bool" ? "int64" : self.dtype, self.device),
  lower: ({ self }, [result]) => eachElement(self, result, (o, x) => o.mul(x, x), result?.dtype),
  gradient: {
    saves: ["self"],
    single: (o, grad, { args: { self } }) => ({ self: o.mul(grad, o.mul(self, 2)) }),
  },
  samples: unarySamples(),
});

const positive = composeWideOp({
  name: "positive",
  doc: "self, as `torch.positive`.",
  params: { self: required("tensor") },
  infer: ({ self }) => self,
  compose: (_o, { self }) => self,
  samples: [{ args: [t(3)] }],
});

/** A rounding: integers stay as they are, gradients vanish. */
function rounding(name: "floor" | "ceil" | "trunc") {
  return unary({
    name,
    doc: `${name} of each element, as \`torch.${name}\`.`,
    rule: "promote",
    accepts: ["integer", "float"],
    body: (o, x) => isFloat(o.dtypeOf(x)) ? o[name](x) : x,
    derivative: STEP,
    ...(name === "trunc" ? { exposure: { aliases: ["fix"] } } : {}),
  });
}

const round = lowerWideOp({
  name: "round",
  doc: "The nearest integer, halves to even, or the nearest multiple of 10^−decimals, as `torch.round`.",
  params: { self: required("tensor"), decimals: nullable("int", { keyword: true }) },
  inplace: true,
  exposure: { namespaces: ["special"] },
  infer: ({ self }) => acceptedMeta("round", self, ["integer", "float"]),
  lower: ({ self, decimals }, [result]) =>
    eachElement(self, result, (o, x) => {
      if (!isFloat(self.dtype)) return x;
      if (!decimals) return o.round(x);
      const factor = o.constant(10 ** Math.abs(decimals), self.dtype);
      return decimals > 0
        ? o.div(o.round(o.mul(x, factor)), factor)
        : o.mul(o.round(o.div(x, factor)), factor);
    }),
  gradient: {
    saves: [],
    single: (o, grad) => ({ self: o.zerosLike(grad) }),
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(3)], options: { decimals: 1 } }],
});

const frac = unary({
  name: "frac",
  doc: "self − trunc(self), as `torch.frac`.",
  rule: "promote",
  accepts: ["float"],
  body: (o, x) => o.sub(x, o.trunc(x)),
  derivative: { reads: [], of: (_o, { grad }) => grad },
});

/** 1 / (1 + e^−x) without overflow: from e^−|x| on both sides. */
export function sigmoidOf<V>(o: ScalarOps<V>, x: V): V {
  const zero = k(o, x, 0), one = k(o, x, 1);
  const e = o.exp(o.neg(o.abs(x)));
  const positive = o.div(one, o.add(one, e));
  return o.select(o.ge(x, zero), positive, o.select(o.isNan(x), x, o.mul(e, positive)));
}

const sigmoid = float(
  "sigmoid",
  sigmoidOf,
  ofOut((o, { grad, out }) => o.mul(grad, o.mul(out, o.rsub(out, 1)))),
  { exposure: { namespaces: ["special", "nn.functional"], aliases: ["expit"] } },
);

/** 1 − x. */
const rest: Formula<readonly [unknown]> = (m, x) => m.sub(m.constant(1), x);

/** x clamped to [eps, 1 − eps]; for eps beyond ½ the lower bound takes precedence, and NaN stays. */
function clampedApart<V>(o: Body<V>, x: V, eps: NumberOf<Operand>): V {
  const low = numberIn(o, x, eps), high = valueOfNumbers(o, o.dtypeOf(x), [eps], rest);
  return o.select(o.lt(x, low), low, o.select(o.gt(x, high), high, x));
}

const logit = lowerWideOp({
  name: "logit",
  doc: "log(x / (1 − x)) of x = self, clamped to [eps, 1 − eps] where eps is given, as `torch.logit`.",
  params: { self: required("tensor"), eps: nullable("floatOperand", { changes: {} }) },
  inplace: true,
  exposure: { namespaces: ["special"] },
  infer: ({ self }) => contiguousMeta(self.shape, floatTypeOf(self.dtype), self.device),
  lower: ({ self, eps }, [result]) =>
    eachElement(self, result, (o, x) => {
      const z = eps === null ? x : clampedApart(o, x, eps);
      return o.log(o.div(z, o.sub(k(o, x, 1), z)));
    }, result?.dtype),
  gradient: {
    saves: ["self", "eps"],
    single(o, grad, { args: { self, eps } }) {
      const divisor = o.mul(self, o.rsub(self, 1));
      if (eps === null) {
        return { self: o.where(o.logicalAnd(o.ge(self, 0), o.le(self, 1)), o.div(grad, divisor), NaN) };
      }
      const inside = o.logicalAnd(o.ge(self, eps), o.le(self, numberOf(o, [eps], rest)));
      return { self: o.where(inside, o.div(grad, o.where(inside, divisor, 1)), 0) };
    },
  },
  samples: [{ args: [{ tensor: [3, 4], range: [0.1, 0.9] }] }, {
    args: [{ tensor: [3], range: [-0.5, 1.5] }],
    options: { eps: 0.1 },
  }],
});

const sqrt = float("sqrt", (o, x) => o.sqrt(x), ofOut((o, { grad, out }) => o.div(grad, o.mul(out, 2))), {
  range: [0.1, 3],
});
const rsqrt = float(
  "rsqrt",
  (o, x) => o.rsqrt(x),
  ofOut((o, { grad, out }) => o.mul(o.mul(grad, -0.5), o.pow(out, 3))),
  { range: [0.1, 3] },
);
const reciprocal = float(
  "reciprocal",
  (o, x) => o.div(k(o, x, 1), x),
  ofOut((o, { grad, out }) => o.neg(o.mul(grad, o.mul(out, out)))),
  { range: [0.3, 3] },
);
const exp = float("exp", (o, x) => o.exp(x), ofOut((o, { grad, out }) => o.mul(grad, out)));
const exp2 = float(
  "exp2",
  (o, x) => o.exp2(x),
  ofOut((o, { grad, out }) => o.mul(grad, o.mul(out, Math.LN2))),
  { exposure: special() },
);
const expm1 = float("expm1", (o, x) => o.expm1(x), ofOut((o, { grad, out }) => o.mul(grad, o.add(out, 1))), {
  exposure: special(),
});
const log = float("log", (o, x) => o.log(x), ofSelf((o, { grad, self }) => o.div(grad, self)), {
  range: [0.1, 4],
});
const log2 = float(
  "log2",
  (o, x) => o.log2(x),
  ofSelf((o, { grad, self }) => o.div(grad, o.mul(self, Math.LN2))),
  { range: [0.1, 4] },
);
const log10 = float(
  "log10",
  (o, x) => o.log10(x),
  ofSelf((o, { grad, self }) => o.div(grad, o.mul(self, Math.LN10))),
  { range: [0.1, 4] },
);
const log1p = float(
  "log1p",
  (o, x) => o.log1p(x),
  ofSelf((o, { grad, self }) => o.div(grad, o.add(self, 1))),
  { range: [-0.9, 4], exposure: special() },
);
const sin = float("sin", (o, x) => o.sin(x), ofSelf((o, { grad, self }) => o.mul(grad, o.cos(self))));
const cos = float("cos", (o, x) => o.cos(x), ofSelf((o, { grad, self }) => o.neg(o.mul(grad, o.sin(self)))));
const tan = float(
  "tan",
  (o, x) => o.tan(x),
  ofOut((o, { grad, out }) => o.mul(grad, o.add(o.mul(out, out), 1))),
  { range: [-1.2, 1.2] },
);
const asin = float(
  "asin",
  (o, x) => o.asin(x),
  ofSelf((o, { grad, self }) => o.mul(grad, o.rsqrt(o.rsub(o.mul(self, self), 1)))),
  { range: [-0.9, 0.9], exposure: { aliases: ["arcsin"] } },
);
const acos = float(
  "acos",
  (o, x) => o.acos(x),
  ofSelf((o, { grad, self }) => o.neg(o.mul(grad, o.rsqrt(o.rsub(o.mul(self, self), 1))))),
  { range: [-0.9, 0.9], exposure: { aliases: ["arccos"] } },
);
const atan = float(
  "atan",
  (o, x) => o.atan(x),
  ofSelf((o, { grad, self }) => o.div(grad, o.add(o.mul(self, self), 1))),
  { exposure: { aliases: ["arctan"] } },
);
const sinh = float("sinh", (o, x) => o.sinh(x), ofSelf((o, { grad, self }) => o.mul(grad, o.cosh(self))));
const cosh = float("cosh", (o, x) => o.cosh(x), ofSelf((o, { grad, self }) => o.mul(grad, o.sinh(self))));
const tanh = float(
  "tanh",
  (o, x) => o.tanh(x),
  ofOut((o, { grad, out }) => o.mul(grad, o.rsub(o.mul(out, out), 1))),
  { exposure: { namespaces: ["nn.functional"] } },
);
const asinh = float(
  "asinh",
  (o, x) => o.asinh(x),
  ofSelf((o, { grad, self }) => o.mul(grad, o.rsqrt(o.add(o.mul(self, self), 1)))),
  { exposure: { aliases: ["arcsinh"] } },
);
const acosh = float(
  "acosh",
  (o, x) => o.acosh(x),
  ofSelf((o, { grad, self }) => o.mul(grad, o.rsqrt(o.sub(o.mul(self, self), 1)))),
  { range: [1.1, 4], exposure: { aliases: ["arccosh"] } },
);
const atanh = float(
  "atanh",
  (o, x) => o.atanh(x),
  ofSelf((o, { grad, self }) => o.div(grad, o.rsub(o.mul(self, self), 1))),
  { range: [-0.9, 0.9], exposure: { aliases: ["arctanh"] } },
);
const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);
const erf = float(
  "erf",
  (o, x) => o.erf(x),
  ofSelf((o, { grad, self }) => o.mul(o.mul(grad, TWO_OVER_SQRT_PI), o.exp(o.neg(o.mul(self, self))))),
  { exposure: special() },
);
const erfc = float(
  "erfc",
  (o, x) => o.erfc(x),
  ofSelf((o, { grad, self }) => o.mul(o.mul(grad, -TWO_OVER_SQRT_PI), o.exp(o.neg(o.mul(self, self))))),
  { exposure: special() },
);
const lgamma = float(
  "lgamma",
  (o, x) => o.lgamma(x),
  ofSelf((o, { grad, self }) => o.mul(grad, o.digamma(self))),
  {
    range: [0.3, 4],
    exposure: special("gammaln"),
  },
);

const sinc = float(
  "sinc",
  (o, x) => {
    const angle = o.mul(x, k(o, x, Math.PI));
    return o.select(o.eq(x, k(o, x, 0)), k(o, x, 1), o.div(o.sin(angle), angle));
  },
  ofSelf((o, { grad, self }) => {
    const angle = o.mul(self, Math.PI);
    const slope = nearZero(o, angle, {
      ...SINE_QUOTIENT,
      quotient: (x) => o.div(o.sub(o.cos(x), o.div(o.sin(x), x)), o.mul(x, x)),
    });
    return o.mul(o.mul(grad, Math.PI), o.mul(angle, slope));
  }),
  { exposure: special() },
);
const deg2rad = float("deg2rad", (o, x) => o.mul(x, k(o, x, Math.PI / 180)), {
  reads: [],
  of: (o, { grad }) => o.mul(grad, Math.PI / 180),
});
const rad2deg = float("rad2deg", (o, x) => o.mul(x, k(o, x, 180 / Math.PI)), {
  reads: [],
  of: (o, { grad }) => o.mul(grad, 180 / Math.PI),
});

export const unaryOps = {
  neg,
  abs,
  sign,
  square,
  positive,
  floor: rounding("floor"),
  ceil: rounding("ceil"),
  trunc: rounding("trunc"),
  round,
  frac,
  sigmoid,
  logit,
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  erfc,
  lgamma,
  sinc,
  deg2rad,
  rad2deg,
} as const;
