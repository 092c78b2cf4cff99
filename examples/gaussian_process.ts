/**
 * A Gaussian process with learnt hyperparameters: the marginal likelihood through a Cholesky factor, and its gradient
 * (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006).
 *
 *   deno run -A examples/gaussian_process.ts [--steps=150]
 */
import { parseArgs } from "@std/cli";
import {
  compile,
  eye,
  linalg,
  linspace,
  manualSeed,
  noGrad,
  optim,
  rand,
  randn,
  type Tensor,
  tensor,
} from "../mod.ts";

const { steps = "150" } = parseArgs(Deno.args, { string: ["steps"] });
manualSeed(0);

const float64 = { dtype: "float64" } as const;
const x = rand(40, float64).mul(6).sub(3);
const truth = (at: Tensor) => at.mul(2).sin().add(at.mul(0.3));
const y = truth(x).add(randn(40, float64).mul(0.1));

/** Logarithms of the length scale, of the amplitude and of the noise. */
const scales = ["length", "height", "noise"].map(() => tensor(0, { ...float64, requiresGrad: true }));
const [length, height, noise] = scales;
if (!length || !height || !noise) throw new Error("Expected three scales");

/** The covariance of two sets of points: [N], [M] → [N, M] */
const kernel = (a: Tensor, b: Tensor, length: Tensor, height: Tensor) =>
  a.unsqueeze(1).sub(b).div(length.exp()).square().mul(-0.5).exp().mul(height.mul(2).exp());

const covariance = () => kernel(x, x, length, height).add(eye(40, float64).mul(noise.mul(2).exp().add(1e-8)));

const optimizer = new optim.Adam(scales, { lr: 0.05 });
const step = compile(() => {
  optimizer.zeroGrad();
  const factor = linalg.cholesky(covariance());
  const white = linalg.solveTriangular(factor, y.unsqueeze(1), false);
  // The negative log likelihood, without its constant.
  const loss = white.square().sum().mul(0.5).add(factor.diagonal().log().sum());
  loss.backward();
  optimizer.step();
  return loss.detach();
});

for (let k = 1; k <= Number(steps); k++) {
  const loss = step().item();
  if (k === 1 || k % 50 === 0 || k === Number(steps)) {
    console.log(`step ${k}: minus log likelihood ${loss.toFixed(2)}`);
  }
}
const found = scales.map((scale) => scale.exp().item().toFixed(2));
console.log(`length ${found[0]}, height ${found[1]}, noise ${found[2]} (made with 0.10)`);

noGrad(() => {
  const places = linspace(-3, 3, 13, float64);
  const factor = linalg.cholesky(covariance()), across = kernel(x, places, length, height);
  const white = linalg.solveTriangular(factor, across, false);
  const mean = white.t().matmul(linalg.solveTriangular(factor, y.unsqueeze(1), false)).squeeze(1);
  const deviation = height.mul(2).exp().sub(white.square().sum(0)).clamp(0).sqrt();
  const off = mean.sub(truth(places)).abs();
  console.log(
    `at ${places.numel()} places: off by ${off.mean().item().toFixed(3)}, expected ${
      deviation.mean().item().toFixed(3)
    }`,
  );
});
