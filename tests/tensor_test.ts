/**
 * Tensors: creation, indexing, views, in-place writes, conversion, printing, modes and random numbers.
 */
import { assert, assertEquals, assertNotEquals, assertStrictEquals, assertThrows } from "@std/assert";
import "../backends/cpu/device.ts";
import "../lib/autograd/autograd.ts";
import "../lib/tensor/install.ts";
import { DynError } from "../lib/base/errors.ts";
import { asTensor, fromTypedArray, scalarTensor, tensor } from "../lib/tensor/creation.ts";
import { ops } from "../lib/tensor/eager.ts";
import { type DispatchMode, inferenceMode, isInferenceMode, type ResolvedCall } from "../lib/tensor/modes.ts";
import { OPS } from "../lib/ops/table.ts";
import { entryOf } from "../lib/tensor/plan.ts";
import { getRngState, manualSeed, setRngState } from "../lib/tensor/random.ts";
import { modes, Tensor } from "../lib/tensor/tensor.ts";
import type { TypeOrDevice } from "../lib/base/type_or_device.ts";

Deno.test("nested arrays give shapes and PyTorch's types", () => {
  const x = tensor([[1, 2, 3], [4, 5, 6]]);
  assertEquals(x.shape, [2, 3]);
  assertEquals(x.dtype, "int64");
  assertEquals(tensor([1, 2.5]).dtype, "float32");
  assertEquals(tensor([true, false]).dtype, "bool");
  assertEquals(tensor([true, 2]).dtype, "int64");
  assertEquals(tensor(3).shape, []);
  assertEquals(tensor([]).shape, [0]);
  assertEquals(tensor([]).dtype, "float32");
  assertEquals(tensor([[], []]).shape, [2, 0]);
  assertEquals(tensor(new Float64Array([1, 2])).dtype, "float64");
  assertEquals(tensor([1.9, -1.9], { dtype: "int32" }).tolist(), [1, -1]);
  assertThrows(() => tensor([[1, 2], [3]]), DynError, "Expected a list of length 2 at dim 1 but found 1");
});

Deno.test("typed arrays are copied and tensors are shared by asTensor", () => {
  const data = new Float32Array([1, 2, 3, 4]);
  const x = fromTypedArray(data, [2, 2]);
  data[0] = 9;
  assertEquals(x.tolist(), [[1, 2], [3, 4]]);
  assertStrictEquals(asTensor(x), x);
  assertThrows(() => fromTypedArray(data, [3]), DynError, "Expected 3 elements");
});

Deno.test("lists and typed arrays have the elements that their length says, whatever their iterators give", () => {
  const value = () => [7].values();
  for (const list of [[1, 2], new Float64Array([1, 2]), new BigInt64Array([1n, 2n])]) {
    Object.defineProperty(list, Symbol.iterator, { value });
    assertEquals([tensor(list).tolist(), tensor([list]).tolist()], [[1, 2], [[1, 2]]]);
  }
  const short = Object.defineProperty(new Float64Array([1, 2]), "length", { value: 1 });
  const long = Object.defineProperty(new Float64Array([1, 2]), "length", { value: 3 });
  for (const make of [tensor, fromTypedArray, asTensor]) {
    assertEquals(make(short).tolist(), [1]);
    assertThrows(
      () => make(long),
      DynError,
      "Expected a number at element 2 of a typed array but found none",
    );
  }
});

Deno.test("a scalar tensor has the default type, as in PyTorch", () => {
  const made = [scalarTensor(2), scalarTensor(true), scalarTensor(2, { dtype: "int64" })];
  assertEquals(made.map(({ dtype }) => dtype), ["float32", "float32", "int64"]);
});

Deno.test("Python's operators and brackets are errors that suggest what to write", () => {
  const x: object = tensor([1, 2]);
  assertThrows(() => Reflect.get(x, 0), DynError, "Expected x.at(0) but found x[0]");
  assertThrows(() => Reflect.set(x, -1, 3), DynError, "Expected x.set([-1], v) but found x[-1] = v");
  assertThrows(() => Number(x) * 2, DynError, "write x.mul(y)");
});

Deno.test("int64 crosses as a number where that is exact, else as a bigint", () => {
  assertStrictEquals(tensor(2n ** 40n).item(), 2 ** 40);
  assertStrictEquals(tensor(2n ** 60n + 1n).item(), 2n ** 60n + 1n);
  assertEquals(tensor([2n ** 62n, 1n]).mul(3).tolist(), [BigInt.asIntN(64, 3n * 2n ** 62n), 3]);
  assertEquals(ops.asStrided(tensor([1, 2, 3, 4]), [3, 2], [1, 1]).tolist(), [[1, 2], [2, 3], [3, 4]]);
});

