/**
 * Several processes train a small ConvNet on handwritten digits: each on its share of every epoch, with gradients
 * averaged by MPI.
 *
 *   deno run -A cli.ts launch -n 2 examples/data_parallel.ts [--epochs=4] [--train=9000] [--batch=64]
 *
 * Started alone it trains on one process.
 */
import { parseArgs } from "@std/cli";
import { data, distributed, manualSeed, nn, noGrad, optim, tensor } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";
import { ConvNet } from "./mnist/model.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "train", "test", "batch"] });
const epochs = Number(flags.epochs ?? 4), batchSize = Number(flags.batch ?? 64);

distributed.initProcessGroup();
const rank = distributed.getRank(), size = distributed.getWorldSize();
const { train, test } = loadDigits(Number(flags.train ?? 9000), Number(flags.test ?? 1000));
const sampler = new data.DistributedSampler(train),
  testSampler = new data.DistributedSampler(test, { shuffle: false });
const batches = new data.DataLoader(train, { batchSize, sampler, dropLast: true });
const testBatches = new data.DataLoader(test, { batchSize: 250, sampler: testSampler });

manualSeed(1 + rank);
const net = new ConvNet().compile();
const model = new distributed.DistributedDataParallel(net);
const optimizer = new optim.Adam(model.parameters(), { lr: 2e-3 });

/** The share of test digits that are recognised, over all ranks. */
function accuracy(): number {
  const rightAndAll = tensor([0, 0]);
  model.eval();
  noGrad(() => {
    for (const [images, labels] of testBatches) {
      rightAndAll.add_(
        tensor([Number(model.call(images).argmax(1).eq(labels).sum().item()), images.size(0)]),
      );
    }
  });
  model.train();
  distributed.allReduce(rightAndAll);
  const [right = 0, all = 1] = rightAndAll.tolist<number[]>();
  return right / all;
}

for (let epoch = 1; epoch <= epochs; epoch++) {
  sampler.setEpoch(epoch);
  const losses = tensor([0, 0], { dtype: "float32" });
  for (const [images, labels] of batches) {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(images), labels);
    loss.backward();
    optimizer.step();
    losses.add_(tensor([loss.item(), 1]));
  }
  distributed.allReduce(losses);
  const [sum = 0, count = 1] = losses.tolist<number[]>(), right = accuracy();
  if (rank === 0) {
    console.log(
      `epoch ${epoch}: loss ${(sum / count).toFixed(4)}, ${
        (100 * right).toFixed(1)
      } % right on ${size} processes`,
    );
  }
}
distributed.destroyProcessGroup();
