/**
 * A call that an op rejects is rejected however often it is made: plans that serve calls with any number, and kernels
 * of any size, make the same checks as those of one call. The errors are those that ops declare.
 */
import { assert, assertEquals } from "@std/assert";
import {
  asStridedCopy,
  asStridedScatter,
  cdist,
  compile,
  fft,
  histogram,
  indexReduce,
  isclose,
  istft,
  linalg,
  luSolve,
  luUnpack,
  nativeGroupNorm,
  nativeLayerNorm,
  nn,
  ones,
  quantile,
  type Tensor,
  tensor,
} from "../mod.ts";
import { messageOf } from "../lib/base/errors.ts";
import { ALL_OPS } from "../lib/ops/table.ts";
import { callOp, ops } from "../lib/tensor/eager.ts";
import { makeSample } from "./support/samples.ts";
import { sampleBySeed } from "./support/sampling.ts";

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
  for (const definition of sampleBySeed(ALL_OPS, Math.ceil(ALL_OPS.length / 2))) {
    for (const error of definition.errors ?? []) {
      const call = () => outcome(() => callOp(definition, makeSample(error).given)), first = call();
      assert(first.includes(error.message), `${definition.name}: ${first}`);
      for (let k = 1; k < CALLS; k++) assertEquals(call(), first, `${definition.name}, call ${k}`);
      compared++;
    }
  }
  assert(compared > 80, `Expected most ops to name an error but found ${compared}`);
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

