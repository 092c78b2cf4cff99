/**
 * The Hurwitz zeta function and the derivatives of digamma. Invariant: for q > 0 ten terms followed by the
 * Euler–Maclaurin sum; below 0 by terms from both sides, which are finitely many differences of such sums.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body } from "../../loops/body.ts";
import { required } from "../params.ts";
import { k, pointwise, pointwiseMeta, reduceTo, typesOf } from "../pointwise.ts";
import { floatTypeOf, isTensor } from "../promotion.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";
import { factorial } from "./near_zero.ts";
import { SPECIAL } from "./series.ts";

/** B₂ₙ/(2n)! for n = 1, 2, … */
const BERNOULLI = [
  1 / 12,
  -1 / 720,
  1 / 30240,
  -1 / 1209600,
  1 / 47900160,
  -691 / 1307674368000,
  1 / 74724249600,
  -3617 / 10670622842880000,
] as const;

/** Number of terms before the rest is summed as an integral. */
const TERMS = 10;

/** An order x, and a⁻ˣ for a > 0. */
interface Order<V> {
  readonly x: V;
  readonly power: (a: V) => V;
}

/** Σ 1/(q + i)ˣ from i = 0 on, x > 1, q > 0. */
function positive<V>(o: Body<V>, { x, power }: Order<V>, q: V): V {
  const one = k(o, x, 1);
  let sum = power(q);
  for (let i = 1; i < TERMS; i++) sum = o.add(sum, power(o.add(q, k(o, x, i))));
  // ∫ from a on, half of the term at a, and its odd derivatives
  const a = o.add(q, k(o, x, TERMS)), term = power(a), inverse = o.div(one, a);
  let factor = o.mul(x, inverse), corrections = k(o, x, 0);
  BERNOULLI.forEach((b, n) => {
    corrections = o.fma(factor, k(o, x, b), corrections);
    const next = o.mul(o.add(x, k(o, x, 2 * n + 1)), o.add(x, k(o, x, 2 * n + 2)));
    factor = o.mul(factor, o.mul(next, o.mul(inverse, inverse)));
  });
  const rest = o.add(o.add(o.div(a, o.sub(x, one)), k(o, x, 0.5)), corrections);
  // Neither an infinite sum nor one of zeros, as from an infinite q on, has a remainder
  const continues = o.and(o.lt(sum, k(o, x, Infinity)), o.gt(term, k(o, x, 0)));
  return o.select(continues, o.fma(term, rest, sum), sum);
}

/** The distances of q from the neighbouring poles, where the two sums start. */
const sides = <V>(o: Body<V>, q: V): { readonly above: V; readonly below: V } => ({
  above: o.sub(q, o.floor(q)),
  below: o.sub(o.ceil(q), q),
});

/** ζ of an order at q < 0: the terms up to 0 are those of 1 − q on that are left out from `below` on, with their sign. */
function negative<V>(
  o: Body<V>,
  order: Order<V>,
  at: { readonly q: V; readonly usual: V; readonly odd: V },
): V {
  const { q, usual, odd } = at, one = k(o, q, 1);
  const others = o.sub(positive(o, order, sides(o, q).below), positive(o, order, o.sub(one, q)));
  return o.add(usual, o.select(odd, o.neg(others), others));
}

/** Whether q is 0, −1, −2, … */
const isPole = <V>(o: Body<V>, q: V): V => o.and(o.le(q, k(o, q, 0)), o.eq(q, o.floor(q)));

/** ζ(x, q): ∞ at x = 1 and at the poles q = 0, −1, …; NaN for x < 1 and for q < 0 unless x is an integer. */
function hurwitz<V>(o: Body<V>, x: V, q: V): V {
  const one = k(o, x, 1), below = o.lt(q, k(o, x, 0)), minus = o.neg(x);
  const order = { x, power: (a: V) => o.pow(a, minus) };
  const usual = positive(o, order, o.select(below, sides(o, q).above, q));
  const value = o.masked(below, () => {
    const odd = o.ne(o.mul(o.floor(o.mul(x, k(o, x, 0.5))), k(o, x, 2)), x);
    return o.select(o.eq(x, o.floor(x)), negative(o, order, { q, usual, odd }), k(o, x, NaN));
  }, usual);
  const defined = o.select(o.or(isPole(o, q), o.eq(x, one)), k(o, x, Infinity), value);
  return o.select(o.lt(x, one), k(o, x, NaN), defined);
}

