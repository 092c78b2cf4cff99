/**
 * Attention in one kernel on the WebGPU device, and its gradients: which programs become one, against attention
 * computed in float64 and against the same kernels one after the other. A software adapter takes long to compile each
 * shader, so one run takes some of the cases; the task test:webgpu takes all.
 */
import { assert, assertEquals } from "@std/assert";
import { generate } from "../lib/codegen/generate.ts";
import type { ExternKernel, Program } from "../lib/loops/ir.ts";
import type { OpApi } from "../lib/ops/generated.ts";
import type { GraphValue } from "../lib/ops/graph_builder.ts";
import type { Dim, Sym } from "../lib/sym/expr.ts";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { apart } from "../backends/webgpu/print/bindings.ts";
import { shaderOf } from "../backends/webgpu/shaders.ts";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { hintOf } from "../lib/sym/decide.ts";
import { ShapeEnv } from "../lib/sym/shape_env.ts";
import {
  compiled,
  difference,
  type HostTensor,
  runCompiled,
  sample,
  traced,
} from "./support/graph_programs.ts";
import { GRADIENT_CASES } from "./support/attention_gradients.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { runOnWebGpu } from "./support/webgpu_run.ts";
import { sizeLike } from "./support/sizes.ts";

type Value = GraphValue;
type Build = (o: OpApi<Value>, q: Value, k: Value, v: Value, m: Value) => readonly Value[];
type Shape = readonly [matrices: number, length: number, width: number];

/** Tolerance of device code, relative to 1 + magnitude. */
const BOUND = 3e-6;
const MOST = { kernelBuffers: 8, workgroupBytes: 1 << 15, bindingBytes: 1 << 27 };

const attend = (o: OpApi<Value>, x: Value, v: Value): Value => o.matmul(o.softmax(x, -1), v);
const scores = (o: OpApi<Value>, q: Value, k: Value, scale = 0.3): Value =>
  o.mul(o.matmul(q, o.transpose(k, -2, -1)), scale);
const lower = (o: OpApi<Value>, x: Value, diagonal: number): Value =>
  o.where(o.tril(o.ones(x.shape.slice(-2), { dtype: "bool" }), diagonal), x, -Infinity);

interface Case {
  readonly build: Build;
  readonly q: Shape;
  readonly k?: Shape;
  readonly v?: Shape;
  /** Number of kernels, including those of attention. */
  readonly kernels: number;
  readonly attention?: number;
  readonly causal?: boolean;
  /** Whether it is attention as functions compute it in float64. */
  readonly isExact?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  "lengths and widths that fill no tile": {
    build: (o, q, k, v) => [attend(o, scores(o, q, k), v)],
    q: [2, 91, 30],
    k: [2, 101, 30],
    v: [2, 101, 33],
    kernels: 1,
  },
  "a causal mask, heads of 16": {
    build: (o, q, k, v) => [o.scaledDotProductAttention(q, k, v, null, 0, true)],
    q: [2, 150, 16],
    kernels: 1,
    causal: true,
  },
  "a mask of numbers, and what follows": {
    build: (o, q, k, v, m) => [o.add(o.scaledDotProductAttention(q, k, v, m), 1)],
    q: [2, 96, 24],
    k: [2, 128, 24],
    kernels: 1,
  },
  "a causal mask by hand, divided by the sum, maxima and sums kept": {
    build: (o, q, k, v) => {
      const x = lower(o, scores(o, q, k), 0), most = o.amax(x, [-1], true);
      const weights = o.exp(o.sub(x, most)), sum = o.sum(weights, -1, true);
      return [o.matmul(o.div(weights, sum), v), most, sum];
    },
    q: [3, 80, 20],
    kernels: 1,
    causal: true,
  },
  "rows that see nothing": {
    build: (o, q, k, v) => [attend(o, lower(o, scores(o, q, k), -3), v)],
    q: [2, 100, 8],
    kernels: 1,
    causal: true,
  },
  "heads of 128": {
    build: (o, q, k, v) => [o.scaledDotProductAttention(q, k, v, null, 0, true)],
    q: [43, 130, 128],
    kernels: 1,
    causal: true,
    isExact: true,
  },
  "scores that are a result": {
    build: (o, q, k, v) => {
      const x = scores(o, q, k);
      return [attend(o, x, v), x];
    },
    q: [2, 100, 8],
    kernels: 3,
    attention: 0,
  },
  "a norm of rows": {
    build: (o, q, k, v) => {
      const x = scores(o, q, k);
      return [o.matmul(o.div(x, o.sqrt(o.sum(o.mul(x, x), -1, true))), v)];
    },
    q: [2, 100, 8],
    kernels: 3,
    attention: 0,
  },
  "weights of which another maximum is wanted": {
    build: (o, q, k, v) => {
      const weights = o.softmax(scores(o, q, k), -1);
      return [o.matmul(weights, v), o.amax(weights, [-1])];
    },
    q: [2, 100, 8],
    kernels: 3,
    attention: 0,
  },
  "wide heads": {
    build: (o, q, k, v) => [attend(o, scores(o, q, k, 0.05), v)],
    q: [2, 100, 100],
    v: [2, 100, 130],
    kernels: 3,
    attention: 0,
  },
};

