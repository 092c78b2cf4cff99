/**
 * Texts of modules without the debugger: from the runtime's cache, and between processes, where a second run of a
 * program captures the same; a module that was changed meanwhile is used in its present form.
 */
import { assertEquals, assertNotEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { GONE_THROUGH } from "../lib/dynamo/frame/loaded_texts.ts";
import { testInTurn } from "./support/costly_tests.ts";
import { runProgram, withFolder } from "./support/process.ts";
import { sampleBySeed } from "./support/sampling.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Told {
  readonly results: readonly (readonly number[])[];
  readonly lines: readonly (readonly (number | string)[])[];
  readonly inspector: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, number>>;
  readonly modules: Readonly<Record<string, number>>;
}

/**
 * Runs `f` of model.ts in a process of its own, which loads that module before dyn and so as it was written.
 */
async function run(folder: string): Promise<Told> {
  const script = join(folder, "main.ts"), tell = new URL("kept/texts.ts", import.meta.url).href;
  Deno.writeTextFileSync(
    script,
    `import * as model from "./model.ts";\nimport { tell } from "${tell}";\ntell(model.f, model.change);\n`,
  );
  const { code, stdout, stderr } = await runProgram(
    Deno.execPath(),
    ["run", "-A", "--no-check", "--config", here("../deno.json"), script],
    { env: { DYN_CACHE_DIR: join(folder, "cache"), DYN_GRAPH_CACHE: "1" } },
  );
  assertEquals(code, 0, stderr);
  return JSON.parse(stdout);
}

/** Writes a module as it was some time ago: what is written while a process starts may be what it loads or not. */
function write(folder: string, name: string, text: string, secondsAgo: number): void {
  const path = join(folder, name), time = Date.now() / 1000 - secondsAgo;
  Deno.writeTextFileSync(path, text);
  Deno.utimeSync(path, time, time);
}

const MODEL = `import { factor, change } from "./factor.ts";
interface Named { readonly name: string }
export { change };
export function f(x: { mul(n: number): unknown }, _named?: Named): unknown {
  return x.mul(factor).mul(2);
}
`;
const CONSTANT = `export const factor: number = 3;
export function change(): void {}
`;
const CHANGING = `export let factor: number = 3;
export function change(): void { factor++; }
`;

/** Tests of several processes each, of which a run takes some. */
const tests: Deno.TestDefinition[] = [];
const test = (name: string, fn: (folder: string) => Promise<void>): void =>
  void tests.push({ name, fn: () => withFolder(fn) });

test("runs capture the same without the debugger and without looking for scripts, from texts that were kept, which are not parsed again, or that the runtime keeps", async (folder) => {
  write(folder, "model.ts", MODEL, 100);
  write(folder, "factor.ts", CONSTANT, 100);
  const first = await run(folder), second = await run(folder);
  const captured = {
    results: [[6, 12], [6, 12]],
    lines: Array(2).fill([5, "return x.mul(factor).mul(2);"]),
  };
  assertEquals(first, { ...captured, inspector: {}, texts: { stored: 1 }, modules: { parsed: 2 } });
  assertEquals(second, { ...captured, inspector: {}, texts: { hits: 1 }, modules: {} });
});

const TRAINING = `import { nn, optim, type Tensor, tensor } from "${import.meta.resolve("../mod.ts")}";
const model = new nn.Sequential(new nn.Linear(2, 3), new nn.ReLU(), new nn.Dropout(0.5), new nn.Linear(3, 2));
const optimizer = new optim.Adam(model.parameters()), target = tensor([1]);
const scheduler = new optim.lrScheduler.StepLR(optimizer, 2);
export function f(x: Tensor): Tensor {
  model.train();
  optimizer.zeroGrad();
  const loss = nn.functional.crossEntropy(model.call(x.float().reshape([1, 2])), target);
  loss.backward();
  nn.utils.clipGradNorm_(model.parameters(), 1);
  optimizer.step();
  scheduler.step();
  return loss.detach().reshape([1]);
}
`;

test("the functions of a training step are found without looking for scripts", async (folder) => {
  write(folder, "model.ts", TRAINING, 100);
  for (const _ of ["traced", "kept"]) assertEquals((await run(folder)).inspector, {});
});

test("a module that has changed is read anew, also where the compiled function stays as it was", async (folder) => {
  write(folder, "model.ts", MODEL, 100);
  write(folder, "factor.ts", CONSTANT, 100);
  await run(folder);
  // The same length, so that nothing but its time tells that it is another file
  write(folder, "factor.ts", CONSTANT.replace("3", "4"), 50);
  assertEquals((await run(folder)).results, [[8, 16], [8, 16]]);
  // An import that becomes a variable is read in each call
  write(folder, "factor.ts", CHANGING, 40);
  for (const time of ["first", "second"]) {
    assertEquals((await run(folder)).results, [[6, 12], [8, 16]], time);
  }
  write(folder, "model.ts", `// One line more\n${MODEL.replace("mul(2)", "mul(5)")}`, 30);
  const moved = await run(folder), again = await run(folder);
  assertEquals([moved.results, moved.lines.at(-1)?.[0]], [[[15, 30], [20, 40]], 6]);
  assertEquals([again.results, again.lines], [moved.results, moved.lines]);
});

test("what was written since the process began is not taken for what it loaded", async (folder) => {
  write(folder, "model.ts", MODEL, 100);
  write(folder, "factor.ts", CONSTANT, 100);
  await run(folder);
  // Simulates a program that was edited after it had started
  for (const name of ["model.ts", "factor.ts"]) {
    Deno.utimeSync(join(folder, name), Date.now() / 1000 + 100, Date.now() / 1000 + 100);
  }
  const { results, inspector, texts } = await run(folder);
  assertEquals([results, inspector, texts], [[[6, 12], [6, 12]], { debugger: 1, scripts: 1 }, { hits: 1 }]);
});

test("short functions that use variables of their module are looked for with the debugger", async (folder) => {
  write(
    folder,
    "model.ts",
    "let n = 2;\nexport const f = (x) => x.mul(n);\nexport const change = () => n++;\n",
    100,
  );
  await run(folder);
  assertNotEquals((await run(folder)).inspector, {});
  write(folder, "model.ts", "export const f = (x) => x.mul(7);\n", 50);
  await run(folder);
  const closed = await run(folder);
  assertEquals([closed.results, closed.inspector, closed.modules], [[[7, 14], [7, 14]], {}, {}]);
});

testInTurn("texts between processes", ...sampleBySeed(tests, 2));

Deno.test("the modules of dyn that are searched for functions exist", () => {
  for (const part of [...GONE_THROUGH.folders, ...GONE_THROUGH.modules]) {
    Deno.statSync(here(`../lib/${part}`));
  }
});
