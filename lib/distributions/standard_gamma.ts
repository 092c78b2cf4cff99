/**
 * Samples of gamma distributions with rate 1, by rejection (Marsaglia and Tsang, 2000), and their gradients with
 * respect to concentrations. Invariant: rejection is not differentiable, so samples are differentiated as quantiles:
 * dx/da = −(∂F/∂a) / p(x) (Figurnov et al., 2018).
 */
import { ops } from "../tensor/eager.ts";
import { fromTypedArray } from "../tensor/creation.ts";
import { isGradEnabled, noGrad } from "../tensor/modes.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type SampleShape, standardNormal, uniform01 } from "./distribution.ts";

/** Samples of gamma distributions with rate 1, differentiable once. */
export function standardGamma(concentration: Tensor, shape: SampleShape): Tensor {
  const whole = ops.expand(concentration, [...shape]), value = noGrad(() => drawn(whole.detach(), shape));
  if (!whole.requiresGrad || !isGradEnabled()) return value;
  const slope = noGrad(() => slopes(whole.detach(), value));
  return value.add(whole.sub(whole.detach()).mul(slope));
}

function drawn(whole: Tensor, shape: SampleShape): Tensor {
  const isSmall = whole.lt(1);
  // Small concentrations: Γ(a) is distributed like Γ(a + 1) · U^(1/a)
  const d = ops.where(isSmall, whole.add(1), whole).sub(1 / 3), c = d.mul(9).rsqrt();
  let accepted = ops.zerosLike(whole, { dtype: "bool" }), result = ops.zerosLike(whole);
  while (!accepted.all().item<boolean>()) {
    const x = standardNormal(shape, whole), v = c.mul(x).add(1).pow(3), u = uniform01(shape, whole);
    const bound = x.square().mul(0.5).add(d).sub(d.mul(v)).add(d.mul(ops.clamp(v, 1e-30, null).log()));
    const isHit = v.gt(0).logicalAnd(u.log().lt(bound));
    result = ops.where(isHit.logicalAnd(accepted.logicalNot()), d.mul(v), result);
    accepted = accepted.logicalOr(isHit);
  }
  const boost = uniform01(shape, whole).log().div(whole).exp();
  return ops.where(isSmall, result.mul(boost), result);
}

/** Derivatives of samples with respect to their concentrations. */
function slopes(concentration: Tensor, value: Tensor): Tensor {
  const double = (each: Tensor) => Float64Array.from(each.cpu().to("float64").toTypedArray(), Number);
  const a = double(concentration), digamma = double(concentration.cpu().to("float64").digamma());
  const x = double(value), found = a.map((each, k) => slopeAt(each, x[k] ?? 0, digamma[k] ?? 0));
  return fromTypedArray(found, value.shape, { device: "cpu" }).to(value.dtype).to(value.device);
}

/** dx/da of the gamma distribution with concentration a at x. */
export function slopeAt(a: number, x: number, digamma: number): number {
  if (x === 0) return 0;
  return a > 30 ? saddlePoint(a, x) : series(a, x, digamma);
}

/**
 * The series γ(a, x) = xᵃ e⁻ˣ Σ xᵏ / (a (a + 1) … (a + k)) and its derivative, divided by the density. All terms are
 * positive; the difference of the sums loses some digits only in the far upper tail.
 */
function series(a: number, x: number, digamma: number): number {
  let term = 1 / a, harmonic = 1 / a, sum = term, weighted = term * harmonic;
  for (let k = 1; term > sum * 1e-17 || k < x; k++) {
    term *= x / (a + k);
    harmonic += 1 / (a + k);
    sum += term;
    weighted += term * harmonic;
  }
  return -x * ((Math.log(x) - digamma) * sum - weighted);
}

/** Rice's expansion around the saddle point of the density, for large a. */
function saddlePoint(a: number, x: number): number {
  if (x > 0.9 * a && x < 1.1 * a) {
    // Near the saddle point the quotients below are 0 / 0: their expansion in x − a
    const first = 1 + 24 * a * (1 + 12 * a);
    const second = 1440 * a * a + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x);
    return first * second / (1244160 * a ** 4);
  }
  const width = Math.sqrt(8 * a), apart = width / (a - x), log = Math.log(x / a);
  const root = (x - a - a * log) ** -1.5, both = x < a ? apart - root : apart + root;
  const term = log * both - Math.sqrt(2 / a) * (a + x) / (a - x) ** 2;
  const stirling = 1 + 1 / (12 * a) * (1 + 1 / (24 * a));
  return -stirling * x * term / width;
}
