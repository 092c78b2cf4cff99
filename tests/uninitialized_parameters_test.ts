/**
 * Parameters and buffers of lazy layers before their first input: whatever needs a shape or elements throws an error
 * that names them, eager and compiled, and what needs neither works. Expectations are PyTorch's, but for
 * `detach` within `stateDict`.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  cat,
  compile,
  compiler,
  DynError,
  func,
  load,
  nn,
  noGrad,
  ones,
  onesLike,
  optim,
  randn,
  safetensors,
  save,
  type Tensor,
  tensor,
} from "../mod.ts";

const layer = () => new nn.LazyLinear(3);

function held<T>(value: T | null | undefined): T {
  assert(value !== null && value !== undefined);
  return value;
}

/** Calls that need a shape or elements. */
const USES: Readonly<Record<string, (x: Tensor) => unknown>> = {
  shape: (x) => x.shape,
  size: (x) => x.size(),
  stride: (x) => x.stride(),
  ndim: (x) => x.ndim,
  numel: (x) => x.numel(),
  length: (x) => x.length,
  contiguous: (x) => x.isContiguous(),
  sum: (x) => x.sum(),
  mul: (x) => x.mul(2),
  clone: (x) => x.clone(),
  detach: (x) => x.detach(),
  zero_: (x) => noGrad(() => x.zero_()),
  copy_: (x) => noGrad(() => x.copy_(ones([3, 4]))),
  "source of copy_": (x) => noGrad(() => ones([0]).copy_(x)),
  at: (x) => x.at(0),
  set: (x) => noGrad(() => x.set(0, 1)),
  iteration: (x) => [...x],
  item: (x) => x.item(),
  number: (x) => +x,
  tolist: (x) => x.tolist(),
  elements: (x) => x.toTypedArray(),
  cat: (x) => cat([x, x]),
  onesLike: (x) => onesLike(x),
  tensor: (x) => tensor(x),
  equal: (x) => ones([0]).equal(x),
  to: (x) => x.to("float64"),
  vmap: (x) => func.vmap((row: Tensor) => row.mul(2))(x),
  init: (x) => nn.init.normal_(x),
  "compiled sum": (x) => compile((given: Tensor) => given.sum(), { backend: "eager" })(x),
  "compiled shape": (x) => compile((given: Tensor) => given.shape.length, { backend: "eager" })(x),
};

Deno.test("whatever needs a shape or elements of a lazy layer's tensors throws an error that names them", () => {
  const norm = new nn.LazyBatchNorm1d(),
    named: readonly (readonly [Tensor, string])[] = [
      [layer().weight, "the parameter weight of LazyLinear, which has none before the first input"],
      [held(norm.runningMean), "the buffer runningMean of LazyBatchNorm1d, which has none before"],
    ];
  for (const [of, name] of named) {
    for (const [use, call] of Object.entries(USES)) assertThrows(() => call(of), DynError, name, use);
  }
  const model = layer(), x = ones([2]);
  const penalty = compile((of: Tensor) =>
    model.parameters().reduce((all, p) => all.add(p.square().sum()), of)
  );
  assertThrows(() => penalty(x), DynError, "weight of LazyLinear");
  assertThrows(() => nn.utils.parametersToVector(model.parameters()), DynError, "weight of LazyLinear");
  model.call(ones([1, 2]));
  assert(penalty(x).allclose(model.parameters().reduce((all, p) => all.add(p.square().sum()), x)));
});

Deno.test("lazy layers are moved, copied, saved, printed and given to optimizers", () => {
  const model = new nn.Sequential(layer(), new nn.LazyBatchNorm1d()).to("float64"), first = model.at(0);
  assertEquals(
    model.parameters().map(({ dtype, device, requiresGrad, isLeaf, grad }) => {
      return { dtype, device, requiresGrad, isLeaf, grad };
    }),
    Array(4).fill({ dtype: "float64", device: "cpu", requiresGrad: true, isLeaf: true, grad: null }),
  );
  assertEquals(Deno.inspect(model.parameters()[0]), "<UninitializedParameter>");
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.1 }), copy = model.clone();
  optimizer.step();
  model.zeroGrad();
  assertEquals(nn.utils.clipGradNorm_(model.parameters(), 1).item(), 0);
  const path = Deno.makeTempFileSync();
  try {
    for (const round of [save, safetensors.save]) {
      round(model.stateDict(), path);
      const state = round === save ? load<Record<string, Tensor>>(path) : safetensors.load(path);
      assertEquals(copy.loadStateDict(state), { missingKeys: [], unexpectedKeys: [] });
    }
  } finally {
    Deno.removeSync(path);
  }
  copy.loadStateDict(model.stateDict());
  const parameters = copy.parameters(), x = randn([4, 5], { dtype: "float64" });
  const adam = new optim.Adam(parameters);
  assertEquals(parameters[0]?.constructor, nn.UninitializedParameter);
  copy.call(x).square().sum().backward();
  adam.step();
  // The same objects, with their type
  assertEquals(parameters.map(({ shape, dtype }) => [shape, dtype]), [
    [[3, 5], "float64"],
    [[3], "float64"],
    [[3], "float64"],
    [[3], "float64"],
  ]);
  assert(copy.parameters().every((each, i) => each === parameters[i] && each.constructor === nn.Parameter));
  assertEquals(copy.buffers().map(({ dtype }) => dtype), ["float64", "float64", "int64"]);
  // The original is still lazy
  assertThrows(() => model.parameters()[0]?.numel(), DynError, "weight of LazyLinear");
  assertThrows(
    () => copy.loadStateDict(model.stateDict()),
    DynError,
    "no shape for 0.weight of shape [3,5]",
  );
  assertThrows(
    () => first.loadStateDict({ bias: ones([3]) }, false),
    DynError,
    "shape [3] for bias, which has",
  );
  model.loadStateDict(copy.stateDict());
  assert(model.eval().call(x).equal(copy.eval().call(x)));
});

Deno.test("compiled lazy layers get their shape in the first call, with one break for each", () => {
  const model = new nn.Sequential(layer(), new nn.LazyBatchNorm1d(), layer()), x = randn([4, 5]);
  const optimizer = new optim.Adam(model.parameters());
  const loss = (of: Tensor) => model.call(of).square().mean(), { breakReasons } = compiler.explain(loss)(x);
  assert(
    breakReasons.length > 0 && breakReasons.every(({ explanation }) => explanation.includes("a lazy layer")),
  );
  assertEquals(model.parameters().map((p) => p.constructor), Array(6).fill(nn.Parameter));
  const forward = compile(loss, { fullgraph: true, backend: "aot_eager" }),
    losses = [0, 1, 2].map(() => {
      optimizer.zeroGrad();
      const found = forward(x);
      found.backward();
      optimizer.step();
      return found.item();
    });
  assert(losses.every((each, i) => i === 0 || each < (losses[i - 1] ?? 0)), `${losses}`);
});

Deno.test("an uninitialized parameter of a program is given a shape by it", () => {
  const own = new nn.UninitializedParameter({ dtype: "float64", requiresGrad: false });
  assertThrows(() => own.sum(), DynError, "but found an uninitialized parameter");
  own.materialize([2, 3]);
  assertEquals([own.shape, own.dtype, own.requiresGrad, own.constructor], [
    [2, 3],
    "float64",
    false,
    nn.Parameter,
  ]);
  const buffer = new nn.UninitializedBuffer();
  buffer.materialize([4]);
  assertEquals([buffer.fill_(2).tolist(), buffer.constructor.name], [[2, 2, 2, 2], "Tensor"]);
});
