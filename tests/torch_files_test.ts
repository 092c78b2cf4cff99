/**
 * Files in PyTorch's format: what is saved is loaded again, the pickle keeps to the instructions and names that
 * torch.load takes with weights only, and types that tensors do not support are read as wider ones.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  arange,
  complex,
  DynError,
  isTensor,
  load,
  nn,
  ones,
  optim,
  save,
  type Tensor,
  tensor,
} from "../mod.ts";
import { namesInArchive, readArchive } from "../lib/base/archive.ts";
import { pickle } from "../lib/data/pickle_writer.ts";
import { unpickle } from "../lib/data/pickle.ts";

/** Saves a value in PyTorch's format; returns the bytes and what is loaded from them. */
function saved(value: unknown): { readonly bytes: Uint8Array<ArrayBuffer>; readonly loaded: unknown } {
  const file = Deno.makeTempFileSync({ suffix: ".pt" });
  try {
    save(value, file, { format: "torch" });
    return { bytes: Deno.readFileSync(file), loaded: load(file) };
  } finally {
    Deno.removeSync(file);
  }
}

/** Values with their tensors as types, shapes and elements. */
function plain(value: unknown): unknown {
  if (isTensor(value)) {
    return [value.dtype, [...value.shape], value.requiresGrad, value instanceof nn.Parameter, value.tolist()];
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || value instanceof Set || value instanceof Map) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
}

const TYPES = [
  "float64",
  "float32",
  "float16",
  "bfloat16",
  "int64",
  "int32",
  "int16",
  "int8",
  "uint8",
  "bool",
];

/** A tree of everything that the format has. */
function tree(): Record<string, unknown> {
  const whole = arange(6);
  return {
    ...Object.fromEntries(TYPES.map((dtype) => [dtype, tensor([1, 0, 3]).to(dtype as Tensor["dtype"])])),
    complex: [complex(tensor([1.5]), tensor([-2.5])), complex(tensor([1.5]), tensor([0.5])).to("complex128")],
    views: [whole.slice(0, 2, 5), whole.reshape([2, 3]).t(), whole],
    leaves: [new nn.Parameter(tensor([1.5])), tensor([2.5]).requiresGrad_(), ones([0, 3]), tensor(2.5)],
    frozen: new nn.Parameter(tensor([0.5]), false),
    numbers: [0, 255, 256, 65535, 65536, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53, 0.1, -0, Infinity, NaN, 1e300],
    integers: [2n ** 70n, -(2n ** 63n), 2n ** 63n],
    texts: ["", "é€", "x".repeat(300)],
    others: [null, true, false, [], {}, [[1, ["a"]]], new Set([1, 2])],
    long: Array.from({ length: 2500 }, (_, k) => k),
  };
}

Deno.test("what is saved in PyTorch's format is loaded again, memory that tensors share included", () => {
  const { loaded } = saved(tree());
  assertEquals(plain(loaded), plain(tree()));
  const [part, , whole] = (loaded as Record<string, Tensor[]>).views ?? [];
  assert(part && whole);
  whole.set([2], -1);
  assertEquals(part.tolist(), [-1, 3, 4]);
  const one = ones([2]), { loaded: twice } = saved([one, { again: one }, undefined, new Map([[1, "a"]])]);
  const [first, { again }, none, map] = twice as [Tensor, { again: Tensor }, unknown, unknown];
  assert(first === again);
  assertEquals([none, map], [null, { 1: "a" }]);
});

/** Opcodes and globals that torch.load takes with weights_only, of those that the writer has. */
const NAMES = [
  ...["collections.OrderedDict", "builtins.set", "torch._utils._rebuild_tensor_v2"],
  "torch._utils._rebuild_parameter",
];

