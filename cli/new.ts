/**
 * `new`: creates a project that trains, in a folder that does not exist or is empty. Invariant: nothing that exists
 * is overwritten.
 */
import { join } from "node:path";
import own from "../deno.json" with { type: "json" };
import { messageOf } from "../lib/base/errors.ts";
import { type Command, UsageError } from "./command.ts";

const MODEL = `/** A small network over two numbers. */
import { nn, type Tensor } from "@x/dyn";

/** [N, 2] → logits [N, 2] */
export class Net extends nn.Module {
  hidden = new nn.Linear(2, 32);
  out = new nn.Linear(32, 2);

  override forward(x: Tensor): Tensor {
    return this.out.call(this.hidden.call(x).tanh());
  }
}
`;

const MAIN = `/** Learns on which side of a spiral points lie: deno task train */
import {
  cat,
  compile,
  data,
  linspace,
  manualSeed,
  nn,
  noGrad,
  optim,
  randnLike,
  stack,
  type Tensor,
  tensor,
} from "@x/dyn";
import { Net } from "./model.ts";

manualSeed(0);

/** Points of one arm of the spiral, with noise. */
function arm(turn: number): Tensor {
  const t = linspace(0.5, 5, 256), angle = t.add(turn);
  const points = stack([angle.cos().mul(t), angle.sin().mul(t)], 1).div(4);
  return points.add(randnLike(points).mul(0.03));
}

const points = cat([arm(0), arm(Math.PI)]);
const labels = tensor(Array.from({ length: 512 }, (_, k) => k < 256 ? 0 : 1));
const batches = new data.DataLoader(new data.TensorDataset(points, labels), {
  batchSize: 64,
  shuffle: true,
});

const model = new Net();
const optimizer = new optim.Adam(model.parameters(), { lr: 0.02 });

/** One graph: forward pass, gradients and update. */
const step = compile((x: Tensor, y: Tensor) => {
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss.detach();
});

/** The share of points that are told right, in percent. */
function accuracy(): string {
  const found = noGrad(() => model.call(points).argmax(1));
  return (100 * found.eq(labels).to("float32").mean().item()).toFixed(1);
}

const epochs = Number(Deno.args[0] ?? 60);
for (let epoch = 1; epoch <= epochs; epoch++) {
  let total = 0, count = 0;
  for (const [x, y] of batches) {
    total += step(x, y).item();
    count++;
  }
  if (epoch % 20 === 0 || epoch === epochs) {
    const loss = (total / count).toFixed(4);
    console.log(\`epoch \${epoch}: loss \${loss}, accuracy \${accuracy()} %\`);
  }
}
`;

const TEST = `/** What the network computes: deno task test */
import { allclose, compile, randn, type Tensor } from "@x/dyn";
import { Net } from "./model.ts";

Deno.test("compiled, the network computes what it computes plainly", () => {
  const model = new Net(), points = randn(8, 2);
  const found = compile((x: Tensor) => model.call(x))(points);
  const expected = model.call(points);
  if (!allclose(found, expected)) {
    throw new Error(\`Expected \${expected} but found \${found}\`);
  }
});
`;

/** The files, by path in the folder. */
function files(dyn: string): Readonly<Record<string, string>> {
  const { compilerOptions, imports: { acorn } } = own, isCheckout = dyn.startsWith("file:");
  const settings = {
    tasks: { train: "deno run -A main.ts", test: "deno test -A" },
    // The sources of a checkout are checked along with the program's
    ...isCheckout ? { compilerOptions } : {},
    imports: { "@x/dyn": dyn, ...isCheckout ? { acorn } : {} },
  };
  return {
    "deno.json": `${JSON.stringify(settings, null, 2)}\n`,
    "main.ts": MAIN,
    "model.ts": MODEL,
    "model_test.ts": TEST,
    ".gitignore": "*.safetensors\ndyn_repros/\n",
  };
}

/** Returns the URL of this dyn: its package, or the running files. */
function ownAddress(): string {
  const here = new URL("../mod.ts", import.meta.url).href;
  return here.startsWith("file:") ? here : "jsr:@x/dyn";
}

/** A path as a word of a shell. */
const asWord = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

/** `dyn new`. */
export const newCommand: Command = {
  name: "new",
  usage: "new <folder>",
  summary: "Write a project that trains",
  takesFlags: false,
  run: ([folder, ...more]) => {
    if (folder === undefined || folder.startsWith("-") || folder.trim() === "") {
      throw new UsageError(`Expected a folder for the project but found ${folder?.trim() || "nothing"}`);
    }
    if (more.length > 0) throw new UsageError(`Expected one folder but found ${more.join(" ")} as well`);
    const project = files(ownAddress());
    try {
      Deno.mkdirSync(folder, { recursive: true });
      const [present] = Deno.readDirSync(folder);
      if (present) throw new UsageError(`Expected an empty folder but found ${present.name} in ${folder}`);
      for (const [path, text] of Object.entries(project)) Deno.writeTextFileSync(join(folder, path), text);
    } catch (thrown) {
      if (thrown instanceof UsageError) throw thrown;
      throw new UsageError(`Expected a folder that can be made but found ${folder}: ${messageOf(thrown)}`);
    }
    console.log(`Wrote ${Object.keys(project).join(", ")}\n\n  cd ${asWord(folder)}\n  deno task train`);
    return Promise.resolve(0);
  },
};