Deno.test("indexing: integers, slices, ellipsis, new axes, lists, tensors, masks", () => {
  const x = ops.reshape(ops.arange(24), [2, 3, 4]);
  assertEquals(x.at(1, 2, 3).item(), 23);
  assertEquals(x.at(-1).shape, [3, 4]);
  assertEquals(x.at(0, ":", [1, 3]).tolist(), [[1, 3], [5, 7], [9, 11]]);
  assertEquals(x.at(0, ":", { start: 1, stop: 3 }).tolist(), [[1, 2], [5, 6], [9, 10]]);
  assertEquals(x.at("...", 0).tolist(), [[0, 4, 8], [12, 16, 20]]);
  assertEquals(x.at(0, "::2", "1:").tolist(), [[1, 2, 3], [9, 10, 11]]);
  assertEquals(x.at(null, 0, null).shape, [1, 1, 3, 4]);
  assertEquals(x.at(":", ":", { start: -2 }).shape, [2, 3, 2]);
  assertEquals(x.at({ start: null, step: 2 }, {}, { stop: 1 }).shape, [1, 3, 1]);
  assertEquals(x.at(1, 1).storage === x.storage, true);
  assertEquals(x.at(0, [[0, 2]]).tolist(), [[[0, 1, 2, 3], [8, 9, 10, 11]]]);
  assertEquals(x.at(0, tensor([2, 0]), 1).tolist(), [9, 1]);
  // an array is a list of indices, however long
  for (let count = 0; count <= 5; count++) {
    const list = Array.from({ length: count }, (_, k) => k * 2 % 3);
    assertEquals(x.at(1, list).tolist(), list.map((row) => x.at(1, row).tolist()));
  }
  assertEquals(x.at([0, 1], [0, 2]).tolist(), [[0, 1, 2, 3], [20, 21, 22, 23]]);
  assertEquals(x.at([1], ":", [1, 3]).tolist(), [[13, 17, 21], [15, 19, 23]]);
  assertEquals(x.at([0, 1], null, [0, 2]).shape, [2, 1, 4]);
  assertEquals(x.at(x.gt(20)).tolist(), [21, 22, 23]);
  assertEquals(x.at(tensor([0, 1]), ":", tensor([1, 2])).tolist(), [[1, 5, 9], [14, 18, 22]]);
  assertThrows(() => x.at(2), DynError, "but found 2");
  assertThrows(() => x.at(0, 0, 0, 0), DynError, "Expected at most 3 indices but found 4");
  assertThrows(() => x.at("1:2:3:4"), DynError, "Expected a slice");
  const open: unknown[] = [-2, null], misspelt: object = { begin: 1 };
  assertThrows(() => Reflect.apply(x.at, x, [open]), DynError, "a slice is text");
  assertThrows(() => Reflect.apply(x.at, x, [misspelt]), DynError, 'but found "begin"');
});

Deno.test("integers that are to require grad become floats; errors for other types suggest a remedy", () => {
  assertEquals(tensor([1, -2, 3], { requiresGrad: true }).dtype, "float32");
  assertEquals(ops.full([2], 2).dtype, "int64");
  assertEquals(ops.full([2], 2, { requiresGrad: true }).dtype, "float32");
  assertEquals(ops.arange(3, { requiresGrad: true }).dtype, "float32");
  assertThrows(() => tensor([true], { requiresGrad: true }), DynError, 'make it with dtype: "float32"');
  assertThrows(() => tensor([1], { dtype: "int64", requiresGrad: true }), DynError, "found int64");
  assertThrows(() => ops.zerosLike(tensor([1]), { requiresGrad: true }), DynError, "found int64");
});

