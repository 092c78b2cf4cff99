/**
 * A normalising flow of Glow's steps (Kingma and Dhariwal 2018): a scale and shift that the first batch sets, which a
 * flag buffer remembers, a linear map with its log-determinant, an affine coupling of halves; the likelihood under a
 * distribution made in the forward pass; Adamax.
 */
import {
  cat,
  chunk,
  distributions,
  exp,
  eye,
  linalg,
  log,
  nn,
  noGrad,
  ones,
  optim,
  tanh,
  type Tensor,
  tensor,
  zeros,
} from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

/** A step of the flow: the output, and the logarithm of how much it stretches. */
type Stretched = readonly [Tensor, Tensor];

class ActNorm extends nn.Module {
  readonly log_scale: nn.Parameter;
  readonly bias: nn.Parameter;
  declare initialized: Tensor;

  constructor(dim: number) {
    super();
    this.log_scale = new nn.Parameter(zeros(1, dim));
    this.bias = new nn.Parameter(zeros(1, dim));
    this.registerBuffer("initialized", tensor(false));
  }

  override forward(x: Tensor): Stretched {
    if (this.training && !this.initialized.item()) {
      noGrad(() => {
        this.bias.copy_(x.mean(0, { keepdim: true }).neg());
        this.log_scale.copy_(log(x.std(0, { keepdim: true }).add(1e-6)).neg());
        this.initialized.fill_(true);
      });
    }
    return [x.add(this.bias).mul(exp(this.log_scale)), this.log_scale.sum()];
  }
}

class InvertibleLinear extends nn.Module {
  readonly weight: nn.Parameter;

  constructor(dim: number) {
    super();
    this.weight = new nn.Parameter(eye(dim));
  }

  override forward(x: Tensor): Stretched {
    const [, logabsdet] = linalg.slogdet(this.weight);
    return [x.matmul(this.weight.t()), logabsdet];
  }
}

class AffineCoupling extends nn.Module {
  readonly net: nn.Sequential;

  constructor(dim: number) {
    super();
    this.net = new nn.Sequential(new nn.Linear(dim / 2, 8), new nn.Tanh(), new nn.Linear(8, dim));
  }

  override forward(x: Tensor): Stretched {
    const [a, b] = chunk(x, 2, 1) as [Tensor, Tensor];
    let [scale, shift] = this.net.call(a).chunk(2, { dim: 1 }) as [Tensor, Tensor];
    scale = tanh(scale);
    return [cat([a, b.mul(exp(scale)).add(shift)], 1), scale.sum(1)];
  }
}

class Glow extends nn.Module {
  readonly flows: nn.ModuleList<ActNorm | InvertibleLinear | AffineCoupling>;
  declare loc: Tensor;
  declare scale: Tensor;

  constructor(dim: number) {
    super();
    const steps = [0, 1].flatMap(
      () => [new ActNorm(dim), new InvertibleLinear(dim), new AffineCoupling(dim)],
    );
    this.flows = new nn.ModuleList(steps);
    this.registerBuffer("loc", zeros(dim));
    this.registerBuffer("scale", ones(dim));
  }

  override forward(x: Tensor): Tensor {
    let logDet = zeros(x.size(0), { dtype: x.dtype, device: x.device });
    for (const flow of this.flows) {
      const [y, stretch] = flow.call(x);
      x = y;
      logDet = logDet.add(stretch);
    }
    const base = new distributions.Independent(new distributions.Normal(this.loc, this.scale), 1);
    return base.logProb(x).add(logDet);
  }
}

export const glow: Specimen = {
  name: "glow",
  make() {
    const model = new Glow(4), lossOf = (x: Tensor) => model.call(x).mean().neg();
    const train = () => {
      const optimizer = new optim.Adamax(model.parameters(), { lr: 0.01 });
      const step = (x: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(x);
        loss.backward();
        optimizer.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (x) => model.call(x), loss: lossOf, train };
  },
  counts: {
    forward: ONE,
    loss: { graphs: 3, breaks: 1, recompiles: 1 },
    step: { graphs: 6, breaks: 2, recompiles: 2 },
  },
};