Deno.test("binary cross entropy rejects values that are not probabilities, in graphs too", () => {
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
  assertEquals(
    outcome(() => compile(loss)(tensor([0.5, -0.25], { dtype: "float32" }))),
    "Expected elements of self in [0, 1] for binaryCrossEntropy but found -0.25",
  );
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

Deno.test("bigints out of bounds are rejected in compiled functions too", () => {
  const x = ones([3]), chance = (y: Tensor, p: number | bigint) => y.bernoulli(p as number);
  const loss = (y: Tensor, v: number | bigint) => functional.gaussianNllLoss(y, y, v as number);
  for (const [call, good, wrong] of [[chance, 1n, 10n], [loss, 2n, -10n]] as const) {
    const compiled = compile(call);
    for (const value of [good, wrong, good]) {
      assertEquals(outcome(() => compiled(x, value)), outcome(() => call(x, value)), `${value}`);
    }
    assert(outcome(() => compiled(x, wrong)).endsWith(`but found ${wrong}`));
  }
});

Deno.test("a negative variance is rejected, NaN and infinity are not", () => {
  const x = ones(2), loss = (variance: Tensor | number) => functional.gaussianNllLoss(x, x, variance);
  for (const wrong of [tensor([1.5, -0.5]), -0.5]) {
    assertEquals(
      outcome(() => loss(wrong)),
      "Expected elements of var of at least 0 for gaussianNllLoss but found -0.5",
    );
  }
  assert(Number.isNaN(loss(tensor([1.5, NaN])).item()));
  assertEquals(loss(tensor([1.5, Infinity])).item(), Infinity);
});

Deno.test("arguments that broadcasting, clamping or no check at all would accept are rejected, as in PyTorch", () => {
  const {
    convTranspose1d,
    conv2d,
    crossEntropy,
    batchNorm,
    gaussianNllLoss,
    maxUnpool1d,
    multilabelMarginLoss,
    nllLoss,
  } = functional;
  const { rnn, vectorToParameters } = nn.utils;
  const untyped = (call: (...args: never) => unknown, ...args: unknown[]) => Reflect.apply(call, null, args);
  const withDistance: nn.TripletMarginWithDistanceLoss = Reflect.construct(nn.TripletMarginWithDistanceLoss, [
    { reduction: "batch", distanceFunction: new nn.PairwiseDistance() },
  ]);
  const pivots = (...values: number[]) => tensor(values, { dtype: "int32" });
  const complex = (...shape: number[]) => ones(shape, { dtype: "complex64" });
  const x = ones([2, 3]), four = tensor([1, 2, 3, 4], { dtype: "float32" });
  const wrong: readonly (readonly [string, () => unknown])[] = [
    ["weight of shape [3]", () => nativeLayerNorm(x, [3], ones([1]), null, 0.1)],
    ["bias of shape [4]", () => nativeGroupNorm(ones([2, 4, 3]), null, ones([1, 4]), 2, 4, 3, 2, 0.1)],
    ["eps of batchNorm to be positive", () => batchNorm(x, null, null, null, null, true, 0.1, 0)],
    ["outputPadding of at least 0", () => convTranspose1d(ones([1, 1, 4]), ones([1, 2, 3]), null, 2, 1, -1)],
    ["a kernel with elements", () => conv2d(ones([1, 2, 4, 3]), ones([4, 2, 3, 0]))],
    ["weight of shape [3]", () => nllLoss(x, tensor([0, 1]), ones([5]))],
    ["weight of shape [3]", () => crossEntropy(x, tensor([0, 1]), ones([1, 3]))],
    ["shape [2, 1] for [1] indices", () => indexReduce(x, 1, tensor(0), ones([2, 3]), "mean")],
    ["size of unfold to be at least 0", () => tensor(1.5).unfold(0, -7, 1)],
    ["less than 2 from 6", () => maxUnpool1d(ones([1, 1, 3]), tensor([[[0, 2, 4]]]), 2, null, 0, [8])],
    ["1 or 3 sizes", () => maxUnpool1d(ones([1, 1, 3]), tensor([[[0, 2, 4]]]), 2, null, 0, [1, 6])],
    ["elements of q in [0, 1]", () => quantile(four, tensor([0.5, 1.5]))],
    ["elements in a finite range", () => histogram(tensor([1, NaN]), 3)],
    ["elements in a finite range", () => histogram(tensor([1, Infinity]), 3)],
    ["to an outputSize of 5 but found 3", () => x.repeatInterleave(tensor([1, 2]), 0, { outputSize: 5 })],
    ["index in [0, 2] but found 3", () => multilabelMarginLoss(x, tensor([[0, -1, 3], [0, -1, -1]]))],
    ["at most 134217728 elements from bincount", () => tensor([3, 2 ** 40]).bincount()],
    ["at most 134217728 elements from bincount", () => tensor([3]).bincount({ minlength: 2 ** 31 })],
    ["at most 134217728 elements from repeat", () => x.repeatInterleave(tensor([1, 2 ** 40]), 0)],
    ["at most 134217728 elements from histc", () => x.histc(2 ** 31)],
    ["pivots of shape [3]", () => luUnpack(ones([3, 3]), pivots(1))],
    ["pivots in [1, 3]", () => luUnpack(ones([3, 3]), pivots(1, 2, 5))],
    ["pivots of shape [3]", () => luSolve(ones([3, 1]), ones([3, 3]), pivots(3))],
    ["pivots of shape [3]", () => linalg.luSolve(ones([3, 3]), pivots(3), ones([3, 1]))],
    ["non-negative tolerances", () => isclose(x, x, { rtol: NaN })],
    ["7 frequencies", () => istft(complex(6, 3), 7, { onesided: false })],
    ["6 frequencies", () => istft(complex(10, 1, 2), 10)],
    ["dim in [-1, 0]", () => complex().cumprod(2)],
    ["dim in [-1, 0]", () => complex().prod(2)],
    ["at least 1 dimension", () => fft.fftn(ones([]), { dim: [0] })],
    ["can be cast to int64", () => tensor([1, 2]).polygamma_(1)],
    ["no ignoreIndex", () => crossEntropy(x, x.softmax(1), { ignoreIndex: 1 })],
    ["probabilities of shape [2, 3]", () => crossEntropy(x, ones([1, 3]))],
    ["a variance that fits", () => gaussianNllLoss(ones([4, 3]), ones([4, 3]), ones([1, 1]))],
    ["a state of shape [3, 5]", () => new nn.GRUCell(4, 5).call(ones([3, 4]), ones([3, 1, 1, 5]))],
    ["1 or 2 dimensions", () => new nn.RNNCell(4, 5).call(ones([1, 3, 4]))],
    ["within a storage", () => x.asStrided([4], [1], 1000)],
    ["within a storage", () => asStridedCopy(x, [4], [1000])],
    ["storageOffset of at least 0", () => x.asStrided([2], [1], -1)],
    ["as many strides as sizes", () => asStridedScatter(ones([3, 3]), ones([2, 2]), [2, 2], [1])],
    ["in row-major order", () => asStridedScatter(ones([3, 2]).t(), ones([2]), [2], [1])],
    ["in row-major order", () => asStridedScatter(complex(3, 2).t(), complex(2), [2], [1])],
    ["and offset 2", () => asStridedScatter(ones([3, 2]).slice(0, 1), ones([2]), [2], [1], 1)],
    ["integers as pivots", () => luSolve(ones([2, 2]), ones([2, 2]), complex(2))],
    [
      "paddingSide of padSequence to be one of left, right",
      () => untyped(rnn.padSequence, [x], { paddingSide: "top" }),
    ],
    ["computeMode of cdist to be one of", () => cdist(x, x, 2, "fast")],
    ["reduction of tripletMarginWithDistanceLoss", () => withDistance.call(x, x, x)],
    ["requires grad but found int64", () => vectorToParameters(tensor([1, 2]), [ones([2]).requiresGrad_()])],
    ["non-negative strides", () => asStridedScatter(ones([3, 3]), ones([2, 2]), [2, 2], [-1, 2])],
  ];
  for (const [message, call] of wrong) {
    const found = outcome(call);
    assert(found.includes(message), `${message}: ${found}`);
  }
});

Deno.test("asStrided of memory that is not row-major has no gradient, which counted positions of another order", () => {
  const base = ones([2, 3], { requiresGrad: true });
  const calls = [
    (x: Tensor) => x.t().asStrided([2, 2], [1, 2]),
    (x: Tensor) => x.at(1).asStrided([2], [1], 0),
  ];
  for (const call of calls) {
    assert(outcome(() => call(base)).includes("row-major order where gradients flow"));
    assert(outcome(() => compile((x: Tensor) => call(x).mul(2))(base)).includes("row-major order"));
    call(base.detach());
  }
  base.at(1).asStrided([2], [1]).sum().backward();
  assertEquals(base.grad?.tolist(), [[0, 0, 0], [1, 1, 0]]);
});

Deno.test("slices without elements are not told apart", () => {
  for (const [shape, dim] of [[[5, 0], 0], [[0, 5], 1], [[0, 0], 0]] as const) {
    for (const find of [(x: Tensor) => x.unique({ dim }), (x: Tensor) => x.uniqueConsecutive({ dim })]) {
      assert(outcome(() => find(ones([...shape]))).includes("Expected slices with elements"), `${shape}`);
    }
  }
  assertEquals(outcome(() => ones([5, 0]).unique({ dim: 1 })), "accepted");
});

Deno.test("tensors are not converted to functions and other objects that name no dtype, in compiled functions too", () => {
  class Other {}
  for (const wrong of [() => 1, Other, new Other(), new Map(), [1], "other"]) {
    const call = (x: Tensor) => x.add(1).to(wrong as "int32");
    assertEquals(
      outcome(() => compile(call, { backend: "eager" })(ones([2]))),
      outcome(() => call(ones([2]))),
    );
  }
});

Deno.test("tensors of two devices are refused in compiled functions too, whichever reads memory first", () => {
  const { conv1d, embedding } = functional;
  const here = ones([1, 2, 3]), indices = tensor([0]), there = (x: Tensor) => x.to("meta");
  const calls: readonly (readonly [(x: Tensor, y: Tensor) => Tensor, Tensor, Tensor])[] = [
    [(x, y) => conv1d(x, y), here, here],
    [(x, y) => embedding(y, x.at(0)), here, indices],
    [(x, y) => x.at(y), here, indices],
    [(x, y) => x.selectScatter(y, 0, 0), here, ones([2, 3])],
  ];
  // The C++ of a convolution takes seconds, and devices are compared before
  const native = new Set(sampleBySeed(calls, 1));
  for (const call of calls) {
    const [fn, x, y] = call, compiled = compile(fn, { backend: native.has(call) ? "inductor" : "aot_eager" });
    assertEquals(compiled(x, y).shape, fn(x, y).shape);
    for (const given of [[there(x), y], [x, there(y)]] as const) {
      assertEquals(outcome(() => compiled(...given)), outcome(() => fn(...given)));
      assert(outcome(() => compiled(...given)).startsWith("Expected all tensors on one device"));
    }
  }
});
