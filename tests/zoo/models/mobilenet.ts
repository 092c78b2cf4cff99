/**
 * MobileNetV3 (Howard et al. 2019) in torchvision's style: inverted residuals, squeeze and excitation, hard swish in
 * place, layers as subclasses of Sequential; trained with RMSprop, and averaged exponentially, as the reference is.
 */
import { nn, noGrad, optim, type Tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

/** The nearest multiple of `divisor` that loses no more than a tenth. */
function makeDivisible(v: number, divisor: number): number {
  let newV = Math.max(divisor, Math.floor((v + divisor / 2) / divisor) * divisor);
  if (newV < 0.9 * v) newV += divisor;
  return newV;
}

type Activation = typeof nn.ReLU | typeof nn.Hardswish;

interface ConvNormOptions {
  readonly kernelSize: number;
  readonly stride?: number;
  readonly groups?: number;
  readonly dilation?: number;
  readonly activationLayer?: Activation | null;
}

class Conv2dNormActivation extends nn.Sequential {
  readonly outChannels: number;

  constructor(inChannels: number, outChannels: number, options: ConvNormOptions) {
    const { kernelSize, stride = 1, groups = 1, dilation = 1, activationLayer = null } = options;
    const padding = Math.floor((kernelSize - 1) / 2) * dilation;
    const layers: nn.Layer[] = [
      new nn.Conv2d(inChannels, outChannels, kernelSize, stride, padding, dilation, groups, false),
      new nn.BatchNorm2d(outChannels, { eps: 0.001, momentum: 0.01 }),
    ];
    if (activationLayer !== null) layers.push(new activationLayer({ inplace: true }));
    super(...layers);
    this.outChannels = outChannels;
  }
}

class SqueezeExcitation extends nn.Module {
  readonly avgpool = new nn.AdaptiveAvgPool2d(1);
  readonly fc1: nn.Conv2d;
  readonly fc2: nn.Conv2d;
  readonly activation = new nn.ReLU();
  readonly scaleActivation = new nn.Hardsigmoid();

  constructor(inputChannels: number, squeezeChannels: number) {
    super();
    this.fc1 = new nn.Conv2d(inputChannels, squeezeChannels, 1);
    this.fc2 = new nn.Conv2d(squeezeChannels, inputChannels, 1);
  }

  private scale(input: Tensor): Tensor {
    let scale = this.avgpool.call(input);
    scale = this.fc1.call(scale);
    scale = this.activation.call(scale);
    scale = this.fc2.call(scale);
    return this.scaleActivation.call(scale);
  }

  override forward(input: Tensor): Tensor {
    const scale = this.scale(input);
    return scale.mul(input);
  }
}

interface InvertedResidualConfig {
  readonly inputChannels: number;
  readonly kernel: number;
  readonly expandedChannels: number;
  readonly outChannels: number;
  readonly useSe: boolean;
  readonly useHs: boolean;
  readonly stride: number;
  readonly dilation: number;
}

class InvertedResidual extends nn.Module {
  readonly useResConnect: boolean;
  readonly block: nn.Sequential;

  constructor(cnf: InvertedResidualConfig) {
    super();
    this.useResConnect = cnf.stride === 1 && cnf.inputChannels === cnf.outChannels;
    const layers: nn.Layer[] = [];
    const activationLayer = cnf.useHs ? nn.Hardswish : nn.ReLU;
    if (cnf.expandedChannels !== cnf.inputChannels) {
      layers.push(
        new Conv2dNormActivation(cnf.inputChannels, cnf.expandedChannels, { kernelSize: 1, activationLayer }),
      );
    }
    layers.push(
      new Conv2dNormActivation(cnf.expandedChannels, cnf.expandedChannels, {
        kernelSize: cnf.kernel,
        stride: cnf.dilation > 1 ? 1 : cnf.stride,
        dilation: cnf.dilation,
        groups: cnf.expandedChannels,
        activationLayer,
      }),
    );
    if (cnf.useSe) {
      layers.push(new SqueezeExcitation(cnf.expandedChannels, makeDivisible(cnf.expandedChannels / 4, 2)));
    }
    layers.push(new Conv2dNormActivation(cnf.expandedChannels, cnf.outChannels, { kernelSize: 1 }));
    this.block = new nn.Sequential(...layers);
  }

  override forward(input: Tensor): Tensor {
    const result = this.block.call(input);
    if (this.useResConnect) result.add_(input);
    return result;
  }
}

class MobileNetV3 extends nn.Module {
  readonly features: nn.Sequential;
  readonly avgpool = new nn.AdaptiveAvgPool2d(1);
  readonly classifier: nn.Sequential;

  constructor(settings: readonly InvertedResidualConfig[], lastChannel: number, options: {
    readonly numClasses: number;
    readonly dropout: number;
  }) {
    super();
    const [first] = settings, last = settings[settings.length - 1];
    if (!first || !last) throw new Error("The settings should not be empty");
    const activationLayer = nn.Hardswish;
    const lastConv = 2 * last.outChannels;
    this.features = new nn.Sequential(
      new Conv2dNormActivation(3, first.inputChannels, { kernelSize: 3, stride: 2, activationLayer }),
      ...settings.map((cnf) => new InvertedResidual(cnf)),
      new Conv2dNormActivation(last.outChannels, lastConv, { kernelSize: 1, activationLayer }),
    );
    this.classifier = new nn.Sequential(
      new nn.Linear(lastConv, lastChannel),
      new nn.Hardswish({ inplace: true }),
      new nn.Dropout({ p: options.dropout, inplace: true }),
      new nn.Linear(lastChannel, options.numClasses),
    );
    for (const m of this.modules()) {
      if (m instanceof nn.Conv2d) {
        nn.init.kaimingNormal_(m.weight, { mode: "fan_out" });
        if (m.bias !== null) nn.init.zeros_(m.bias);
      } else if (m instanceof nn.BatchNorm2d || m instanceof nn.GroupNorm) {
        if (m.weight && m.bias) {
          nn.init.ones_(m.weight);
          nn.init.zeros_(m.bias);
        }
      } else if (m instanceof nn.Linear) {
        nn.init.normal_(m.weight, 0, 0.01);
        if (m.bias) nn.init.zeros_(m.bias);
      }
    }
  }

  override forward(x: Tensor): Tensor {
    x = this.features.call(x);
    x = this.avgpool.call(x);
    x = x.flatten(1);
    return this.classifier.call(x);
  }
}

/** A model and the exponential average of its weights and statistics. */
class WithAverage extends nn.Module {
  readonly average: MobileNetV3;

  constructor(readonly model: MobileNetV3, readonly decay: number) {
    super();
    this.average = model.clone().requiresGrad_(false);
  }

  override forward(x: Tensor): Tensor {
    return (this.training ? this.model : this.average).call(x);
  }

  update(): void {
    noGrad(() => {
      const own = [...this.average.parameters(), ...this.average.buffers()];
      const others = [...this.model.parameters(), ...this.model.buffers()];
      own.forEach((each, i) => {
        const other = others[i];
        if (!other) return;
        if (each.isFloatingPoint()) each.mul_(this.decay).add_(other, { alpha: 1 - this.decay });
        else each.copy_(other);
      });
    });
  }
}

const CONFIG: readonly InvertedResidualConfig[] = [
  {
    inputChannels: 4,
    kernel: 3,
    expandedChannels: 4,
    outChannels: 4,
    useSe: true,
    useHs: false,
    stride: 2,
    dilation: 1,
  },
  {
    inputChannels: 4,
    kernel: 5,
    expandedChannels: 8,
    outChannels: 4,
    useSe: false,
    useHs: true,
    stride: 1,
    dilation: 1,
  },
];

export const mobilenet: Specimen = {
  name: "mobilenet",
  make({ dropout }) {
    const net = new WithAverage(new MobileNetV3(CONFIG, 12, { numClasses: 5, dropout }), 0.9);
    const criterion = new nn.CrossEntropyLoss();
    const train = () => {
      const optimizer = new optim.RMSprop(net.model.parameters(), {
        lr: 0.005,
        momentum: 0.9,
        weightDecay: 1e-5,
        alpha: 0.9,
        eps: 0.0316,
      });
      const scheduler = new optim.lrScheduler.ExponentialLR(optimizer, 0.9);
      const step = (image: Tensor, target: Tensor) => {
        const loss = criterion.call(net.call(image), target);
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        net.update();
        return loss.detach();
      };
      return { step, after: () => scheduler.step() };
    };
    return {
      model: net,
      forward: (image) => net.call(image),
      loss: (image: Tensor, target: Tensor) => criterion.call(net.call(image), target),
      train,
    };
  },
  random: true,
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
