/**
 * The incomplete gamma functions. Invariant: computed on the host in float64, since the number of terms depends on
 * the elements: by a series below a + 1, by a continued fraction beyond, by a series of the difference from 1 where a
 * and x are small, and by an expansion around the normal distribution where a is large.
 */
import { DynError } from "../../base/errors.ts";
import type { HostTensor } from "../definition.ts";
import { hostTensor } from "../host.ts";
import { required } from "../params.ts";
import { checkCategory, pointwiseMeta, reduceTo, typesOf } from "../pointwise.ts";
import { broadcastShapes, knownSize } from "../shapes.ts";
import { hostWideOp } from "../wide.ts";

/** Coefficients of Stirling's series in 1/a², over a. */
const STIRLING = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360] as const;

/** log Γ(a) − (a − ½)·log a + a − ½·log 2π, a ≥ 12. */
const stirlingRest = (a: number): number => STIRLING.reduceRight((sum, c) => sum / (a * a) + c, 0) / a;

/** xᵃ·e⁻ˣ/Γ(a + 1), without the cancellation of its logarithms where a is large. */
function density(a: number, x: number): number {
  let factor = 1, b = a;
  // Γ(a + 1) by Γ(b + 1)
  if (a < 12 && x < 1) {
    // Powers of the quotients below would overflow for a small x
    for (; b < 12; b++) factor *= b + 1;
    const root = Math.sqrt(2 * Math.PI * b);
    return factor * x ** a * Math.exp(b - x - stirlingRest(b)) / (root * b ** b);
  }
  for (; b < 12; b++) factor *= (b + 1) / x;
  const deviation = (x - b) / b;
  const logs = Math.abs(deviation) < 0.5
    ? b * (Math.log1p(deviation) - deviation)
    : b * Math.log(x / b) + b - x;
  const exponent = logs - stirlingRest(b);
  return factor * Math.exp(exponent) / Math.sqrt(2 * Math.PI * b);
}

