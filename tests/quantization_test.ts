/**
 * Linear layers of eight bits: the values of their integers, compared with sums in float64; a trained classifier of
 * digits with and without them.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { compile, data, DynError, full, manualSeed, nn, noGrad, optim, quantization } from "../mod.ts";
import { randn, type Tensor } from "../mod.ts";
import { loadDigits } from "../examples/mnist/digits.ts";

const { int8DynamicActivationInt8Weight, int8WeightOnly, QuantizedLinear, quantize_ } = quantization;

const rowsOf = (x: Tensor): number[][] => {
  const [, width = 1] = x.shape, all = Array.from(x.toTypedArray(), Number);
  return Array.from({ length: all.length / width }, (_, row) => all.slice(row * width, (row + 1) * width));
};

/** Nearest integers by a scale for each row, ties to even. */
function roundedRows(rows: readonly (readonly number[])[]) {
  return rows.map((row) => {
    const most = Math.fround(Math.max(...row.map(Math.abs))),
      scale = most === 0 ? 1 : Math.fround(most / 127);
    const integers = row.map((x) => {
      const exact = Math.fround(x / scale), low = Math.floor(exact), over = exact - low;
      return over > 0.5 || (over === 0.5 && low % 2 !== 0) ? low + 1 : low;
    });
    return { scale, integers };
  });
}

Deno.test("weights are the nearest integers times a scale, and products are those of the integers", () => {
  manualSeed(3);
  const layer = new nn.Linear(33, 7), x = randn([5, 33]);
  noGrad(() => void layer.weight.select(0, 2).zero_());
  const weights = roundedRows(rowsOf(layer.weight.detach())),
    bias = rowsOf(layer.bias?.detach().unsqueeze(0) ?? x)[0];
  for (const config of [int8WeightOnly(), int8DynamicActivationInt8Weight()]) {
    const made = new QuantizedLinear(layer, config);
    assertEquals(made.weight.dtype, "int8");
    assertEquals(rowsOf(made.weight), weights.map(({ integers }) => integers.map((q) => q + 0)));
    assertEquals(Array.from(made.scale.toTypedArray(), Number), weights.map(({ scale }) => scale));
    const inputs = config.activations === "kept"
      ? rowsOf(x).map((integers) => ({ scale: 1, integers }))
      : roundedRows(rowsOf(x));
    const expected = inputs.map((input) =>
      weights.map(({ scale, integers }, k) =>
        integers.reduce((sum, q, i) => sum + q * (input.integers[i] ?? 0), 0) * scale * input.scale +
        (bias?.[k] ?? 0)
      )
    );
    for (const run of [made.call.bind(made), compile((x: Tensor) => made.call(x), { fullgraph: true })]) {
      rowsOf(noGrad(() => run(x))).forEach((row, r) =>
        row.forEach((y, k) => assert(Math.abs(y - (expected[r]?.[k] ?? 0)) < 1e-5, `${y} at ${r}, ${k}`))
      );
    }
  }
});

Deno.test("a model's linear layers are replaced according to the filter, shared ones once", () => {
  class Shared extends nn.Module {
    readonly head: nn.Linear;
    readonly tail: nn.Linear;
    constructor(readonly body: nn.Sequential) {
      super();
      this.head = this.tail = new nn.Linear(4, 4);
    }
    override forward(x: Tensor): Tensor {
      return this.tail.call(this.head.call(this.body.call(x)));
    }
  }
  const make = () =>
    new Shared(new nn.Sequential(new nn.Linear(4, 4), new nn.ReLU(), new nn.Linear(4, 4, false)));
  const model = quantize_(make().eval(), int8WeightOnly(), (_, name) => name !== "body.0");
  assert(model.body.at(0) instanceof nn.Linear);
  const head: unknown = model.head, tail: unknown = model.tail, last: unknown = model.body.at(2);
  assert(head instanceof QuantizedLinear && head === tail && last instanceof QuantizedLinear);
  assertEquals([last.bias, last.training], [null, false]);
  // Its state goes into another one
  const other = quantize_(make(), int8WeightOnly(), (_, name) => name !== "body.0"), x = randn([3, 4]);
  other.loadStateDict(model.stateDict());
  assertEquals(noGrad(() => other.call(x)).tolist(), noGrad(() => model.call(x)).tolist());
  assertThrows(() => quantize_(new nn.Linear(2, 2), int8WeightOnly()), DynError, "found a Linear");
  const broken = new nn.Linear(2, 2);
  noGrad(() => void broken.weight.copy_(full([2, 2], NaN)));
  assertThrows(() => new QuantizedLinear(broken, int8WeightOnly()), DynError, "finite");
  assertThrows(
    () => new QuantizedLinear(new nn.Linear(2, 2).to("complex64"), int8WeightOnly()),
    DynError,
    "found one of complex64",
  );
  // Whose forward is another one stays; whose weight a hook makes is refused
  class Shifted extends nn.Linear {
    override forward(x: Tensor): Tensor {
      return super.forward(x).add(100);
    }
  }
  const shifted = new nn.Sequential(new Shifted(4, 4)), y = noGrad(() => shifted.call(x)).tolist();
  assertEquals(noGrad(() => quantize_(shifted, int8WeightOnly()).call(x)).tolist(), y);
  const pruned = new nn.Sequential(nn.utils.prune.l1Unstructured(new nn.Linear(4, 4), "weight", 3));
  assertThrows(() => quantize_(pruned, int8WeightOnly()), DynError, "without hooks");
});

Deno.test("a classifier of digits keeps its accuracy", () => {
  manualSeed(1);
  const { train, test } = loadDigits(2000, 500);
  const model = new nn.Sequential(
    new nn.Flatten(),
    new nn.Linear(784, 64),
    new nn.ReLU(),
    new nn.Linear(64, 10),
  );
  const optimizer = new optim.Adam(model.parameters(), { lr: 3e-3 });
  const step = compile((images: Tensor, labels: Tensor) => {
    optimizer.zeroGrad();
    const loss = nn.functional.crossEntropy(model.call(images), labels);
    loss.backward();
    optimizer.step();
  });
  for (let epoch = 0; epoch < 4; epoch++) {
    for (const [images, labels] of new data.DataLoader(train, { batchSize: 100, shuffle: true })) {
      step(images, labels);
    }
  }
  const accuracy = (of: nn.Module & { call(x: Tensor): Tensor }): number => {
    let right = 0;
    for (const [images, labels] of new data.DataLoader(test, { batchSize: 250 })) {
      right += Number(noGrad(() => of.call(images).argmax(1).eq(labels).sum().item()));
    }
    return right / test.length;
  };
  const before = accuracy(model.eval());
  assert(before > 0.85, `an accuracy of ${before}`);
  quantize_(model, int8DynamicActivationInt8Weight());
  const after = accuracy(model);
  assert(Math.abs(after - before) <= 0.01, `${before}, then ${after}`);
});
