/**
 * Elements of 8 and 16 bits. PyTorch's op samples in float16, bfloat16, int8 and int16, replayed eager and compiled:
 * tests/data/ops16.jsonl.gz holds what PyTorch computed and, for floats, the same in float64: errors are measured
 * against that, and may exceed PyTorch's own by at most one rounding. Then conversions, promotion
 * (tests/data/promotion.json, PyTorch's for all pairs of types) and memory in every form. Each run compiles some of the
 * samples.
 */
import { assertAlmostEquals, assertEquals, assertNotEquals } from "@std/assert";
import {
  arange,
  blockDiag,
  compile,
  compiler,
  manualSeed,
  nn,
  ones,
  optim,
  promoteTypes,
  rand,
  randn,
  resultType,
  setDefaultDtype,
  type Tensor,
  tensor,
  webgpu,
  zeros,
} from "../mod.ts";
import { toolchainStatus } from "../backends/cpu/toolchain.ts";
import { scalarFunction } from "./reference/scalar.ts";
import { config } from "../lib/base/config.ts";
import { type DType, DTYPES } from "../lib/base/dtype.ts";
import { fromTypedArray } from "../lib/tensor/creation.ts";
import { readStored } from "../lib/tensor/host.ts";
import { testInTurn } from "./support/costly_tests.ts";
import "./support/devices.ts";
import { type Callable, findOp, type OpSample, readSamples, replay, sampleName } from "./support/replay.ts";
import { sampleBySeed, TAKES_ALL } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

/** Samples that one run compiles. */
const COMPILED_AT_ONCE = 10;

const POLES = ["int8", "int16"].flatMap((dtype) => [
  ...[0, 1, 2, 3, 4].map((n) => `polygamma.polygamma_n_${n} ${dtype} 0`),
  `special.polygamma.special_polygamma_n_0 ${dtype} 0`,
]);

/** Known differences from PyTorch, and why. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ["matrix_exp float16 0", "PyTorch multiplies in float16, where what is too large has become infinite"],
  ...POLES.map((name) =>
    [name, "a pole, where PyTorch divides by the sine of a rounded multiple of π"] as const
  ),
]);

async function samples(): Promise<readonly OpSample[]> {
  const all = await readSamples(new URL("data/ops16.jsonl.gz", import.meta.url));
  return all.filter((sample) => findOp(sample.op) && !KNOWN.has(sampleName(sample)));
}

function replayAll(list: readonly OpSample[], device: string, wrap: (op: Callable) => Callable): void {
  const surprises: string[] = [];
  for (const sample of list) {
    const op = findOp(sample.op);
    if (!op) throw new Error(`Expected the op ${sample.op}`);
    try {
      replay(sample, op, { device, wrap, slack: 1 });
    } catch (error) {
      surprises.push(`${sampleName(sample)}: ${error instanceof Error ? error.message : error}`);
    }
  }
  console.log(`${list.length - surprises.length} of ${list.length} samples agree`);
  assertEquals(surprises, []);
}

const compiled = (op: Callable): Callable => {
  compiler.reset();
  const call = compile((f: Callable, args: readonly unknown[]) => f(...args), { backend: "inductor" });
  return (...args) => call(op, args);
};

Deno.test("PyTorch's op samples in small types, eager", async () => {
  const list = await samples();
  assertEquals(list.length > 2500, true);
  replayAll(sampleBySeed(list, 350, 2), "cpu", (op) => op);
});

Deno.test({
  name: "PyTorch's op samples in small types, compiled to C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: async () => {
    const list = await samples();
    replayAll(TAKES_ALL ? list : sampleBySeed(list, COMPILED_AT_ONCE, 3), "cpu", compiled);
  },
});

Deno.test({
  name: "blocks along a diagonal, whose kernel has masks in masks, compiled to C++",
  ignore: toolchainStatus().kind !== "ready",
  fn: () => {
    const blocks = (dtype: "bfloat16" | "int8") =>
      [1, 2, 3].map((n) => tensor(Array.from({ length: 5 * n }, (_, i) => 10 * n + i)).view(5, n).to(dtype));
    const f = compile((...all: readonly Tensor[]) => blockDiag(...all), { backend: "inductor" });
    config.patch({ inductor: { tier: "wait" } }, () => {
      for (const dtype of ["bfloat16", "int8"] as const) {
        assertEquals(f(...blocks(dtype)).tolist(), blockDiag(...blocks(dtype)).tolist(), dtype);
      }
    });
  },
});

Deno.test("PyTorch's op samples in small types, compiled to WebAssembly", async () => {
  const list = await samples();
  replayAll(TAKES_ALL ? list : sampleBySeed(list, COMPILED_AT_ONCE, 4), "wasm", compiled);
});

type Half = "float16" | "bfloat16";

if (!SKIP_WEBGPU) await webgpu.init();

/**
 * Returns whether a sample involves float64, which that device lacks; comparisons of integers with tolerances use it.
 */
