/**
 * Diffusion on handwritten digits: a small U-Net learns to denoise digits, and generates new ones of requested classes
 * from noise (Ho, Jain and Abbeel, "Denoising Diffusion Probabilistic Models", 2020; sampling by Song, Meng and Ermon,
 * "Denoising Diffusion Implicit Models", 2020).
 *
 *   deno run -A examples/diffusion.ts [--epochs=6] [--train=6000] [--times=200] [--draw=0247]
 */
import { parseArgs } from "@std/cli";
import {
  arange,
  cat,
  compile,
  compiler,
  data,
  linspace,
  manualSeed,
  nn,
  noGrad,
  optim,
  randint,
  randn,
  randnLike,
  type Tensor,
  tensor,
} from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";
import { gallery } from "./mnist/draw.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "train", "times", "draw"] });
const epochs = Number(flags.epochs ?? 6), times = Number(flags.times ?? 200), width = 24;
manualSeed(0);

// Share of the image left at each time, by the cosine schedule of Nichol and Dhariwal.
const left = linspace(0, 1, times + 1).add(0.008).div(1.008).mul(Math.PI / 2).cos().square();
const kept = left.at("1:").div(left.at(0)).clamp(1e-4);

/** A convolution with normalisation, conditioned on time and class. */
class Block extends nn.Module {
  conv: nn.Conv2d;
  norm: nn.GroupNorm;
  told: nn.Linear;

  constructor(channels: number, planes: number) {
    super();
    this.conv = new nn.Conv2d(channels, planes, 3, { padding: 1 });
    this.norm = new nn.GroupNorm(8, planes);
    this.told = new nn.Linear(64, planes);
  }

  override forward(x: Tensor, told: Tensor): Tensor {
    const y = this.norm.call(this.conv.call(x)).add(this.told.call(told).unsqueeze(-1).unsqueeze(-1));
    return nn.functional.silu(y);
  }
}

/** Noisy digits [N, 1, 28, 28], times [N] and classes [N] → the digits without noise */
class UNet extends nn.Module {
  time = new nn.Sequential(new nn.Linear(32, 64), new nn.SiLU(), new nn.Linear(64, 64));
  digit = new nn.Embedding(10, 64);
  // Four pixels become channels of one position, so that all convolutions are 14×14 or smaller.
  inside = new Block(4, width);
  down = new Block(width, 2 * width);
  middle = new Block(2 * width, 2 * width);
  up = new Block(3 * width, width);
  out = new nn.Conv2d(width, 4, 3, { padding: 1 });

  override forward(x: Tensor, time: Tensor, digit: Tensor): Tensor {
    const { functional: F } = nn;
    const turns = time.unsqueeze(1).mul(arange(16).mul(-0.5).exp());
    const told = this.time.call(cat([turns.sin(), turns.cos()], 1)).add(this.digit.call(digit));
    const wide = this.inside.call(F.pixelUnshuffle(x, 2), told);
    const narrow = this.middle.call(this.down.call(F.maxPool2d(wide, 2), told), told);
    const joined = cat([wide, F.interpolate(narrow, { scaleFactor: 2 })], 1);
    return F.pixelShuffle(this.out.call(this.up.call(joined, told)), 2);
  }
}

const { train } = loadDigits(Number(flags.train ?? 6000), 100);
const batches = new data.DataLoader(train, { batchSize: 64, shuffle: true, dropLast: true });
const model = new UNet();
// The average of recent weights generates better images than the last weights.
const averages = new optim.swaUtils.AveragedModel(model, { avgFn: optim.swaUtils.getEmaAvgFn(0.98) });
const optimizer = new optim.AdamW(model.parameters(), { lr: 2e-3 });
const schedule = new optim.lrScheduler.OneCycleLR(optimizer, {
  maxLr: 4e-3,
  totalSteps: epochs * batches.length,
  cycleMomentum: false,
});

const step = compile((images: Tensor, labels: Tensor) => {
  optimizer.zeroGrad();
  const time = randint(0, times, [images.shape[0] ?? 0]);
  const share = kept.at(time).reshape(-1, 1, 1, 1), noise = randnLike(images);
  const noisy = images.mul(share.sqrt()).add(noise.mul(share.rsub(1).sqrt()));
  const loss = nn.functional.mseLoss(model.call(noisy, time, labels), images);
  loss.backward();
  optimizer.step();
  averages.updateParameters(model);
  return loss.detach();
});

for (let epoch = 1; epoch <= epochs; epoch++) {
  let total = 0, first = 0;
  for (const [images, labels] of batches) {
    const loss = step(images, labels).item();
    schedule.step();
    if (total === 0) first = loss;
    total += loss;
  }
  if (epoch === 1) console.log(`first step: loss ${first.toFixed(3)}`);
  console.log(`epoch ${epoch}: loss ${(total / batches.length).toFixed(3)}`);
}

/** Takes an image from one noise level to a lower one: the predicted digit and the remaining noise. */
const cleaner = compile((x: Tensor, time: Tensor, now: Tensor, before: Tensor, digits: Tensor) => {
  const clean = averages.call(x, time, digits);
  const noise = x.sub(clean.mul(now.sqrt())).div(now.rsub(1).sqrt());
  return clean.mul(before.sqrt()).add(noise.mul(before.rsub(1).sqrt()));
});

averages.eval();
const digits = [...flags.draw ?? "0247"].map(Number), count = digits.length;
let x = randn(count, 1, 28, 28);
noGrad(() => {
  for (let time = times - 1; time >= 0; time -= 2) {
    const before = time > 1 ? kept.at(time - 2) : tensor(1, { dtype: "float32" });
    x = cleaner(x, tensor(digits.map(() => time)), kept.at(time), before, tensor(digits));
  }
});
console.log(gallery([...x].map((image) => image.at(0)), digits.map((digit) => `asked for: ${digit}`)));
console.log(`graph breaks ${compiler.status(step).graphBreaks + compiler.status(cleaner).graphBreaks}`);
