/**
 * Neural style transfer: an image keeps its content and adopts the style of another one (Gatys, Ecker and Bethge, "A
 * Neural Algorithm of Artistic Style", 2015). Its pixels are the parameters, which L-BFGS optimises. Content and style
 * are measured by the features of a digit classifier that is trained first.
 *
 *   deno run -A examples/style_transfer.ts [--epochs=2] [--steps=6] [--weight=300]
 */
import { parseArgs } from "@std/cli";
import { arange, compile, data, manualSeed, nn, noGrad, optim, type Tensor } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";
import { gallery } from "./mnist/draw.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "steps", "weight", "train"] });
const epochs = Number(flags.epochs ?? 2),
  steps = Number(flags.steps ?? 6),
  weight = Number(flags.weight ?? 300);
manualSeed(0);

/** Images [N, 1, 28, 28] → logits [N, 10], and the features of each layer */
class Reader extends nn.Module {
  convs = new nn.ModuleList([
    new nn.Conv2d(1, 16, 3, { padding: 1 }),
    new nn.Conv2d(16, 16, 3, { padding: 1 }),
    new nn.Conv2d(16, 32, 3, { padding: 1 }),
    new nn.Conv2d(32, 32, 3, { padding: 1 }),
  ]);
  out = new nn.Linear(32 * 7 * 7, 10);

  override forward(x: Tensor): readonly [logits: Tensor, features: readonly Tensor[]] {
    const features: Tensor[] = [];
    for (const [k, conv] of [...this.convs].entries()) {
      x = conv.call(x).relu();
      features.push(x);
      if (k % 2 === 1) x = nn.functional.avgPool2d(x, 2);
    }
    return [this.out.call(x.flatten(1)), features];
  }
}

const { train, test } = loadDigits(Number(flags.train ?? 4000), 200);
const reader = new Reader();
const adam = new optim.Adam(reader.parameters(), { lr: 2e-3 });
const learn = compile((images: Tensor, labels: Tensor) => {
  adam.zeroGrad();
  const loss = nn.functional.crossEntropy(reader.call(images)[0], labels);
  loss.backward();
  adam.step();
  return loss.detach();
});
const batches = new data.DataLoader(train, { batchSize: 50, shuffle: true });
for (let epoch = 1; epoch <= epochs; epoch++) {
  let total = 0;
  for (const [images, labels] of batches) total += learn(images, labels).item();
  console.log(`reading digits, epoch ${epoch}: loss ${(total / batches.length).toFixed(3)}`);
}
reader.eval().requiresGrad_(false);

/** Returns the Gram matrix of features over all positions: [1, C, H, W] → [C, C] */
function gram(features: Tensor): Tensor {
  const flat = features.squeeze(0).flatten(1);
  return flat.matmul(flat.t()).div(features.numel());
}

// The content is a digit, the style slanted stripes.
const [image, label] = test.get(0), content = image.unsqueeze(0);
const slant = arange(28).unsqueeze(1).add(arange(28));
const stripes = slant.remainder(6).lt(3).to("float32").mul(3.2).sub(0.42).reshape(1, 1, 28, 28);
const shown = noGrad(() => reader.call(content)[1].at(-1)),
  grams = noGrad(() => reader.call(stripes)[1].map(gram));
if (!shown) throw new Error("Expected features");

const picture = new nn.Parameter(content.clone());
const losses = compile((picture: Tensor) => {
  const features = reader.call(picture)[1], last = features.at(-1) ?? picture;
  const kept = nn.functional.mseLoss(last, shown);
  const style = features.map((each, k) => nn.functional.mseLoss(gram(each), grams[k] ?? each))
    .reduce((sum, each) => sum.add(each));
  return [kept, style] as const;
}, { fullgraph: true });

const optimizer = new optim.LBFGS([picture], { lr: 0.5, maxIter: 20, lineSearchFn: "strong_wolfe" });
for (let k = 0; k <= steps; k++) {
  const [kept, style] = losses(picture);
  console.log(`step ${k}: content ${kept.item().toFixed(4)}, style ${style.item().toFixed(6)}`);
  if (k === steps) break;
  optimizer.step(() => {
    optimizer.zeroGrad();
    const [kept, style] = losses(picture), loss = kept.add(style.mul(weight));
    loss.backward();
    return loss;
  });
}

const says = (x: Tensor) => noGrad(() => reader.call(x)[0].argmax(1).item());
console.log(gallery(
  [content, stripes, picture.detach()].map((each) => each.at(0, 0)),
  [`content: a ${label.item()}`, "style", `read as ${says(picture.detach())}`],
));