const needsDoubles = ({ op, dtype, args, kwargs, out }: OpSample): boolean =>
  JSON.stringify([args, kwargs, out]).includes("float64") ||
  (op === "isclose" && (dtype ?? "").startsWith("int"));

Deno.test({
  name: "PyTorch's op samples in small types, on WebGPU",
  ignore: SKIP_WEBGPU,
  fn: async () => {
    const list = (await samples()).filter((sample) => !needsDoubles(sample));
    replayAll(TAKES_ALL ? list : sampleBySeed(list, COMPILED_AT_ONCE, 5), "webgpu", (op) => op);
  },
});

/** The tiers of conversions: op by op, compiled by every tier of the CPU, and on WebGPU. */
const TIERS: readonly { readonly name: string; readonly device: string; readonly compiled: boolean }[] = [
  { name: "eager", device: "cpu", compiled: false },
  ...(toolchainStatus().kind === "ready" ? [{ name: "C++", device: "cpu", compiled: true }] : []),
  { name: "WebAssembly", device: "wasm", compiled: true },
  ...(SKIP_WEBGPU ? [] : [{ name: "WebGPU", device: "webgpu", compiled: true }]),
];

function onTier(run: (x: Tensor) => Tensor, { compiled }: typeof TIERS[number]): (x: Tensor) => Tensor {
  compiler.reset();
  return compiled ? compile(run, { backend: "inductor" }) : run;
}

/** The bits, with one NaN for all. */
const bitsOf = (stored: ArrayLike<number | bigint>, dtype: Half): number[] => {
  const infinity = dtype === "float16" ? 0x7c00 : 0x7f80, nan = dtype === "float16" ? 0x7e00 : 0x7fc0;
  return Array.from(stored, (each) => (Number(each) & 0x7fff) > infinity ? nan : Number(each));
};

const ALL = Uint16Array.from({ length: 65536 }, (_, i) => i);

function halves(dtype: Half, device: string): Tensor {
  const bits = dtype === "float16" ? new Float16Array(ALL.buffer) : ALL;
  return fromTypedArray(bits, [65536], { dtype, device });
}

for (const dtype of ["float16", "bfloat16"] as const) {
  Deno.test(`every ${dtype} is the float32 that it represents, and vice versa`, () => {
    const exact = scalarFunction(dtype === "float16" ? "halfToFloat" : "bfloatToFloat", "int32", "exact");
    const want = Array.from(ALL, (bits) => exact(bits));
    for (const tier of TIERS) {
      const wide = onTier((x) => x.to("float32"), tier)(halves(dtype, tier.device));
      assertEquals(Array.from<number | bigint, unknown>(wide.toTypedArray(), Number), want, tier.name);
      const back = onTier((x) => x.to(dtype), tier)(wide), stored = readStored(back);
      const bits = new Uint16Array(stored.buffer, stored.byteOffset, stored.length);
      assertEquals(bitsOf(bits, dtype), bitsOf(ALL, dtype), tier.name);
    }
  });

  Deno.test(`float32 is rounded to the nearest ${dtype}, ties to even`, () => {
    const round = scalarFunction(dtype === "float16" ? "floatToHalf" : "floatToBfloat", "float32", "exact");
    const exact = scalarFunction(dtype === "float16" ? "halfToFloat" : "bfloatToFloat", "int32", "exact");
    // Every number, the middle to the next one, and the float32 on either side of both
    const single = new Float32Array(1), word = new Int32Array(single.buffer), list: number[] = [];
    for (let bits = 0; bits < (dtype === "float16" ? 0x7c00 : 0x7f80); bits++) {
      const x = Number(exact(bits)), next = Number(exact(bits + 1));
      for (
        const at of Number.isFinite(next) ? [x, (x + next) / 2] : [x, x * (1 + 2 ** -9), x * (1 + 2 ** -12)]
      ) {
        single[0] = at;
        const middle = word[0] ?? 0;
        for (const near of [-1, 0, 1]) {
          word[0] = middle + near;
          list.push(single[0] ?? 0);
        }
      }
    }
    const positive = Float32Array.from([...list, 65504, 65519.99, 65520, 3e38, Infinity, NaN, 1e-45, 0]);
    const values = Float32Array.from([...positive, ...positive.map((x) => -x)]);
    const want = bitsOf(Array.from(values, (x) => Number(round(x))), dtype);
    for (const tier of TIERS) {
      const rounded = onTier((x) => x.to(dtype), tier)(
        fromTypedArray(values, [values.length], { device: tier.device }),
      );
      const stored = readStored(rounded),
        bits = new Uint16Array(stored.buffer, stored.byteOffset, stored.length);
      assertEquals(bitsOf(bits, dtype), want, tier.name);
    }
  });
}