/** ζ(n, q) of an integer n > 1, by products. */
export function hurwitzOf<V>(o: Body<V>, n: number, q: V): V {
  const below = o.lt(q, k(o, q, 0)), one = k(o, q, 1);
  const power = (a: V): V => {
    const inverse = o.div(one, a);
    return Array.from({ length: n - 1 }).reduce<V>((product) => o.mul(product, inverse), inverse);
  };
  const order = { x: k(o, q, n), power };
  const usual = positive(o, order, o.select(below, sides(o, q).above, q));
  const odd = o.constant(n % 2 === 1, "bool");
  const value = o.masked(below, () => negative(o, order, { q, usual, odd }), usual);
  return o.select(isPole(o, q), k(o, q, Infinity), value);
}

const zeta = lowerWideOp({
  name: "zeta",
  doc:
    "The zeta function of Hurwitz, Σ 1/(other + i)^self, as `torch.special.zeta`. One of them may be a number.",
  params: { self: required("operand"), other: required("operand") },
  exposure: SPECIAL,
  elementwise: true,
  infer: ({ self, other }) => pointwiseMeta([self, other], typesOf("float", [self, other]).result),
  lower: ({ self, other }, [result]) =>
    pointwise(result, {
      operands: [self, other],
      compute: result?.dtype ?? "float32",
      body: (o, [x, q]) => hurwitz(o, x, q),
    }),
  gradient: {
    saves: ["self", "other"],
    single(o, grad, { args: { self, other }, needs }) {
      if (isTensor(self) && needs("self")) {
        throw new DynError("Expected no gradient of the first argument of zeta: it has no closed form");
      }
      if (!isTensor(other) || !needs("other")) return {};
      const order = isTensor(self) ? self : o.fullLike(other, self);
      const slope = o.neg(o.mul(order, o.zeta(o.add(order, 1), other)));
      return { other: reduceTo(o, o.mul(grad, slope), other) };
    },
  },
  samples: [
    { args: [{ tensor: [3], dtype: "int64", range: [2, 5] }, { tensor: [3], range: [0.3, 4] }] },
    { args: [3, { tensor: [2, 2], range: [-1.8, -1.2] }] },
  ],
  errors: [{ args: [2, 3], message: "at least one tensor" }],
});

const polygamma = composeWideOp({
  name: "polygamma",
  doc:
    "The n-th derivative of digamma, as `torch.polygamma`; `n` comes first, or second as in `x.polygamma(n)`.",
  params: { n: required("int"), self: required("tensor") },
  arrange: (given, isATensor) => isATensor(given[0]) ? [given[1], given[0], ...given.slice(2)] : given,
  exposure: { method: false, namespaces: ["special"] },
  infer({ n, self }) {
    checkAtLeast("n of polygamma", n, 0);
    return contiguousMeta(self.shape, floatTypeOf(self.dtype), self.device);
  },
  compose(o, { n, self }) {
    if (n === 0) return o.digamma(self);
    return n === 1 ? o.trigamma(self) : o.polygammaOf(self, n);
  },
  samples: [0, 1, 2, 3].map((n) => ({ args: [n, { tensor: [3], range: [0.3, 4] }] as const })),
  errors: [{ args: [-1, { tensor: [3] }], message: "at least 0" }],
});

const polygammaOf = lowerWideOp({
  name: "polygammaOf",
  doc: "(−1)ⁿ⁺¹ · n! · ζ(n + 1, self), n ≥ 1.",
  params: { self: required("tensor"), n: required("int") },
  exposure: { method: false, free: false },
  elementwise: true,
  infer: ({ self }) => contiguousMeta(self.shape, floatTypeOf(self.dtype), self.device),
  lower: ({ self, n }, [result]) =>
    pointwise(result, {
      operands: [self],
      compute: result?.dtype ?? "float32",
      body(o, [q]) {
        const scale = factorial(n) * (n % 2 === 1 ? 1 : -1);
        return o.mul(k(o, q, scale), hurwitzOf(o, n + 1, q));
      },
    }),
  gradient: {
    saves: ["self"],
    single: (o, grad, { args: { self, n } }) => ({ self: o.mul(grad, o.polygammaOf(self, n + 1)) }),
  },
  samples: [{ args: [{ tensor: [3], range: [0.3, 4] }, 2] }, {
    args: [{ tensor: [3], range: [-1.8, -1.2] }, 3],
  }],
});

export const zetas = { zeta, polygamma, polygammaOf } as const;
