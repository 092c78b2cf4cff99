/** Loaders and the safetensors format: batches, orders and errors. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  arange,
  data,
  DynError,
  Generator,
  manualSeed,
  ones,
  rand,
  safetensors,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import type * as worker from "./support/worker_datasets.ts";

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
    collateFn: (s: number[]) => s.reverse().join("-"),
  });
  assertEquals([...joined], ["2-1-0", "4-3"]);
  assertThrows(() => new data.DataLoader(numbers, 0), DynError, "batchSize");
  assertThrows(() => Reflect.set(short, "batchSize", 5), DynError, "but found 5 later");
  assertEquals(short.batchSize, 2);
  assertThrows(() => new data.DataLoader(numbers, { shuffle: true, sampler: [0] }), DynError, "both");
  assertThrows(
    () => new data.DataLoader(numbers, { batchSize: null, dropLast: true }),
    DynError,
    "batchSize null",
  );
  assertThrows(() => Reflect.construct(data.DataLoader, [numbers, { batch: 2 }]), DynError, "found batch");
});

Deno.test("shuffled epochs differ, contain every sample once and follow the seed", () => {
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

Deno.test("types that tensors do not support are read exactly as wider ones, on request", () => {
  const types = {
    F8_E4M3: [Uint8Array.of(0x7e, 0x80, 0x01, 0xff, 0xb9), "float32", [448, -0, 2 ** -9, NaN, -1.125]],
    F8_E5M2: [Uint8Array.of(0x7b, 0x02, 0xfc, 0x7d, 0xbd), "float32", [
      57344,
      2 ** -15,
      -Infinity,
      NaN,
      -1.25,
    ]],
    F8_E8M0: [Uint8Array.of(0, 127, 254, 255), "float32", [2 ** -127, 1, 2 ** 127, NaN]],
    U16: [Uint16Array.of(0, 65535), "int32", [0, 65535]],
    U32: [Uint32Array.of(7, 2 ** 32 - 1), "int64", [7, 2 ** 32 - 1]],
    U64: [BigUint64Array.of(2n ** 63n - 1n), "int64", [2n ** 63n - 1n]],
  } as const;
  const stored = (
    dtype: string,
    { byteLength, buffer, length }: Uint8Array | BigUint64Array | Uint16Array | Uint32Array,
  ): Uint8Array => {
    const file = fileOf(
      JSON.stringify({ x: { dtype, shape: [length], data_offsets: [0, byteLength] } }),
      byteLength,
    );
    file.set(new Uint8Array(buffer), file.byteLength - byteLength);
    return file;
  };
  for (const [name, [elements, dtype, values]] of Object.entries(types)) {
    const file = stored(name, elements), { x } = safetensors.load(file, { widen: true });
    assertEquals([x?.dtype, x?.tolist()], [dtype, [...values]], name);
    assertThrows(() => safetensors.load(file), DynError, `{ widen: true }) reads it as ${dtype}`);
  }
  const large = stored("U64", BigUint64Array.of(2n ** 63n));
  assertThrows(() => safetensors.load(large, { widen: true }), DynError, "below 2^63, which int64 holds");
});

Deno.test("broken safetensors files are errors that describe the fault", () => {
  const entry = (dtype: string, shape: string, offsets: string) =>
    `{"x":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`;
  const broken: readonly (readonly [Uint8Array, string])[] = [
    [new Uint8Array(3), "found 3 bytes"],
    [fileOf("{").subarray(0, 8), "Expected a header of 1 bytes but found 0"],
    [new TextEncoder().encode("import torch"), "Expected a safetensors file but found other contents"],
    [fileOf("{oops"), "Expected a JSON header"],
    [fileOf("[]"), "Expected a JSON object"],
    [fileOf(entry("F8_E4M3", "[2]", "[0,4]"), 4), "one of F32"],
    [fileOf(entry("F32", "[2]", "[0,4]"), 4), "Expected 8 bytes for x"],
    [fileOf(entry("F32", "[2]", "[0,8]"), 4), "Expected 8 bytes for x"],
    [fileOf(entry("F32", "[-1]", "[0,4]"), 4), "non-negative"],
    [fileOf('{"x":1}'), "Expected an object for x"],
  ];
  for (const [file, message] of broken) assertThrows(() => safetensors.load(file), DynError, message);
  assertThrows(() => safetensors.serialize({ __metadata__: ones([1]) }), DynError, "found __metadata__");
});

Deno.test("samplers draw new orders, and follow their own generator", () => {
  const numbers = Array.from({ length: 6 }, (_, i) => i), generator = new Generator(3);
  const { BatchSampler, RandomSampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler } = data;
  assertEquals([...new BatchSampler(new SequentialSampler(numbers), 4)], [[0, 1, 2, 3], [4, 5]]);
  assertEquals(new BatchSampler(new SequentialSampler(numbers), 4, true).length, 1);
  const named = { batchSize: 4, dropLast: true };
  assertEquals([...new BatchSampler(new SequentialSampler(numbers), named)], [[0, 1, 2, 3]]);
  const random = new RandomSampler(numbers, { generator }), first = [...random], second = [...random];
  assertEquals([first.toSorted(), second.toSorted()], [numbers, numbers]);
  assertEquals([...new RandomSampler(numbers, { generator: new Generator(3) })], first);
  assertEquals([...new RandomSampler(numbers, { numSamples: 8 })].length, 8);
  const drawn = [...new RandomSampler(numbers, { replacement: true, numSamples: 50, generator })];
  assertEquals([drawn.length, drawn.every((i) => numbers.includes(i))], [50, true]);
  assertEquals([...new SubsetRandomSampler([4, 2])].toSorted(), [2, 4]);
  assertEquals(new Set(new WeightedRandomSampler([0, 1, 0, 2], 40)), new Set([1, 3]));
  assertEquals([...new WeightedRandomSampler(tensor([0.5, 1, 0]), 2, { replacement: false })].toSorted(), [
    0,
    1,
  ]);
  // The common generator continues from its position
  manualSeed(5);
  const alone = Number(rand([]).item());
  manualSeed(5);
  permuted(generator);
  assertEquals(Number(rand([]).item()), alone);
  assertThrows(() => new WeightedRandomSampler([-1], 1), DynError, "non-negative weights");
  assertThrows(() => new RandomSampler(numbers, { numSamples: 0 }), DynError, "positive number");
});

const permuted = (generator: Generator) => data.permutation(4, { generator });

Deno.test("datasets are concatenated, stacked, chained and split", () => {
  const letters = { length: 2, get: (i: number) => ["a", "b"][i] ?? "" };
  const more = { length: 3, get: (i: number) => ["c", "d", "e"][i] ?? "" };
  const joined = new data.ConcatDataset([letters, more]);
  assertEquals([0, 1, 2, -1].map((i) => joined.get(i)), ["a", "b", "c", "e"]);
  assertThrows(() => joined.get(5), DynError, "found 5");
  const rows = new data.TensorDataset(tensor([[1], [2]]));
  const pairs = new data.StackDataset({ text: letters, row: rows });
  const pair = pairs.get(1);
  assertEquals([pair.text, pair.row[0].tolist()], ["b", [2]]);
  assertThrows(() => new data.StackDataset([letters, more]), DynError, "lengths 2, 3");
  const loader = new data.DataLoader(new data.ChainDataset([[1, 2], [3]]), { batchSize: 2 });
  assertEquals([...loader].map(String), [String(tensor([1, 2])), String(tensor([3]))]);
  assertThrows(() => loader.length, DynError, "iterable dataset");
  const listed = new data.ConcatDataset([["x"], new data.Subset(["y", "z"], [1])]);
  assertEquals([listed.get(0), listed.get(1)], ["x", "z"]);
  const [first, rest] = data.randomSplit([1, 2, 3], [1, 2]), both: number = first.length + rest.length;
  assertEquals([both, new data.StackDataset([["x"], [1]]).get(0)], [3, ["x", 1]]);
  assertThrows(() => new data.Subset(Object(7), [0]), DynError, "a list but found");
  const [a, b] = data.randomSplit(new data.Subset(more, [0, 1, 2]), [0.5, 0.5], {
    generator: new Generator(1),
  });
  assertEquals([a.length, b.length], [2, 1]);
  assertEquals([...a.indices, ...b.indices].toSorted(), [0, 1, 2]);
  assertThrows(() => data.randomSplit(more, [0.4, 0.4]), DynError, "sum to 3");
});

Deno.test("loaders take batch samplers, single samples and promises, and name the sample that failed", async () => {
  const numbers = [10, 11, 12, 13];
  const batches = new data.DataLoader(numbers, { batchSampler: [[3, 0], [1]] });
  assertEquals([batches.length, [...batches].map((x) => String(x))], [2, [
    "tensor([13, 10])",
    "tensor([11])",
  ]]);
  assertEquals([...new data.DataLoader(numbers, { batchSize: null })].map(Number), numbers);
  let running = 0, most = 0;
  const slow = {
    length: 5,
    async get(index: number) {
      most = Math.max(most, ++running);
      await new Promise((done) => setTimeout(done, 5 - index));
      running--;
      return index;
    },
  };
  const found: string[] = [];
  for await (const batch of new data.DataLoader<Promise<number>, unknown>(slow, 2)) found.push(String(batch));
  assertEquals(found, ["tensor([0, 1])", "tensor([2, 3])", "tensor([4])"]);
  assert(most > 2, `${most} samples at once`);
  const broken = { length: 3, get: (i: number) => i === 1 ? fail() : i };
  assertThrows(
    () => [...new data.DataLoader(broken, 3)],
    DynError,
    "sample 1 but its dataset threw: no such file, at fail (",
  );
  await assertRejects(
    async () => {
      for await (const _ of new data.DataLoader(broken));
    },
    DynError,
    "sample 1",
  );
});

function fail(): never {
  throw new Error("no such file");
}

Deno.test("files in parts are read by their index", () => {
  const folder = Deno.makeTempDirSync();
  try {
    safetensors.save({ a: tensor([1, 2]), b: ones([2, 2]) }, `${folder}/model-1 of 2.safetensors`);
    safetensors.save({ c: zeros([3]) }, `${folder}/model-2 of 2.safetensors`);
    const index = (map: Readonly<Record<string, string>>): string => {
      const path = `${folder}/model.safetensors.index.json`;
      Deno.writeTextFileSync(path, JSON.stringify({ metadata: { total_size: 36 }, weight_map: map }));
      return path;
    };
    const first = "model-1 of 2.safetensors", second = "model-2 of 2.safetensors";
    const found = safetensors.load(index({ c: second, a: first, b: first }));
    assertEquals(Object.entries(found).map(([name, x]) => [name, x.tolist()]), [
      ["c", [0, 0, 0]],
      ["a", [1, 2]],
      ["b", [[1, 1], [1, 1]]],
    ]);
    assertThrows(() => safetensors.load(index({ d: second })), DynError, `tensor d in ${second}`);
    assertThrows(() => safetensors.load(index({ d: "../x" })), DynError, "file beside");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

const WORKERS = import.meta.resolve("./support/worker_datasets.ts");

Deno.test("workers create batches in order, awaited or not, and wait for the next epoch", async () => {
  const samples = await data.fromModule<typeof worker.Squares>(WORKERS, "Squares", [15, tensor([1, 0.5])]);
  const loader = new data.DataLoader(samples, {
    batchSampler: [[3, 1], [0, 2, 4], [5], [6, 7], [8]],
    numWorkers: 2,
    persistentWorkers: true,
  });
  const listed = ({ x, label, name }: data.Collated<ReturnType<typeof samples.get>>) => [
    x.tolist(),
    label.tolist(),
    name,
  ];
  const expected = [...new data.DataLoader(samples, { batchSampler: [[3, 1], [0, 2, 4], [5], [6, 7], [8]] })]
    .map(listed);
  assertEquals([...loader].map(listed), expected);
  // The rest of an epoch does not appear in the next one
  for await (const batch of loader) {
    assertEquals(listed(batch), expected[0]);
    break;
  }
  for (const batch of loader) {
    assertEquals(listed(batch), expected[0]);
    break;
  }
  const found: unknown[] = [];
  for await (const batch of loader) found.push(listed(batch));
  assertEquals(found, expected);
  // Received tensors are as others: written, computed with, viewed
  const [batch] = loader;
  assertEquals(batch?.x.add_(1).t().sum(0).tolist(), [6.5, 3.5]);
  // Parts of it, with an error that says where
  const broken = new data.DataLoader(new data.Subset(samples, [4, 13]), { numWorkers: 1 }),
    labels: unknown[] = [];
  const error = assertThrows(
    () => {
      for (const { label } of broken) labels.push(label.tolist());
    },
    DynError,
    "Expected sample 1 but its dataset threw in worker 0: no such square",
  );
  assert(error.message.includes("worker_datasets.ts:9"), error.message);
  assert(error.cause instanceof Error && error.cause.name === "RangeError");
  assert(error.cause.stack?.includes("worker_datasets.ts:9"), error.cause.stack);
  assertEquals(labels, [[16]]);
});

Deno.test("workers have their own random numbers, which follow the loader's generator, and are initialised", async () => {
  const noise = await data.fromModule<typeof worker.noise>(WORKERS, "noise");
  const workerInitFn = await data.fromModule<typeof worker.begin>(WORKERS, "begin");
  const epoch = () => {
    const generator = new Generator().manualSeed(5);
    const loader = new data.DataLoader(noise, 2, { numWorkers: 2, generator, workerInitFn });
    return [...loader].map((batch) => batch.map((x) => x.tolist()));
  };
  const first = epoch();
  assertEquals(first.map(([, id, begun]) => [id, begun]), [
    [[0, 0], [0, 0]],
    [[1, 1], [1, 1]],
    [[0, 0], [0, 0]],
    [[1, 1], [1, 1]],
  ]);
  assertEquals(new Set(first.map(([x]) => `${x}`)).size, 4);
  assertEquals(epoch(), first);
});

Deno.test("workers load streams in parts, asynchronous samples, arrays, and every type", async () => {
  const shards = await data.fromModule<typeof worker.Shards>(WORKERS, "Shards", [7]);
  const streams = new data.DataLoader(shards, { batchSize: 2, numWorkers: 2, persistentWorkers: true });
  for (let epoch = 0; epoch < 2; epoch++) {
    assertEquals([...streams].map((x) => x.tolist()), [[0, 2], [1, 3], [4, 6], [5]]);
  }
  const later = await data.fromModule<typeof worker.later>(WORKERS, "later", [5]);
  const promised: unknown[] = [];
  for await (const x of new data.DataLoader<Promise<number>, Tensor>(later, 2, { numWorkers: 1 })) {
    promised.push(x.tolist());
  }
  assertEquals(promised, [[0, 1], [2, 3], [4]]);
  const reversed = await data.fromModule<typeof worker.reversed>(WORKERS, "reversed");
  const arrays = new data.DataLoader([1.5, 2, 3], { batchSize: 2, numWorkers: 1, collateFn: reversed });
  assertEquals([...arrays].map((x) => x.tolist()), [[2, 1.5], [3]]);
  const rows = new data.TensorDataset(
    arange(6).reshape(2, 3).t(),
    zeros([3, 0]).to("float64"),
    tensor([1.5, 2, 3]).to("bfloat16"),
    tensor([true, false, true]),
  );
  const [batch] = new data.DataLoader(rows, { batchSize: 3, numWorkers: 1 });
  assertEquals(batch?.map((x) => [x.dtype, x.shape, x.tolist()]), [
    ["int64", [3, 2], [[0, 3], [1, 4], [2, 5]]],
    ["float64", [3, 0], [[], [], []]],
    ["bfloat16", [3], [1.5, 2, 3]],
    ["bool", [3], [true, false, true]],
  ]);
});

Deno.test("values that cannot be sent to workers, or do not come from them, are errors with a reason", async () => {
  const own = { length: 3, get: (i: number) => i };
  assertThrows(() => new data.DataLoader(own, { numWorkers: 1 }), DynError, "take it from data.fromModule");
  assertThrows(
    () => new data.DataLoader([1], { numWorkers: 1, collateFn: (x) => x }),
    DynError,
    "Expected collateFn that workers can create too but found the function collateFn",
  );
  assertThrows(
    () => new data.DataLoader(own, { numWorkers: -1 }),
    DynError,
    "numWorkers to be an integer of at least 0",
  );
  assertThrows(() => new data.DataLoader(own, { persistentWorkers: true }), DynError, "persistentWorkers");
  await assertRejects(() => data.fromModule("./digits.ts", "x"), DynError, "import.meta.resolve");
  await assertRejects(() => data.fromModule(WORKERS, "circles"), DynError, "an export circles of");
  await assertRejects(() => data.fromModule(WORKERS), DynError, "an export default of");
  const closures = await data.fromModule<typeof worker.closures>(WORKERS, "closures");
  assertThrows(
    () => [...new data.DataLoader(closures, { batchSize: null, numWorkers: 1 })],
    DynError,
    "Expected a value that can be sent to another thread at the batch but found the function",
  );
  const hangs = await data.fromModule<typeof worker.hangs>(WORKERS, "hangs", []);
  assertThrows(
    () => [...new data.DataLoader(new data.Subset(hangs, [1]), { numWorkers: 1, timeout: 0.01 })],
    DynError,
    "Expected a batch from worker 0 within 0.01 s but found none",
  );
  // A batch that has come when the time is over is no missing one
  const { wait } = Atomics;
  Atomics.wait = ((array: Int32Array, index: number, value: number) => {
    wait(array, index, value, 20_000);
    return "timed-out";
  }) as typeof wait;
  try {
    assertEquals([...new data.DataLoader([1.5, 2], { numWorkers: 1, timeout: 0.001 })].length, 2);
  } finally {
    Atomics.wait = wait;
  }
});

Deno.test("errors of batches that are awaited show the program's line", async () => {
  const ragged = new data.DataLoader([ones([2]), ones([3])], 2);
  const { stack = "" } = await assertRejects(
    async () => {
      for await (const _ of ragged) { /* The first batch fails */ }
    },
    DynError,
    "Expected tensors of one shape",
  );
  assert(/^DynError: .*\n\s+at .*data_test\.ts:/.test(stack), stack);
});

Deno.test("loaders and samplers count what a list holds now, and check weights and flags", () => {
  const list = [0, 1],
    plain = new data.DataLoader(list),
    shuffled = new data.DataLoader(list, { shuffle: true });
  list.push(2, 3);
  assertEquals([plain.length, lists(plain)], [4, [[0], [1], [2], [3]]]);
  assertEquals([shuffled.length, lists(shuffled).flat().sort()], [4, [0, 1, 2, 3]]);
  const some = new data.RandomSampler(list, { numSamples: 6 });
  list.push(4);
  assertEquals([some.length, [...some].length, new Set([...some].slice(0, 5)).size], [6, 6, 5]);
  const nested: object = [[0.5]], flag: object = { replacement: 1 };
  const weighted = (weights: object) => Reflect.construct(data.WeightedRandomSampler, [weights, 1]);
  assertThrows(() => weighted(nested), DynError, "Expected non-negative weights");
  assertThrows(
    () => weighted(ones([2, 2])),
    DynError,
    "Expected weights in one dimension but found shape [2, 2]",
  );
  assertThrows(() => new data.RandomSampler(list, flag), DynError, "replacement of RandomSampler");
});
