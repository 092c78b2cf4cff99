/**
 * Operands of matrix products that are computed on the fly: which kernels become prologues, which do not because their
 * inputs change or because of their cost, and results of native code for all ways of computing products.
 */
import { assert, assertEquals } from "@std/assert";
import { compile, config, manualSeed, randn, type Tensor, webgpu } from "../mod.ts";
import type { DType } from "../lib/base/dtype.ts";
import { generate } from "../lib/codegen/generate.ts";
import { attachPrologues } from "../lib/codegen/prologues.ts";
import { contiguousMeta, type TensorMeta } from "../lib/graph/meta.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import type { ExternKernel, Kernel, Program } from "../lib/loops/ir.ts";
import { nativeTarget } from "../backends/cpu/native_target.ts";
import { wasmTarget } from "../backends/wasm/target.ts";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { compiled, traced } from "./support/graph_programs.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_NATIVE } from "./support/native.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";

type Build = (o: OpApi<GraphValue>, inputs: readonly GraphValue[]) => readonly GraphValue[];

const meta = (shape: readonly number[], dtype: DType = "float32"): TensorMeta =>
  contiguousMeta(shape, dtype, "cpu");

const programOf = (inputs: readonly TensorMeta[], build: Build): Program =>
  generate(compiled(traced(inputs, build)).program, nativeTarget);

/** The prologues of a program's only call, as text. */
function prologuesOf({ kernels }: Program): readonly string[] {
  const [call, ...others] = kernels.filter((kernel): kernel is ExternKernel => kernel.kind === "extern");
  assert(call && others.length === 0, `Expected one call but found ${others.length + 1}`);
  return (call.prologues ?? []).map(({ input, transposed }) => `${input}${transposed ? " transposed" : ""}`);
}

const pick = <T>(list: readonly T[], at: number): T => list[at] ?? fail(at);
const fail = (at: number): never => {
  throw new Error(`Expected operand ${at}`);
};

interface Case {
  readonly inputs: readonly TensorMeta[];
  readonly build: Build;
  readonly prologues: readonly string[];
  readonly kernels: number;
}

Deno.test("prologues are found by inspecting each kernel a number of times linear in the size of programs", () => {
  const looks = (count: number) => {
    const inputs = [half(8, 64), ...Array.from({ length: count }, () => half(64, 32))];
    const { program } = compiled(
      traced(inputs, (o, [a, ...bs]) => bs.map((b) => o.matmul(a ?? fail(0), b))),
    );
    let found = 0;
    const watched = (kernel: Kernel): Kernel =>
      kernel.kind === "extern" ? kernel : Object.defineProperty({ ...kernel }, "body", {
        get: () => {
          found++;
          return kernel.body;
        },
      });
    const made = attachPrologues({ ...program, kernels: program.kernels.map(watched) }, nativeTarget);
    assert(made.kernels.length < program.kernels.length, "Expected prologues");
    return found / count;
  };
  const [few, many] = [looks(8), looks(32)];
  assert(many <= 1.25 * few, `Expected ${few} looks a kernel but found ${many}`);
});

const half = (...shape: readonly number[]) => meta(shape, "bfloat16");
const product: Build = (o, xs) => [o.matmul(pick(xs, 0), pick(xs, 1))];
const linear: Build = (o, xs) => [o.linear(pick(xs, 0), pick(xs, 1), pick(xs, 2))];

