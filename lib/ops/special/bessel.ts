/**
 * Bessel and Airy functions. Invariant: near 0 by series in x², beyond by amplitude and phase, so that errors are
 * small relative to the amplitude, but not to values near zeros.
 */
import type { Body } from "../../loops/body.ts";
import * as series from "./bessel_series.ts";
import { nearZero, SINE_QUOTIENT } from "./near_zero.ts";
import { chebyshev, ofOrderOne, ofSelf, special } from "./series.ts";
import { k } from "../pointwise.ts";

/** The approximations of J and Y of one order, for x > 0. */
interface Parts<V> {
  /** Jₙ on [0, 8]. */
  readonly near: V;
  /** √(2/πx), and cos and sin of x − (2n + 1)·π/4. */
  readonly amplitude: V;
  readonly cosine: V;
  readonly sine: V;
  readonly inPhase: V;
  readonly outOfPhase: V;
}

function parts<V>(o: Body<V>, x: V, order: 0 | 1): Parts<V> {
  const two = k(o, x, 2), square = o.mul(x, x);
  const low = chebyshev(o, square16(o, x), order === 0 ? series.J0 : series.J1);
  const far = o.sub(o.div(k(o, x, 256), square), two);
  const half = k(o, x, Math.SQRT1_2), c = o.cos(x), s = o.sin(x);
  const sum = o.mul(o.add(c, s), half), difference = o.mul(o.sub(s, c), half);
  return {
    near: order === 0 ? low : o.mul(x, low),
    amplitude: o.sqrt(o.div(k(o, x, 2 / Math.PI), x)),
    cosine: order === 0 ? sum : difference,
    sine: order === 0 ? difference : o.neg(sum),
    inPhase: chebyshev(o, far, order === 0 ? series.P0 : series.P1),
    outOfPhase: o.div(chebyshev(o, far, order === 0 ? series.Q0 : series.Q1), x),
  };
}

/** x²/16 − 2 */
const square16 = <V>(o: Body<V>, x: V): V => o.sub(o.mul(o.mul(x, x), k(o, x, 1 / 16)), k(o, x, 2));

function firstKind<V>(o: Body<V>, x: V, order: 0 | 1): V {
  const size = o.abs(x), { near, amplitude, cosine, sine, inPhase, outOfPhase } = parts(o, size, order);
  const far = o.mul(amplitude, o.sub(o.mul(inPhase, cosine), o.mul(outOfPhase, sine)));
  const value = o.select(o.le(size, k(o, x, 8)), near, far);
  return order === 0 ? value : o.select(o.lt(x, k(o, x, 0)), o.neg(value), value);
}

/** −∞ at 0, NaN below. */
function secondKind<V>(o: Body<V>, x: V, order: 0 | 1): V {
  const { near, amplitude, cosine, sine, inPhase, outOfPhase } = parts(o, x, order), zero = k(o, x, 0);
  const rest = chebyshev(o, square16(o, x), order === 0 ? series.Y0 : series.Y1), log = o.mul(o.log(x), near);
  const singular = order === 0 ? log : o.sub(log, o.div(k(o, x, 1), x));
  const small = o.add(order === 0 ? rest : o.mul(x, rest), o.mul(k(o, x, 2 / Math.PI), singular));
  const far = o.mul(amplitude, o.add(o.mul(inPhase, sine), o.mul(outOfPhase, cosine)));
  const value = o.select(o.le(x, k(o, x, 8)), small, far);
  return o.select(o.gt(x, zero), value, o.select(o.eq(x, zero), k(o, x, -Infinity), k(o, x, NaN)));
}

const besselJ0 = special({
  name: "besselJ0",
  doc: "The Bessel function of the first kind of order 0, as `torch.special.bessel_j0`.",
  body: (o, x) => firstKind(o, x, 0),
  derivative: ofSelf((o, { grad, self }) => o.neg(o.mul(grad, o.besselJ1(self)))),
});

