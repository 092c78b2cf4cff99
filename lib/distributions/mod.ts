/** Probability distributions: the namespace `distributions`, as `torch.distributions`. */
export { Categorical, Multinomial, OneHotCategorical, type Outcomes } from "./categorical.ts";
export type { ByProbs, ProbsOrLogits } from "./probs_or_logits.ts";
export { Bernoulli, Binomial, Geometric, Poisson } from "./discrete.ts";
export { Distribution, type Parameter, type SampleShape } from "./distribution.ts";
export { setDefaultValidateArgs, type Validation } from "./checked_parameters.ts";
export type { ParametersOf, ValidatedArguments } from "./given_parameters.ts";
export { klDivergence, registerKl } from "./divergence.ts";
export { ContinuousBernoulli, VonMises } from "./bounded.ts";
export { FisherSnedecor, InverseGamma, NegativeBinomial } from "./gamma_ratios.ts";
export { Cauchy, GeneralizedPareto, HalfCauchy, Kumaraswamy, Pareto, Weibull } from "./heavy_tails.ts";
export { LowRankMultivariateNormal } from "./low_rank_normal.ts";
export { LKJCholesky, Wishart } from "./matrices.ts";
export { MixtureSameFamily } from "./mixture.ts";
export {
  LogitRelaxedBernoulli,
  OneHotCategoricalStraightThrough,
  RelaxedBernoulli,
  RelaxedOneHotCategorical,
} from "./relaxed.ts";
export { Beta, Chi2, Dirichlet, Gamma, StudentT } from "./gamma.ts";
export { type Covariance, HalfNormal, LogNormal, MultivariateNormal, Normal, Uniform } from "./normal.ts";
export { Exponential, Gumbel, Laplace } from "./tails.ts";
export { Independent, LogisticNormal, TransformedDistribution } from "./transformed.ts";
/** Invertible maps of random variables, as `torch.distributions.transforms`. */
export * as transforms from "./transforms.ts";
export * from "./transforms.ts";
/** Sets of values and parameters, like `torch.distributions.constraints`. */
export * as constraints from "./constraints.ts";
export { bijectTo, transformTo } from "./unconstrained.ts";
