/**
 * Special functions that are not scalar primitives. Invariant: approximations carry their source and stay within a
 * few units in the last place of float32.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import type { Body } from "../../loops/body.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isFloat } from "../../base/dtype.ts";
import { required } from "../params.ts";
import { floatTypeOf } from "../promotion.ts";
import { k, unary } from "../pointwise.ts";
import { composeWideOp } from "../wide.ts";
import { ofSelf, polynomial, special } from "./series.ts";
import { hurwitzOf } from "./zeta.ts";

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

const digamma = unary({
  name: "digamma",
  doc: "The derivative of lgamma, as `torch.digamma`.",
  rule: "float",
  body: (o, x) => o.digamma(x),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.trigamma(self))),
  range: [0.3, 4],
  exposure: { namespaces: ["special"], aliases: ["psi"] },
});

const trigamma = unary({
  name: "trigamma",
  doc: "The second derivative of lgamma.",
  rule: "float",
  body: (o, x) => hurwitzOf(o, 2, x),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.polygamma(2, self))),
  range: [0.3, 4],
  inplace: false,
  exposure: { method: false, free: false },
});

/**
 * The x ≥ 0 with erf(x) = size and erfc(x) = rest = 1 − size, of which the smaller is given exactly: Newton steps, for
 * erf near 0 and for log erfc beyond, where erf has lost its digits.
 */
function solveErf<V>(o: Body<V>, size: V, rest: V): V {
  const w = o.neg(o.log(o.mul(rest, o.add(k(o, size, 1), size)))), far = o.neg(o.log(rest));
  // erfc(x) ≈ exp(−x²) / (x·√π)
  const tail = o.sqrt(o.sub(far, o.mul(k(o, size, 0.5), o.log(o.mul(far, k(o, size, Math.PI))))));
  let x = o.select(o.lt(w, k(o, size, 14)), o.mul(size, erfinvFactor(o, w)), tail);
  const scale = k(o, size, Math.sqrt(Math.PI) / 2), near = o.lt(size, k(o, size, 0.5));
  const double = o.dtypeOf(size) === "float64", bound = double ? 700 : 88, largest = k(o, size, bound);
  for (let i = 0; i < (double ? 3 : 2); i++) {
    const left = o.erfc(x), beyond = o.mul(left, o.log(o.div(left, rest)));
    const error = o.select(near, o.sub(size, o.erf(x)), beyond);
    x = o.add(x, o.mul(o.mul(error, scale), o.exp(o.minimum(o.mul(x, x), largest))));
  }
  return o.select(o.gt(far, k(o, size, bound - 30)), solveFar(o, tail, far), x);
}

/** The x with log erfc(x) = −far, beside a first guess, where erfc itself may have no digits left. */
function solveFar<V>(o: Body<V>, guess: V, far: V): V {
  let x = guess;
  for (let i = 0; i < 2; i++) {
    const factor = farErfc(o, x), error = o.add(o.sub(far, o.mul(x, x)), o.log(factor));
    x = o.add(x, o.mul(o.mul(error, k(o, x, Math.sqrt(Math.PI) / 2)), factor));
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

const ndtr = special({
  name: "ndtr",
  doc: "The area under the standard normal density up to x, as `torch.special.ndtr`.",
  body(o, x) {
    const half = k(o, x, 0.5);
    return o.mul(half, o.erfc(o.mul(x, k(o, x, -Math.SQRT1_2))));
  },
  derivative: ofSelf((o, { grad, self }) =>
    o.mul(grad, o.mul(o.exp(o.mul(o.mul(self, self), -0.5)), 1 / Math.sqrt(2 * Math.PI)))
  ),
});

const entr = special({
  name: "entr",
  doc: "−x log x, 0 at 0 and −∞ below, as `torch.special.entr`.",
  body(o, x) {
    const zero = k(o, x, 0);
    const inside = o.select(o.eq(x, zero), zero, o.neg(o.mul(x, o.log(x))));
    return o.select(o.lt(x, zero), k(o, x, -Infinity), inside);
  },
  derivative: ofSelf((o, { grad, self }) =>
    o.mul(grad, o.where(o.ge(self, 0), o.sub(o.neg(o.log(self)), 1), NaN))
  ),
  range: [0.1, 3],
});

/** erfcx beyond 8, by its asymptotic series. */
function farErfc<V>(o: Body<V>, x: V): V {
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
  return o.mul(o.div(k(o, x, 1 / Math.sqrt(Math.PI)), x), series);
}

/** erfcx by its asymptotic series beyond 8, and e^(x²) erfc(x) before. */
function scaledErfc<V>(o: Body<V>, x: V): V {
  const near = o.mul(o.exp(o.mul(x, x)), o.erfc(x));
  return o.select(o.gt(x, k(o, x, 8)), farErfc(o, x), near);
}

const erfcx = special({
  name: "erfcx",
  doc: "e^(x²) erfc(x), as `torch.special.erfcx`.",
  body: (o, x) => scaledErfc(o, x),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.mul(grad, o.sub(o.mul(o.mul(self, out), 2), 2 / Math.sqrt(Math.PI))),
  },
});

const logNdtr = special({
  name: "logNdtr",
  doc: "log(ndtr(x)), also far below 0, as `torch.special.log_ndtr`.",
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
});

const ndtri = special({
  name: "ndtri",
  doc: "The inverse of ndtr, as `torch.special.ndtri`.",
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
});

const mvlgamma = composeWideOp({
  name: "mvlgamma",
  doc: "The logarithm of the multivariate gamma function of dimension p, as `torch.mvlgamma`.",
  params: { self: required("tensor"), p: required("int") },
  inplace: true,
  exposure: { namespaces: ["special"], aliases: ["multigammaln"] },
  infer({ self, p }) {
    checkAtLeast("p of multigammaln", p, 1);
    return contiguousMeta(self.shape, floatTypeOf(self.dtype), self.device);
  },
  compose(o, { self, p }) {
    const x = isFloat(self.dtype) ? self : o.to(self, floatTypeOf(self.dtype));
    const shifts = Array.from({ length: p }, (_, j) => o.lgamma(o.sub(x, j / 2)));
    const total = shifts.reduce((sum, term) => o.add(sum, term));
    return o.add(total, p * (p - 1) / 4 * Math.log(Math.PI));
  },
  samples: [{ args: [{ tensor: [3], range: [2, 5] }, 2] }],
});

export const functions = {
  digamma,
  trigamma,
  erfinv,
  ndtr,
  entr,
  erfcx,
  logNdtr,
  ndtri,
  mvlgamma,
} as const;