const CASES: Readonly<Record<string, Case>> = {
  "conversions of both operands": {
    inputs: [half(8, 64), half(64, 32)],
    build: product,
    prologues: ["0", "1"],
    kernels: 1,
  },
  "a weight that is read by its rows": {
    inputs: [half(8, 64), half(32, 64), half(32)],
    build: linear,
    prologues: ["0", "1 transposed"],
    kernels: 1,
  },
  "a weight of integers": {
    inputs: [meta([8, 64]), meta([32, 64], "int8"), meta([32])],
    build: (o, xs) => [o.mul(o.linear(pick(xs, 0), o.to(pick(xs, 1), "float32")), pick(xs, 2))],
    prologues: ["1 transposed"],
    kernels: 1,
  },
  "batches": {
    inputs: [half(3, 8, 64), half(3, 64, 32)],
    build: product,
    prologues: ["0", "1"],
    kernels: 1,
  },
  "what comes from several batch dimensions": {
    inputs: [half(2, 3, 8, 16), half(2, 3, 16, 4)],
    build: product,
    prologues: ["0", "1"],
    kernels: 1,
  },
  "arithmetic with a row and a column": {
    inputs: [meta([8, 64]), meta([64]), meta([8, 1]), meta([64, 32])],
    build: (o, xs) => [o.matmul(o.mul(o.add(pick(xs, 0), pick(xs, 1)), pick(xs, 2)), pick(xs, 3))],
    prologues: ["0"],
    kernels: 1,
  },
  "a result that others read stays in memory": {
    inputs: [meta([8, 64]), meta([64, 32])],
    build: (o, xs) => {
      const scaled = o.mul(pick(xs, 0), 2);
      return [o.matmul(scaled, pick(xs, 1)), scaled];
    },
    prologues: [],
    kernels: 2,
  },
  "an operand for several batches": {
    inputs: [meta([3, 8, 64]), meta([64, 32])],
    build: (o, xs) => [o.matmul(pick(xs, 0), o.expand(o.mul(pick(xs, 1), 2), [3, 64, 32]))],
    prologues: [],
    kernels: 2,
  },
  "both operands from one": {
    inputs: [meta([8, 8])],
    build: (o, xs) => {
      const scaled = o.mul(pick(xs, 0), 2);
      return [o.matmul(scaled, scaled)];
    },
    prologues: [],
    kernels: 2,
  },
  "long functions are computed once": {
    inputs: [meta([8, 64]), meta([64, 32])],
    build: (o, xs) => [o.matmul(o.digamma(pick(xs, 0)), pick(xs, 1))],
    prologues: [],
    kernels: 2,
  },
  "columns for many rows are computed once": {
    inputs: [half(1024, 64), meta([64, 32], "float16")],
    build: (o, xs) => [o.matmul(o.to(pick(xs, 0), "float32"), o.to(pick(xs, 1), "float32"))],
    prologues: ["0"],
    kernels: 2,
  },
  "but where that is hardly anything": {
    inputs: [half(1024, 64), half(64, 32)],
    build: product,
    prologues: ["0", "1"],
    kernels: 1,
  },
  "or where they are rows in memory and little has to be done": {
    inputs: [meta([1024, 64]), meta([32, 64], "float16"), meta([32])],
    build: (o, xs) => [o.linear(pick(xs, 0), o.to(pick(xs, 1), "float32"), pick(xs, 2))],
    prologues: ["1 transposed"],
    kernels: 1,
  },
  "rows that need a reduction stay in memory": {
    inputs: [meta([8, 64]), meta([64, 32])],
    build: (o, xs) => [o.matmul(o.softmax(pick(xs, 0), -1), pick(xs, 1))],
    prologues: [],
    kernels: 2,
  },
};

for (const [name, { inputs, build, prologues, kernels }] of Object.entries(CASES)) {
  Deno.test(`prologues: ${name}`, () => {
    const program = programOf(inputs, build);
    assertEquals([prologuesOf(program), program.kernels.length], [prologues, kernels]);
  });
}

Deno.test("operands computed on the fly take no memory", () => {
  const [small, converted] = [half(64, 32), meta([64, 32], "float16")].map((b) =>
    programOf([half(1024, 64), b], (o, [x, y]) => [
      o.to(o.matmul(o.to(x ?? fail(0), "float32"), o.to(y ?? fail(1), "float32")), "bfloat16"),
    ]).arenaBytes
  );
  // The product alone; with it the operand that is converted as a whole
  assertEquals([small, converted], [4 * 1024 * 32, 4 * 1024 * 32 + 4 * 64 * 32]);
});

Deno.test("prologues: if something in between changes the inputs, the operand is computed first", () => {
  const program = compiled(
    traced([half(8, 64), meta([64, 32])], (o, xs) => [o.matmul(o.to(pick(xs, 0), "float32"), pick(xs, 1))]),
  ).program;
  const at = program.kernels.findIndex((kernel) => kernel.kind === "extern");
  const source = program.buffers.findIndex(({ role, dtype }) =>
    role.kind === "input" && dtype === "bfloat16"
  );
  const written: Program = {
    ...program,
    buffers: program.buffers.map((b, id) =>
      id === source ? { ...b, role: { kind: "input", written: true } } : b
    ),
    kernels: program.kernels.toSpliced(at, 0, {
      kind: "loops",
      name: "between",
      origins: [],
      body: [
        { kind: "constant", id: 0, value: 0, dtype: "int32" },
        { kind: "store", buffer: source, index: 0, value: 0, mode: "set" },
      ],
    }),
  };
  assertEquals(prologuesOf(generate(program, nativeTarget)), ["0"]);
  assertEquals(prologuesOf(generate(written, nativeTarget)), []);
});