const isAttention = (kernel: Program["kernels"][number]): kernel is ExternKernel =>
  kernel.kind === "extern" && kernel.weights !== undefined;

function made({ build, q, k = q, v = k }: Case) {
  const shapes = [q, k, v, [q[1], k[1]]];
  const graph = compiled(traced(shapes, (o, [q, k, v, m]) => q && k && v && m ? build(o, q, k, v, m) : []));
  const inputs = shapes.map((shape, at) => sample(shape, "float32", [-2, 1 + at]));
  return { graph, inputs };
}

for (const [name, each] of Object.entries(CASES)) {
  Deno.test(`webgpu attention: found or not: ${name}`, () => {
    const { kernels } = generate(made(each).graph.program, webGpuTarget(MOST, true));
    const found = kernels.filter(isAttention);
    assertEquals([kernels.length, found.length], [each.kernels, each.attention ?? 1]);
    const [first] = found;
    if (!first) return;
    assertEquals([first.weights?.causal, first.weights?.block], [each.causal ?? false, 32]);
  });
}

Deno.test("as many workgroups run for changing sizes as for the same sizes when they are known", () => {
  const env = new ShapeEnv();
  const size = (hint: number) =>
    env.createSize({ base: "x", part: { kind: "shape", dim: hint } }, hint, { duck: false });
  const builds: readonly Build[] = [
    (o, q, k) => [o.bmm(q, o.transpose(k, -2, -1))],
    (o, q, k, v) => [attend(o, scores(o, q, k), v)],
  ];
  const counts = ([batch = 1, rows = 1, columns = 1]: readonly Dim[]) =>
    builds.map((build) => {
      const shapes = [[batch, rows, 16], [batch, columns, 16], [batch, columns, 16]];
      const traces = traced(shapes, (o, [q, k, v]) => {
        assert(q && k && v);
        return build(o, q, k, v, v);
      });
      const program = generate(compiled(traces).program, webGpuTarget(MOST, true));
      return program.kernels.map((kernel) => {
        const { items, each } = shaderOf(kernel, program, apart(1 << 14)).workgroups;
        return Math.ceil(hintOf(items) / each);
      });
    });
  const sizes = [3, 130, 600], known = counts(sizes);
  // Tiles of 64 × 32, and blocks of 32 rows
  assertEquals(known, [[3 * 3 * 19], [3 * 5]]);
  assertEquals(counts(sizes.map(size)), known);
});

Deno.test("M45: attention on a grid with little workgroup memory is only for small heads", () => {
  const found = (width: number) => {
    const { graph } = made({
      build: (o, q, k, v) => [attend(o, scores(o, q, k), v)],
      q: [2, 128, width],
      kernels: 1,
    });
    return generate(graph.program, webGpuTarget({ ...MOST, workgroupBytes: 9 << 10 }, true)).kernels
      .filter(isAttention).length;
  };
  assertEquals([found(64), found(100)], [1, 0]);
});

