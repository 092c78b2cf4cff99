/**
 * ResNet (He et al. 2016) and ResNeXt (Xie et al. 2017) in torchvision's style: basic and bottleneck blocks,
 * downsampling shortcuts, `out += identity`, activations in place, zero-initialised residual branches.
 */
import { nn, optim, type Tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

function conv3x3(inPlanes: number, outPlanes: number, stride = 1, groups = 1): nn.Conv2d {
  return new nn.Conv2d(inPlanes, outPlanes, { kernelSize: 3, stride, padding: 1, groups, bias: false });
}

function conv1x1(inPlanes: number, outPlanes: number, stride = 1): nn.Conv2d {
  return new nn.Conv2d(inPlanes, outPlanes, { kernelSize: 1, stride, bias: false });
}

interface BlockOptions {
  readonly stride: number;
  readonly downsample: nn.Sequential | null;
  readonly groups: number;
  readonly baseWidth: number;
}

class BasicBlock extends nn.Module {
  static readonly expansion = 1;
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly relu = new nn.ReLU({ inplace: true });
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly downsample: nn.Sequential | null;

  constructor(inplanes: number, planes: number, { stride, downsample }: BlockOptions) {
    super();
    this.conv1 = conv3x3(inplanes, planes, stride);
    this.bn1 = new nn.BatchNorm2d(planes);
    this.conv2 = conv3x3(planes, planes);
    this.bn2 = new nn.BatchNorm2d(planes);
    this.downsample = downsample;
  }

  override forward(x: Tensor): Tensor {
    let identity = x;
    let out = this.conv1.call(x);
    out = this.bn1.call(out);
    out = this.relu.call(out);
    out = this.conv2.call(out);
    out = this.bn2.call(out);
    if (this.downsample !== null) identity = this.downsample.call(x);
    out.add_(identity);
    out = this.relu.call(out);
    return out;
  }
}

class Bottleneck extends nn.Module {
  static readonly expansion = 4;
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly conv3: nn.Conv2d;
  readonly bn3: nn.BatchNorm2d;
  readonly relu = new nn.ReLU({ inplace: true });
  readonly downsample: nn.Sequential | null;

  constructor(inplanes: number, planes: number, options: BlockOptions) {
    super();
    const { stride, downsample, groups, baseWidth } = options;
    const width = Math.trunc(planes * (baseWidth / 64)) * groups;
    this.conv1 = conv1x1(inplanes, width);
    this.bn1 = new nn.BatchNorm2d(width);
    this.conv2 = conv3x3(width, width, stride, groups);
    this.bn2 = new nn.BatchNorm2d(width);
    this.conv3 = conv1x1(width, planes * Bottleneck.expansion);
    this.bn3 = new nn.BatchNorm2d(planes * Bottleneck.expansion);
    this.downsample = downsample;
  }

  override forward(x: Tensor): Tensor {
    let identity = x;
    let out = this.relu.call(this.bn1.call(this.conv1.call(x)));
    out = this.relu.call(this.bn2.call(this.conv2.call(out)));
    out = this.bn3.call(this.conv3.call(out));
    if (this.downsample) identity = this.downsample.call(x);
    out.add_(identity);
    return this.relu.call(out);
  }
}

type Block = typeof BasicBlock | typeof Bottleneck;

interface ResNetOptions {
  readonly numClasses: number;
  readonly width: number;
  readonly groups?: number;
  readonly widthPerGroup?: number;
  readonly zeroInitResidual?: boolean;
}

class ResNet extends nn.Module {
  inplanes: number;
  readonly groups: number;
  readonly baseWidth: number;
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly relu = new nn.ReLU({ inplace: true });
  readonly maxpool = new nn.MaxPool2d({ kernelSize: 3, stride: 2, padding: 1 });
  readonly layer1: nn.Sequential;
  readonly layer2: nn.Sequential;
  readonly avgpool = new nn.AdaptiveAvgPool2d([1, 1]);
  readonly fc: nn.Linear;

  constructor(block: Block, layers: readonly [number, number], options: ResNetOptions) {
    super();
    const { numClasses, width, groups = 1, widthPerGroup = 64, zeroInitResidual = false } = options;
    this.inplanes = width;
    this.groups = groups;
    this.baseWidth = widthPerGroup;
    this.conv1 = new nn.Conv2d(3, this.inplanes, { kernelSize: 7, stride: 2, padding: 3, bias: false });
    this.bn1 = new nn.BatchNorm2d(this.inplanes);
    this.layer1 = this.makeLayer(block, width, layers[0]);
    this.layer2 = this.makeLayer(block, width * 2, layers[1], 2);
    this.fc = new nn.Linear(width * 2 * block.expansion, numClasses);
    for (const m of this.modules()) {
      if (m instanceof nn.Conv2d) {
        nn.init.kaimingNormal_(m.weight, { mode: "fan_out", nonlinearity: "relu" });
      } else if (m instanceof nn.BatchNorm2d && m.weight && m.bias) {
        nn.init.constant_(m.weight, 1);
        nn.init.constant_(m.bias, 0);
      }
    }
    if (zeroInitResidual) {
      for (const m of this.modules()) {
        if (m instanceof Bottleneck && m.bn3.weight) nn.init.constant_(m.bn3.weight, 0);
        else if (m instanceof BasicBlock && m.bn2.weight) nn.init.constant_(m.bn2.weight, 0);
      }
    }
  }

  makeLayer(block: Block, planes: number, blocks: number, stride = 1): nn.Sequential {
    const { groups, baseWidth } = this;
    let downsample: nn.Sequential | null = null;
    if (stride !== 1 || this.inplanes !== planes * block.expansion) {
      downsample = new nn.Sequential(
        conv1x1(this.inplanes, planes * block.expansion, stride),
        new nn.BatchNorm2d(planes * block.expansion),
      );
    }
    const layers = [new block(this.inplanes, planes, { stride, downsample, groups, baseWidth })];
    this.inplanes = planes * block.expansion;
    for (let i = 1; i < blocks; i++) {
      layers.push(new block(this.inplanes, planes, { stride: 1, downsample: null, groups, baseWidth }));
    }
    return new nn.Sequential(...layers);
  }

  override forward(x: Tensor): Tensor {
    x = this.conv1.call(x);
    x = this.bn1.call(x);
    x = this.relu.call(x);
    x = this.maxpool.call(x);
    x = this.layer1.call(x);
    x = this.layer2.call(x);
    x = this.avgpool.call(x);
    x = x.flatten(1);
    return this.fc.call(x);
  }
}

/** The recipe of torchvision's references: SGD with momentum, a warm-up and then a cosine, label smoothing. */
function subject(model: ResNet) {
  const criterion = new nn.CrossEntropyLoss({ labelSmoothing: 0.1 });
  const forward = (image: Tensor) => model.call(image);
  const loss = (image: Tensor, target: Tensor) => criterion.call(model.call(image), target);
  const train = () => {
    const optimizer = new optim.SGD(model.parameters(), {
      lr: 0.05,
      momentum: 0.9,
      weightDecay: 1e-4,
      nesterov: true,
    });
    const { LinearLR, CosineAnnealingLR, SequentialLR } = optim.lrScheduler;
    const scheduler = new SequentialLR(optimizer, {
      schedulers: [
        new LinearLR(optimizer, { startFactor: 0.1, totalIters: 3 }),
        new CosineAnnealingLR(optimizer, { tMax: 7 }),
      ],
      milestones: [3],
    });
    const step = (image: Tensor, target: Tensor) => {
      const output = model.call(image);
      const value = criterion.call(output, target);
      optimizer.zeroGrad();
      value.backward();
      optimizer.step();
      return value.detach();
    };
    return { step, after: () => scheduler.step() };
  };
  return { model, forward, loss, train };
}

const counts = { forward: ONE, loss: ONE, step: FIRST_AND_REST };

export const resnet18: Specimen = {
  name: "resnet18",
  make: () => subject(new ResNet(BasicBlock, [1, 2], { numClasses: 5, width: 4 })),
  counts,
};

export const resnet50: Specimen = {
  name: "resnet50",
  make: () => subject(new ResNet(Bottleneck, [1, 1], { numClasses: 5, width: 2, zeroInitResidual: true })),
  counts,
};

export const resnext: Specimen = {
  name: "resnext",
  make: () =>
    subject(new ResNet(Bottleneck, [1, 1], { numClasses: 5, width: 2, groups: 2, widthPerGroup: 64 })),
  counts,
};