Deno.test("numbers that int64 cannot hold are floats, and those that a type cannot hold are rejected", () => {
  const x = tensor([1, 2]);
  assertEquals([tensor(1e20).dtype, tensor([2 ** 63, 1]).dtype, tensor(-(2 ** 63)).dtype], [
    "float32",
    "float32",
    "int64",
  ]);
  assertEquals(x.add(1e20).tolist(), [Math.fround(1e20), Math.fround(1e20)]);
  assertEquals(x.lt(1e20).tolist(), [true, true]);
  assertEquals(ops.full([1], 1e30).dtype, "float32");
  const bytes = x.to("uint8"), mask = tensor([true, false]), at = tensor([0]);
  const wrong: readonly (() => unknown)[] = [
    () => tensor([1, 300], { dtype: "uint8" }),
    () => tensor(2n ** 63n),
    () => tensor(2 ** 63, { dtype: "int64" }),
    () => tensor(NaN, { dtype: "int32" }),
    () => bytes.clone().fill_(300),
    () => ops.full([2], 128, { dtype: "int8" }),
    () => ops.fullLike(bytes, Infinity),
    () => bytes.maskedFill(mask, 256),
    () => bytes.indexFill(0, at, 256),
    () => bytes.scatter(0, at, 256),
    () => ops.constantPadNd(bytes, [1, 1], 256),
  ];
  for (const call of wrong) assertThrows(call, DynError, " holds but found ");
  assertEquals(tensor([-1, 255], { dtype: "uint8" }).tolist(), [255, 255]);
});

Deno.test("failed allocations are errors with the requested size", () => {
  const asked = "Expected room for float32 [1000000000000] (4000000000000 bytes) on cpu";
  assertThrows(() => ops.zeros([1e12]), DynError, asked);
  const wide = "Expected room for float64 [1000000, 1000000] (8000000000000 bytes)";
  assertThrows(() => ops.ones([1e6, 1e6], { dtype: "float64" }), DynError, wide);
});

Deno.test("assignment writes through views and masks", () => {
  const x = ops.zeros([3, 3]);
  x.set([0], 1);
  x.set([":", 2], tensor([7, 8, 9]));
  x.set([x.eq(0)], -1);
  assertEquals(x.tolist(), [[1, 1, 7], [-1, -1, 8], [-1, -1, 9]]);
  x.set([tensor([0, 2]), tensor([0, 0])], tensor([5, 6]));
  assertEquals(x.at(":", 0).tolist(), [5, -1, 6]);
  x.set([[0, 2]], 3);
  assertEquals(x.tolist(), [[3, 3, 3], [-1, -1, 8], [3, 3, 3]]);
  x.set([0, { start: 1 }], 4);
  assertEquals(x.at(0).tolist(), [3, 4, 4]);
});

Deno.test("views share storage and see each other's writes", () => {
  const x = tensor([[1, 2], [3, 4]]), t = x.t(), row = x.at(1);
  assertEquals(t.isContiguous(), false);
  assertEquals(t.stride(), [1, 2]);
  const before = x.version;
  row.mul_(10);
  assertEquals(t.tolist(), [[1, 30], [2, 40]]);
  assertEquals(x.version, before + 1);
  assertEquals(t.version, x.version);
  assertEquals(t.contiguous().tolist(), [[1, 30], [2, 40]]);
  assertEquals(t.reshape(4).storage === x.storage, false);
  assertEquals(x.reshape(4).storage === x.storage, true);
  assertThrows(() => t.view(4), DynError);
});

Deno.test("view with a type shows the memory as other elements, as PyTorch's does", () => {
  const x = ops.arange(12, { dtype: "float32" }).reshape(3, 4);
  const shown = (y: Tensor) => [y.dtype, y.shape, y.strides, y.storageOffset()];
  assertEquals(shown(x.view("int32")), ["int32", [3, 4], [4, 1], 0]);
  assertEquals(shown(x.t().view("int32")), ["int32", [4, 3], [1, 4], 0]);
  assertEquals(shown(x.at("1:").view("int8")), ["int8", [2, 16], [16, 1], 16]);
  assertEquals(shown(x.at(":", "2:").view("complex64")), ["complex64", [3, 1], [2, 1], 1]);
  assertEquals(shown(ops.zeros([1, 2]).expand(3, 2).view("int64")), ["int64", [3, 1], [0, 1], 0]);
  assertEquals(shown(tensor(1.5).view("int32")), ["int32", [], [], 0]);
  assertEquals(x.view(2, -1).shape, [2, 6]);
  assertEquals(x.view([6, 2]).shape, [6, 2]);
  const bits = x.view("int32");
  bits.at(0, 0).fill_(0x3f800000);
  assertEquals(x.at(0, 0).item(), 1);
  assertEquals(tensor([1, -2.5], { dtype: "bfloat16" }).view("uint8").tolist(), [128, 63, 32, 192]);
  assertEquals(tensor([1, -2.5], { dtype: "float16" }).view("int16").tolist(), [15360, -16128]);
  // No history leads through it, but writes through it are seen
  const leaf = tensor([1.5], { requiresGrad: true }), y = leaf.mul(2), squared = y.square();
  assertEquals(y.view("float32").requiresGrad, false);
  y.view("int32").add_(1);
  assertThrows(() => squared.backward(), DynError, "modified");
  for (
    const [refused, message] of [
      [() => x.t().view("int16"), "last dimension of stride 1"],
      [() => x.at(":", "1:3").view("int64"), "offsets divisible by 2"],
      [() => x.at(":", ":3").view("int64"), "sizes divisible by 2"],
      [() => ops.zeros([3, 5]).at(":", ":4").view("int64"), "strides divisible by 2"],
      [() => tensor(1.5).view("int8"), "a dimension to view float32 as int8 but found a scalar"],
      [() => x.view("bool"), "use ne(0)"],
      [
        () => modes.with({ call: ({ args }) => args.self as Tensor }, () => x.view("int32")),
        "a transform or mode",
      ],
    ] as const
  ) assertThrows(refused, DynError, message);
});

