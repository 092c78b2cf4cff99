/**
 * Kullback–Leibler divergences, like `torch.distributions.kl`. Invariant: a pair of classes without a registered
 * function is an error.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { Categorical, OneHotCategorical } from "./categorical.ts";
import { Bernoulli, Binomial, Geometric, Poisson } from "./discrete.ts";
import { crossDivergence } from "./cross_divergence.ts";
import {
  checkDistribution,
  type Class,
  type Distribution,
  logBeta,
  softplus,
  sumRightmost,
} from "./distribution.ts";
import { Beta, Dirichlet, Gamma } from "./gamma.ts";
import { Cauchy, HalfCauchy, Pareto } from "./heavy_tails.ts";
import { LowRankMultivariateNormal } from "./low_rank_normal.ts";
import { mvdigamma, Wishart } from "./matrices.ts";
import { HalfNormal, LogNormal, MultivariateNormal, Normal, Uniform } from "./normal.ts";
import { Exponential, Laplace } from "./tails.ts";
import { InverseGamma } from "./gamma_ratios.ts";
import { Independent, TransformedDistribution } from "./transformed.ts";

interface Rule {
  readonly p: Class<Distribution>;
  readonly q: Class<Distribution>;
  readonly divergence: (p: Distribution, q: Distribution) => Tensor | null;
}

const rules: Rule[] = [];

/** Fields of transforms that are not settings. */
const CACHE = ["keeps", "last"];

/**
 * Registers the divergence of two classes, like `torch.distributions.kl.register_kl`. A later registration replaces an
 * earlier one.
 */
export function registerKl<P extends Distribution, Q extends Distribution>(
  p: Class<P>,
  q: Class<Q>,
  divergence: (p: P, q: Q) => Tensor,
): void {
  if (arguments.length > 3) refuseSurplus("registerKl", 3, arguments);
  rules.unshift({
    p,
    q,
    divergence: (first, second) =>
      first instanceof p && second instanceof q ? divergence(first, second) : null,
  });
}

/** The divergence of p from q: the expected log(p/q) under p. Throws DynError if it is unknown. */
export function klDivergence(p: Distribution, q: Distribution): Tensor {
  if (arguments.length > 2) refuseSurplus("klDivergence", 2, arguments);
  checkDistribution(p, "klDivergence");
  checkDistribution(q, "klDivergence");
  for (const { divergence } of rules) {
    const found = divergence(p, q);
    if (found) return found;
  }
  const crossed = crossDivergence(p, q);
  if (crossed) return crossed;
  throw new DynError(
    `Expected distributions whose divergence is known but found ${p.constructor.name} and ${q.constructor.name}; see registerKl`,
  );
}

const normals = (p: { loc: Tensor; scale: Tensor }, q: { loc: Tensor; scale: Tensor }): Tensor => {
  const ratio = p.scale.div(q.scale).square(), apart = p.loc.sub(q.loc).div(q.scale).square();
  return ratio.add(apart).sub(1).sub(ratio.log()).mul(0.5);
};

/** Probabilities of outcomes, along the last dimension. */
type Outcomes = Pick<Categorical, "probs" | "logits">;

