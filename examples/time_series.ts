/**
 * Forecasting a time series with a GRU: the yearly and monthly waves of a noisy signal, twelve steps ahead.
 *
 *   deno run -A examples/time_series.ts [--epochs=30] [--train=700]
 */
import { parseArgs } from "@std/cli";
import { arange, compile, data, manualSeed, nn, noGrad, optim, randn, type Tensor } from "../mod.ts";

const { epochs = "30", train = "700" } = parseArgs(Deno.args, { string: ["epochs", "train"] });
const window = 36, ahead = 12, length = 900;
manualSeed(0);

// Two waves and a linear trend, with a tenth of noise.
const t = arange(length).to("float32");
const series = t.mul(2 * Math.PI / 12).sin().add(t.mul(2 * Math.PI / 90).cos().mul(0.7)).add(t.mul(0.001))
  .add(
    randn(length).mul(0.1),
  );
// All windows of the series, as a view.
const all = series.unfold(0, window + ahead, 1);
const known = all.at(":", `:${window}`), wanted = all.at(":", `${window}:`);
const trained = Number(train);

/** [N, window] → the next values [N, ahead] */
class Forecaster extends nn.Module {
  gru = new nn.GRU(1, 32, { batchFirst: true });
  out = new nn.Linear(32, ahead);

  override forward(x: Tensor): Tensor {
    const [, last] = this.gru.call(x.unsqueeze(-1));
    return this.out.call(last.at(-1));
  }
}

const model = new Forecaster();
const optimizer = new optim.AdamW(model.parameters(), { lr: 5e-3 });
const schedule = new optim.lrScheduler.OneCycleLR(optimizer, {
  maxLr: 1e-2,
  // Cycling momentum is for SGD; Adam's two stay constant.
  cycleMomentum: false,
  totalSteps: Number(epochs) * Math.floor(trained / 50),
});
const step = compile((x: Tensor, y: Tensor) => {
  optimizer.zeroGrad();
  const loss = nn.functional.mseLoss(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss.detach();
});

const set = new data.TensorDataset(known.at(`:${trained}`), wanted.at(`:${trained}`));
const batches = new data.DataLoader(set, { batchSize: 50, shuffle: true, dropLast: true });
for (let epoch = 1; epoch <= Number(epochs); epoch++) {
  let total = 0, count = 0;
  for (const [x, y] of batches) {
    total += step(x, y).item();
    schedule.step();
    count++;
  }
  if (epoch === 1 || epoch % 5 === 0 || epoch === Number(epochs)) {
    console.log(`epoch ${epoch}: loss ${(total / count).toFixed(4)}`);
  }
}

const [error, naive] = noGrad(() => {
  const x = known.at("700:"), y = wanted.at("700:");
  const last = x.at(":", "-1:").expand(y.shape);
  return [model.call(x), last].map((guess) => guess.sub(y).square().mean().sqrt().item());
});
console.log(
  `on later values: off by ${error?.toFixed(3)}; the last value repeated is off by ${naive?.toFixed(3)}`,
);
