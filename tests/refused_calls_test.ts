/**
 * A call that an op rejects is rejected however often it is made: plans that serve calls with any number, and kernels
 * of any size, make the same checks as those of one call. The errors are those that ops declare.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, nn, ones, type Tensor, tensor } from "../mod.ts";
import { messageOf } from "../lib/base/errors.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";
import { makeSample } from "./support/samples.ts";

const { functional } = nn;

/** More calls than it takes to make general plans. */
const CALLS = 12;

function outcome(run: () => unknown): string {
  try {
    run();
    return "accepted";
  } catch (thrown) {
    return messageOf(thrown);
  }
}

Deno.test("the errors that ops declare occur however often they are called", () => {
  let compared = 0;
  for (const definition of ALL_OPS) {
    for (const error of definition.errors ?? []) {
      const call = () => outcome(() => callOp(definition, makeSample(error).given)), first = call();
      assert(first.includes(error.message), `${definition.name}: ${first}`);
      for (let k = 1; k < CALLS; k++) assertEquals(call(), first, `${definition.name}, call ${k}`);
      compared++;
    }
  }
  assert(compared > 200, `Expected most ops to name an error but found ${compared}`);
});

Deno.test("bags of an embedding begin at 0 and do not overlap, in compiled functions too", () => {
  const indices = tensor([1, 2, 3]), weight = tensor([[0, 1], [2, 3], [4, 5], [6, 7]]).to("float32");
  const bags = (offsets: Tensor) => functional.embeddingBag(indices, weight, offsets, { mode: "sum" });
  for (const run of [bags, compile(bags)]) {
    assertEquals(run(tensor([0, 0, 2])).tolist(), [[0, 0], [6, 8], [6, 7]]);
    for (const wrong of [[1, 2, 2], [0, 2, 1], [0, 2, 4]]) {
      assertEquals(
        outcome(() => run(tensor(wrong))),
        "Expected offsets of bags that begin at 0, do not fall and end within the indices but found others",
        `${wrong}`,
      );
    }
  }
});

Deno.test("invalid sampling weights are rejected, in compiled functions too", () => {
  const wrong = [[0, 0], [[1, 2], [0, 0]], [1, -1], [1, NaN], [1, Infinity]];
  for (const replacement of [false, true]) {
    const draw = (weights: Tensor) => ops.multinomial(weights, 1, replacement);
    for (const run of [draw, compile(draw)]) {
      assertEquals(run(tensor([[0, 1.5], [2.5, 0]])).tolist(), [[1], [0]]);
      for (const weights of wrong) {
        assertEquals(
          outcome(() => run(tensor(weights, { dtype: "float32" }))),
          "Expected weights that are finite, not negative and not all zero in a row but found others",
          `${weights}`,
        );
      }
    }
  }
});

Deno.test("binary cross entropy rejects values that are not probabilities; graphs give NaN", () => {
  const loss = (p: Tensor) => functional.binaryCrossEntropy(p, tensor([0, 1]).to("float32"));
  assertEquals(loss(tensor([0, 1]).to("float32")).item(), 0);
  for (const wrong of [1.5, -0.25, NaN]) {
    for (const grad of [false, true]) {
      const p = tensor([0.5, wrong], { dtype: "float32", requiresGrad: grad });
      const expected = `Expected elements of self in [0, 1] for binaryCrossEntropy but found ${wrong}`;
      for (let k = 0; k < 3; k++) assertEquals(outcome(() => loss(p)), expected);
    }
  }
  assertEquals(
    outcome(() => functional.binaryCrossEntropy(tensor(0.5), tensor(2))),
    "Expected elements of target in [0, 1] for binaryCrossEntropy but found 2",
  );
  assert(Number.isNaN(compile(loss)(tensor([0.5, -0.25], { dtype: "float32" })).item()));
});

Deno.test("elements out of range are rejected among many, the first by its value", () => {
  const few = 50, many = 2 ** 14, last = many - 1;
  const shares = (at: number, wrong: number) =>
    ops.full([many], 0.5).selectScatter(tensor(wrong).to("float32"), 0, at);
  for (const wrong of [-0.25, 1.5, NaN]) {
    for (const at of [0, 2500, last]) {
      assertEquals(
        outcome(() => functional.binaryCrossEntropy(shares(at, wrong), ops.ones([many]))),
        `Expected elements of self in [0, 1] for binaryCrossEntropy but found ${wrong}`,
      );
    }
  }
  const half = shares(0, 1).requiresGrad_();
  functional.binaryCrossEntropy(half, ops.ones([many])).backward();
  assertEquals(half.grad?.at(last).item(), Math.fround(-2 / many));
  // NaN is not too small a variance, and hides none that is
  const variances = ops.ones([many]);
  variances.at(7).copy_(NaN);
  variances.at(9).copy_(-0.5);
  assertEquals(
    outcome(() => functional.gaussianNllLoss(variances, variances, variances)),
    "Expected elements of var of at least 0 for gaussianNllLoss but found -0.5",
  );
  const x = ops.arange(8);
  for (const dtype of ["int64", "int32"] as const) {
    // Whose low words are no wrong indices, too
    const long = dtype === "int64" ? [2n ** 53n + 1n, 2n ** 32n + 1n, 1n - 2n ** 32n, 2n ** 63n - 1n] : [];
    for (const wrong of [8, -1, ...long]) {
      for (const count of [few, many]) {
        const index = ops.zeros([count], { dtype });
        index.at(count >> 1).copy_(tensor(wrong, { dtype }));
        assertEquals(outcome(() => x.gather(0, index)), `Expected index in [0, 7] but found ${wrong}`);
      }
    }
  }
  assertEquals(x.gather(0, ops.full([many], 7)).sum().item(), 7 * many);
});

Deno.test("invalid probabilities are rejected among many", () => {
  const x = ops.ones([3]);
  for (let k = 1; k < CALLS; k++) {
    for (const p of [k / CALLS, 1, 0]) ops.bernoulli(x, p);
    for (const p of [2, -1, 1 + k / CALLS, NaN]) {
      assert(
        outcome(() => ops.bernoulli(x, p)).startsWith("Expected p of bernoulli to be in [0, 1]"),
        `${p}, call ${k}`,
      );
    }
    for (const wrong of [1.5, -0.25, NaN]) {
      const chances = tensor([0.5, wrong]), found = `in [0, 1] for bernoulli but found ${wrong}`;
      assertEquals(outcome(() => ops.bernoulli(chances)), `Expected elements of self ${found}`);
      for (const draw of [() => ops.bernoulli(ones(2), chances), () => ones(2).bernoulli_(chances)]) {
        assertEquals(outcome(draw), `Expected elements of p ${found}`);
      }
    }
  }
});

Deno.test("a negative variance is rejected, NaN is not", () => {
  const x = ones(2), loss = (variance: Tensor | number) => functional.gaussianNllLoss(x, x, variance);
  for (const wrong of [tensor([1.5, -0.5]), -0.5]) {
    assertEquals(
      outcome(() => loss(wrong)),
      "Expected elements of var of at least 0 for gaussianNllLoss but found -0.5",
    );
  }
  assert(Number.isNaN(loss(tensor([1.5, NaN])).item()));
});
