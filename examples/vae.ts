/**
 * A variational autoencoder of handwritten digits: it learns to draw digits from sixteen numbers.
 *
 *   deno run -A examples/vae.ts [--epochs=8] [--train=4000]
 */
import { parseArgs } from "@std/cli";
import { compile, data, manualSeed, nn, noGrad, optim, randn, randnLike, type Tensor } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "train"] });
const epochs = Number(flags.epochs ?? 8), latent = 16;
manualSeed(0);

/** Images [N, 1, 28, 28] → logits of their reconstruction [N, 784], and mean and log variance of the latent code. */
class Vae extends nn.Module {
  encoder = new nn.Sequential(
    new nn.Flatten(),
    new nn.Linear(784, 256),
    new nn.ReLU(),
    new nn.Linear(256, 2 * latent),
  );
  decoder = new nn.Sequential(new nn.Linear(latent, 256), new nn.ReLU(), new nn.Linear(256, 784));

  override forward(images: Tensor): readonly [logits: Tensor, mean: Tensor, logVariance: Tensor] {
    const [mean = images, logVariance = images] = this.encoder.call(images).chunk(2, 1);
    const drawn = mean.add(logVariance.mul(0.5).exp().mul(randnLike(mean)));
    return [this.decoder.call(drawn), mean, logVariance];
  }
}

const { train } = loadDigits(Number(flags.train ?? 4000), 100);
const batches = new data.DataLoader(train, { batchSize: 100, shuffle: true, dropLast: true });
const model = new Vae();
const optimizer = new optim.Adam(model.parameters(), { lr: 1e-3 });

const step = compile((images: Tensor) => {
  optimizer.zeroGrad();
  const [logits, mean, logVariance] = model.call(images);
  // The images are normalised; their pixels are mapped back to [0, 1].
  const pixels = images.flatten(1).mul(0.3081).add(0.1307).clamp(0, 1);
  const surprise = nn.functional.binaryCrossEntropyWithLogits(logits, pixels, { reduction: "sum" });
  const distance = mean.square().add(logVariance.exp()).sub(1).sub(logVariance).sum().mul(0.5);
  const loss = surprise.add(distance).div(images.shape[0] ?? 1);
  loss.backward();
  optimizer.step();
  return loss.detach();
});

for (let epoch = 1; epoch <= epochs; epoch++) {
  let total = 0, count = 0;
  for (const [images] of batches) {
    total += step(images).item();
    count++;
  }
  console.log(`epoch ${epoch}: loss ${(total / count).toFixed(1)}`);
}

const drawn = noGrad(() => model.decoder.call(randn(4, latent)).sigmoid().reshape(4, 28, 28));
for (let row = 0; row < 28; row += 2) {
  const shade = (value: number) => " .:-=+*#%@"[Math.min(9, Math.floor(value * 10))];
  console.log(
    [0, 1, 2, 3].map((k) => [...drawn.at(k, row).toTypedArray()].map((v) => shade(Number(v))).join("")).join(
      "  ",
    ),
  );
}