Deno.test("pickles name only what torch.load takes with weights only, and archives have its files", () => {
  const { bytes } = saved(tree()), files = readArchive(bytes), program = files.get("archive/data.pkl");
  assert(program);
  const names = new Set<string>(), storages = new Map<string, unknown>();
  unpickle(program, 0, {
    call(name) {
      names.add(name);
      return new Map();
    },
    stored(id) {
      const [kind, type, key, device, count] = id as [string, { name: string }, string, string, number];
      assertEquals([kind, device], ["storage", "cpu"]);
      assert(/^torch\.[A-Z][A-Za-z0-9]+Storage$/.test(type.name), type.name);
      storages.set(key, count);
      return null;
    },
  });
  assertEquals([...names].filter((name) => !NAMES.includes(name)), []);
  const text = (name: string) => new TextDecoder().decode(files.get(`archive/${name}`));
  assertEquals([text("byteorder"), text("version")], ["little", "3\n"]);
  assertEquals(
    (namesInArchive(bytes) ?? []).filter((name) => name.includes("/data/")),
    [...storages.keys()].map((key) => `archive/data/${key}`),
  );
  // The memory of views is counted whole, also where the first of them shows a part
  assert([...storages.values()].includes(6) && !storages.has("undefined"));
});

Deno.test("states of optimizers are saved as PyTorch's: numbers of parameters, hyperparameters in its spelling", () => {
  const make = () => {
    const model = new nn.Linear(2, 1);
    return { model, optimizer: new optim.AdamW(model.parameters(), { lr: 0.5, weightDecay: 0.25 }) };
  };
  const { model, optimizer } = make();
  model.call(ones([1, 2])).sum().backward();
  optimizer.step();
  const { bytes, loaded } = saved({ optimizer: optimizer.stateDict(), like: { state: {}, paramGroups: 1 } });
  const program = readArchive(bytes).get("archive/data.pkl") ?? new Uint8Array();
  const { value } = unpickle(program, 0, { call: () => null, stored: () => null });
  assert(value instanceof Map && value.get("optimizer") instanceof Map);
  assertEquals([...value.get("optimizer").get("state").keys()], [0, 1]);
  assertEquals(value.get("optimizer").get("param_groups")[0].get("weight_decay"), 0.25);
  const read = loaded as { optimizer: optim.TorchOptimizerState; like: unknown };
  assertEquals(read.like, { state: {}, paramGroups: 1 });
  const other = make();
  other.optimizer.loadStateDict(read.optimizer);
  assertEquals(plain(other.optimizer.stateDict()), plain(optimizer.stateDict()));
});

Deno.test("what the format does not have is an error that names its place", () => {
  const refused = (value: unknown, message: string) => assertThrows(() => saved(value), DynError, message);
  refused({ a: [() => 1] }, "at the value.a[0] but found a function");
  refused({ model: new nn.Linear(1, 1) }, "save its stateDict()");
  const pair = complex(tensor([0.5]), tensor([0.5]));
  refused([pair, pair.real()], "Expected tensors of one type over shared memory");
  assertThrows(() => pickle(2n ** 2040n), DynError, "Expected an integer of at most 255 bytes");
  const other: object = { format: "pt" };
  assertThrows(() => save({}, "x.pt", other), DynError, 'one of safetensors, torch but found "pt"');
});

Deno.test("unsigned integers and 8-bit floats of torch.save are read as wider types, where that is asked for", () => {
  const file = new URL("data/torch_wider.pt", import.meta.url);
  assertThrows(() => load(file), DynError, "load(path, { widen: true }) reads it as int32");
  const read = load<Record<string, Tensor>>(file, { widen: true });
  assertEquals(Object.fromEntries(Object.entries(read).map(([name, t]) => [name, [t.dtype, t.tolist()]])), {
    uint16: ["int32", [[1, 4], [2, 5], [65535, 6]]],
    float8_e4m3fn: ["float32", [1.5, -2, 448]],
    float8_e5m2: ["float32", [1.5, -2, 3]],
    uint32: ["int64", [7, 2 ** 32 - 1]],
    uint64: ["int64", [1, 2 ** 40]],
  });
});
