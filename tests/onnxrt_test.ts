/** ONNX Runtime: parts of graphs that it runs, and exported models as it computes them. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { openSession, ortAbsence } from "../backends/onnxrt/library.ts";
import { toOrtTensor } from "../backends/onnxrt/tensors.ts";
import { counters, logs } from "../lib/base/logs.ts";
import { onnxBytes } from "../packaging/onnx/program.ts";
import { compile, compiler, manualSeed, nn, noGrad, randn, type Tensor, tensor } from "../mod.ts";

// A backend that CI is to bring is missed there
const ignore = ortAbsence() !== null && Deno.env.get("CI") !== "true";

const classifier = () =>
  new nn.Sequential(
    new nn.Conv2d(3, 8, 3, 2, 1),
    new nn.ReLU(),
    new nn.Flatten(),
    new nn.Linear(8 * 16, 5),
    new nn.Softmax(1),
  );
const apart = (a: Tensor, b: Tensor) => a.sub(b).abs().max().item();

Deno.test({
  name: "ONNX Runtime serves all sizes of a classifier by one version",
  ignore,
  fn() {
    manualSeed(1);
    const model = classifier();
    const run = compile((x: Tensor) => model.call(x), { backend: "onnxrt", dynamic: true, fullgraph: true });
    counters.clear();
    for (const batch of [2, 3, 7]) {
      const x = randn(batch, 3, 8, 8);
      assert(noGrad(() => apart(run(x), model.call(x))) < 1e-6, `${batch}`);
    }
    assert(counters.get("onnxrt", "nodes") > 5);
    assertEquals(compiler.status(run).recompiles, 0);
  },
});

Deno.test({
  name: "gradients, writes, several results and other types are right beside ONNX Runtime",
  ignore,
  fn() {
    manualSeed(2);
    const program = (x: Tensor, w: Tensor) => x.matmul(w).tanh().mul(x.t().matmul(x).sum()).sum();
    const grads = (f: typeof program): Tensor[] => {
      manualSeed(3);
      const x = randn(4, 4).requiresGrad_(), w = randn(4, 4).requiresGrad_();
      f(x, w).backward();
      return [x.grad, w.grad].filter((each) => each !== null);
    };
    const expected = grads(program), found = grads(compile(program, { backend: "onnxrt" }));
    assertEquals(found.length, 2);
    found.forEach((each, k) => assert(apart(each, expected[k] ?? each) < 1e-3));

    const writes = (x: Tensor) => {
      const rows = x.mul(2), mask = x.gt(4);
      x.t().add_(1);
      return [rows.t(), mask, rows.add(x), x.t()];
    };
    for (const dtype of ["int64", "int32", "float64", "float16", "bfloat16"] as const) {
      const make = () => tensor([[1, 2, 3], [4, 5, 6]], { dtype });
      const x = make(), y = make();
      const list = (f: typeof writes, of: Tensor) => f(of).map((each) => each.tolist());
      assertEquals(list(compile(writes, { backend: "onnxrt" }), x), list(writes, y), dtype);
      assertEquals(x.tolist(), y.tolist(), dtype);
    }
  },
});

Deno.test({
  name: "what ONNX Runtime has no part in is told, and NaN stays",
  ignore,
  fn() {
    const told: string[] = [], odd = tensor([[NaN, 1], [-Infinity, Infinity]]);
    const program = (x: Tensor) => [x.exp().amax(1), x.argmax(0), x.sign(), x.log1p().relu()];
    counters.clear();
    logs.capture("perf_hints", (_artifact, text) => told.push(text), () => {
      const found = noGrad(() => compile(program, { backend: "onnxrt" })(odd));
      assertEquals(found.map((each) => each.tolist()), program(odd).map((each) => each.tolist()));
    });
    assert(counters.get("onnxrt", "nodes") >= 5);
    assert(told.some((text) => text.startsWith("onnxrt leaves log1p to the inductor: ")), told.join("\n"));
  },
});

Deno.test({
  name: "lookups run in ONNX Runtime, and wrong indices are the errors that they are plainly",
  ignore,
  fn() {
    manualSeed(5);
    const weight = randn(3, 2), long = (list: number[]) => tensor(list, { dtype: "int64" });
    const programs = {
      embedding: (index: Tensor) => nn.functional.embedding(index, weight).mul(2),
      indexSelect: (index: Tensor) => weight.indexSelect(0, index),
      gather: (index: Tensor) => weight.gather(0, index.unsqueeze(1)),
      unread: (index: Tensor) => {
        weight.indexSelect(0, index.mul(2).sub(index));
        return index;
      },
    };
    for (const [name, program] of Object.entries(programs)) {
      const run = compile(program, { backend: "onnxrt" });
      counters.clear();
      assertEquals(run(long([0, 2])).tolist(), program(long([0, 2])).tolist());
      assert(counters.get("onnxrt", "nodes") >= 1, name);
      for (const wrong of [-1, 3]) {
        const plain = assertThrows(() => program(long([0, wrong])), Error, "Expected index in [0, 2]");
        assertThrows(() => run(long([0, wrong])), Error, plain.message);
      }
    }
  },
});

Deno.test({
  name: "an exported classifier gives the same in ONNX Runtime, whatever its batch",
  ignore,
  fn() {
    manualSeed(4);
    const model = classifier().eval();
    const program = compiler.export(model, [randn(4, 3, 8, 8)], { dynamic: { x: ["dynamic"] } });
    const session = openSession(onnxBytes(program), 1);
    for (const batch of [2, 5]) {
      const x = randn(batch, 3, 8, 8), expected = noGrad(() => model.call(x));
      const result = session.run({ input_0: toOrtTensor(x).tensor }, { output_0: null }, {})["output_0"];
      assert(result?.data instanceof Float32Array);
      assertEquals(result.dims, expected.shape);
      assert(apart(tensor([...result.data]), expected.reshape(-1)) < 1e-6);
    }
    const wide = randn([4, 4], { dtype: "float64" }), third = (x: Tensor) => x.matmul(x).div(3);
    assert(apart(compile(third, { backend: "onnxrt" })(wide), third(wide)) < 1e-12);
    const image = randn(2, 6, 6), pool = (x: Tensor) => nn.functional.maxPool2d(x, 2);
    const alone = openSession(onnxBytes(compiler.export(pool, [image])), 1);
    const pooled = alone.run({ input_0: toOrtTensor(image).tensor }, { output_0: null }, {})["output_0"];
    assert(pooled?.data instanceof Float32Array);
    assertEquals([...pooled.data], pool(image).reshape(-1).tolist());
  },
});
