/**
 * Modified Bessel functions. Invariant: I uses Cephes' series, K those of bessel_series.ts, each multiplied by a
 * factor that makes it vary slowly.
 */
import type { Body } from "../../loops/body.ts";
import { k, unary } from "../pointwise.ts";
import { K0_HIGH, K0_LOW, K1_HIGH, K1_LOW } from "./bessel_series.ts";
import { nearZero, ORDER_ONE } from "./near_zero.ts";
import { I0_HIGH, I0_LOW, I1_HIGH, I1_LOW } from "./modified_series.ts";
import { chebyshev, ofOrderOne, ofSelf, special } from "./series.ts";

/** e^−|x| I₀(x) or e^−|x| I₁(|x|) by two Chebyshev series. */
function scaledBessel<V>(o: Body<V>, x: V, order: 0 | 1): V {
  const a = o.abs(x);
  const low = chebyshev(o, o.sub(o.mul(a, k(o, x, 0.5)), k(o, x, 2)), order === 0 ? I0_LOW : I1_LOW);
  const high = chebyshev(o, o.sub(o.div(k(o, x, 32), a), k(o, x, 2)), order === 0 ? I0_HIGH : I1_HIGH);
  const value = o.select(o.le(a, k(o, x, 8)), order === 0 ? low : o.mul(low, a), o.div(high, o.sqrt(a)));
  return order === 0 ? value : o.select(o.lt(x, k(o, x, 0)), o.neg(value), value);
}

/** I₀(x) or I₁(x). */
const growing = <V>(o: Body<V>, x: V, order: 0 | 1): V => o.mul(o.exp(o.abs(x)), scaledBessel(o, x, order));

const i0 = unary({
  name: "i0",
  doc: "The modified Bessel function of order 0, as `torch.i0`.",
  rule: "float",
  body: (o, x) => growing(o, x, 0),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.i1(self))),
  exposure: { namespaces: ["special"] },
});

const i0e = special({
  name: "i0e",
  doc: "e^−|x| i0(x), as `torch.special.i0e`.",
  body: (o, x) => scaledBessel(o, x, 0),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.mul(grad, o.sub(o.i1e(self), o.mul(o.sign(self), out))),
  },
});

const i1 = special({
  name: "i1",
  doc: "The modified Bessel function of order 1, as `torch.special.i1`.",
  body: (o, x) => growing(o, x, 1),
  derivative: ofOrderOne("growing", (o, x) => o.i0(x)),
});

const i1e = special({
  name: "i1e",
  doc: "e^−|x| i1(x), as `torch.special.i1e`.",
  body: (o, x) => scaledBessel(o, x, 1),
  derivative: {
    reads: ["self"],
    // Not computed from the result, whose rounding error a difference of close numbers would magnify
    of: (o, { grad, self }) => {
      const slope = nearZero(o, self, {
        ...ORDER_ONE.growing,
        factor: (x) => o.exp(o.neg(o.abs(x))),
        quotient: (x) => o.sub(o.i0e(x), o.div(o.i1e(x), x)),
      });
      return o.mul(grad, o.sub(slope, o.mul(o.sign(self), o.i1e(self))));
    },
  },
});

const modifiedBesselI0 = special({
  name: "modifiedBesselI0",
  doc: "As i0, as `torch.special.modified_bessel_i0`.",
  body: (o, x) => growing(o, x, 0),
  derivative: ofSelf((o, { grad, self }) => o.mul(grad, o.i1(self))),
});

const modifiedBesselI1 = special({
  name: "modifiedBesselI1",
  doc: "As i1, as `torch.special.modified_bessel_i1`.",
  body: (o, x) => growing(o, x, 1),
  derivative: ofOrderOne("growing", (o, x) => o.i0(x)),
});

/** eˣ·K₀(x) or eˣ·K₁(x), or those without eˣ: ∞ at 0, NaN below. */
function decaying<V>(o: Body<V>, x: V, { order, scaled }: { order: 0 | 1; scaled: boolean }): V {
  const two = k(o, x, 2), zero = k(o, x, 0), factor = o.exp(scaled ? x : o.neg(x));
  const series = chebyshev(o, o.sub(o.mul(x, x), two), order === 0 ? K0_LOW : K1_LOW);
  // Half of the least number is 0
  const tiny = o.lt(x, k(o, x, 1e-30));
  const half = o.sub(
    o.log(o.select(tiny, x, o.mul(x, k(o, x, 0.5)))),
    o.select(tiny, k(o, x, Math.LN2), zero),
  );
  const log = o.mul(half, growing(o, x, order));
  const low = order === 0 ? o.sub(series, log) : o.add(o.div(series, x), log);
  const high = o.div(
    chebyshev(o, o.sub(o.div(k(o, x, 8), x), two), order === 0 ? K0_HIGH : K1_HIGH),
    o.sqrt(x),
  );
  const value = o.select(
    o.le(x, two),
    scaled ? o.mul(low, factor) : low,
    scaled ? high : o.mul(high, factor),
  );
  return o.select(o.gt(x, zero), value, o.select(o.eq(x, zero), k(o, x, Infinity), k(o, x, NaN)));
}

const modifiedBesselK0 = special({
  name: "modifiedBesselK0",
  doc: "The modified Bessel function of the second kind of order 0, as `torch.special.modified_bessel_k0`.",
  body: (o, x) => decaying(o, x, { order: 0, scaled: false }),
  derivative: ofSelf((o, { grad, self }) => o.neg(o.mul(grad, o.modifiedBesselK1(self)))),
  range: [0.3, 5],
});

const modifiedBesselK1 = special({
  name: "modifiedBesselK1",
  doc: "The modified Bessel function of the second kind of order 1, as `torch.special.modified_bessel_k1`.",
  body: (o, x) => decaying(o, x, { order: 1, scaled: false }),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.neg(o.mul(grad, o.add(o.modifiedBesselK0(self), o.div(out, self)))),
  },
  range: [0.3, 5],
});

const scaledModifiedBesselK0 = special({
  name: "scaledModifiedBesselK0",
  doc: "e^x modifiedBesselK0(x), as `torch.special.scaled_modified_bessel_k0`.",
  body: (o, x) => decaying(o, x, { order: 0, scaled: true }),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) => o.mul(grad, o.sub(out, o.scaledModifiedBesselK1(self))),
  },
  range: [0.3, 5],
});

const scaledModifiedBesselK1 = special({
  name: "scaledModifiedBesselK1",
  doc: "e^x modifiedBesselK1(x), as `torch.special.scaled_modified_bessel_k1`.",
  body: (o, x) => decaying(o, x, { order: 1, scaled: true }),
  derivative: {
    reads: ["self", "out"],
    of: (o, { grad, self, out }) =>
      o.mul(grad, o.sub(o.sub(out, o.scaledModifiedBesselK0(self)), o.div(out, self))),
  },
  range: [0.3, 5],
});

export const modifiedBessel = {
  i0,
  i0e,
  i1,
  i1e,
  modifiedBesselI0,
  modifiedBesselI1,
  modifiedBesselK0,
  modifiedBesselK1,
  scaledModifiedBesselK0,
  scaledModifiedBesselK1,
} as const;
