/** Probability distributions: the namespace `distributions`, as `torch.distributions`. */
export {
  Categorical,
  Multinomial,
  OneHotCategorical,
  type Outcomes,
  RelaxedBernoulli,
} from "./categorical.ts";
export type { Chances } from "./chances.ts";
export { Bernoulli, Binomial, Geometric, Poisson } from "./discrete.ts";
export { Distribution, type Parameter, type SampleShape } from "./distribution.ts";
export { klDivergence, registerKl } from "./divergence.ts";
export { Beta, Chi2, Dirichlet, Gamma, StudentT } from "./gamma.ts";
export { HalfNormal, LogNormal, MultivariateNormal, Normal, Uniform } from "./normal.ts";
export { Exponential, Gumbel, Laplace } from "./tails.ts";
export {
  AffineTransform,
  ComposeTransform,
  ExpTransform,
  Independent,
  PowerTransform,
  SigmoidTransform,
  TanhTransform,
  type Transform,
  TransformedDistribution,
} from "./transforms.ts";