const besselJ1 = special({
  name: "besselJ1",
  doc: "The Bessel function of the first kind of order 1, as `torch.special.bessel_j1`.",
  body: (o, x) => firstKind(o, x, 1),
  derivative: ofOrderOne("waving", (o, x) => o.besselJ0(x)),
});

const besselY0 = special({
  name: "besselY0",
  doc: "The Bessel function of the second kind of order 0, as `torch.special.bessel_y0`.",
  body: (o, x) => secondKind(o, x, 0),
  derivative: ofSelf((o, { grad, self }) => o.neg(o.mul(grad, o.besselY1(self)))),
  range: [0.3, 12],
});

const besselY1 = special({
  name: "besselY1",
  doc: "The Bessel function of the second kind of order 1, as `torch.special.bessel_y1`.",
  body: (o, x) => secondKind(o, x, 1),
  derivative: {
    reads: ["self", "out"],
    // At 0, where both terms are −∞, 1/x² grows faster than the logarithm
    of: (o, { grad, self, out }) => {
      const slope = o.sub(o.besselY0(self), o.div(out, self));
      return o.mul(grad, o.where(o.eq(self, 0), Infinity, slope));
    },
  },
  range: [0.3, 12],
});

const sphericalBesselJ0 = special({
  name: "sphericalBesselJ0",
  doc: "sin(x)/x, the spherical Bessel function of order 0, as `torch.special.spherical_bessel_j0`.",
  body(o, x) {
    const one = k(o, x, 1), finite = o.lt(o.abs(x), k(o, x, Infinity));
    const value = o.select(o.or(finite, o.isNan(x)), o.div(o.sin(x), x), k(o, x, 0));
    return o.select(o.eq(x, k(o, x, 0)), one, value);
  },
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) =>
      o.mul(
        o.mul(grad, self),
        nearZero(o, self, {
          ...SINE_QUOTIENT,
          quotient: (x) => o.div(o.sub(o.cos(x), out), o.mul(x, x)),
        }),
      ),
  },
});

/** Ai: one series on [−4, 2], a decaying part above, waves below; ζ = ⅔·|x|^(3/2). */
function airy<V>(o: Body<V>, x: V): V {
  const size = o.abs(x),
    root = o.sqrt(size),
    zeta = o.mul(k(o, x, 2 / 3), o.mul(size, root)),
    fourth = o.sqrt(root);
  const two = k(o, x, 2), half = k(o, x, Math.SQRT1_2);
  const near = chebyshev(o, o.mul(o.add(x, k(o, x, 1)), k(o, x, 2 / 3)), series.AIRY_NEAR);
  const above = o.sub(o.div(k(o, x, 8 / 3 * 2 ** 1.5), zeta), two);
  const decay = o.div(o.exp(o.neg(zeta)), o.mul(k(o, x, 2 * Math.sqrt(Math.PI)), fourth));
  const high = o.mul(decay, chebyshev(o, above, series.AIRY_DECAYING));
  const inverse = o.div(k(o, x, 16 / 3), zeta),
    below = o.sub(o.mul(o.mul(inverse, inverse), k(o, x, 4)), two);
  const c = o.cos(zeta), s = o.sin(zeta), sine = o.mul(o.add(s, c), half), cosine = o.mul(o.sub(c, s), half);
  const quadrature = o.div(chebyshev(o, below, series.AIRY_OUT_OF_PHASE), zeta);
  const wave = o.sub(o.mul(sine, chebyshev(o, below, series.AIRY_IN_PHASE)), o.mul(cosine, quadrature));
  const low = o.div(o.mul(k(o, x, 1 / Math.sqrt(Math.PI)), wave), fourth);
  return o.select(o.gt(x, two), high, o.select(o.lt(x, k(o, x, -4)), low, near));
}

const airyAi = special({
  name: "airyAi",
  doc: "The Airy function Ai, as `torch.special.airy_ai`.",
  body: airy,
  derivative: "the derivative of Ai is not an op",
});

export const bessel = { besselJ0, besselJ1, besselY0, besselY1, sphericalBesselJ0, airyAi } as const;
