/**
 * Parts of floats: their sign as an angle, mantissas and exponents, neighbours. Invariant: results are exact bit by
 * bit, for zeros and NaN too.
 */
import { DynError } from "../../base/errors.ts";
import { isFloat, isHalf } from "../../base/dtype.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import type { Body } from "../../loops/body.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { required } from "../params.ts";
import { checkCategory, pointwise, reduceTo, t, unary } from "../pointwise.ts";
import { broadcastShapes } from "../shapes.ts";
import { composeWideOp, lowerWideOp } from "../wide.ts";

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

/** x · 2^−exponent in two steps, since one factor may overflow. */
function timesPower<T extends TensorLike>(o: OpApi<T>, x: T, exponent: T): T {
  const half = o.trunc(o.mul(exponent, 0.5));
  return o.mul(o.mul(x, o.exp2(o.neg(half))), o.exp2(o.sub(half, exponent)));
}

const frexpMantissa = composeWideOp({
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
  samples: [{ args: [t(3, 4)] }],
});

/** The float32 next to `a` on the side of `b`, by its bits. */
function neighbour32<V>(o: Body<V>, a: V, b: V): V {
  const zero = o.constant(0, "float32"), bits = o.floatToBits(a), one = o.constant(1, "int32");
  // Away from 0 the bits grow, whatever the sign
  const away = o.eq(o.lt(a, b), o.gt(a, zero));
  const moved = o.bitsToFloat(o.select(away, o.add(bits, one), o.sub(bits, one)));
  const least = o.bitsToFloat(one);
  return o.select(o.eq(a, zero), o.select(o.gt(b, zero), least, o.neg(least)), moved);
}

/** The same of a small float, by its 16 bits. */
function neighbour16<V>(o: Body<V>, a: V, b: V, dtype: "float16" | "bfloat16"): V {
  const zero = o.constant(0, "float32"), one = o.constant(1, "int32");
  const bits = dtype === "float16" ? o.floatToHalf(a) : o.floatToBfloat(a);
  const number = (x: V) => dtype === "float16" ? o.halfToFloat(x) : o.bfloatToFloat(x);
  const away = o.eq(o.lt(a, b), o.gt(a, zero)), least = number(one);
  const moved = number(o.select(away, o.add(bits, one), o.sub(bits, one)));
  return o.select(o.eq(a, zero), o.select(o.gt(b, zero), least, o.neg(least)), moved);
}

/**
 * The same of float64, by arithmetic rounded to nearest: Rump, Zimmermann, Boldo and Melquiond, "Computing
 * predecessor and successor in rounding to nearest", 2009.
 */
function neighbour64<V>(o: Body<V>, a: V, b: V): V {
  const number = (value: number) => o.constant(value, "float64");
  const unit = 2 ** -53, least = number(2 ** -1074), factor = number(unit * (1 + 2 * unit));
  const up = o.gt(b, a), size = o.abs(a);
  const moved = (from: V, by: V) => o.select(up, o.add(from, by), o.sub(from, by));
  const large = moved(a, o.mul(factor, size));
  // Near the smallest number the unit in the last place is computed at 2⁵³ times the scale
  const scaled = o.mul(a, number(2 ** 53));
  const small = o.mul(moved(scaled, o.mul(factor, o.abs(scaled))), number(unit));
  const near = o.select(o.lt(size, number(2 ** -1021)), moved(a, least), small);
  const found = o.select(o.lt(size, number(2 ** -968)), near, large);
  const greatest = o.select(up, number(-Number.MAX_VALUE), number(Number.MAX_VALUE));
  return o.select(o.eq(size, number(Infinity)), greatest, found);
}

/** The next number of a float type towards another: one unit in the last place. */
const nextafter = lowerWideOp({
  name: "nextafter",
  doc: "The next float after self towards other, as `torch.nextafter`.",
  params: { self: required("tensor"), other: required("tensor") },
  infer({ self, other }) {
    if (self.dtype !== other.dtype || !isFloat(self.dtype)) {
      throw new DynError(
        `Expected tensors of one floating type in nextafter but found ${self.dtype} and ${other.dtype}`,
      );
    }
    return contiguousMeta(broadcastShapes(self.shape, other.shape), self.dtype, self.device);
  },
  lower: ({ self, other }, [result]) =>
    pointwise(result, {
      operands: [self, other],
      compute: self.dtype,
      body(o, [a, b]) {
        const { dtype } = self;
        const next = isHalf(dtype)
          ? neighbour16(o, a, b, dtype)
          : dtype === "float32"
          ? neighbour32(o, a, b)
          : neighbour64(o, a, b);
        const nan = o.or(o.isNan(a), o.isNan(b));
        return o.select(nan, o.add(a, b), o.select(o.eq(a, b), b, next));
      },
    }),
  gradient: {
    saves: ["self", "other"],
    single: (o, grad, { args: { self, other } }) => ({
      self: reduceTo(o, o.where(o.eq(self, other), 0, grad), self),
      other: o.zerosLike(other),
    }),
  },
  samples: [
    { args: [t(3, 4), t(4)] },
    { args: [{ tensor: [4], dtype: "float64" }, { tensor: [4], dtype: "float64", range: [-1, 3] }] },
  ],
  errors: [{ args: [t(3), { tensor: [3], dtype: "float64" }], message: "one floating type" }],
});

export const floatParts = {
  angle,
  frexp: frexpMantissa,
  nextafter,
} as const;
