/**
 * Fine-tuning an image classifier: a ResNet with torchvision's keys and shapes starts from a checkpoint and learns new
 * classes from a few images of each (He et al., "Deep Residual Learning for Image Recognition", 2015).
 *
 *   deno run -A examples/image_classifier.ts [--weights=resnet18.safetensors] [--epochs=20] [--pictures=100]
 * [--width=16]
 *
 * `safetensors.torch.save_file(torchvision.models.resnet18(weights="DEFAULT").state_dict(), path)` writes a file that
 * `--weights` reads. Without one the program first trains a narrower network on the digits 0 to 4.
 */
import { parseArgs } from "@std/cli";
import { compile, data, manualSeed, nn, noGrad, optim, safetensors, type Tensor } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";

const flags = parseArgs(Deno.args, {
  string: ["weights", "epochs", "width", "pictures", "train", "test", "blocks"],
});
const blocks = Number(flags.blocks ?? 2), pictures = Number(flags.pictures ?? 100);
manualSeed(0);

/** Two convolutions with a residual connection. */
class BasicBlock extends nn.Module {
  conv1: nn.Conv2d;
  bn1: nn.BatchNorm2d;
  relu = new nn.ReLU();
  conv2: nn.Conv2d;
  bn2: nn.BatchNorm2d;
  downsample: nn.Sequential | null = null;

  constructor(channels: number, planes: number, stride: number) {
    super();
    this.conv1 = new nn.Conv2d(channels, planes, 3, { stride, padding: 1, bias: false });
    this.bn1 = new nn.BatchNorm2d(planes);
    this.conv2 = new nn.Conv2d(planes, planes, 3, { padding: 1, bias: false });
    this.bn2 = new nn.BatchNorm2d(planes);
    if (stride !== 1 || channels !== planes) {
      this.downsample = new nn.Sequential(
        new nn.Conv2d(channels, planes, 1, { stride, bias: false }),
        new nn.BatchNorm2d(planes),
      );
    }
  }

  override forward(x: Tensor): Tensor {
    let out = this.relu.call(this.bn1.call(this.conv1.call(x)));
    out = this.bn2.call(this.conv2.call(out));
    return this.relu.call(out.add(this.downsample ? this.downsample.call(x) : x));
  }
}

/**
 * Images [N, 3, H, W] → logits [N, classes]. With a width of 64 and two blocks per layer it is torchvision's resnet18.
 */
class ResNet extends nn.Module {
  conv1: nn.Conv2d;
  bn1: nn.BatchNorm2d;
  relu = new nn.ReLU();
  maxpool = new nn.MaxPool2d(3, { stride: 2, padding: 1 });
  layer1: nn.Sequential;
  layer2: nn.Sequential;
  layer3: nn.Sequential;
  layer4: nn.Sequential;
  avgpool = new nn.AdaptiveAvgPool2d(1);
  fc: nn.Linear;

  constructor(width: number, classes: number) {
    super();
    const layer = (channels: number, planes: number, stride: number) =>
      new nn.Sequential(
        ...Array.from({ length: blocks }, (_, k) =>
          k === 0 ? new BasicBlock(channels, planes, stride) : new BasicBlock(planes, planes, 1)),
      );
    this.conv1 = new nn.Conv2d(3, width, 7, { stride: 2, padding: 3, bias: false });
    this.bn1 = new nn.BatchNorm2d(width);
    this.layer1 = layer(width, width, 1);
    this.layer2 = layer(width, 2 * width, 2);
    this.layer3 = layer(2 * width, 4 * width, 2);
    this.layer4 = layer(4 * width, 8 * width, 2);
    this.fc = new nn.Linear(8 * width, classes);
  }

  override forward(x: Tensor): Tensor {
    x = this.maxpool.call(this.relu.call(this.bn1.call(this.conv1.call(x))));
    x = this.layer4.call(this.layer3.call(this.layer2.call(this.layer1.call(x))));
    return this.fc.call(this.avgpool.call(x).flatten(1));
  }
}

