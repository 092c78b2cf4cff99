/**
 * HiFi-GAN (Kong et al. 2020) as in its authors' code: weights divided into direction and length, dilated residual
 * convolutions, discriminators over several periods and scales, losses of their features; AdamW with rates that fall,
 * discriminators that require no gradients while the generator learns.
 */
import { nn, optim, stack, tanh, type Tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;
const { weightNorm, spectralNorm } = nn.utils.parametrizations;
const LRELU_SLOPE = 0.1;

const getPadding = (kernelSize: number, dilation = 1): number =>
  Math.floor((kernelSize * dilation - dilation) / 2);

class ResBlock extends nn.Module {
  readonly convs1: nn.ModuleList<nn.Conv1d>;
  readonly convs2: nn.ModuleList<nn.Conv1d>;

  constructor(channels: number, kernelSize: number, dilations: readonly number[]) {
    super();
    const conv = (dilation: number) =>
      weightNorm(
        new nn.Conv1d(channels, channels, kernelSize, 1, {
          dilation,
          padding: getPadding(kernelSize, dilation),
        }),
      );
    this.convs1 = new nn.ModuleList(dilations.map(conv));
    this.convs2 = new nn.ModuleList(dilations.map(() => conv(1)));
  }

  override forward(x: Tensor): Tensor {
    for (const [i, c1] of this.convs1.entries()) {
      let xt = F.leakyRelu(x, LRELU_SLOPE);
      xt = c1.call(xt);
      xt = F.leakyRelu(xt, LRELU_SLOPE);
      xt = this.convs2.at(i).call(xt);
      x = xt.add(x);
    }
    return x;
  }
}

class Generator extends nn.Module {
  readonly numKernels: number;
  readonly conv_pre: nn.Conv1d;
  readonly ups: nn.ModuleList<nn.ConvTranspose1d>;
  readonly resblocks: nn.ModuleList<ResBlock>;
  readonly conv_post: nn.Conv1d;

  constructor(mels: number, channels: number, kernels: readonly number[]) {
    super();
    this.numKernels = kernels.length;
    this.conv_pre = weightNorm(new nn.Conv1d(mels, channels, 3, 1, { padding: 1 }));
    this.ups = new nn.ModuleList();
    this.resblocks = new nn.ModuleList();
    for (let i = 0; i < 2; i++) {
      const width = channels / 2 ** (i + 1);
      this.ups.append(weightNorm(new nn.ConvTranspose1d(2 * width, width, 4, 2, { padding: 1 })));
      for (const k of kernels) this.resblocks.append(new ResBlock(width, k, [1, 2]));
    }
    this.conv_post = weightNorm(new nn.Conv1d(channels / 4, 1, 3, 1, { padding: 1 }));
  }

  override forward(x: Tensor): Tensor {
    x = this.conv_pre.call(x);
    for (const [i, up] of this.ups.entries()) {
      x = F.leakyRelu(x, LRELU_SLOPE);
      x = up.call(x);
      let xs: Tensor | null = null;
      for (let j = 0; j < this.numKernels; j++) {
        const y = this.resblocks.at(i * this.numKernels + j).call(x);
        xs = xs === null ? y : xs.add(y);
      }
      if (xs !== null) x = xs.div(this.numKernels);
    }
    x = F.leakyRelu(x);
    return tanh(this.conv_post.call(x));
  }
}

/** The score of a signal, and the features on the way. */
type Judged = readonly [score: Tensor, fmap: readonly Tensor[]];

class DiscriminatorP extends nn.Module {
  readonly convs: nn.ModuleList<nn.Conv2d>;
  readonly conv_post: nn.Conv2d;

  constructor(readonly period: number) {
    super();
    this.convs = new nn.ModuleList([
      weightNorm(new nn.Conv2d(1, 2, [3, 1], [2, 1], { padding: [1, 0] })),
      weightNorm(new nn.Conv2d(2, 3, [3, 1], 1, { padding: [1, 0] })),
    ]);
    this.conv_post = weightNorm(new nn.Conv2d(3, 1, [3, 1], 1, { padding: [1, 0] }));
  }

  override forward(x: Tensor): Judged {
    const fmap: Tensor[] = [];
    let [b = 1, c = 1, t = 1] = x.shape;
    if (t % this.period !== 0) {
      const nPad = this.period - t % this.period;
      x = F.pad(x, [0, nPad], "reflect");
      t += nPad;
    }
    x = x.view(b, c, t / this.period, this.period);
    for (const l of this.convs) {
      x = F.leakyRelu(l.call(x), LRELU_SLOPE);
      fmap.push(x);
    }
    x = this.conv_post.call(x);
    fmap.push(x);
    return [x.flatten(1, -1), fmap];
  }
}

class DiscriminatorS extends nn.Module {
  readonly convs: nn.ModuleList<nn.Conv1d>;
  readonly conv_post: nn.Conv1d;

  constructor(useSpectralNorm: boolean) {
    super();
    const norm = (conv: nn.Conv1d) => useSpectralNorm ? spectralNorm(conv) : weightNorm(conv);
    this.convs = new nn.ModuleList([
      norm(new nn.Conv1d(1, 4, 5, 1, { padding: 2 })),
      norm(new nn.Conv1d(4, 4, 5, 2, { groups: 2, padding: 2 })),
    ]);
    this.conv_post = norm(new nn.Conv1d(4, 1, 3, 1, { padding: 1 }));
  }

  override forward(x: Tensor): Judged {
    const fmap: Tensor[] = [];
    for (const l of this.convs) {
      x = F.leakyRelu(l.call(x), LRELU_SLOPE);
      fmap.push(x);
    }
    x = this.conv_post.call(x);
    fmap.push(x);
    return [x.flatten(1, -1), fmap];
  }
}

class Discriminators extends nn.Module {
  readonly periods: nn.ModuleList<DiscriminatorP>;
  readonly scales: nn.ModuleList<DiscriminatorS>;
  readonly meanpool: nn.AvgPool1d;

  constructor() {
    super();
    this.periods = new nn.ModuleList([2, 3].map((period) => new DiscriminatorP(period)));
    this.scales = new nn.ModuleList([new DiscriminatorS(true), new DiscriminatorS(false)]);
    this.meanpool = new nn.AvgPool1d(4, 2, { padding: 2 });
  }

  /** The judgements of all discriminators: of the true signal, and of the generated one. */
  override forward(y: Tensor, yHat: Tensor): readonly (readonly [real: Judged, fake: Judged])[] {
    const found: (readonly [Judged, Judged])[] = [];
    for (const d of this.periods) found.push([d.call(y), d.call(yHat)]);
    for (const [i, d] of this.scales.entries()) {
      if (i > 0) [y, yHat] = [this.meanpool.call(y), this.meanpool.call(yHat)];
      found.push([d.call(y), d.call(yHat)]);
    }
    return found;
  }
}

class Vocoder extends nn.Module {
  readonly generator = new Generator(4, 8, [3, 5]);
  readonly discriminators = new Discriminators();
}

export const vocoder: Specimen = {
  name: "vocoder",
  make() {
    const model = new Vocoder(), { generator, discriminators } = model;
    const generatorLoss = (y: Tensor, yHat: Tensor): Tensor => {
      let loss = F.l1Loss(y, yHat).mul(45);
      for (const [[, real], [score, fake]] of discriminators.call(y, yHat)) {
        loss = loss.add(score.neg().add(1).pow(2).mean());
        for (const [j, each] of real.entries()) {
          const other = fake[j];
          if (other) loss = loss.add(each.sub(other).abs().mean().mul(2));
        }
      }
      return loss;
    };
    const discriminatorLoss = (y: Tensor, yHat: Tensor): Tensor => {
      const losses = discriminators.call(y, yHat).map(([[real], [fake]]) =>
        real.neg().add(1).pow(2).mean().add(fake.pow(2).mean())
      );
      return stack(losses).sum();
    };
    const train = () => {
      const optimG = new optim.AdamW(generator.parameters(), { lr: 2e-3, betas: [0.8, 0.99] });
      const optimD = new optim.AdamW(discriminators.parameters(), { lr: 2e-3, betas: [0.8, 0.99] });
      const schedulers = [optimG, optimD].map((each) =>
        new optim.lrScheduler.ExponentialLR(each, { gamma: 0.99 })
      );
      const step = (mel: Tensor, y: Tensor) => {
        const yHat = generator.call(mel);
        discriminators.requiresGrad_(true);
        optimD.zeroGrad();
        const lossD = discriminatorLoss(y, yHat.detach());
        lossD.backward();
        optimD.step();
        discriminators.requiresGrad_(false);
        optimG.zeroGrad();
        const lossG = generatorLoss(y, yHat);
        lossG.backward();
        optimG.step();
        return stack([lossD.detach(), lossG.detach()]);
      };
      return { step, after: () => schedulers.forEach((each) => each.step()) };
    };
    return {
      model,
      forward: (mel) => generator.call(mel),
      loss: (mel, y) => {
        const yHat = generator.call(mel);
        return generatorLoss(y, yHat).add(discriminatorLoss(y, yHat));
      },
      train,
    };
  },
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
