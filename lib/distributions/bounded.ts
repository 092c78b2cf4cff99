/** Distributions over an interval: angles and shares. */
import { ops } from "../tensor/eager.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { type ArgConstraints, type Constraint, positive, real, unitInterval } from "./constraints.ts";
import { OneTrial } from "./probs_or_logits.ts";
import { type ParametersOf, parametersOf } from "./given_parameters.ts";
import { checkParameters } from "./checked_parameters.ts";
import { Distribution, type SampleShape, uniform01 } from "./distribution.ts";

/** The distribution of angles around `loc`, as `torch.distributions.VonMises`. */
export class VonMises extends Distribution {
  override readonly argConstraints: ArgConstraints = { loc: real, concentration: positive };
  readonly loc: Tensor;
  readonly concentration: Tensor;

  constructor(...given: ParametersOf<["loc", "concentration"]>) {
    const { tensors: [l, k], validateArgs } = parametersOf(new.target.name, ["loc", "concentration"], given);
    super(l.shape, [], validateArgs);
    [this.loc, this.concentration] = [l, k];
    checkParameters(this, this.argConstraints, { validateArgs });
  }

  get mean(): Tensor {
    return this.loc;
  }

  override get mode(): Tensor {
    return this.loc;
  }

  /** The circular variance: 1 minus the length of the mean direction. */
  get variance(): Tensor {
    const { concentration: k } = this;
    return ops.i1e(k).div(ops.i0e(k)).neg().add(1);
  }

  override get support(): Constraint {
    return real;
  }

  protected override logDensity(value: Tensor): Tensor {
    const { loc, concentration: k } = this, cosine = value.sub(loc).cos();
    return k.mul(cosine.sub(1)).sub(Math.log(2 * Math.PI)).sub(ops.i0e(k).log());
  }

  /**
   * Samples by rejection from a wrapped Cauchy distribution (Best and Fisher, 1979), on the host: not every device has
   * float64, which small concentrations need.
   */
  protected draw(shape: SampleShape): Tensor {
    const k = ops.expand(this.concentration, [...shape]).cpu().to("float64");
    const tau = k.square().mul(4).add(1).sqrt().add(1), rho = tau.sub(tau.mul(2).sqrt()).div(k.mul(2));
    // For small concentrations the exact formula loses all digits: use its expansion
    const r = ops.where(k.lt(1e-5), k.reciprocal().add(k), rho.square().add(1).div(rho.mul(2)));
    let accepted = ops.zerosLike(k, { dtype: "bool" }), result = ops.zerosLike(k);
    while (!accepted.all().item<boolean>()) {
      const [u1, u2, u3] = [0, 1, 2].map(() => uniform01(shape, k));
      if (!u1 || !u2 || !u3) break;
      const z = u1.mul(Math.PI).cos(), f = r.mul(z).add(1).div(r.add(z)), c = k.mul(r.sub(f));
      const isHit = c.mul(c.neg().add(2)).sub(u2).gt(0).logicalOr(c.div(u2).log().add(1).sub(c).ge(0));
      const angle = u3.sub(0.5).sign().mul(ops.clamp(f, -1, 1).acos());
      result = ops.where(isHit.logicalAnd(accepted.logicalNot()), angle, result);
      accepted = accepted.logicalOr(isHit);
    }
    const turned = result.add(Math.PI).add(this.loc.cpu()).remainder(2 * Math.PI).sub(Math.PI);
    return turned.to(this.loc.dtype).to(this.loc.device);
  }
}

/** A continuous relaxation of Bernoulli on [0, 1], as `torch.distributions.ContinuousBernoulli`. */
export class ContinuousBernoulli extends OneTrial {
  override readonly hasRsample = true;
  /**
   * Separates logits near 0, where the formulas are 0 / 0: those use expansions, and the formulas get a safe value there.
   * They are written in logits, since probabilities near 1 have lost their distance from it.
   */
  private around(): { readonly isMiddle: Tensor; readonly safe: Tensor; readonly off: Tensor } {
    const { probs, logits } = this, off = probs.sub(0.5), isMiddle = off.abs().lt(1e-3);
    return { isMiddle, safe: ops.where(isMiddle, 1, logits), off };
  }

  get mean(): Tensor {
    const { isMiddle, safe, off } = this.around();
    const exact = safe.neg().expm1().reciprocal().add(safe.reciprocal()).neg();
    return ops.where(isMiddle, off.square().mul(16 / 45).add(1 / 3).mul(off).add(0.5), exact);
  }

  get variance(): Tensor {
    const { isMiddle, safe, off } = this.around(), x = off.square(), less = safe.abs().neg();
    const exact = safe.square().reciprocal().sub(less.exp().div(less.expm1().square()));
    return ops.where(isMiddle, x.mul(128 / 945).sub(1 / 15).mul(x).add(1 / 12), exact);
  }

  /** The logarithm of the normalising constant. */
  private logNormaliser(): Tensor {
    const { isMiddle, safe, off } = this.around(), x = off.square();
    const exact = safe.abs().log().sub(safe.div(2).tanh().abs().log());
    return ops.where(isMiddle, x.mul(104 / 45).add(4 / 3).mul(x).add(Math.LN2), exact);
  }

  override get support(): Constraint {
    return unitInterval;
  }

  protected override logDensity(value: Tensor): Tensor {
    const { logits } = this;
    return value.mul(logits).add(ops.logsigmoid(logits.neg())).add(this.logNormaliser());
  }

  protected override computedEntropy(): Tensor {
    const { logits, mean } = this;
    return mean.mul(logits).add(ops.logsigmoid(logits.neg())).add(this.logNormaliser()).neg();
  }

  /** By the end of [0, 1] at which the density is greatest: nothing grows there. */
  protected override cumulative(value: Tensor): Tensor {
    const { isMiddle, safe } = this.around(), less = safe.abs().neg();
    const decay = ops.where(safe.gt(0), less.mul(value.neg().add(1)), 0).exp();
    return ops.where(isMiddle, value, less.mul(value).expm1().div(less.expm1()).mul(decay));
  }

  protected override quantile(probability: Tensor): Tensor {
    const { isMiddle, safe } = this.around(), isRising = safe.gt(0), less = safe.abs().neg();
    const rest = probability.neg().add(1), v = ops.where(isRising, rest, probability);
    const others = ops.where(isRising, probability, rest), isFew = v.lt(0.5);
    const log = ops.where(
      isFew,
      ops.where(isFew, v, 0).mul(less.expm1()).log1p(),
      ops.where(isFew, 1, others.add(v.mul(less.exp()))).log(),
    );
    const distance = log.div(less);
    return ops.where(isMiddle, probability, ops.where(isRising, distance.neg().add(1), distance));
  }

  protected draw(shape: SampleShape): Tensor {
    return this.icdf(uniform01(shape, this.probs));
  }
}