type Pictures = readonly [images: Tensor, labels: Tensor];

/** The task: training images, test images, and the number of epochs. */
interface Task {
  readonly given: Pictures;
  readonly others: Pictures;
  readonly epochs: number;
}

/** Trains, and returns the accuracy on the other images. */
function fit(model: ResNet, optimizer: optim.Optimizer, { given, others, epochs }: Task): number {
  const step = compile((images: Tensor, labels: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(images), labels);
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const batches = new data.DataLoader(new data.TensorDataset(...given), { batchSize: 50, shuffle: true });
  for (let epoch = 1; epoch <= epochs; epoch++) {
    let total = 0;
    for (const [images, labels] of batches) total += step(images, labels).item();
    if (epochs < 5 || epoch % 5 === 0) {
      console.log(`  epoch ${epoch}: loss ${(total / batches.length).toFixed(3)}`);
    }
  }
  model.eval();
  return noGrad(() => model.call(others[0]).argmax(1).eq(others[1]).to("float32").mean().item());
}

/** The digits of a data set in a range, as RGB images; the first digit of the range is class 0. */
function digits(set: data.Dataset<Pictures>, first: number, last: number): Pictures {
  const [[images, labels] = [] as never] = new data.DataLoader(set, { batchSize: set.length });
  const chosen = labels.ge(first).logicalAnd(labels.le(last));
  return [images.at(chosen).expand(-1, 3, -1, -1), labels.at(chosen).sub(first)];
}

const { train, test } = loadDigits(Number(flags.train ?? 4000), Number(flags.test ?? 1000));
const weights = flags.weights ?? await Deno.makeTempFile({ suffix: ".safetensors" });
if (!flags.weights) {
  console.log("the digits 0 to 4, from nothing:");
  const model = new ResNet(Number(flags.width ?? 16), 5);
  const optimizer = new optim.AdamW(model.parameters(), { lr: 2e-3 });
  const right = fit(model, optimizer, { given: digits(train, 0, 4), others: digits(test, 0, 4), epochs: 3 });
  safetensors.save(model.stateDict(), weights);
  console.log(`  ${(100 * right).toFixed(1)} % right; kept in ${weights}`);
}

// The head has other classes; everything below it is loaded.
const published = safetensors.load(weights), width = published["conv1.weight"]?.shape[0] ?? 64;
const { "fc.weight": _weight, "fc.bias": _bias, ...trunk } = published;
const few = ([images, labels]: Pictures): Pictures => [images.at(`:${pictures}`), labels.at(`:${pictures}`)];
const task: Task = {
  given: few(digits(train, 5, 9)),
  others: digits(test, 5, 9),
  epochs: Number(flags.epochs ?? 20),
};

const tuned = new ResNet(width, 5);
const { missingKeys, unexpectedKeys } = tuned.loadStateDict(trunk, { strict: false });
console.log(
  `loaded ${Object.keys(trunk).length} tensors; missing [${missingKeys}], unexpected [${unexpectedKeys}]`,
);
console.log(`the digits 5 to 9 from ${pictures} pictures, from the checkpoint:`);
const below = tuned.namedParameters().filter(([name]) => !name.startsWith("fc."));
const fineTuned = fit(
  tuned,
  new optim.AdamW([
    { params: below.map(([, parameter]) => parameter), lr: 1e-3 },
    { params: tuned.fc.parameters(), lr: 1e-2 },
  ]),
  task,
);
console.log(`the same from nothing:`);
const fresh = new ResNet(width, 5);
const unaided = fit(fresh, new optim.AdamW(fresh.parameters(), { lr: 2e-3 }), task);
const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
console.log(`right on other pictures: ${percent(fineTuned)} fine-tuned, ${percent(unaided)} from nothing`);
