/**
 * Kullback–Leibler divergences, as `torch.distributions.kl`. Input: two distributions; output: how far the first is from
 * the second. Invariant: a pair of classes that nobody has registered is an error.
 */
import { DynError } from "../base/errors.ts";
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { Categorical } from "./categorical.ts";
import { Bernoulli, Geometric, Poisson } from "./discrete.ts";
import { type Distribution, logBeta, softplus, sumRightmost } from "./distribution.ts";
import { Beta, Dirichlet, Gamma } from "./gamma.ts";
import { LowRankMultivariateNormal } from "./low_rank_normal.ts";
import { LogNormal, MultivariateNormal, Normal, Uniform } from "./normal.ts";
import { Exponential, Laplace } from "./tails.ts";
import { Independent } from "./transformed.ts";

type Class<D extends Distribution> = abstract new (...args: never[]) => D;

interface Rule {
  readonly p: Class<Distribution>;
  readonly q: Class<Distribution>;
  readonly divergence: (p: Distribution, q: Distribution) => Tensor | null;
}

const rules: Rule[] = [];

/** Says what the divergence of two classes is, as `torch.distributions.kl.register_kl`. What is said last counts. */
export function registerKl<P extends Distribution, Q extends Distribution>(
  p: Class<P>,
  q: Class<Q>,
  divergence: (p: P, q: Q) => Tensor,
): void {
  rules.unshift({
    p,
    q,
    divergence: (first, second) =>
      first instanceof p && second instanceof q ? divergence(first, second) : null,
  });
}

/** The divergence of p from q: the expected log(p/q) under p. Throws DynError where it is not known. */
export function klDivergence(p: Distribution, q: Distribution): Tensor {
  for (const { divergence } of rules) {
    const found = divergence(p, q);
    if (found) return found;
  }
  throw new DynError(
    `Expected distributions whose divergence is known but found ${p.constructor.name} and ${q.constructor.name}; see registerKl`,
  );
}

const normals = (p: { loc: Tensor; scale: Tensor }, q: { loc: Tensor; scale: Tensor }): Tensor => {
  const ratio = p.scale.div(q.scale).square(), apart = p.loc.sub(q.loc).div(q.scale).square();
  return ratio.add(apart).sub(1).sub(ratio.log()).mul(0.5);
};

registerKl(Normal, Normal, normals);
registerKl(LogNormal, LogNormal, normals);
registerKl(Uniform, Uniform, (p, q) => {
  const inside = q.low.le(p.low).logicalAnd(q.high.ge(p.high));
  return ops.where(inside, q.high.sub(q.low).div(p.high.sub(p.low)).log(), Infinity);
});
registerKl(Bernoulli, Bernoulli, (p, q) => {
  const [a, b] = [p.logits, q.logits];
  return p.probs.mul(a.sub(b)).sub(softplus(a)).add(softplus(b));
});
registerKl(Categorical, Categorical, (p, q) => p.probs.mul(p.logits.sub(q.logits)).sum(-1));
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
registerKl(MultivariateNormal, MultivariateNormal, (p, q) => {
  const [size = 1] = p.eventShape, apart = q.loc.sub(p.loc).unsqueeze(-1);
  const half = (x: Tensor) => x.diagonal(0, -2, -1).log().sum(-1);
  const spread = ops.solveTriangular(q.scaleTril, p.scaleTril, false).square().sum([-2, -1]);
  const distance = ops.solveTriangular(q.scaleTril, apart, false).square().sum([-2, -1]);
  return half(q.scaleTril).sub(half(p.scaleTril)).add(spread.add(distance).sub(size).mul(0.5));
});
/** The same distribution by the factor of its whole covariance. */
const whole = ({ loc, scaleTril }: { loc: Tensor; scaleTril: Tensor }) =>
  new MultivariateNormal(loc, { scaleTril });

registerKl(LowRankMultivariateNormal, LowRankMultivariateNormal, (p, q) => klDivergence(whole(p), whole(q)));
registerKl(LowRankMultivariateNormal, MultivariateNormal, (p, q) => klDivergence(whole(p), q));
registerKl(MultivariateNormal, LowRankMultivariateNormal, (p, q) => klDivergence(p, whole(q)));
registerKl(Independent, Independent, (p, q) => {
  if (p.reinterpretedBatchNdims !== q.reinterpretedBatchNdims) {
    throw new DynError("Expected Independent distributions with as many dimensions of an event");
  }
  return sumRightmost(klDivergence(p.base, q.base), p.reinterpretedBatchNdims);
});