/** P(a, x) of 0 < x < a + 1: xᵃ·e⁻ˣ/Γ(a + 1)·(1 + x/(a + 1) + x²/((a + 1)(a + 2)) + …) */
function bySeries(a: number, x: number): number {
  let term = 1, sum = 1;
  for (let n = 1; term > sum * Number.EPSILON / 4; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return density(a, x) * sum;
}

/** Q(a, x) of x ≥ a + 1, by Lentz' rule: xᵃ·e⁻ˣ/Γ(a)·1/(x + 1 − a − 1·(1 − a)/(x + 3 − a − …)) */
function byFraction(a: number, x: number): number {
  let b = x + 1 - a, c = Infinity, d = 1 / b, value = d;
  for (let n = 1;; n++) {
    const step = -n * (n - a);
    b += 2;
    d = 1 / (step * d + b);
    c = b + step / c;
    value *= c * d;
    if (Math.abs(c * d - 1) < Number.EPSILON) return density(a, x) * a * value;
  }
}

/** ζ(n) − 1, n ≥ 2: the terms below 40⁻ⁿ, then the sum of Euler and Maclaurin. */
function zetaRest(n: number): number {
  const at = 40, power = at ** -n, rise = n * (n + 1) * (n + 2);
  let sum = power * (at / (n - 1) + 1 / 2 + n / (12 * at) - rise / (720 * at ** 3));
  sum += power * rise * (n + 3) * (n + 4) / (30240 * at ** 5);
  for (let k = at - 1; k >= 2; k--) sum += k ** -n;
  return sum;
}

/** 1 − γ, Euler's constant, then (−1)ⁿ·(ζ(n) − 1)/n. */
const LOG_GAMMA = [
  0.42278433509846713,
  ...Array.from({ length: 28 }, (_, k) => (k % 2 === 0 ? 1 : -1) * zetaRest(k + 2) / (k + 2)),
];

/** log Γ(1 + a) of 0 < a ≤ ½ with its relative precision: −log(1 + a) + (1 − γ)·a + Σ (−1)ⁿ·(ζ(n) − 1)·aⁿ/n, DLMF 5.7.3. */
const logGammaAfterOne = (a: number): number =>
  LOG_GAMMA.reduceRight((sum, c) => (sum + c) * a, 0) - Math.log1p(a);

/**
 * Q(a, x) of small a and x, where 1 − P(a, x) would cancel: 1 − xᵃ/Γ(1 + a) − xᵃ/Γ(a)·Σ (−x)ⁿ/(n!·(a + n)), DLMF 8.7.1.
 */
function bySmallSeries(a: number, x: number): number {
  let factor = 1, sum = 0;
  for (let n = 1;; n++) {
    factor *= -x / n;
    const term = factor / (a + n);
    sum += term;
    if (Math.abs(term) <= Math.abs(sum) * Number.EPSILON / 4) break;
  }
  const log = a * Math.log(x) - logGammaAfterOne(a);
  return -Math.expm1(log) - Math.exp(log) * a * sum;
}

/** From here on the normal distribution is exact enough; a series would take √a terms. */
const LARGE = 1e8;

/** μ − log(1 + μ), without cancellation. */
function excess(mu: number): number {
  if (Math.abs(mu) > 0.01) return mu - Math.log1p(mu);
  let sum = 0;
  for (let n = 10; n >= 2; n--) sum = (n % 2 === 0 ? 1 : -1) / n + sum * mu;
  return sum * mu * mu;
}

/** P(a, x), or Q(a, x), of large a: the first terms of Temme's uniform expansion, with ½·erfc(z) = ½·Q(½, z²). */
function byNormal(a: number, x: number, upper: boolean): number {
  const mu = (x - a) / a, half = excess(mu), eta = Math.sign(mu) * Math.sqrt(2 * half);
  const tail = regularized(0.5, a * half, true) / 2;
  const series = -1 / 3 + eta * (1 / 12 + eta * (-2 / 135 + eta / 864));
  const rest = Math.exp(-a * half) / Math.sqrt(2 * Math.PI * a) * (Math.abs(eta) < 0.1 ? series : 0);
  const isFar = upper ? mu >= 0 : mu < 0, near = upper ? rest : -rest;
  return (isFar ? tail : 1 - tail) + near;
}

/** P(a, x), or Q(a, x) = 1 − P(a, x) where `upper` is true. */
function regularized(a: number, x: number, upper: boolean): number {
  if (!(a >= 0 && x >= 0) || (a === 0 && x === 0) || (a === Infinity && x === Infinity)) return NaN;
  if (a === 0 || x === Infinity) return upper ? 0 : 1;
  if (x === 0 || a === Infinity) return upper ? 1 : 0;
  if (a >= LARGE) return byNormal(a, x, upper);
  if (x < a + 1) {
    if (upper && a <= 0.5) return bySmallSeries(a, x);
    const lower = Math.min(bySeries(a, x), 1);
    return upper ? 1 - lower : lower;
  }
  return upper ? byFraction(a, x) : 1 - byFraction(a, x);
}

/** Strides of a row-major shape in a broadcast one; 0 along repeated dimensions. */
function stridesIn(shape: readonly number[], wide: readonly number[]): number[] {
  let size = 1;
  const own = shape.toReversed().map((s) => {
    const stride = s === 1 ? 0 : size;
    size *= s;
    return stride;
  }).toReversed();
  return [...new Array<number>(wide.length - shape.length).fill(0), ...own];
}

function broadcastElements(x: HostTensor, wide: readonly number[]): (k: number) => number {
  const strides = stridesIn(x.shape, wide);
  return (k) => {
    let rest = k, at = 0;
    for (let d = wide.length - 1; d >= 0; d--) {
      const size = wide[d] ?? 1;
      at += rest % size * (strides[d] ?? 0);
      rest = Math.floor(rest / size);
    }
    return Number(x.data[at] ?? NaN);
  };
}

/** igamma and igammac. */
function incomplete(name: "igamma" | "igammac", alias: "gammainc" | "gammaincc") {
  const upper = name === "igammac";
  return hostWideOp({
    name,
    doc:
      `The regularized ${
        upper ? "upper" : "lower"
      } incomplete gamma function of a = self and x = other, as ` +
      `\`torch.${name}\`. Computed on the host.`,
    params: { self: required("tensor"), other: required("tensor") },
    inplace: true,
    infer({ self, other }) {
      for (const each of [self, other]) checkCategory(name, each.dtype, ["float"]);
      return pointwiseMeta([self, other], typesOf("float", [self, other]).result);
    },
    compute({ self, other }) {
      const shape = broadcastShapes(self.shape, other.shape).map((s) => knownSize(s));
      const a = broadcastElements(self, shape), x = broadcastElements(other, shape);
      const count = shape.reduce((m, n) => m * n, 1), values = new Float64Array(count);
      for (let i = 0; i < count; i++) values[i] = regularized(a(i), x(i), upper);
      return [hostTensor(shape, typesOf("float", [self, other]).result, values)];
    },
    gradient: {
      saves: ["self", "other"],
      single(o, grad, { args: { self, other }, needs }) {
        if (needs("self")) {
          throw new DynError(`Expected no gradient of the first argument of ${name}: it has no closed form`);
        }
        const log = o.sub(o.sub(o.mul(o.sub(self, 1), o.log(other)), other), o.lgamma(self));
        const slope = o.mul(grad, o.exp(log));
        return { other: reduceTo(o, upper ? o.neg(slope) : slope, other) };
      },
    },
    exposure: { namespaces: ["special"], aliases: [alias] },
    samples: [],
    errors: [{
      args: [{ tensor: [2], dtype: "int64" }, { tensor: [2], dtype: "int64" }],
      message: "floating-point",
    }],
  });
}

export const incompleteGammas = {
  igamma: incomplete("igamma", "gammainc"),
  igammac: incomplete("igammac", "gammaincc"),
} as const;
