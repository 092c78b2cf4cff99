/**
 * U-Net (Ronneberger et al. 2015) as segmentation projects write it: double convolutions, transposed and bilinear
 * upsampling, padding to the skip connection's size, binary cross entropy plus the Dice loss; Adam, and a rate that
 * follows the loss.
 */
import { cat, nn, optim, type Tensor, tensor } from "../../../mod.ts";
import { FIRST_AND_REST, ONE, type Specimen } from "../specimen.ts";

const F = nn.functional;

class DoubleConv extends nn.Module {
  readonly double_conv: nn.Sequential;

  constructor(inChannels: number, outChannels: number, midChannels: number = outChannels) {
    super();
    this.double_conv = new nn.Sequential(
      new nn.Conv2d(inChannels, midChannels, { kernelSize: 3, padding: 1, bias: false }),
      new nn.BatchNorm2d(midChannels),
      new nn.ReLU({ inplace: true }),
      new nn.Conv2d(midChannels, outChannels, { kernelSize: 3, padding: 1, bias: false }),
      new nn.BatchNorm2d(outChannels),
      new nn.ReLU({ inplace: true }),
    );
  }

  override forward(x: Tensor): Tensor {
    return this.double_conv.call(x);
  }
}

class Down extends nn.Module {
  readonly maxpool_conv: nn.Sequential;

  constructor(inChannels: number, outChannels: number) {
    super();
    this.maxpool_conv = new nn.Sequential(new nn.MaxPool2d(2), new DoubleConv(inChannels, outChannels));
  }

  override forward(x: Tensor): Tensor {
    return this.maxpool_conv.call(x);
  }
}

class Up extends nn.Module {
  readonly up: nn.Upsample | nn.ConvTranspose2d;
  readonly conv: DoubleConv;

  constructor(inChannels: number, outChannels: number, bilinear: boolean) {
    super();
    if (bilinear) {
      this.up = new nn.Upsample({ scaleFactor: 2, mode: "bilinear", alignCorners: true });
      this.conv = new DoubleConv(inChannels + outChannels, outChannels, Math.floor(inChannels / 2));
    } else {
      this.up = new nn.ConvTranspose2d(inChannels, outChannels, { kernelSize: 2, stride: 2 });
      this.conv = new DoubleConv(2 * outChannels, outChannels);
    }
  }

  override forward(x1: Tensor, x2: Tensor): Tensor {
    x1 = this.up.call(x1);
    const diffY = x2.size(2) - x1.size(2);
    const diffX = x2.size(3) - x1.size(3);
    x1 = F.pad(x1, [
      Math.floor(diffX / 2),
      diffX - Math.floor(diffX / 2),
      Math.floor(diffY / 2),
      diffY - Math.floor(diffY / 2),
    ]);
    const x = cat([x2, x1], { dim: 1 });
    return this.conv.call(x);
  }
}

class UNet extends nn.Module {
  readonly inc: DoubleConv;
  readonly down1: Down;
  readonly down2: Down;
  readonly up1: Up;
  readonly up2: Up;
  readonly outc: nn.Conv2d;

  constructor(nChannels: number, nClasses: number, width: number) {
    super();
    this.inc = new DoubleConv(nChannels, width);
    this.down1 = new Down(width, 2 * width);
    this.down2 = new Down(2 * width, 4 * width);
    this.up1 = new Up(4 * width, 2 * width, false);
    this.up2 = new Up(2 * width, width, true);
    this.outc = new nn.Conv2d(width, nClasses, { kernelSize: 1 });
  }

  override forward(x: Tensor): Tensor {
    const x1 = this.inc.call(x);
    const x2 = this.down1.call(x1);
    const x3 = this.down2.call(x2);
    x = this.up1.call(x3, x2);
    x = this.up2.call(x, x1);
    return this.outc.call(x);
  }
}

/** One minus twice the overlap's share of both masks. */
function diceLoss(input: Tensor, target: Tensor, epsilon = 1e-6): Tensor {
  const sumDim = [-1, -2];
  const inter = input.mul(target).sum(sumDim).mul(2);
  let setsSum = input.sum(sumDim).add(target.sum(sumDim));
  setsSum = setsSum.where(setsSum.ne(0), inter);
  const dice = inter.add(epsilon).div(setsSum.add(epsilon));
  return dice.mean().rsub(1);
}

export const unet: Specimen = {
  name: "unet",
  make() {
    const model = new UNet(2, 1, 4);
    const criterion = new nn.BCEWithLogitsLoss({ posWeight: tensor([2], { dtype: "float32" }) });
    model.addModule("criterion", criterion);
    const lossOf = (image: Tensor, mask: Tensor) => {
      const masksPred = model.call(image).squeeze(1);
      const loss = criterion.call(masksPred, mask);
      return loss.add(diceLoss(masksPred.sigmoid(), mask));
    };
    const train = () => {
      const optimizer = new optim.Adam(model.parameters(), { lr: 0.01, weightDecay: 1e-8 });
      const { ReduceLROnPlateau } = optim.lrScheduler;
      const scheduler = new ReduceLROnPlateau(optimizer, { mode: "min", patience: 1, threshold: 0.1 });
      const step = (image: Tensor, mask: Tensor) => {
        const loss = lossOf(image, mask);
        optimizer.zeroGrad({ setToNone: true });
        loss.backward();
        nn.utils.clipGradNorm_(model.parameters(), 1);
        optimizer.step();
        return loss.detach();
      };
      return { step, after: (loss: Tensor) => scheduler.step(loss) };
    };
    return { model, forward: (image) => model.call(image), loss: lossOf, train };
  },
  // The third serves every rate, once it has changed
  counts: { forward: ONE, loss: ONE, step: FIRST_AND_REST },
};