Deno.test("in-place ops with overlapping operands use the original elements", () => {
  const x = tensor([1, 2, 3, 4]);
  x.slice(0, 1, 4).add_(x.slice(0, 0, 3));
  assertEquals(x.tolist(), [1, 3, 5, 7]);
  const y = tensor([[1, 2], [3, 4]]);
  y.add_(y.t());
  assertEquals(y.tolist(), [[2, 5], [5, 8]]);
  const z = tensor([1, 2]);
  z.mul_(z);
  assertEquals(z.tolist(), [1, 4]);
});

Deno.test("in-place ops keep type and shape", () => {
  const x = tensor([1, 2]);
  assertThrows(() => x.add_(0.5), DynError, "can be cast to int64");
  assertThrows(() => x.add_(tensor([[1, 2], [3, 4]])), DynError, "broadcast");
  assertThrows(() => ops.expand(tensor([1]), [3]).add_(1), DynError, "single memory location");
  const y = tensor([1.5, 2.5]);
  y.add_(tensor([1, 2]));
  assertEquals(y.dtype, "float32");
  assertEquals(y.tolist(), [2.5, 4.5]);
});

Deno.test("one-element tensors convert to numbers", () => {
  const x = tensor([[2.5]]);
  assert(+x > 2);
  assertEquals(Number(tensor(true)), 1);
  assertThrows(() => tensor([1, 2]).item(), DynError, "Expected one element for item() but found 2");
  assertEquals(`${tensor([1, 2])}`, "tensor([1, 2])");
});

Deno.test("iteration goes along the first dimension", () => {
  const rows = [...tensor([[1, 2], [3, 4]])];
  assertEquals(rows.map((r) => r.tolist()), [[1, 2], [3, 4]]);
  assertThrows(() => [...tensor(1)], DynError, "0-d");
});

Deno.test("elements are read as copies, now or later", async () => {
  const x = tensor([[1.5, 2], [3, 4]]).t();
  const now = x.toTypedArray();
  assertEquals(now, new Float32Array([1.5, 3, 2, 4]));
  now[0] = 7;
  assertEquals(await x.data(), new Float32Array([1.5, 3, 2, 4]));
});

Deno.test("calls take positional and named arguments", () => {
  const x = tensor([[1, 2], [3, 4]], { dtype: "float32" });
  assertEquals(x.sum(1, true).tolist(), [[3], [7]]);
  assertEquals(x.sum(1, { keepdim: true }).tolist(), [[3], [7]]);
  assertEquals(x.sum({ dim: 0 }).tolist(), [4, 6]);
  assertEquals(x.view(4, 1).shape, [4, 1]);
  assertEquals(x.view([1, 4]).shape, [1, 4]);
  const { values, indices } = x.max(1);
  assertEquals([values.tolist(), indices.tolist()], [[2, 4], [1, 1]]);
  const [v] = x.max(0);
  assertEquals(v.tolist(), [3, 4]);
  assertEquals(x.max().item(), 4);
  assertThrows(() => ops.sum(x, 5), DynError, "Expected dim in [-2, 1] but found 5");
  const call: (...given: unknown[]) => unknown = (...given) => Reflect.apply(x.sum, x, given);
  assertThrows(() => call({ dims: 1 }), DynError, "but found dims");
  assertThrows(() => call("a"), DynError, "Expected a dimension or a list of dimensions for dim of sum");
});

