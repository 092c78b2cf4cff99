/**
 * Gradient rules that run as one program each: results are those of their ops run one by one, as in a recorded pass;
 * for every size, for numbers that keep changing, and for gradients that only some inputs need.
 */
import { assert, assertEquals } from "@std/assert";
import { OPS } from "../lib/ops/table.ts";
import { runRule } from "../lib/tensor/rule_programs.ts";
import { arange, autograd, type DType, manualSeed, nn, noGrad, randint, randn, type Tensor } from "../mod.ts";
import "./support/turns/programs.ts";

const F = nn.functional;

/** Functions of a matrix and a row. */
const FUNCTIONS: Readonly<Record<string, (x: Tensor, row: Tensor) => Tensor>> = {
  "mul by a row": (x, row) => x.mul(row),
  "div by a row": (x, row) => x.div(row.square().add(1)),
  "tanh": (x) => x.tanh(),
  "gelu": (x) => F.gelu(x),
  "pow": (x, row) => x.square().add(1).pow(row.tanh()),
  "where": (x, row) => x.where(x.gt(0), row),
  "softmax": (x) => x.softmax(1),
  "logSoftmax": (x) => x.logSoftmax(1),
  "layerNorm": (x, row) => F.layerNorm(x, [x.size(1)], row, row),
  "batchNorm": (x, row) => F.batchNorm(x, null, null, row, row, true),
  "amax": (x) => x.amax(1),
  "cumsum": (x) => x.cumsum(0),
  "linear": (x, row) => F.linear(x, x.narrow(0, 0, 6), row.narrow(0, 0, 6)),
  "linear of one row": (x, row) => F.linear(x, row),
  "matmul": (x, row) => x.t().matmul(x).mul(row),
  "cat": (x, row) => x.mul(2).add(row).sigmoid(),
};

const MOST: Partial<Record<DType, number>> = { float32: 2e-5, float64: 1e-13 };

/** Gradients of the sum of a function's results times weights; `recorded`: by a pass that is recorded, op by op. */
function gradients(
  f: (x: Tensor, row: Tensor) => Tensor,
  inputs: readonly [Tensor, Tensor],
  recorded: boolean,
): (Tensor | null)[] {
  const [x, row] = inputs.map((each) => each.detach().clone().requiresGrad_());
  assert(x && row);
  const y = f(x, row), weights = arange(y.numel(), { dtype: y.dtype }).reshape(y.shape).sin();
  return autograd.grad(y, [x, row], weights, { createGraph: recorded, allowUnused: true });
}

for (const dtype of ["float32", "float64"] as const) {
  for (const [name, f] of Object.entries(FUNCTIONS)) {
    Deno.test(`${name} of ${dtype}: its gradients as programs are those of its ops`, () => {
      manualSeed(3);
      for (const [rows, columns] of [[8, 16], [300, 64], [211, 130], [64, 300]] as const) {
        const inputs = [randn([rows, columns], { dtype }), randn([columns], { dtype })] as const;
        const found = gradients(f, inputs, false), wanted = gradients(f, inputs, true);
        found.forEach((grad, k) => {
          const want = wanted[k];
          assertEquals([grad?.shape, grad?.dtype], [want?.shape, want?.dtype]);
          if (!grad || !want) return;
          const most = Number(want.abs().max().item()), tolerance = MOST[dtype] ?? 0;
          const worst = Number(noGrad(() => grad.sub(want).abs().max()).item());
          assert(
            worst <= tolerance * Math.max(1, most),
            `${rows}×${columns}, input ${k}: ${worst} of ${most}`,
          );
        });
      }
    });
  }
}

Deno.test("a rule of several ops is one call, for the inputs that need a gradient", () => {
  const x = randn([300, 64]), weight = randn([64]), { batchNormTraining } = OPS, eps = 1e-5;
  const args = { self: x, weight, bias: weight, eps };
  const call = (...names: readonly string[]) =>
    noGrad(() =>
      runRule({
        definition: batchNormTraining,
        args,
        out: [x, weight, weight],
        grads: [x, null, null],
        wanted: names.map((param) => ({ param, index: null })),
      })
    );
  const all = call("self", "weight", "bias"), some = call("bias", "self");
  assertEquals(all?.map(({ shape }) => shape), [[300, 64], [64], [64]]);
  assertEquals(some?.map(({ shape }) => shape), [[64], [300, 64]]);
  assertEquals(some?.[1]?.tolist(), all?.[0]?.tolist());
  // Recorded, each op is its own
  assertEquals(
    runRule({
      definition: batchNormTraining,
      args,
      out: [x, weight, weight],
      grads: [x, null, null],
      wanted: [{ param: "self", index: null }],
    }),
    null,
  );
});

Deno.test("numbers that keep changing are those of each call", () => {
  const x = randn([200, 100]);
  for (let k = 1; k < 12; k++) {
    const leaf = x.detach().clone().requiresGrad_(), factor = k / 8;
    leaf.pow(factor + 1).mul(factor).nansum().backward();
    const wanted = x.pow(factor).mul(factor * (factor + 1));
    assert(leaf.grad?.nanToNum().allclose(wanted.nanToNum(), { rtol: 1e-5, atol: 1e-6 }), `${factor}`);
  }
});

Deno.test("a weight's gradient in linear has its own row-major memory, whatever is done to it", () => {
  const layer = new nn.Linear(70, 300), x = randn([128, 70]);
  const target = randint(0, 300, [128]);
  F.crossEntropy(layer.call(x), target).backward();
  const { grad } = layer.weight;
  assert(grad !== null && grad.isContiguous());
  const before = grad.clone();
  F.crossEntropy(layer.call(x), target).backward();
  assert(layer.weight.grad?.allclose(before.mul(2)));
});
