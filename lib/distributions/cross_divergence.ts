/**
 * Divergences of distributions of different families on the real line. log q is written as a sum of functions of x
 * whose means under p are known, so that the divergence is −H(p) − E[log q(x)] under p, and infinite where p has
 * values that q excludes. Invariant: a family is described once, not once for each pair.
 */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { ContinuousBernoulli } from "./bounded.ts";
import { type Class, type Distribution, logBeta } from "./distribution.ts";
import { Beta, Gamma } from "./gamma.ts";
import { Pareto } from "./heavy_tails.ts";
import { Normal, Uniform } from "./normal.ts";
import { Exponential, Gumbel, Laplace } from "./tails.ts";

const EULER = 0.5772156649015329;

type Bound = number | Tensor;

/** Expected values under a distribution. */
interface Means extends Partial<Known> {
  readonly mean: Tensor;
  readonly variance: Tensor;
}

/** Expected values that only some families know. */
interface Known {
  /** The mean of log x. */
  readonly log: Tensor;
  /** The mean of log(1 − x). */
  readonly logRest: Tensor;
  /** The mean of e^(shift − x·t). The shift is part of the exponent, where neither e^shift nor the mean overflows. */
  readonly laplace: (t: Tensor, shift: Tensor) => Tensor;
}

interface Family {
  /** The bounds of the support. */
  readonly between: readonly [Bound, Bound];
  /** Whether the support lies above 0, whatever its bound. */
  readonly isPositive?: true;
  readonly means: Partial<Known>;
  /** The mean of its log density under another distribution; null if unknown. */
  readonly meanLogProb: ((under: Means) => Tensor | null) | null;
}

interface Description {
  readonly of: Class<Distribution>;
  readonly family: (of: Distribution) => Family | null;
}

function describe<D extends Distribution>(of: Class<D>, family: (d: D) => Family): Description {
  return { of, family: (d) => d instanceof of ? family(d) : null };
}

const xLogX = (x: Tensor): Tensor => ops.xlogy(x, x);

/** The mean of log x for x between two bounds. */
const meanLogBetween = (low: Tensor, high: Tensor): Tensor =>
  xLogX(high).sub(xLogX(low)).div(high.sub(low)).sub(1);

const FAMILIES: readonly Description[] = [
  describe(Beta, ({ concentration1: a, concentration0: b }) => ({
    between: [0, 1],
    means: { log: a.digamma().sub(a.add(b).digamma()), logRest: b.digamma().sub(a.add(b).digamma()) },
    meanLogProb: ({ log, logRest }) =>
      log && logRest ? a.sub(1).mul(log).add(b.sub(1).mul(logRest)).sub(logBeta(a, b)) : null,
  })),
  describe(ContinuousBernoulli, (q) => ({
    between: [0, 1],
    means: {},
    // The logarithm of its density is linear
    meanLogProb: ({ mean }) => q.logProb(mean),
  })),
  describe(Exponential, ({ rate }) => ({
    between: [0, Infinity],
    means: {
      log: rate.log().add(EULER).neg(),
      laplace: (t, shift) => rate.div(rate.add(t)).mul(shift.exp()),
    },
    meanLogProb: ({ mean }) => rate.log().sub(rate.mul(mean)),
  })),
  describe(Gamma, ({ concentration: a, rate: b }) => ({
    between: [0, Infinity],
    means: { log: a.digamma().sub(b.log()), laplace: (t, shift) => shift.sub(t.div(b).log1p().mul(a)).exp() },
    meanLogProb: ({ mean, log }) =>
      log ? a.mul(b.log()).sub(a.lgamma()).add(a.sub(1).mul(log)).sub(b.mul(mean)) : null,
  })),
  describe(Gumbel, ({ loc, scale }) => ({
    between: [-Infinity, Infinity],
    means: { laplace: (t, shift) => scale.mul(t).add(1).lgamma().sub(loc.mul(t)).add(shift).exp() },
    meanLogProb: ({ mean, laplace }) => {
      if (!laplace) return null;
      const shift = loc.div(scale), linear = mean.sub(loc).div(scale).add(scale.log());
      return linear.add(laplace(scale.reciprocal(), shift)).neg();
    },
  })),
  describe(Laplace, () => ({ between: [-Infinity, Infinity], means: {}, meanLogProb: null })),
  describe(Normal, ({ loc, scale }) => ({
    between: [-Infinity, Infinity],
    means: { laplace: (t, shift) => scale.mul(t).square().mul(0.5).sub(loc.mul(t)).add(shift).exp() },
    meanLogProb: ({ mean, variance }) =>
      variance.add(mean.sub(loc).square()).div(scale.square().mul(2))
        .add(scale.log()).add(0.5 * Math.log(2 * Math.PI)).neg(),
  })),
  describe(Pareto, ({ scale, alpha }) => ({
    between: [scale, Infinity],
    isPositive: true,
    means: { log: scale.log().add(alpha.reciprocal()) },
    meanLogProb: ({ log }) => log ? alpha.log().add(alpha.mul(scale.log())).sub(alpha.add(1).mul(log)) : null,
  })),
  describe(Uniform, ({ low, high }) => ({
    between: [low, high],
    means: {
      log: meanLogBetween(low, high),
      logRest: meanLogBetween(high.neg().add(1), low.neg().add(1)),
      laplace: (t, shift) => {
        const atLow = shift.sub(low.mul(t)).exp(), atHigh = shift.sub(high.mul(t)).exp();
        return atLow.sub(atHigh).div(high.sub(low).mul(t));
      },
    },
    meanLogProb: ({ mean }) => high.sub(low).log().neg().add(ops.zerosLike(mean)),
  })),
];

function familyOf(d: Distribution): Family | undefined {
  for (const { family } of FAMILIES) {
    const found = family(d);
    if (found) return found;
  }
  return undefined;
}

/**
 * Returns whether one bound is at most the other: by value for numbers, otherwise element-wise for tensors, which are
 * finite.
 */
function ordered(low: Bound, high: Bound): boolean | Tensor {
  if (typeof low !== "number") return high === -Infinity ? false : low.le(high);
  if (typeof high === "number") return low <= high;
  return low === Infinity ? false : high.ge(low);
}

/** The divergence of p from q if both families and the required means are known; else null. */
export function crossDivergence(p: Distribution, q: Distribution): Tensor | null {
  const first = familyOf(p), second = familyOf(q);
  if (!first || !second) return null;
  const [least] = first.between, reachesZero = typeof least === "number" && least <= 0;
  const inside = [
    !(second.isPositive && reachesZero),
    ordered(second.between[0], first.between[0]),
    ordered(first.between[1], second.between[1]),
  ];
  if (inside.includes(false)) return ops.fullLike(ops.add(p.variance, q.variance), Infinity);
  const bounds: Tensor[] = [];
  // Infinite divergences have no gradient: infinite means are replaced by 0 during the computation
  const bounded = (mean: Tensor): Tensor => {
    const isBounded = mean.isfinite();
    bounds.push(isBounded);
    return ops.where(isBounded, mean, 0);
  };
  const meanLog = second.meanLogProb?.({
    ...first.means,
    get mean() {
      return bounded(p.mean);
    },
    get variance() {
      return bounded(p.variance);
    },
  });
  if (!meanLog) return null;
  return [...inside, ...bounds].reduce<Tensor>(
    (value, within) => typeof within === "boolean" ? value : ops.where(within, value, Infinity),
    p.entropy().add(meanLog).neg(),
  );
}