Deno.test("printing follows PyTorch", () => {
  const lines = (t: Tensor) => t.toString();
  assertEquals(lines(tensor([1.5, 2, -3.25])), "tensor([ 1.5000,  2.0000, -3.2500])");
  assertEquals(lines(tensor([1, 2, 3], { dtype: "float32" })), "tensor([1., 2., 3.])");
  assertEquals(lines(tensor([1e-8, 1])), "tensor([1.0000e-08, 1.0000e+00])");
  assertEquals(lines(tensor([NaN, Infinity, 1])), "tensor([nan, inf, 1.])");
  assertEquals(lines(tensor([[true, false]])), "tensor([[ True, False]])");
  assertEquals(lines(tensor([1, 2], { dtype: "int32" })), "tensor([1, 2], dtype=int32)");
  assertEquals(lines(tensor(2.5)), "tensor(2.5000)");
  assertEquals(lines(tensor([])), "tensor([])");
  assertEquals(lines(ops.zeros([2, 0])), "tensor([], size=(2, 0))");
  assertEquals(
    lines(tensor([[[1], [2]], [[3], [4]]])),
    "tensor([[[1],\n         [2]],\n\n        [[3],\n         [4]]])",
  );
  assertEquals(
    lines(ops.arange(2000)),
    "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])",
  );
  // The ends of a view of a large tensor, of every type
  const rows = ops.arange(12000).reshape([100, 120]).narrow(1, 10, 50).t();
  assertEquals(
    lines(rows),
    "tensor([[   10,   130,   250,  ..., 11650, 11770, 11890],\n" +
      "        [   11,   131,   251,  ..., 11651, 11771, 11891],\n" +
      "        [   12,   132,   252,  ..., 11652, 11772, 11892],\n" +
      "        ...,\n" +
      "        [   57,   177,   297,  ..., 11697, 11817, 11937],\n" +
      "        [   58,   178,   298,  ..., 11698, 11818, 11938],\n" +
      "        [   59,   179,   299,  ..., 11699, 11819, 11939]])",
  );
  for (const dtype of ["bfloat16", "float16", "bool", "float64", "int8"] as const) {
    const typed = rows.remainder(2).to(dtype);
    assertEquals(lines(typed.t().contiguous().t()), lines(typed.contiguous()), dtype);
  }
  assertEquals(lines(tensor([1.5], { requiresGrad: true })), "tensor([1.5000], requiresGrad=true)");
});

Deno.test("the seed decides all random numbers, call by call", () => {
  manualSeed(3);
  const a = ops.rand([4]), state = getRngState(), b = ops.rand([4]);
  manualSeed(3);
  assertEquals(ops.rand([4]).tolist(), a.tolist());
  assertEquals(ops.rand([4]).tolist(), b.tolist());
  assertNotEquals(a.tolist(), b.tolist());
  setRngState(state);
  assertEquals(ops.rand([4]).tolist(), b.tolist());
  manualSeed(4);
  assertNotEquals(ops.rand([4]).tolist(), a.tolist());
});

Deno.test("random numbers have the moments of their distribution", () => {
  manualSeed(0);
  const u = ops.rand([20000]), n = ops.randn([20000]);
  const mean = (t: Tensor) => Number(t.mean().item());
  assert(Math.abs(mean(u) - 0.5) < 0.01);
  assert(Math.abs(mean(u.square()) - 1 / 3) < 0.01);
  assert(Math.abs(mean(n)) < 0.03);
  assert(Math.abs(mean(n.square()) - 1) < 0.04);
  assert(u.ge(0).all().item() && u.lt(1).all().item());
});

Deno.test("numbers that vary are loaded by one kernel instead of one kernel each", () => {
  const x = tensor([1, 2.5]), before = entryOf(OPS.mul).plans.exact.size;
  for (let k = 1; k <= 40; k++) {
    const factor = k / 8;
    assertEquals(x.mul(factor).tolist(), [factor, 2.5 * factor]);
    assertEquals(x.clone().mul_(factor).tolist(), [factor, 2.5 * factor]);
  }
  assert(entryOf(OPS.mul).plans.exact.size - before <= 8);
  const y = tensor([1, 2], { dtype: "float64" });
  for (let k = 1; k <= 9; k++) assertEquals(y.add(k + 0.1).tolist(), [1 + (k + 0.1), 2 + (k + 0.1)]);
  for (let k = 1; k <= 9; k++) assertEquals(tensor([1, 2]).add(k).dtype, "int64");
  for (let k = 1; k <= 9; k++) assertEquals(tensor([1, 2]).add(k + 0.5).dtype, "float32");
});