Deno.test("promotion of all pairs of types, of 0-d tensors and of numbers is PyTorch's", async () => {
  interface Table {
    readonly types: readonly DType[];
    readonly tensors: Readonly<Record<string, string[]>>;
    readonly zeroDims: Readonly<Record<string, string[]>>;
    readonly numbers: Readonly<Record<string, string[]>>;
    readonly zeroDimNumbers: Readonly<Record<string, string[]>>;
  }
  const table: Table = JSON.parse(
    await Deno.readTextFile(new URL("data/promotion.json", import.meta.url)),
  );
  assertEquals(table.types.toSorted(), DTYPES.toSorted());
  // Where PyTorch returns complex32 or bcomplex32, which do not exist here, the result is complex64
  const numbers = [true, 1, 1.5, { re: 0, im: 1.5 }] as const;
  const of = (dtype: DType, shape: number[]) => ones(shape, { dtype });
  for (const a of table.types) {
    const list = table.types;
    assertEquals(list.map((b) => promoteTypes(a, b)), table.tensors[a], a);
    assertEquals(list.map((b) => resultType(of(a, [2]), of(b, [2]))), table.tensors[a], a);
    assertEquals(list.map((b) => resultType(of(a, [2]), of(b, []))), table.zeroDims[a], a);
    assertEquals(numbers.map((b) => resultType(of(a, [2]), b)), table.numbers[a], a);
    assertEquals(numbers.map((b) => resultType(of(a, []), b)), table.zeroDimNumbers[a], a);
    // And what ops make of them
    assertEquals(list.map((b) => of(a, [2]).mul(of(b, [2])).dtype), table.tensors[a], a);
    assertEquals(list.map((b) => of(a, [2]).mul(of(b, [])).dtype), table.zeroDims[a], a);
    assertEquals(numbers.map((b) => of(a, [2]).mul(b).dtype), table.numbers[a], a);
  }
});

Deno.test("integers of 8 and 16 bits wrap at every op, fused ones too", () => {
  const run = (a: Tensor, b: Tensor) => {
    const sum = a.add(b), product = a.mul(b);
    return [
      sum.lt(a),
      product.div(b, { roundingMode: "floor" }),
      sum.neg().abs(),
      sum.to("float32"),
      product.max(),
    ];
  };
  for (const dtype of ["int8", "int16", "uint8"] as const) {
    const a = tensor([100, -100, 127, 30000, -128, 7]).to(dtype),
      b = tensor([100, -100, 1, 30000, -1, 3]).to(dtype);
    const want = run(a, b).map((x) => [x.dtype, x.tolist()]);
    if (dtype === "int8") assertEquals(want[0], ["bool", [true, false, true, false, false, false]]);
    for (const tier of TIERS) {
      compiler.reset();
      const call = tier.compiled ? compile(run, { backend: "inductor" }) : run;
      const got = call(a.to(tier.device), b.to(tier.device)).map((x) => [x.dtype, x.tolist()]);
      assertEquals(got, want, `${dtype} ${tier.name}`);
    }
  }
});

Deno.test("fused kernels keep float32 between ops unless emulatePrecisionCasts is set", () => {
  // Rounding errors of squares
  const run = (x: Tensor) => x.mul(x).to("float32").sub(x.to("float32").square());
  const x = tensor([0.1, 0.7, 1.3, 2.9], { dtype: "float16" }), eager = run(x).tolist();
  assertNotEquals(eager, [0, 0, 0, 0]);
  for (const emulatePrecisionCasts of [false, true]) {
    compiler.reset();
    const call = compile(run, { backend: "inductor" });
    const found = config.patch({ inductor: { emulatePrecisionCasts } }, () => call(x).tolist());
    assertEquals(found, emulatePrecisionCasts ? eager : [0, 0, 0, 0]);
  }
});

