/**
 * EfficientNet (Tan and Le 2019) in torchvision's style: MBConv blocks with squeeze and excitation, SiLU in place,
 * stochastic depth by rows; RMSprop with a stepwise schedule inside of the step, gradients clipped by norm.
 */
import { empty, nn, optim, type Tensor } from "../../../mod.ts";
import { ONE, type Specimen } from "../specimen.ts";

/** Drops whole samples of a residual branch with probability p, and scales the rest. */
class StochasticDepth extends nn.Module {
  constructor(readonly p: number, readonly mode: "batch" | "row") {
    super();
  }

  override forward(input: Tensor): Tensor {
    if (!this.training || this.p === 0) return input;
    const survivalRate = 1 - this.p;
    const size = this.mode === "row" ? [input.shape[0] ?? 1] : [1];
    while (size.length < input.ndim) size.push(1);
    let noise = empty(size, { dtype: input.dtype, device: input.device });
    noise = noise.bernoulli_(survivalRate);
    if (survivalRate > 0) noise.div_(survivalRate);
    return input.mul(noise);
  }
}

const convNorm = (inputs: number, outputs: number, kernelSize: number, more: {
  readonly stride?: number;
  readonly groups?: number;
  readonly activate?: boolean;
} = {}) =>
  new nn.Sequential(
    new nn.Conv2d(inputs, outputs, {
      kernelSize,
      stride: more.stride ?? 1,
      padding: (kernelSize - 1) / 2,
      groups: more.groups ?? 1,
      bias: false,
    }),
    new nn.BatchNorm2d(outputs),
    ...(more.activate ?? true ? [new nn.SiLU({ inplace: true })] : []),
  );

class SqueezeExcitation extends nn.Module {
  readonly avgpool = new nn.AdaptiveAvgPool2d(1);
  readonly fc1: nn.Conv2d;
  readonly fc2: nn.Conv2d;
  readonly activation = new nn.SiLU({ inplace: true });
  readonly scale_activation = new nn.Sigmoid();

  constructor(channels: number, squeezed: number) {
    super();
    this.fc1 = new nn.Conv2d(channels, squeezed, 1);
    this.fc2 = new nn.Conv2d(squeezed, channels, 1);
  }

  override forward(x: Tensor): Tensor {
    const squeezed = this.activation.call(this.fc1.call(this.avgpool.call(x)));
    return this.scale_activation.call(this.fc2.call(squeezed)).mul(x);
  }
}

interface MBConvConfig {
  readonly expandRatio: number;
  readonly kernel: number;
  readonly stride: number;
  readonly inputChannels: number;
  readonly outChannels: number;
}

class MBConv extends nn.Module {
  readonly useResConnect: boolean;
  readonly block: nn.Sequential;
  readonly stochastic_depth: StochasticDepth;

  constructor(cnf: MBConvConfig, stochasticDepthProb: number) {
    super();
    this.useResConnect = cnf.stride === 1 && cnf.inputChannels === cnf.outChannels;
    const layers: nn.Layer[] = [];
    const expanded = cnf.inputChannels * cnf.expandRatio;
    if (expanded !== cnf.inputChannels) layers.push(convNorm(cnf.inputChannels, expanded, 1));
    layers.push(convNorm(expanded, expanded, cnf.kernel, { stride: cnf.stride, groups: expanded }));
    layers.push(new SqueezeExcitation(expanded, Math.max(1, Math.floor(cnf.inputChannels / 4))));
    layers.push(convNorm(expanded, cnf.outChannels, 1, { activate: false }));
    this.block = new nn.Sequential(...layers);
    this.stochastic_depth = new StochasticDepth(stochasticDepthProb, "row");
  }

  override forward(input: Tensor): Tensor {
    let result = this.block.call(input);
    if (this.useResConnect) {
      result = this.stochastic_depth.call(result);
      result.add_(input);
    }
    return result;
  }
}

class EfficientNet extends nn.Module {
  readonly features: nn.Sequential;
  readonly avgpool = new nn.AdaptiveAvgPool2d(1);
  readonly classifier: nn.Sequential;

  constructor(numClasses: number, dropout: number) {
    super();
    const stages: readonly (readonly MBConvConfig[])[] = [
      [{ expandRatio: 1, kernel: 3, stride: 1, inputChannels: 4, outChannels: 4 }],
      [
        { expandRatio: 2, kernel: 5, stride: 2, inputChannels: 4, outChannels: 6 },
        { expandRatio: 2, kernel: 5, stride: 1, inputChannels: 6, outChannels: 6 },
      ],
    ];
    const total = stages.flat().length;
    let id = 0;
    this.features = new nn.Sequential(
      convNorm(3, 4, 3, { stride: 2 }),
      ...stages.map((stage) =>
        new nn.Sequential(...stage.map((cnf) => new MBConv(cnf, dropout * id++ / total)))
      ),
      convNorm(6, 12, 1),
    );
    this.classifier = new nn.Sequential(
      new nn.Dropout({ p: dropout, inplace: true }),
      new nn.Linear(12, numClasses),
    );
  }

  override forward(x: Tensor): Tensor {
    x = this.avgpool.call(this.features.call(x)).flatten(1);
    return this.classifier.call(x);
  }
}

export const efficientnet: Specimen = {
  name: "efficientnet",
  make({ dropout }) {
    const model = new EfficientNet(5, dropout);
    const criterion = new nn.CrossEntropyLoss({ labelSmoothing: 0.1 });
    const lossOf = (image: Tensor, target: Tensor) => criterion.call(model.call(image), target);
    const train = () => {
      const optimizer = new optim.RMSprop(model.parameters(), {
        lr: 0.01,
        alpha: 0.9,
        eps: 1e-2,
        momentum: 0.9,
        centered: true,
      });
      const scheduler = new optim.lrScheduler.StepLR(optimizer, { stepSize: 4, gamma: 0.5 });
      const step = (image: Tensor, target: Tensor) => {
        optimizer.zeroGrad();
        const loss = lossOf(image, target);
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), { maxNorm: 1 });
        optimizer.step();
        scheduler.step();
        return loss.detach();
      };
      return { step };
    };
    return { model, forward: (image) => model.call(image), loss: lossOf, train };
  },
  random: true,
  // The optimizer's state, the schedule's count of steps and then the rate are other than at first
  counts: { forward: ONE, loss: ONE, step: { graphs: 3, breaks: 0, recompiles: 2 } },
};
