/**
 * Special functions beyond the scalar vocabulary. Input: a tensor; output: floats of the same shape. Invariant:
 * approximations carry their source and stay within a few units in the last place of float32.
 */
import type { Body } from "../loops/body.ts";
import { contiguousMeta } from "../graph/meta.ts";
import { DynError } from "../base/errors.ts";
import { isFloat } from "../base/dtype.ts";
import { type TensorLike } from "./definition.ts";
import { required } from "./params.ts";
import { floatTypeOf } from "./promotion.ts";
import type { OpApi } from "./generated.ts";
import { unary, type UnaryContext, type UnarySpec } from "./pointwise.ts";
import { defineWideOp } from "./wide.ts";

type Derivative = <T extends TensorLike>(o: OpApi<T>, context: UnaryContext<T>) => T;
const ofSelf = (of: Derivative): UnarySpec["derivative"] => ({ reads: ["self"], of });

function k<V>(o: Body<V>, x: V, value: number): V {
  return o.constant(value, o.dtypeOf(x));
}

/** A polynomial by Horner's rule, highest power first. */
function polynomial<V>(o: Body<V>, x: V, coefficients: readonly number[]): V {
  return coefficients.slice(1).reduce<V>(
    (sum, c) => o.fma(sum, x, k(o, x, c)),
    k(o, x, coefficients[0] ?? 0),
  );
}

/** erfinv(y)/y as a function of w = −log(1 − y²): Giles, "Approximating the erfinv function". */
function erfinvFactor<V>(o: Body<V>, w: V): V {
  const small = polynomial(o, o.sub(w, k(o, w, 2.5)), [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
  ]);
  const large = polynomial(o, o.sub(o.sqrt(w), k(o, w, 3)), [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
  ]);
  return o.select(o.lt(w, k(o, w, 5)), small, large);
}

/** A Chebyshev series as Cephes' chbevl evaluates it. */
function chebyshev<V>(o: Body<V>, x: V, coefficients: readonly number[]): V {
  let b0 = k(o, x, coefficients[0] ?? 0), b1 = k(o, x, 0), b2 = b1;
  for (const c of coefficients.slice(1)) {
    b2 = b1;
    b1 = b0;
    b0 = o.add(o.sub(o.mul(x, b1), b2), k(o, x, c));
  }
  return o.mul(k(o, x, 0.5), o.sub(b0, b2));
}

const digamma = unary({
  name: "digamma",
  doc: "The derivative of lgamma, as `torch.digamma`.",
  rule: "float",
  body: (o, x) => o.digamma(x),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.trigamma(self))),
  range: [0.3, 4],
  exposure: { namespaces: ["special"], aliases: ["psi"] },
});

/** ψ'(x): the recurrence up to 6, then the asymptotic series; reflection for negative x. Follows ATen's trigamma. */
const trigamma = unary({
  name: "trigamma",
  doc: "The second derivative of lgamma.",
  rule: "float",
  body(o, x) {
    const half = k(o, x, 0.5), one = k(o, x, 1);
    const reflects = o.lt(x, half);
    const sine = o.sin(o.mul(x, k(o, x, Math.PI)));
    const reflection = o.div(k(o, x, -(Math.PI ** 2)), o.mul(sine, sine));
    let z = o.select(reflects, o.sub(one, x), x), sum = k(o, x, 0);
    for (let i = 0; i < 6; i++) {
      sum = o.add(sum, o.div(one, o.mul(z, z)));
      z = o.add(z, one);
    }
    const i2 = o.div(one, o.mul(z, z));
    const series = polynomial(o, i2, [-1 / 30, 1 / 42, -1 / 30, 1 / 6, 0]);
    const tail = o.div(o.add(one, o.add(o.div(half, z), series)), z);
    const value = o.add(sum, tail);
    return o.select(reflects, o.neg(o.add(value, reflection)), value);
  },
  derivative: "polygamma of higher order is not defined",
  range: [0.3, 4],
  inplace: false,
  exposure: { method: false, free: false },
});

/**
 * The x ≥ 0 with erf(x) = size and erfc(x) = rest = 1 − size, of which the smaller is given exactly: steps of Newton's,
 * for erf near 0 and for log erfc beyond, where erf has lost its digits.
 */
