/**
 * The default device, `--device` and `DYN_DEVICE`: the device of tensors that specify none, and errors for devices that
 * do not exist or do not work. Each test runs `cli.ts` as a process.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

const CLI = fileURLToPath(new URL("../cli.ts", import.meta.url));
const MODULE = new URL("../mod.ts", import.meta.url).href;
const CONFIG = fileURLToPath(new URL("../deno.json", import.meta.url));

/** Runs a script with everything of dyn in scope; the result is what it printed, without notices of drivers. */
function script(body: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const names = "compile, data, manualSeed, nn, ones, optim, rand, randint, randn, tensor, zeros, zerosLike";
  return withFolder(async (folder) => {
    await Deno.writeTextFile(
      join(folder, "model.ts"),
      `import { ${names}, type Tensor } from ${JSON.stringify(MODULE)};\n${body}`,
    );
    const { code, stdout, stderr } = await runProgram(
      Deno.execPath(),
      ["run", "-A", "--no-check", CLI, ...args, "model.ts"],
      { cwd: folder, env },
    );
    return { code, stdout, stderr: stderr.replace(/^error: XDG_RUNTIME_DIR.*\n/gm, "") };
  });
}

Deno.test("a device that does not work here is an error before the script runs", async () => {
  const env = { DENO_WEBGPU_BACKEND: "none-of-them" };
  const { code, stdout, stderr } = await script("console.log('ran');", ["--device=webgpu"], env);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^error: Expected a WebGPU adapter but found none: install /);
});

Deno.test("an unknown device in the environment is an error for programs without the command line too", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(
      join(folder, "a.ts"),
      `import ${JSON.stringify(MODULE)};\nconsole.log("ran");\n`,
    );
    const { code, stdout, stderr } = await runProgram(
      Deno.execPath(),
      ["run", "-A", "--no-check", "--config", CONFIG, join(folder, "a.ts")],
      { env: { DYN_DEVICE: "gpu" } },
    );
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /DynError: Expected the device to be one of cpu, webgpu but found "gpu"/);
  });
});

Deno.test("cpu stays the default if requested", async () => {
  const { stdout } = await script("console.log(ones([2]).device, tensor(1).device);", ["--device=cpu"]);
  assertEquals(stdout, "cpu cpu\n");
});

Deno.test({
  name: "tensors that name no device are made on the default one, others where they say",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const { code, stdout, stderr } = await script(
      `const host = tensor([1, 2], { device: "cpu" });
const made = [tensor([0.5]), zeros([2]), rand([2]), randint(0, 3, [2]), zerosLike(host), ones([1], { device: "cpu" })];
console.log(made.map((each) => each.device).join());
const f = compile((x: Tensor): Tensor => x.add(zeros([2])).mul(tensor([2, 3])).add(tensor(1)), { fullgraph: true });
console.log(f(ones([2])).device, f(ones([2])).tolist());
const g = compile((x: Tensor): Tensor => x.add(zerosLike(x)).add(ones([2], { device: "cpu" })), { fullgraph: true });
console.log(g(host).device, g(host).tolist());
// A sum over four rows that the same kernel writes
const h = compile((x: Tensor, y = x.exp()): Tensor[] => [y, y.sum(0)], { fullgraph: true });
console.log(h(zeros([4, 3])).map((each) => each.tolist().flat().join()).join(" "));
// Copies between devices, of a type that one of them lacks
const source = tensor([1, 2], { device: "cpu", dtype: "float64", requiresGrad: true });
const copy = (from: Tensor): Tensor => zeros([2]).copy_(from).mul(3).sum();
for (const f of [copy, compile(copy)]) f(source).backward();
console.log(source.grad?.device, source.grad?.tolist(), zeros([2], { device: "cpu" }).copy_(ones([2])).tolist());
const layer = new nn.Linear(2, 1), hostLayer = new nn.Linear(2, 1, { device: "cpu" });
layer.loadStateDict(hostLayer.stateDict());
console.log(layer.weight.device, layer.weight.cpu().equal(hostLayer.weight));
const adam = new optim.Adam(layer.parameters()), hostAdam = new optim.Adam(hostLayer.parameters());
hostLayer.call(ones([1, 2], { device: "cpu" })).sum().backward();
hostAdam.step();
adam.loadStateDict(hostAdam.stateDict());
console.log(Object.values(adam.stateDict().state[0] ?? {}).map((each) => each.device).join());
`,
      [],
      { DYN_DEVICE: "webgpu" },
    );
    assertEquals([stderr, code], ["", 0]);
    assertEquals(
      stdout,
      "webgpu,webgpu,webgpu,webgpu,cpu,cpu\nwebgpu [ 3, 4 ]\ncpu [ 2, 3 ]\n1,1,1,1,1,1,1,1,1,1,1,1 4,4,4\n" +
        "cpu [ 6, 6 ] [ 1, 1 ]\nwebgpu true\nwebgpu,webgpu,webgpu\n",
    );
  },
});

testInTurn("training on the default device", {
  name: "modules, initialisation, optimizers and loaders work on the default device",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const { code, stdout, stderr } = await script(
      `manualSeed(1);
const model = new nn.Sequential(new nn.Linear(4, 8), new nn.BatchNorm1d(8), new nn.ReLU(), new nn.Linear(8, 3));
nn.init.xavierUniform_(model.parameters()[0]!);
const optimizer = new optim.Adam(model.parameters(), { lr: 0.05 });
const x = randn([12, 4]);
const loader = new data.DataLoader(new data.TensorDataset(x, x.argmax(1).remainder(3)), { batchSize: 4, shuffle: true });
const step = compile((x: Tensor, target: Tensor): Tensor => {
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(x), target);
  loss.backward();
  optimizer.step();
  return loss.detach();
});
const losses: number[] = [], devices = new Set<string>();
for (let epoch = 0; epoch < 12; epoch++) {
  for (const [x, target] of loader) {
    const loss = step(x!, target!);
    for (const each of [x!, target!, loss, ...model.parameters()]) devices.add(each.device);
    losses.push(loss.item());
  }
}
const sum = (list: number[]): number => list.reduce((a, b) => a + b);
console.log([...devices].join(), sum(losses.slice(-3)) < sum(losses.slice(0, 3)));
const numbers = new data.DataLoader({ length: 4, get: (i: number) => i }, { batchSize: 2 });
console.log([...numbers].map((batch) => (batch as unknown as Tensor).device).join());
`,
      ["--device", "webgpu"],
    );
    assertEquals([stderr, code], ["", 0]);
    assertEquals(stdout, "webgpu true\nwebgpu,webgpu\n");
  },
});
