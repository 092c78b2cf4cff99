/** Loaders and the safetensors format: batches, orders and what is broken. */
import { assertEquals, assertThrows } from "@std/assert";
import { data, DynError, manualSeed, ones, safetensors, type Tensor, tensor, zeros } from "../mod.ts";

const numbers = [0, 1, 2, 3, 4];
const lists = (loader: Iterable<unknown>): unknown[] =>
  [...loader].map((batch) => (batch as Tensor).tolist());

Deno.test("a loader takes arrays and options by position and name", () => {
  assertEquals(lists(new data.DataLoader(numbers, 2)), [[0, 1], [2, 3], [4]]);
  const short = new data.DataLoader(numbers, { batchSize: 2, dropLast: true });
  assertEquals([lists(short), short.length], [[[0, 1], [2, 3]], 2]);
  const sampled = new data.DataLoader(numbers, { batchSize: 2, sampler: [4, 0, 4] });
  assertEquals([lists(sampled), sampled.length], [[[4, 0], [4]], 2]);
  const joined = new data.DataLoader<number, string>(numbers, {
    batchSize: 3,
    collateFn: (s) => s.join("-"),
  });
  assertEquals([...joined], ["0-1-2", "3-4"]);
  assertThrows(() => new data.DataLoader(numbers, 0), DynError, "batchSize");
  assertThrows(() => new data.DataLoader(numbers, { shuffle: true, sampler: [0] }), DynError, "both");
  assertThrows(() => Reflect.construct(data.DataLoader, [numbers, { batch: 2 }]), DynError, "found batch");
});

Deno.test("shuffled epochs differ, hold every sample once and follow the seed", () => {
  const loader = new data.DataLoader(Array.from({ length: 50 }, (_, i) => i), {
    batchSize: 50,
    shuffle: true,
  });
  manualSeed(1);
  const [first] = lists(loader), [second] = lists(loader);
  manualSeed(1);
  assertEquals(lists(loader)[0], first);
  assertEquals(JSON.stringify(first) === JSON.stringify(second), false);
  assertEquals((first as number[]).toSorted((a, b) => a - b), Array.from({ length: 50 }, (_, i) => i));
});

Deno.test("samples are collated by kind, and mixed kinds are an error", () => {
  const batch = data.defaultCollate([{ x: ones([2]), y: [1, 0.5], z: true }, {
    x: zeros([2]),
    y: [2, 1],
    z: false,
  }]);
  const { x, y: [whole, part], z } = batch as { x: Tensor; y: [Tensor, Tensor]; z: Tensor };
  assertEquals([x.shape, whole.dtype, part.dtype, z.dtype], [[2, 2], "int64", "float64", "bool"]);
  assertThrows(() => data.defaultCollate([1, ones([1])]), DynError, "one kind");
  assertThrows(() => data.defaultCollate([[1], [1, 2]]), DynError, "1 elements");
});

function fileOf(header: string, body = 0): Uint8Array {
  const text = new TextEncoder().encode(header), file = new Uint8Array(8 + text.byteLength + body);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.byteLength), true);
  file.set(text, 8);
  return file;
}

Deno.test("safetensors keep every type and shape, empty and strided ones too", () => {
  const state: Record<string, Tensor> = {
    "λ.weight": tensor([[1.5, 2], [3, 4]]).t(),
    empty: zeros([0, 3]),
    scalar: tensor(2n ** 60n, { dtype: "int64" }),
    flags: tensor([true, false]),
    bytes: tensor([255, 0], { dtype: "uint8" }),
    wide: tensor([1 / 3], { dtype: "float64" }),
    small: tensor([-1], { dtype: "int32" }),
    half: tensor([[1.5, -65504], [1e-7, NaN]], { dtype: "float16" }).t(),
    brain: tensor([1 / 3, -3e38, Infinity], { dtype: "bfloat16" }),
    short: tensor([-32768, 7], { dtype: "int16" }),
    char: tensor([-128, 127], { dtype: "int8" }),
  };
  const file = safetensors.serialize(state, { format: "pt" });
  assertEquals(new DataView(file.buffer).getUint32(0, true) % 8, 0);
  const loaded = safetensors.load(file);
  assertEquals(Object.keys(loaded).toSorted(), Object.keys(state).toSorted());
  for (const [name, each] of Object.entries(state)) {
    const found = loaded[name];
    assertEquals(
      [found?.dtype, found?.shape, found?.tolist()],
      [each.dtype, each.shape, each.tolist()],
      name,
    );
  }
});

Deno.test("broken safetensors files are errors that say what is wrong", () => {
  const entry = (dtype: string, shape: string, offsets: string) =>
    `{"x":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`;
  const broken: readonly (readonly [Uint8Array, string])[] = [
    [new Uint8Array(3), "found 3 bytes"],
    [fileOf("{").subarray(0, 8), "Expected a header of 1 bytes but found 0"],
    [fileOf("{oops"), "Expected a JSON header"],
    [fileOf("[]"), "Expected a JSON object"],
    [fileOf(entry("F8_E4M3", "[2]", "[0,4]"), 4), "Expected one of F32"],
    [fileOf(entry("F32", "[2]", "[0,4]"), 4), "Expected 8 bytes for x"],
    [fileOf(entry("F32", "[2]", "[0,8]"), 4), "Expected 8 bytes for x"],
    [fileOf(entry("F32", "[-1]", "[0,4]"), 4), "non-negative"],
    [fileOf('{"x":1}'), "Expected an object for x"],
  ];
  for (const [file, message] of broken) assertThrows(() => safetensors.load(file), DynError, message);
  assertThrows(() => safetensors.serialize({ __metadata__: ones([1]) }), DynError, "reserves");
});