function solveErf<V>(o: Body<V>, size: V, rest: V): V {
  const w = o.neg(o.log(o.mul(rest, o.add(k(o, size, 1), size)))), far = o.neg(o.log(rest));
  // erfc(x) ≈ exp(−x²) / (x·√π)
  const tail = o.sqrt(o.sub(far, o.mul(k(o, size, 0.5), o.log(o.mul(far, k(o, size, Math.PI))))));
  let x = o.select(o.lt(w, k(o, size, 14)), o.mul(size, erfinvFactor(o, w)), tail);
  const scale = k(o, size, Math.sqrt(Math.PI) / 2), near = o.lt(size, k(o, size, 0.5));
  const double = o.dtypeOf(size) === "float64", largest = k(o, size, double ? 700 : 88);
  for (let i = 0; i < (double ? 3 : 2); i++) {
    const left = o.erfc(x), beyond = o.mul(left, o.log(o.div(left, rest)));
    const error = o.select(near, o.sub(size, o.erf(x)), beyond);
    x = o.add(x, o.mul(o.mul(error, scale), o.exp(o.minimum(o.mul(x, x), largest))));
  }
  return x;
}

const erfinv = unary({
  name: "erfinv",
  doc: "The inverse of erf, as `torch.erfinv`.",
  rule: "float",
  body(o, y) {
    const one = k(o, y, 1), zero = k(o, y, 0), size = o.abs(y);
    const inside = o.select(o.gt(size, one), k(o, y, NaN), solveErf(o, size, o.sub(one, size)));
    const found = o.select(o.eq(size, one), k(o, y, Infinity), inside);
    return o.select(o.lt(y, zero), o.neg(found), o.select(o.eq(y, zero), y, found));
  },
  derivative: {
    reads: ["out"],
    of: (o, { grad, out }) => o.mul(o.mul(grad, Math.sqrt(Math.PI) / 2), o.exp(o.mul(out, out))),
  },
  range: [-0.9, 0.9],
  exposure: { namespaces: ["special"] },
});

// Chebyshev coefficients of Cephes' i0 and i1 (Moshier), on [0, 8] and beyond.
const I0_LOW = [
  -4.41534164647933937950E-18,
  3.33079451882223809783E-17,
  -2.43127984654795469359E-16,
  1.71539128555513303061E-15,
  -1.16853328779934516808E-14,
  7.67618549860493561688E-14,
  -4.85644678311192946090E-13,
  2.95505266312963983461E-12,
  -1.72682629144155570723E-11,
  9.67580903537323691224E-11,
  -5.18979560163526290666E-10,
  2.65982372468238665035E-9,
  -1.30002500998624804212E-8,
  6.04699502254191894932E-8,
  -2.67079385394061173391E-7,
  1.11738753912010371815E-6,
  -4.41673835845875056359E-6,
  1.64484480707288970893E-5,
  -5.75419501008210370398E-5,
  1.88502885095841655729E-4,
  -5.76375574538582365885E-4,
  1.63947561694133579842E-3,
  -4.32430999505057594430E-3,
  1.05464603945949983183E-2,
  -2.37374148058994688156E-2,
  4.93052842396707084878E-2,
  -9.49010970480476444210E-2,
  1.71620901522208775349E-1,
  -3.04682672343198398683E-1,
  6.76795274409476084995E-1,
];
const I0_HIGH = [
  -7.23318048787475395456E-18,
  -4.83050448594418207126E-18,
  4.46562142029675999901E-17,
  3.46122286769746109310E-17,
  -2.82762398051658348494E-16,
  -3.42548561967721913462E-16,
  1.77256013305652638360E-15,
  3.81168066935262242075E-15,
  -9.55484669882830764870E-15,
  -4.15056934728722208663E-14,
  1.54008621752140982691E-14,
  3.85277838274214270114E-13,
  7.18012445138366623367E-13,
  -1.79417853150680611778E-12,
  -1.32158118404477131188E-11,
  -3.14991652796324136454E-11,
  1.18891471078464383424E-11,
  4.94060238822496958910E-10,
  3.39623202570838634515E-9,
  2.26666899049817806459E-8,
  2.04891858946906374183E-7,
  2.89137052083475648297E-6,
  6.88975834691682398426E-5,
  3.36911647825569408990E-3,
  8.04490411014108831608E-1,
];
const I1_LOW = [
  2.77791411276104639959E-18,
  -2.11142121435816608115E-17,
  1.55363195773620046921E-16,
  -1.10559694773538630805E-15,
  7.60068429473540693410E-15,
  -5.04218550472791168711E-14,
  3.22379336594557470981E-13,
  -1.98397439776494371520E-12,
  1.17361862988909016308E-11,
  -6.66348972350202774223E-11,
  3.62559028155211703701E-10,
  -1.88724975172282928790E-9,
  9.38153738649577178388E-9,
  -4.44505912879632808065E-8,
  2.00329475355213526229E-7,
  -8.56872026469545474066E-7,
  3.47025130813767847674E-6,
  -1.32731636560394358279E-5,
  4.78156510755005422638E-5,
  -1.61760815825896745588E-4,
  5.12285956168575772895E-4,
  -1.51357245063125314899E-3,
  4.15642294431288815669E-3,
  -1.05640848946261981558E-2,
  2.47264490306265168283E-2,
  -5.29459812080949914269E-2,
  1.02643658689847095384E-1,
  -1.76416518357834055153E-1,
  2.52587186443633654823E-1,
];
const I1_HIGH = [
  7.51729631084210481353E-18,
  4.41434832307170791151E-18,
  -4.65030536848935832153E-17,
  -3.20952592199342395980E-17,
  2.96262899764595013876E-16,
  3.30820231092092828324E-16,
  -1.88035477551078244854E-15,
  -3.81440307243700780478E-15,
  1.04202769841288027642E-14,
  4.27244001671195135429E-14,
  -2.10154184277266431302E-14,
  -4.08355111109219731823E-13,
  -7.19855177624590851209E-13,
  2.03562854414708950722E-12,
  1.41258074366137813316E-11,
  3.25260358301548823856E-11,
  -1.89749581235054123450E-11,
  -5.58974346219658380687E-10,
  -3.83538038596423702205E-9,
  -2.63146884688951950684E-8,
  -2.51223623787020892529E-7,
  -3.88256480887769039346E-6,
  -1.10588938762623716291E-4,
  -9.76109749136146840777E-3,
  7.78576235018280120474E-1,
];

