/**
 * Trains a small ConvNet on handwritten digits, packages it and serves a page for drawing digits: the browser runs the
 * package, on WebGPU if it has an adapter, otherwise by WebAssembly.
 *
 *   deno run -A examples/web_classifier.ts [--epochs=2] [--train=9000] [--port=8000] [--serve=false]
 */
import { parseArgs } from "@std/cli";
import { compile, compiler, data, manualSeed, nn, optim, savePackage, type Tensor, zeros } from "../mod.ts";
import { loadDigits } from "./mnist/digits.ts";
import { ConvNet } from "./mnist/model.ts";
import { Classifier } from "./web/classifier.ts";
import { serveClassifier } from "./web/server.ts";

const flags = parseArgs(Deno.args, { string: ["epochs", "train", "batch", "port", "serve"] });
const { train } = loadDigits(Number(flags.train ?? 9000), 0);
const batches = new data.DataLoader(train, {
  batchSize: Number(flags.batch ?? 64),
  shuffle: true,
  dropLast: true,
});

manualSeed(1);
const net = new ConvNet(), optimizer = new optim.Adam(net.parameters(), { lr: 2e-3 });
const step = compile((images: Tensor, labels: Tensor) => {
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(net.call(images), labels);
  loss.backward();
  optimizer.step();
  return loss.detach();
});
for (let epoch = 1; epoch <= Number(flags.epochs ?? 2); epoch++) {
  let sum = 0;
  for (const [images, labels] of batches) sum += step(images, labels).item();
  console.log(`epoch ${epoch}: loss ${(sum / batches.length).toFixed(4)}`);
}

const program = compiler.export(new Classifier(net).eval(), [zeros([1, 1, 28, 28])]);
const file = await Deno.makeTempFile({ suffix: ".dyn" }), hash = await savePackage(program, file);
const bytes = await Deno.readFile(file);
await Deno.remove(file);
console.log(`a package of ${bytes.length} bytes, SHA-256 ${hash}`);
if (flags.serve !== "false") {
  const server = serveClassifier(bytes, Number(flags.port ?? 8000));
  console.log(`http://127.0.0.1:${server.addr.port}/index.html`);
}
