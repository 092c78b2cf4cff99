/**
 * Exported programs: one graph with its tensors, in this process and from files. Results are those of the function
 * itself, bitwise if the same kernels run.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  compile,
  compiler,
  config,
  counters,
  manualSeed,
  nn,
  noGrad,
  ones,
  randn,
  saveOnnx,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { readArchive, writeArchive } from "../lib/base/archive.ts";
import { Fields } from "../lib/base/protobuf.ts";
import { withFolder } from "./support/process.ts";

class Classifier extends nn.Module {
  readonly first = new nn.Linear(4, 8);
  readonly norm = new nn.BatchNorm1d(8);
  readonly last = new nn.Linear(8, 3);

  override forward(x: Tensor): { readonly logits: Tensor; readonly best: Tensor } {
    const logits = this.last.call(this.norm.call(this.first.call(x)).relu());
    return { logits, best: logits.argmax(1) };
  }
}

const values = (result: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(result as Record<string, Tensor>).map(([name, each]) => [name, each.tolist()]),
  );

Deno.test("a module is one graph, whose parameters and buffers are inputs", () => {
  manualSeed(0);
  const model = new Classifier().eval(), x = randn([5, 4]);
  const program = compiler.export(model, [x]);
  assertEquals(program.signature.inputs.map(({ kind, target }) => `${kind} ${target}`).toSorted(), [
    "argument 0",
    "buffer norm.running_mean",
    "buffer norm.running_var",
    "parameter first.bias",
    "parameter first.weight",
    "parameter last.bias",
    "parameter last.weight",
    "parameter norm.bias",
    "parameter norm.weight",
  ]);
  assertEquals(program.signature.outputs.map(({ kind }) => kind), ["result", "result"]);
  const wanted = values(noGrad(() => model.call(x)));
  assertEquals(values(program.call(x)), wanted);
  assertEquals(values(program.call(x.t().contiguous().t())), wanted);
  assertEquals(program.toString().includes("ops.mm("), true);
  assertThrows(
    () => program.call(randn([6, 4])),
    Error,
    "Expected shape [5, 4] of argument 0 of Classifier but found [6, 4]",
  );
});

Deno.test("requested symbolic sizes stay symbols, through files and compilation", async () => {
  const model = new Classifier().eval();
  const program = compiler.export(model, [randn([5, 4])], { dynamic: true });
  await withFolder((folder) => {
    program.save(`${folder}/model.dynx`);
    const again = compiler.loadExportedProgram(`${folder}/model.dynx`), compiled = again.compile();
    for (const n of [2, 7]) {
      const x = randn([n, 4]), wanted = values(noGrad(() => model.call(x)));
      assertEquals(values(program.call(x)), wanted);
      assertEquals(values(again.call(x)), wanted);
      const found = compiled(x) as { readonly logits: Tensor };
      const difference = found.logits.sub(tensor(wanted["logits"] as number[][])).abs().max().item();
      assert(Number(difference) < 1e-6, `${difference}`);
    }
    assertEquals(again.constraints, program.constraints);
    assertEquals(`${again.graphModule.graph}`, `${program.graphModule.graph}`);
    assertEquals(again.graphModule.graph.placeholders.length, program.signature.inputs.length);
    assertThrows(() => again.call(randn([7, 5])), Error, "Expected");
    assertThrows(() => again.call(randn([1, 4])), Error, "Expected 2 <= ");
    return Promise.resolve();
  });
});

Deno.test("a layer of two directions is exported for every batch", () => {
  const layer = new nn.LSTM(3, 2, { bidirectional: true, batchFirst: true });
  const program = compiler.export((x: Tensor) => layer.call(x)[0], [randn([4, 5, 3])], { dynamic: true });
  const x = randn([2, 5, 3]);
  assertEquals((program.call(x) as Tensor).tolist(), noGrad(() => layer.call(x)[0]).tolist());
});

Deno.test("sizes from which only the language computes numbers are constants, which calls check", () => {
  const programs: readonly ((x: Tensor, n: number) => Tensor)[] = [
    (x, n) => x.mul(Math.sqrt(n)),
    (x, n) => x.div(n * (n - 1) / 2 + 0.25),
    (x, n) => x.topk(Math.ceil(n * 0.5), 0).values,
    (x, n) => x.sum(1).mul(arange(n).lt(tensor([n - 2]))),
    (x, n) => n % 2 > Math.sin(n) ? x : x.neg(),
    (x, n) => x.sum(1).mul(arange(n).mul(7 / n)),
  ];
  for (const run of programs) {
    const program = compiler.export((x: Tensor) => run(x, x.shape[0] ?? 0), [ones([8, 3])], {
      dynamic: true,
    });
    const x = randn([8, 5]);
    assertEquals((program.call(x) as Tensor).tolist(), run(x, 8).tolist());
    assertThrows(() => program.call(randn([6, 5])), Error, "Expected shape [8, s1] of argument 0");
  }
});

Deno.test("named dimensions are symbols in their ranges", () => {
  const f = (x: Tensor, y: Tensor) => x.reshape([y.shape[0] ?? 0, -1]).sum(1);
  const program = compiler.export(f, [ones([6]), ones([3])], {
    dynamic: { x: ["dynamic"], y: [{ min: 2, max: 4 }] },
  });
  assertEquals((program.call(ones([8]), ones([4])) as Tensor).tolist(), [2, 2, 2, 2]);
  assertThrows(() => program.call(ones([10]), ones([5])), Error, "<= 4");
  assertThrows(() => program.call(ones([9]), ones([4])), Error, "Expected");
  assertThrows(
    () => compiler.export((x: Tensor) => x.reshape([2, 3]), [ones([6])], { dynamic: { x: ["dynamic"] } }),
    Error,
    "dynamic",
  );
});

Deno.test("writes are outputs: exporting does none, calls do all", () => {
  const seen = zeros([3]);
  const f = (a: { readonly x: Tensor; readonly k: number }, [b]: [Tensor]) => {
    seen.add_(1);
    b.mul_(2);
    return { sum: a.x.mul(a.k).add(seen), view: b.t(), same: a.x, none: null };
  };
  const x = ones([3]), b = ones([2, 3]);
  const program = compiler.export(f, [{ x, k: 2 }, [b]]);
  assertEquals([seen.tolist(), b.sum().item()], [[0, 0, 0], 6]);
  assertEquals(program.signature.outputs.map(({ kind }) => kind), ["result", "mutation", "mutation"]);
  for (const run of [(...args: unknown[]) => program.call(...args), program.compile()]) {
    const given = ones([2, 3]), before = Number(seen.sum().item()) / 3;
    const result = run({ x, k: 2 }, [given]) as Record<string, Tensor>;
    assertEquals([result["sum"]?.tolist(), seen.tolist()], [
      Array(3).fill(before + 3),
      Array(3).fill(before + 1),
    ]);
    assertEquals([given.sum().item(), result["view"]?.shape, result["same"] === x, result["none"]], [
      12,
      [3, 2],
      true,
      null,
    ]);
  }
  assertThrows(() => program.call({ x, k: 3 }, [b]), Error, "Expected 2 as argument 1 of f");
  assertThrows(() => program.call({ x }, [b]), Error, "Expected arguments [");
  assertThrows(
    () => program.call({ x: seen, k: 2 }, [b]),
    Error,
    "Expected memory of its own for what f writes to",
  );
});

Deno.test("a function that is not one graph of tensors gives the reason", () => {
  const x = ones([2]), counts = { calls: 0 };
  const positive = (x: Tensor) => x.sum().gt(0).item() ? x : x.neg();
  assertThrows(() => compiler.export(positive, [x]), Error, "Use where(condition, a, b)");
  const counting = (x: Tensor) => {
    counts.calls++;
    return x.add(1);
  };
  assertThrows(() => compiler.export(counting, [x]), Error, "Expected counting to compute on tensors alone");
  assertEquals(counts.calls, 0);
  assertThrows(
    () => compiler.export((x: Tensor) => [x.add(1), 3], [x]),
    Error,
    "Expected tensors, null and undefined in what fn returns but found 3",
  );
  assertThrows(() => compiler.export((x: Tensor, y: Tensor) => x.add(y), [x, x]), Error, "found one twice");
  assertThrows(
    () => compiler.export((m: Map<unknown, unknown>, x: object) => [m, x], [new Map(), new Date()]),
    Error,
  );
  const compiled = compiler.export(compile((x: Tensor) => x.add(1)), [x]);
  assertEquals((compiled.call(x) as Tensor).tolist(), [2, 2]);
  const told = compiler.export((x: Tensor) => compiler.isExporting() ? x.add(1) : x, [x]);
  assertEquals((told.call(x) as Tensor).tolist(), [2, 2]);
});

Deno.test("archives return their contents, and detect damage", () => {
  const bytes = new TextEncoder().encode("some text");
  const whole = writeArchive(new Map([["a.txt", bytes], ["b/ü", new Uint8Array(0)]]));
  assertEquals([...readArchive(whole)], [["a.txt", bytes], ["b/ü", new Uint8Array(0)]]);
  assertThrows(() => readArchive(whole.with(64, 0)), Error, "Expected a.txt in an archive as it was written");
  assertThrows(() => readArchive(whole.subarray(0, 40)), Error, "Expected an archive");
  assertThrows(() => compiler.loadExportedProgram(whole), Error, "Expected an exported program");
});

Deno.test("functions are compiled ahead, saved and loaded", async () => {
  manualSeed(1);
  const model = new Classifier().eval();
  const run = compiler.aotCompile(model, [randn([5, 4])], { dynamic: { x: ["dynamic", "static"] } });
  await withFolder((folder) => {
    compiler.saveCompiledFunction(run, `${folder}/f.dynx`);
    const before = counters.get("inductor", "graphs");
    const again = compiler.loadCompiledFunction(`${folder}/f.dynx`), x = randn([9, 4]);
    assertEquals(counters.get("inductor", "graphs"), before + 1);
    assertEquals(values(again(x)), values(run(x)));
    assertEquals(values(again(x))["best"], values(noGrad(() => model.call(x)))["best"]);
    assertThrows(() => again(randn([9, 5])), Error, "Expected");
    assertThrows(() => compiler.saveCompiledFunction(() => 1, `${folder}/g`), Error, "that aotCompile gave");
    return Promise.resolve();
  });
});

Deno.test("ahead-of-time compilation is native even if first calls do not wait for the compiler", async () => {
  const double = (x: Tensor) => ({ y: x.mul(2) }),
    x = randn([3]),
    began = () => counters.get("tiers", "wasm_first");
  await withFolder((folder) => {
    config.patch({ inductor: { tier: "background" } }, () => {
      const before = began(), run = compiler.aotCompile(double, [x]);
      compiler.saveCompiledFunction(run, `${folder}/f.dynx`);
      const again = compiler.loadCompiledFunction(`${folder}/f.dynx`);
      assertEquals(values(again(x)), values(run(x)));
      assertEquals(began(), before);
      compile(double)(x);
      assertEquals(began(), before + 1);
    });
    return Promise.resolve();
  });
});

/** The text of a model's dimension: a number, or a name. */
const dimension = (dim: Fields): string => dim.has(1) ? `${dim.number(1)}` : dim.text(2);