/** e^−|x| I₀(x) or e^−|x| I₁(|x|) by two Chebyshev series. */
function scaledBessel<V>(o: Body<V>, x: V, order: 0 | 1): V {
  const a = o.abs(x);
  const low = chebyshev(o, o.sub(o.mul(a, k(o, x, 0.5)), k(o, x, 2)), order === 0 ? I0_LOW : I1_LOW);
  const high = chebyshev(o, o.sub(o.div(k(o, x, 32), a), k(o, x, 2)), order === 0 ? I0_HIGH : I1_HIGH);
  const value = o.select(o.le(a, k(o, x, 8)), order === 0 ? low : o.mul(low, a), o.div(high, o.sqrt(a)));
  return order === 0 ? value : o.select(o.lt(x, k(o, x, 0)), o.neg(value), value);
}

const i0 = unary({
  name: "i0",
  doc: "The modified Bessel function of order 0, as `torch.i0`.",
  rule: "float",
  body: (o, x) => o.mul(o.exp(o.abs(x)), scaledBessel(o, x, 0)),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.i1(self))),
  exposure: { namespaces: ["special"] },
});

const i0e = unary({
  name: "i0e",
  doc: "e^−|x| i0(x), as `torch.special.i0e`.",
  rule: "float",
  body: (o, x) => scaledBessel(o, x, 0),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.mul(grad, o.sub(o.i1e(self), o.mul(o.sign(self), out))),
  },
  inplace: false,
  exposure: { method: false, free: false, namespaces: ["special"] },
});

/** i1's derivative i0(x) − i1(x)/x, which is 1/2 at 0. */
const i1 = unary({
  name: "i1",
  doc: "The modified Bessel function of order 1, as `torch.special.i1`.",
  rule: "float",
  body: (o, x) => o.mul(o.exp(o.abs(x)), scaledBessel(o, x, 1)),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) =>
      o.mul(grad, o.where(o.eq(self, 0), 0.5, o.sub(o.i0(self), o.div(out, self)))),
  },
  inplace: false,
  exposure: { method: false, free: false, namespaces: ["special"] },
});

const i1e = unary({
  name: "i1e",
  doc: "e^−|x| i1(x), as `torch.special.i1e`.",
  rule: "float",
  body: (o, x) => scaledBessel(o, x, 1),
  derivative: {
    reads: ["self"],
    // Not from the result, whose rounding the difference of two near numbers would magnify
    of: (o, { grad, self }) => {
      const slope = o.sub(o.i0e(self), o.mul(o.i1e(self), o.add(o.sign(self), o.reciprocal(self))));
      return o.mul(grad, o.where(o.eq(self, 0), 0.5, slope));
    },
  },
  inplace: false,
  exposure: { method: false, free: false, namespaces: ["special"] },
});

const SPECIAL = { method: false, free: false, namespaces: ["special"] } as const;