Deno.test("small types are created, printed, read and distinguished", () => {
  const half = tensor([[1, 2.5], [300.75, -4]], { dtype: "float16" });
  assertEquals(`${half}`, "tensor([[  1.0000,   2.5000],\n        [300.7500,  -4.0000]], dtype=float16)");
  assertEquals(`${tensor([1, -2], { dtype: "int8" })}`, "tensor([ 1, -2], dtype=int8)");
  assertEquals(half.toTypedArray(), new Float16Array([1, 2.5, 300.75, -4]));
  const brain = half.bfloat16();
  assertEquals(brain.toTypedArray(), new Float32Array([1, 2.5, 300, -4]));
  assertEquals([brain.dtype, brain.isFloatingPoint(), brain.at(0, 1).item()], ["bfloat16", true, 2.5]);
  assertEquals(brain.tolist(), [[1, 2.5], [300, -4]]);
  const methods = [
    half.float(),
    half.double(),
    half.half(),
    half.short(),
    half.char(),
    half.byte(),
    half.long(),
    half.bool(),
  ];
  assertEquals(methods.map(({ dtype }) => dtype), [
    "float32",
    "float64",
    "float16",
    "int16",
    "int8",
    "uint8",
    "int64",
    "bool",
  ]);
  // 300.75 and −4 modulo 256
  assertEquals([half.char().tolist(), half.byte().tolist()], [[[1, 2], [44, -4]], [[1, 2], [44, 252]]]);
  assertEquals(fromTypedArray(new Int8Array([1, -1])).dtype, "int8");
  assertEquals(tensor(new Int16Array([1, -1])).dtype, "int16");
  assertEquals(fromTypedArray(new Float16Array([0.5]), [1]).dtype, "float16");
  assertEquals(fromTypedArray(new Uint16Array([0x3f80]), [1], { dtype: "bfloat16" }).item(), 1);
});

Deno.test("the default type may be a small one", () => {
  try {
    for (const dtype of ["float16", "bfloat16", "float32", "float64", "float16"] as const) {
      setDefaultDtype(dtype);
      const made = [
        tensor([1.5]),
        zeros([2]),
        rand([2]),
        tensor([1]).mul(1.5),
        tensor([1]).div(2),
        arange(0, 1, 0.5),
      ];
      assertEquals([...made, new nn.Linear(2, 2).weight].map((x) => x.dtype), Array(7).fill(dtype), dtype);
    }
  } finally {
    setDefaultDtype("float32");
  }
});

Deno.test("random numbers of small floats are in [0, 1), and the same in graphs", () => {
  for (const dtype of ["float16", "bfloat16"] as const) {
    manualSeed(3);
    const drawn = rand([20000], { dtype }), list = drawn.tolist();
    assertEquals(Number(drawn.max().item()) < 1, true);
    assertAlmostEquals(Number(drawn.float().mean().item()), 0.5, 0.02);
    manualSeed(3);
    assertEquals(compile(() => rand([20000], { dtype }))().tolist(), list);
  }
});

testInTurn("training in small floats", {
  name: "models and optimizers of small floats train, eager and compiled",
  fn() {
    for (const [k, tier] of TIERS.entries()) {
      for (const dtype of sampleBySeed(["float16", "bfloat16"] as const, 1, k)) {
        compiler.reset();
        manualSeed(7);
        const model = new nn.Sequential(
          new nn.Conv2d(2, 4, 3, { padding: 1 }),
          new nn.BatchNorm2d(4),
          new nn.ReLU(),
          new nn.Flatten(),
          new nn.Linear(4 * 16, 3),
        ).to(tier.device);
        const made: Tensor[] = [...(dtype === "float16" ? model.half() : model.bfloat16()).parameters()];
        const optimizer = new optim.SGD(made, { lr: 0.05, momentum: 0.9 });
        const x = randn([6, 2, 4, 4]).to(dtype).to(tier.device),
          y = tensor([0, 1, 2, 0, 1, 2]).to(tier.device);
        const step = (x: Tensor, y: Tensor): Tensor => {
          optimizer.zeroGrad();
          const loss = nn.functional.crossEntropy(model.forward(x), y);
          loss.backward();
          optimizer.step();
          return loss;
        };
        const run = tier.compiled ? compile(step, { fullgraph: true }) : step;
        const losses = Array.from({ length: 8 }, () => Number(run(x, y).item()));
        const [first = 0] = losses, last = losses.at(-1) ?? NaN;
        assertEquals(last < 0.5 * first, true, `${dtype} ${tier.name}: ${losses}`);
        for (const p of made) assertEquals([p.dtype, p.grad?.dtype], [dtype, dtype]);
      }
    }
  },
});