Deno.test("a mode sees calls before they run, but not its own", () => {
  const seen: string[] = [];
  const counting: DispatchMode<Tensor> = {
    call({ definition, args, inplace }: ResolvedCall<Tensor>) {
      seen.push(inplace ? `${definition.name}_` : definition.name);
      const { self, other } = args;
      return self instanceof Tensor && other instanceof Tensor ? ops.sub(self, other) : tensor(0);
    },
  };
  const x = tensor([5, 7]), y = tensor([1, 2]);
  const z = modes.with(counting, () => x.add(y));
  assertEquals(z.tolist(), [4, 5]);
  assertEquals(seen, ["add"]);
  assertEquals(x.add(y).tolist(), [6, 9]);
});

Deno.test("inference mode records no gradients, and views as noGrad does", () => {
  const x = tensor([1.5], { requiresGrad: true });
  inferenceMode(() => {
    assert(isInferenceMode());
    assertEquals(x.mul(2).requiresGrad, false);
    assertEquals(x.view(1).requiresGrad, false);
  });
  assert(x.mul(2).requiresGrad);
});

Deno.test("tensors without elements have metadata only", () => {
  const x = Tensor.elementless(tensor([[1, 2]]).meta);
  assertEquals(x.shape, [1, 2]);
  assertThrows(() => x.tolist(), DynError, "metadata only");
  assertThrows(() => x.add(1), DynError, "metadata only");
  assertEquals(ops.zerosLike(x).tolist(), [[0, 0]]);
});

Deno.test("released memory is used again", () => {
  const first = ops.ones([1000]);
  const { memory } = first.storage;
  first[Symbol.dispose]();
  assertThrows(() => first.tolist(), DynError, "released");
  assertStrictEquals(ops.zeros([1000]).storage.memory, memory);
});

Deno.test("to converts types and returns tensors that already have the type", () => {
  const x = tensor([1.5, -2.5]);
  assertEquals(x.to("int64").tolist(), [1, -2]);
  assertStrictEquals(x.to("float32"), x);
  assertStrictEquals(x.cpu(), x);
  assertEquals(x.to(tensor([1])).dtype, "int64");
  const elsewhere: string = "nowhere";
  assertThrows(
    () => x.to(elsewhere),
    DynError,
    'Expected the device to be one of cpu, webgpu, meta but found "nowhere"',
  );
  // Literals are type-checked
  const wrong: TypeOrDevice<"float31"> extends "float31" ? never : "refused" = "refused";
  const right: [TypeOrDevice<"float32">, TypeOrDevice<"cpu">] = ["float32", "cpu"];
  assertEquals([wrong, ...right], ["refused", "float32", "cpu"]);
});

Deno.test("transposes as properties, and shapes changed in place", () => {
  const x = tensor([[1, 2, 3], [4, 5, 6]]);
  assertEquals(x.T.tolist(), [[1, 4], [2, 5], [3, 6]]);
  assertEquals(x.unsqueeze(0).mT.shape, [1, 3, 2]);
  assertStrictEquals(x.resize_(3, 2), x);
  assertEquals(x.tolist(), [[1, 2], [3, 4], [5, 6]]);
  const small = tensor([1, 2]);
  assertEquals(small.resize_([4]).slice(0, 0, 2).tolist(), [1, 2]);
  assertEquals(small.resizeAs_(x).shape, [3, 2]);
  assertThrows(() => tensor([1.5], { requiresGrad: true }).resize_(2), DynError, "does not require grad");
});

Deno.test("a 0-d mask selects all or nothing, along a dimension of its own", () => {
  const matrix = () => tensor([[1, 2], [3, 4]]);
  for (const flag of [true, false]) {
    const mask = tensor(flag), count = flag ? 1 : 0;
    assertEquals(matrix().at(mask).shape, [count, 2, 2]);
    assertEquals(matrix().at(0, mask).tolist(), flag ? [[1, 2]] : []);
    assertEquals(tensor(5).at(mask).tolist(), flag ? [5] : []);
    assertEquals(tensor(5).set([mask], 9).item(), flag ? 9 : 5);
    assertEquals(
      matrix().set([":", mask], tensor([7, 8])).tolist(),
      flag ? [[7, 8], [7, 8]] : [[1, 2], [3, 4]],
    );
  }
});