const shapeOf = (value: Fields): string[] =>
  value.message(2)?.message(1)?.message(2)?.messages(1).map(dimension) ?? [];

// Numbers of such models in ONNX Runtime are tested with the backend of that name
Deno.test("an ONNX model has the graph's operators, weights and named sizes", async () => {
  manualSeed(0);
  const model = new nn.Sequential(
    new nn.Conv2d(1, 2, 3, { padding: 1 }),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    new nn.Linear(8, 3),
  ).eval();
  const program = compiler.export(model, [randn([3, 1, 4, 4])], { dynamic: { x: ["dynamic"] } });
  await withFolder(async (folder) => {
    saveOnnx(program, `${folder}/a.onnx`);
    const file = new Fields(await Deno.readFile(`${folder}/a.onnx`)), graph = file.message(7);
    assertEquals([file.number(1), file.message(8)?.number(2)], [9, 20]);
    const nodes = graph?.messages(1) ?? [], types = nodes.map((node) => node.text(4));
    const arithmetic = types.filter((type) =>
      !["Shape", "Gather", "Concat", "Reshape", "Identity"].includes(type)
    );
    const pooling = ["MaxPool", "IsNaN", "Cast", "MaxPool", "Cast", "Where"];
    assertEquals(arithmetic, ["Conv", "Relu", ...pooling, "Transpose", "MatMul", "Add"]);
    const pads = nodes[0]?.messages(5).find((attribute) => attribute.text(1) === "pads");
    assertEquals([pads?.number(20), pads?.number(8)], [7, 1]);
    assertEquals((graph?.messages(11) ?? []).map((input) => [input.text(1), ...shapeOf(input)]), [
      ["input_0", "s0", "1", "4", "4"],
    ]);
    assertEquals((graph?.messages(12) ?? []).map((output) => [output.text(1), ...shapeOf(output)]), [
      ["output_0", "s0", "3"],
    ]);
    const weight = graph?.messages(5).find((each) => each.text(8) === "4.weight")?.bytes(9);
    const wanted = Float32Array.from(program.stateDict["4.weight"]?.flatten().tolist() as number[]);
    assertEquals(weight && new Uint8Array(weight), new Uint8Array(wanted.buffer));
  });
  const held = zeros([2]);
  const writes = compiler.export((x: Tensor) => {
    held.add_(x);
    return x.where(x.gt(0), held);
  }, [ones([2])]);
  const { outputs } = writes.signature;
  assertEquals(outputs.map(({ kind }) => kind), ["result", "mutation"]);
  const path = await Deno.makeTempFile();
  saveOnnx(writes, path);
  const names = new Fields(await Deno.readFile(path)).message(7)?.messages(12).map((output) =>
    output.text(1)
  );
  assertEquals(names, ["output_0", "new_f_held"]);
  await Deno.remove(path);
  assertThrows(
    () => saveOnnx(compiler.export((x: Tensor) => x.log1p(), [ones([2])]), "never.onnx"),
    Error,
    "Expected ops that ONNX has a counterpart of but found log1p, in () => saveOnnx(",
  );
});