registerKl(Normal, Normal, normals);
registerKl(LogNormal, LogNormal, normals);
registerKl(HalfNormal, HalfNormal, (p, q) => {
  const ratio = p.scale.div(q.scale).square();
  return ratio.sub(1).sub(ratio.log()).mul(0.5);
});
registerKl(Normal, Laplace, (p, q) => {
  const apart = p.loc.sub(q.loc), ratio = apart.div(p.scale);
  // The mean distance of a normal variable from a point
  const distance = p.scale.mul(Math.sqrt(2 / Math.PI)).mul(ratio.square().mul(-0.5).exp())
    .add(apart.mul(ratio.mul(Math.SQRT1_2).erf()));
  return distance.div(q.scale).sub(p.scale.div(q.scale).log()).sub(0.5 * (1 + Math.log(Math.PI / 2)));
});
// Chyzak and Nielsen 2019, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions"
registerKl(Cauchy, Cauchy, (p, q) => {
  const apart = p.scale.add(q.scale).square().add(p.loc.sub(q.loc).square());
  return apart.log().sub(p.scale.mul(q.scale).mul(4).log());
});
registerKl(HalfCauchy, HalfCauchy, (p, q) => klDivergence(new Cauchy(0, p.scale), new Cauchy(0, q.scale)));
registerKl(Pareto, Pareto, (p, q) => {
  const ratio = q.alpha.div(p.alpha);
  const inside = q.alpha.mul(p.scale.div(q.scale).log()).sub(ratio.log()).add(ratio).sub(1);
  return ops.where(p.scale.ge(q.scale), inside, Infinity);
});
registerKl(Uniform, Uniform, (p, q) => {
  const inside = q.low.le(p.low).logicalAnd(q.high.ge(p.high));
  return ops.where(inside, q.high.sub(q.low).div(p.high.sub(p.low)).log(), Infinity);
});
registerKl(Bernoulli, Bernoulli, (p, q) => {
  const [a, b] = [p.logits, q.logits];
  const inside = p.probs.mul(a.sub(b)).sub(softplus(a)).add(softplus(b));
  // Infinite where q excludes an outcome of p
  const outside = q.probs.eq(0).logicalAnd(p.probs.gt(0)).logicalOr(q.probs.eq(1).logicalAnd(p.probs.lt(1)));
  return ops.where(outside, Infinity, inside);
});
const outcomes = (p: Outcomes, q: Outcomes) => {
  const each = ops.where(q.probs.eq(0), Infinity, p.probs.mul(p.logits.sub(q.logits)));
  return ops.where(p.probs.eq(0), 0, each).sum(-1);
};
registerKl(Categorical, Categorical, outcomes);
registerKl(OneHotCategorical, OneHotCategorical, outcomes);
registerKl(Binomial, Binomial, (p, q) => {
  const { totalCount: n, probs } = p;
  const same = n.mul(
    probs.mul(p.logits.sub(q.logits)).add(probs.neg().log1p()).sub(q.probs.neg().log1p()),
  );
  if (n.lt(q.totalCount).any().item<boolean>()) {
    throw new DynError(
      "Expected no more trials in the second Binomial distribution than in the first but found more",
    );
  }
  return ops.where(n.gt(q.totalCount), Infinity, same);
});
registerKl(Bernoulli, Poisson, (p, q) => q.rate.sub(p.probs.mul(q.rate.log())).sub(p.entropy()));
const counts = (p: Poisson) => ops.fullLike(p.rate, Infinity);
registerKl(Poisson, Bernoulli, counts);
registerKl(Poisson, Binomial, counts);
registerKl(Exponential, Exponential, (p, q) => {
  const ratio = q.rate.div(p.rate);
  return ratio.sub(ratio.log()).sub(1);
});
registerKl(Poisson, Poisson, (p, q) => p.rate.mul(p.rate.log().sub(q.rate.log())).sub(p.rate.sub(q.rate)));
registerKl(
  Geometric,
  Geometric,
  (p, q) => p.entropy().neg().sub(q.probs.neg().log1p().div(p.probs)).sub(q.logits),
);
registerKl(Laplace, Laplace, (p, q) => {
  const ratio = p.scale.div(q.scale), apart = p.loc.sub(q.loc).abs();
  return ratio.log().neg().add(apart.div(q.scale)).add(ratio.mul(apart.neg().div(p.scale).exp())).sub(1);
});
registerKl(Gamma, Gamma, (p, q) => {
  const { concentration: a, rate: b } = p, { concentration: c, rate: d } = q;
  return c.mul(b.div(d).log()).add(c.lgamma().sub(a.lgamma())).add(a.sub(c).mul(a.digamma()))
    .add(d.sub(b).mul(a.div(b)));
});
registerKl(Beta, Beta, (p, q) => {
  const total = p.concentration1.add(p.concentration0), other = q.concentration1.add(q.concentration0);
  return logBeta(q.concentration1, q.concentration0).sub(logBeta(p.concentration1, p.concentration0))
    .add(p.concentration1.sub(q.concentration1).mul(p.concentration1.digamma()))
    .add(p.concentration0.sub(q.concentration0).mul(p.concentration0.digamma()))
    .add(other.sub(total).mul(total.digamma()));
});
registerKl(Dirichlet, Dirichlet, (p, q) => {
  const { concentration: a } = p, { concentration: b } = q, total = a.sum(-1);
  return total.lgamma().sub(b.sum(-1).lgamma()).add(b.lgamma().sub(a.lgamma()).sum(-1))
    .add(a.sub(b).mul(a.digamma().sub(total.digamma().unsqueeze(-1))).sum(-1));
});
/** Half of the logarithm of the determinant of a covariance. */
const halfLogDeterminant = ({ scaleTril }: { scaleTril: Tensor }): Tensor =>
  scaleTril.diagonal(0, -2, -1).log().sum(-1);
