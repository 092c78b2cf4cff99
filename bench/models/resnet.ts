/** resnet18 (He et al. 2015), as in torchvision. */
import { nn, type Tensor } from "../../mod.ts";

class BasicBlock extends nn.Module {
  readonly conv1: nn.Conv2d;
  readonly bn1: nn.BatchNorm2d;
  readonly conv2: nn.Conv2d;
  readonly bn2: nn.BatchNorm2d;
  readonly downsample: nn.Sequential | null;

  constructor(from: number, to: number, stride: number) {
    super();
    this.conv1 = new nn.Conv2d(from, to, 3, { stride, padding: 1, bias: false });
    this.bn1 = new nn.BatchNorm2d(to);
    this.conv2 = new nn.Conv2d(to, to, 3, { padding: 1, bias: false });
    this.bn2 = new nn.BatchNorm2d(to);
    this.downsample = stride === 1 && from === to
      ? null
      : new nn.Sequential(new nn.Conv2d(from, to, 1, { stride, bias: false }), new nn.BatchNorm2d(to));
  }

  override forward(x: Tensor): Tensor {
    const out = this.bn2.call(this.conv2.call(this.bn1.call(this.conv1.call(x)).relu()));
    return out.add(this.downsample ? this.downsample.call(x) : x).relu();
  }
}

/** Maps images [batch, 3, height, width] to scores [batch, 1000]. */
export class ResNet18 extends nn.Module {
  readonly conv1: nn.Conv2d = new nn.Conv2d(3, 64, 7, { stride: 2, padding: 3, bias: false });
  readonly bn1: nn.BatchNorm2d = new nn.BatchNorm2d(64);
  readonly maxpool: nn.MaxPool2d = new nn.MaxPool2d(3, { stride: 2, padding: 1 });
  readonly layers: nn.Sequential = new nn.Sequential(
    ...[[64, 64, 1], [64, 128, 2], [128, 256, 2], [256, 512, 2]].flatMap(([from = 0, to = 0, stride = 1]) => [
      new BasicBlock(from, to, stride),
      new BasicBlock(to, to, 1),
    ]),
  );
  readonly avgpool: nn.AdaptiveAvgPool2d = new nn.AdaptiveAvgPool2d(1);
  readonly fc: nn.Linear = new nn.Linear(512, 1000);

  override forward(x: Tensor): Tensor {
    const stem = this.maxpool.call(this.bn1.call(this.conv1.call(x)).relu());
    return this.fc.call(this.avgpool.call(this.layers.call(stem)).flatten(1));
  }
}