Deno.test("prologues: targets whose library has none keep kernels", () => {
  const program = compiled(traced([half(8, 64), half(64, 32)], product)).program;
  const after = generate(program, wasmTarget(2 ** 28));
  assertEquals([prologuesOf(after), after.kernels.length], [[], 3 + 1]);
});

Deno.test("prologues: a grid computes elements on the fly if tiles do not cover a product exactly", () => {
  const nests = (m: number) => {
    const program = compiled(traced([half(m, 64), half(128, 64), half(128)], linear)).program;
    const { kernels } = generate(
      program,
      webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true),
    );
    const [call] = kernels.filter((kernel): kernel is ExternKernel => kernel.kind === "extern");
    return [call?.prologues?.length ?? 0, call?.epilogue !== undefined, kernels.length];
  };
  assertEquals(nests(100), [2, true, 1]);
  assertEquals(nests(128), [0, true, 3]);
});

Deno.test("prologues: a grid applies epilogues to the results of a convolution in place", () => {
  const inputs = [meta([2, 4, 9, 11]), meta([6, 4, 3, 3]), meta([6, 1, 1])];
  const made = compiled(
    traced(inputs, (o, xs) => [o.relu(o.mul(o.conv2d(pick(xs, 0), pick(xs, 1)), pick(xs, 2)))]),
  );
  const { kernels } = generate(
    made.program,
    webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true),
  );
  assertEquals(kernels.map((kernel) => kernel.kind === "extern" && kernel.epilogue !== undefined), [true]);
});

/** The largest difference between two results, by the size of the second. */
function difference(a: Tensor, b: Tensor): number {
  const most = Number(b.abs().max().item());
  return Number(a.sub(b).abs().max().item()) / Math.max(most, 1e-30);
}

/** Rows, columns, depth, batches: every way of computing a product with a few of each. */
const SIZES: readonly (readonly [m: number, n: number, k: number, ...batch: number[]])[] = [
  [1, 300, 700],
  [1, 2500, 64],
  [300, 1, 700],
  [7, 97, 333, 3],
  [31, 50, 2048],
  [33, 130, 1100],
  [300, 70, 600, 2],
  [130, 600, 40],
  [5, 3, 1, 4],
];

/** Checks products of operands that are converted, or scaled where they are float32, on a device. */
function check(device: string, dtype: DType): void {
  config.patch({ inductor: { tier: "wait" }, cacheSizeLimit: 64 }, () => {
    manualSeed(3);
    const given = (x: Tensor): Tensor => dtype === "float32" ? x.mul(0.5) : x.float();
    const products = compile((a: Tensor, b: Tensor, c: Tensor, d: Tensor): Tensor[] => [
      given(a).matmul(given(b)),
      given(c).transpose(-2, -1).matmul(given(d).transpose(-2, -1)).add(1),
      a.matmul(b).relu(),
    ], { fullgraph: true });
    for (const [m, n, k, ...batch] of device === "webgpu" ? sampleBySeed(SIZES, 1) : SIZES) {
      const a = randn([...batch, m, k]).to(dtype), b = randn([...batch, k, n]).to(dtype);
      const [c, d] = [a, b].map((x) => x.transpose(-2, -1).contiguous());
      assert(c && d);
      const there = [a, b, c, d].map((x) => x.to(device)), [p, q, r, s] = there;
      assert(p && q && r && s);
      const wanted = given(a).matmul(given(b)), [plain, byColumns, rounded] = products(p, q, r, s);
      const where = `[${batch}] ${m} × ${n} × ${k}`;
      assert(plain && difference(plain.to("cpu"), wanted) < 3e-6, where);
      assert(byColumns && difference(byColumns.to("cpu"), wanted.add(1)) < 3e-6, `transposed ${where}`);
      const least = dtype === "bfloat16" ? 2 ** -8 : dtype === "float16" ? 2 ** -11 : 3e-6;
      const positive = (dtype === "float32" ? wanted.mul(4) : wanted).relu();
      assert(rounded && difference(rounded.to("cpu").float(), positive) < 1.01 * least, `rounded ${where}`);
    }
  });
}

const CHECKED = ["bfloat16", "float16", "float32"] as const;

for (const dtype of sampleBySeed(CHECKED, 1, 1)) {
  Deno.test({
    name: `prologues: products of ${dtype} operands are those of the operands computed first`,
    ignore: SKIP_NATIVE,
    fn: () => check("cpu", dtype),
  });
}

for (const dtype of sampleBySeed(CHECKED, 1)) {
  Deno.test({
    name: `prologues: products of ${dtype} operands on WebGPU`,
    ignore: SKIP_WEBGPU,
    fn: () => webgpu.init().then(() => check("webgpu", dtype)),
  });
}