/** The sum of squares of vectors in units of a factor of a covariance. */
const squaredIn = (factor: Tensor, vectors: Tensor): Tensor =>
  ops.solveTriangular(factor, vectors, false).square().sum([-2, -1]);

registerKl(MultivariateNormal, MultivariateNormal, (p, q) => {
  const [size = 1] = p.eventShape, apart = q.loc.sub(p.loc).unsqueeze(-1);
  const distance = squaredIn(q.scaleTril, apart), spread = squaredIn(q.scaleTril, p.scaleTril);
  return halfLogDeterminant(q).sub(halfLogDeterminant(p)).add(spread.add(distance).sub(size).mul(0.5));
});
registerKl(Wishart, Wishart, (p, q) => {
  const [size = 1] = p.eventShape, [a, b] = [p.df.div(2), q.df.div(2)];
  const factors = q.df.mul(halfLogDeterminant(q).sub(halfLogDeterminant(p)));
  const spread = a.mul(squaredIn(q.scaleTril, p.scaleTril).sub(size));
  return factors.add(spread).add(ops.mvlgamma(b, size).sub(ops.mvlgamma(a, size)))
    .add(a.sub(b).mul(mvdigamma(a, size)));
});
/** A normal distribution by the factor of its full covariance. */
const whole = ({ loc, scaleTril }: { loc: Tensor; scaleTril: Tensor }) =>
  new MultivariateNormal(loc, { scaleTril });

registerKl(LowRankMultivariateNormal, LowRankMultivariateNormal, (p, q) => klDivergence(whole(p), whole(q)));
registerKl(LowRankMultivariateNormal, MultivariateNormal, (p, q) => klDivergence(whole(p), q));
registerKl(MultivariateNormal, LowRankMultivariateNormal, (p, q) => klDivergence(p, whole(q)));
// Bijections do not change divergences
registerKl(InverseGamma, InverseGamma, (p, q) => {
  return klDivergence(new Gamma(p.concentration, p.rate), new Gamma(q.concentration, q.rate));
});
registerKl(TransformedDistribution, TransformedDistribution, (p, q) => {
  if (!isAlike(p.transform, q.transform) || !isAlike(p.eventShape, q.eventShape)) {
    throw new DynError("Expected distributions of one transform but found others");
  }
  return sumRightmost(
    klDivergence(p.baseDist, q.baseDist),
    p.eventShape.length - p.baseDist.eventShape.length,
  );
});

/** Returns whether two values, possibly transforms, have the same class and equal settings. */
function isAlike(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (isTensor(a) && isTensor(b)) return a.equal(b);
  if (typeof a !== "object" || typeof b !== "object" || !a || !b || a.constructor !== b.constructor) {
    return false;
  }
  const settings = (of: object) => Object.entries(of).filter(([key]) => !CACHE.includes(key));
  const [first, second] = [settings(a), settings(b)];
  return first.length === second.length && first.every(([key, value]) => isAlike(value, Reflect.get(b, key)));
}

registerKl(Independent, Independent, (p, q) => {
  if (p.reinterpretedBatchNdims !== q.reinterpretedBatchNdims) {
    throw new DynError(
      `Expected Independent distributions with the same number of event dimensions but found ` +
        `${p.reinterpretedBatchNdims} and ${q.reinterpretedBatchNdims}`,
    );
  }
  return sumRightmost(klDivergence(p.baseDist, q.baseDist), p.reinterpretedBatchNdims);
});