/** softmax(scale · q · kᵀ, up to the diagonal where causal) · v in float64. */
function attention([q, k, v]: readonly HostTensor[], scale: number, causal: boolean): HostTensor {
  assert(q && k && v);
  const [matrices = 0, rows = 0, depth = 0] = q.shape, [, keys = 0, width = 0] = v.shape;
  const data = new Float32Array(matrices * rows * width);
  for (let b = 0; b < matrices; b++) {
    for (let m = 0; m < rows; m++) {
      const weights = Array.from({ length: causal ? Math.min(keys, m + 1) : keys }, (_, n) => {
        let sum = 0;
        for (let d = 0; d < depth; d++) {
          sum += Number(q.data[(b * rows + m) * depth + d]) * Number(k.data[(b * keys + n) * depth + d]);
        }
        return sum * scale;
      });
      const most = Math.max(...weights), shares = weights.map((x) => Math.exp(x - most));
      const total = shares.reduce((a, b) => a + b, 0);
      for (let c = 0; c < width; c++) {
        data[(b * rows + m) * width + c] = shares.reduce((sum, x, n) =>
          sum + x * Number(v.data[(b * keys + n) * width + c]), 0) / total;
      }
    }
  }
  return { shape: [matrices, rows, width], dtype: "float32", data };
}

/** A test on the device out of which a run takes some. */
const sometimes = (name: string, body: () => void): void => void sampled.push([name, body]);
const sampled: (readonly [name: string, body: () => void])[] = [];
const TESTS_AT_ONCE = 1;

function onDevice(
  graph: ReturnType<typeof compiled>,
  inputs: readonly HostTensor[],
  sizes: ReadonlyMap<Sym, number> = new Map(),
): readonly HostTensor[] {
  return runCompiled(graph, inputs, { sizes, run: (program, call) => void runOnWebGpu(program, call) });
}

function assertSame(found: readonly HostTensor[], wanted: readonly HostTensor[]): void {
  assertEquals(found.length, wanted.length);
  found.forEach((each, i) => {
    const other = wanted[i];
    assert(other);
    assert(difference(each, other) <= BOUND, `Result ${i} is off by ${difference(each, other)}`);
  });
}

for (const [name, each] of Object.entries(CASES)) {
  if (each.attention === 0) continue;
  sometimes(name, () => {
    const { graph, inputs } = made(each), found = onDevice(graph, inputs);
    const wanted = each.isExact
      ? [attention(inputs, 1 / Math.sqrt(each.q[2]), each.causal ?? false)]
      : runCompiled(graph, inputs);
    assertSame(found, wanted);
  });
}

sometimes("lengths that a call brings", () => {
  const length = sizeLike("n", 140, [2, 2000]);
  const shape = [2, length, 12];
  const graph = compiled(
    traced(
      [shape, shape, shape],
      (o, [q, k, v]) =>
        q && k && v ? [o.scaledDotProductAttention(q, k, v, null, 0, true, { scale: 0.3 })] : [],
    ),
  );
  assertEquals(generate(graph.program, webGpuTarget(MOST, true)).kernels.map(isAttention), [true]);
  for (const n of [3, 64, 150]) {
    const inputs = [2, 1, 3].map((most) => sample([2, n, 12], "float32", [-2, most]));
    assertSame(onDevice(graph, inputs, new Map([[length, n]])), [attention(inputs, 0.3, true)]);
  }
});

sometimes("scores that are no numbers make rows that are none, and no others", () => {
  const each = CASES["lengths and widths that fill no tile"];
  assert(each);
  const { graph, inputs } = made(each), [q, k] = inputs;
  assert(q && k);
  q.data[5 * 30 + 3] = NaN;
  q.data[9 * 30 + 3] = Infinity;
  k.data[(101 + 7) * 30] = NaN;
  assertSame(onDevice(graph, inputs), runCompiled(graph, inputs));
});

sometimes("weights that are dropped by a counter", () => {
  const shapes = [[2, 100, 8], [2, 100, 8], [2, 100, 8]];
  const graph = compiled(
    traced(shapes, (o, [q, k, v]) => q && k && v ? [o.scaledDotProductAttention(q, k, v, null, 0.25)] : []),
  );
  const keys = [7, 9].map((seed): HostTensor => ({ shape: [], dtype: "int32", data: Int32Array.of(seed) }));
  const inputs = [...shapes.map((shape) => sample(shape)), ...keys];
  assert(generate(graph.program, webGpuTarget(MOST, true)).kernels.some(isAttention));
  assertSame(onDevice(graph, inputs), runCompiled(graph, inputs));
});

for (const [name, body] of Object.entries(GRADIENT_CASES)) sometimes(`gradients: ${name}`, body);

for (const [name, body] of sampleBySeed(sampled, TESTS_AT_ONCE)) {
  Deno.test({ name: `webgpu attention: ${name}`, ignore: SKIP_WEBGPU, fn: () => initWebGpu().then(body) });
}