const ndtr = unary({
  name: "ndtr",
  doc: "The area under the standard normal density up to x, as `torch.special.ndtr`.",
  rule: "float",
  body(o, x) {
    const half = k(o, x, 0.5);
    return o.mul(half, o.erfc(o.mul(x, k(o, x, -Math.SQRT1_2))));
  },
  derivative: ofSelf((o, { grad, self }) =>
    o.mul(grad, o.mul(o.exp(o.mul(o.mul(self, self), -0.5)), 1 / Math.sqrt(2 * Math.PI)))
  ),
  inplace: false,
  exposure: SPECIAL,
});

const entr = unary({
  name: "entr",
  doc: "−x log x, 0 at 0 and −∞ below, as `torch.special.entr`.",
  rule: "float",
  body(o, x) {
    const zero = k(o, x, 0);
    const inside = o.select(o.eq(x, zero), zero, o.neg(o.mul(x, o.log(x))));
    return o.select(o.lt(x, zero), k(o, x, -Infinity), inside);
  },
  derivative: ofSelf((o, { grad, self }) =>
    o.mul(grad, o.where(o.ge(self, 0), o.sub(o.neg(o.log(self)), 1), NaN))
  ),
  range: [0.1, 3],
  inplace: false,
  exposure: SPECIAL,
});

/** erfcx by its continued fraction beyond 4 and e^(x²) erfc(x) before. */
function scaledErfc<V>(o: Body<V>, x: V): V {
  const near = o.mul(o.exp(o.mul(x, x)), o.erfc(x));
  const one = k(o, x, 1), i2 = o.div(one, o.mul(x, x));
  const series = polynomial(o, i2, [
    2027025 / 128,
    -135135 / 64 / 1,
    10395 / 64,
    -945 / 32,
    105 / 16,
    -15 / 8,
    3 / 4,
    -1 / 2,
    1,
  ]);
  const far = o.mul(o.div(k(o, x, 1 / Math.sqrt(Math.PI)), x), series);
  return o.select(o.gt(x, k(o, x, 8)), far, near);
}

const erfcx = unary({
  name: "erfcx",
  doc: "e^(x²) erfc(x), as `torch.special.erfcx`.",
  rule: "float",
  body: (o, x) => scaledErfc(o, x),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.mul(grad, o.sub(o.mul(o.mul(self, out), 2), 2 / Math.sqrt(Math.PI))),
  },
  inplace: false,
  exposure: SPECIAL,
});

const logNdtr = unary({
  name: "logNdtr",
  doc: "log(ndtr(x)), also far below 0, as `torch.special.log_ndtr`.",
  rule: "float",
  body(o, x) {
    const z = o.mul(x, k(o, x, Math.SQRT1_2)), half = k(o, x, 0.5);
    const below = o.sub(o.log(o.mul(half, scaledErfc(o, o.neg(z)))), o.mul(z, z));
    const above = o.log1p(o.mul(o.neg(half), o.erfc(z)));
    return o.select(o.lt(x, k(o, x, -1)), below, above);
  },
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) =>
      o.mul(grad, o.mul(o.exp(o.sub(o.mul(o.mul(self, self), -0.5), out)), 1 / Math.sqrt(2 * Math.PI))),
  },
  inplace: false,
  exposure: SPECIAL,
});

const ndtri = unary({
  name: "ndtri",
  doc: "The inverse of ndtr, as `torch.special.ndtri`.",
  rule: "float",
  body(o, p) {
    const one = k(o, p, 1), upper = o.gt(p, k(o, p, 0.5));
    // ndtr(−x) = erfc(x / √2) / 2, and by symmetry for the upper half
    const rest = o.mul(k(o, p, 2), o.select(upper, o.sub(one, p), p));
    const x = o.mul(k(o, p, Math.SQRT2), solveErf(o, o.sub(one, rest), rest));
    const zero = k(o, p, 0);
    const inside = o.and(o.gt(p, zero), o.lt(p, one));
    const edge = o.select(
      o.eq(p, zero),
      k(o, p, -Infinity),
      o.select(o.eq(p, one), k(o, p, Infinity), k(o, p, NaN)),
    );
    return o.select(inside, o.select(upper, x, o.sub(zero, x)), edge);
  },
  derivative: {
    reads: ["out"],
    of: (o, { grad, out }) => o.mul(o.mul(grad, Math.sqrt(2 * Math.PI)), o.exp(o.mul(o.mul(out, out), 0.5))),
  },
  range: [0.05, 0.95],
  inplace: false,
  exposure: SPECIAL,
});

const mvlgamma = defineWideOp({
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

export const specialOps = {
  digamma,
  trigamma,
  erfinv,
  i0,
  i0e,
  i1,
  i1e,
  ndtr,
  entr,
  erfcx,
  logNdtr,
  ndtri,
  mvlgamma,
} as const;
