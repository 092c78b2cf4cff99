/** The WebAssembly library of matrix products and convolutions against the reference, on one thread and several. */
import { assert, assertEquals } from "@std/assert";
import { type DType, type HostArray, hostArray, itemSize } from "../lib/base/dtype.ts";
import type { BufferView, Program } from "../lib/loops/ir.ts";
import { mul } from "../lib/sym/expr.ts";
import { HostMemory } from "../backends/cpu/host_memory.ts";
import { compileToWasm } from "../backends/wasm/program.ts";
import { ThreadPool } from "../backends/wasm/threads.ts";
import { compare, type Runner } from "./support/compare.ts";
import { libraryCall, singleOp, type TestOperand } from "./support/single_op.ts";
import { sizeLike } from "./support/sizes.ts";

/** Several threads take part however little there is to do. */
const POOLS = [new ThreadPool(1), new ThreadPool(3, { leastWork: 0 })];

const memoryOf = (array: HostArray) => {
  assert(array.buffer instanceof ArrayBuffer);
  return new HostMemory("cpu", array.buffer);
};
const runner = (pool: ThreadPool): Runner => (program, inputs, outputs) => {
  const compiled = compileToWasm(program, pool);
  compiled.run({ inputs: inputs.map(memoryOf), outputs: outputs.map(memoryOf), sizes: [] });
  return compiled.source;
};

function check(program: Program, inputs: readonly HostArray[], tolerance = 1e-5): void {
  for (const pool of POOLS) compare(program, inputs, { run: runner(pool), tolerance });
}

const wave = (count: number, scale = 1) => {
  const values = new Float32Array(Math.ceil(count / 16) * 16);
  for (let i = 0; i < count; i++) values[i] = scale * Math.sin(i * 1.7 + 0.3);
  return values;
};
const count = ({ shape }: TestOperand) => shape.reduce((x, y) => x * y, 1);
const float = (shape: readonly number[], strides?: readonly number[]): TestOperand =>
  strides ? { shape, strides, dtype: "float32" } : { shape, dtype: "float32" };

Deno.test("products of odd sizes, in every combination of layouts", () => {
  const sizes = [[1, 1, 1], [6, 8, 4], [7, 9, 5], [13, 17, 300], [5, 600, 3], [200, 5, 7], [
    32,
    50,
    0,
  ]] as const;
  for (const [m, n, k] of sizes) {
    for (const [aT, bT, outT] of [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => [bits & 1, bits & 2, bits & 4])) {
      const a = float([m, k], aT ? [1, m] : [k, 1]), b = float([k, n], bT ? [1, k] : [n, 1]);
      const out = float([m, n], outT ? [1, m] : [n, 1]);
      const program = libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]);
      check(program, [wave(m * k), wave(k * n)], 1e-5 * Math.max(1, Math.sqrt(k)));
    }
  }
});

Deno.test("products of many small matrices, one of them shared", () => {
  for (const [batch, m, n, k] of [[[3, 5], 7, 6, 9], [[20], 12, 16, 8], [[0], 4, 4, 4]] as const) {
    const a = float([...batch, m, k]), out = float([...batch, m, n]);
    const b = float([...batch, k, n], [...batch.map(() => 0), n, 1]);
    const program = libraryCall({ op: "matmul", accumulate: false }, [a, b], [out]);
    check(program, [wave(count(a)), wave(k * n)]);
  }
});

Deno.test("a product is added to the existing result", () => {
  const [m, n, k] = [9, 11, 270];
  const fill = singleOp([float([m, k]), float([k, n])], [float([m, n])], () => ({
    kind: "pointwise",
    shape: [m, n],
    dtype: "float32",
    element: (o) => o.constant(3, "float32"),
  }));
  const sum = libraryCall({ op: "matmul", accumulate: true }, [float([m, k]), float([k, n])], [
    float([m, n]),
  ]);
  check({ ...fill, kernels: [...fill.kernels, ...sum.kernels] }, [wave(m * k), wave(k * n)], 1e-4);
});

Deno.test("convolutions: strides, padding, dilation, groups, single pixels", () => {
  const cases = [
    {
      batch: 3,
      groups: 1,
      channels: [3, 5],
      size: [7, 9],
      kernel: [3, 3],
      stride: 1,
      padding: 1,
      dilation: 1,
    },
    {
      batch: 2,
      groups: 2,
      channels: [2, 3],
      size: [8, 6],
      kernel: [3, 2],
      stride: 2,
      padding: 1,
      dilation: 1,
    },
    {
      batch: 2,
      groups: 4,
      channels: [1, 1],
      size: [9, 9],
      kernel: [3, 3],
      stride: 1,
      padding: 2,
      dilation: 2,
    },
    {
      batch: 5,
      groups: 1,
      channels: [13, 7],
      size: [5, 5],
      kernel: [1, 1],
      stride: 1,
      padding: 0,
      dilation: 1,
    },
    {
      batch: 1,
      groups: 1,
      channels: [2, 4],
      size: [3, 3],
      kernel: [3, 3],
      stride: 1,
      padding: 0,
      dilation: 1,
    },
    {
      batch: 2,
      groups: 1,
      channels: [1, 6],
      size: [11, 40],
      kernel: [5, 7],
      stride: 3,
      padding: 6,
      dilation: 1,
    },
    {
      batch: 1,
      groups: 1,
      channels: [30, 14],
      size: [4, 4],
      kernel: [2, 2],
      stride: 2,
      padding: 0,
      dilation: 1,
    },
    {
      batch: 2,
      groups: 1,
      channels: [2, 3],
      size: [2, 3],
      kernel: [5, 5],
      stride: 1,
      padding: 2,
      dilation: 1,
    },
    {
      batch: 3,
      groups: 2,
      channels: [3, 2],
      size: [5, 14],
      kernel: [3, 3],
      stride: 1,
      padding: 1,
      dilation: 1,
    },
    {
      batch: 0,
      groups: 1,
      channels: [2, 2],
      size: [4, 4],
      kernel: [3, 3],
      stride: 1,
      padding: 1,
      dilation: 1,
    },
  ] as const;
  for (const { batch, groups, channels: [inside, outside], size: [h, w], kernel: [kh, kw], ...g } of cases) {
    const length = (size: number, kernel: number) =>
      Math.floor((size + 2 * g.padding - g.dilation * (kernel - 1) - 1) / g.stride) + 1;
    const input = float([batch, groups * inside, h, w]), weight = float([groups * outside, inside, kh, kw]);
    const bias = float([groups * outside]);
    const out = float([batch, groups * outside, length(h, kh), length(w, kw)]);
    const geometry = {
      stride: [g.stride, g.stride],
      padding: [g.padding, g.padding],
      dilation: [g.dilation, g.dilation],
      groups,
    } as const;
    const runs = [
      { op: "convForward", operands: [input, weight], result: out },
      { op: "convForward", operands: [input, weight, bias], result: out },
      { op: "convBackwardInput", operands: [out, weight], result: input },
      { op: "convBackwardWeight", operands: [out, input], result: weight },
    ] as const;
    for (const { op, operands, result } of runs) {
      const program = libraryCall({ op, ...geometry }, operands, [result]);
      check(program, operands.map((t, i) => wave(count(t), 1 + i)), 3e-5);
    }
  }
});

Deno.test("results have the same bits however many threads there are", () => {
  const [input, weight, out] = [float([4, 9, 14, 14]), float([10, 9, 3, 3]), float([4, 10, 14, 14])];
  const geometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 } as const;
  const runs = [
    { op: "convForward", operands: [input, weight], result: out },
    { op: "convBackwardInput", operands: [out, weight], result: input },
    { op: "convBackwardWeight", operands: [out, input], result: weight },
  ] as const;
  for (const { op, operands, result } of runs) {
    const program = libraryCall({ op, ...geometry }, operands, [result]);
    const inputs = operands.map((t) => wave(count(t)));
    const [one, several] = POOLS.map((pool) => {
      const to = wave(count(result));
      runner(pool)(program, inputs, [to]);
      return [...to];
    });
    assertEquals(one, several);
  }
});

/** Small whole numbers of a type, whose products and sums are exact. */
const whole = (dtype: DType, length: number): HostArray => {
  const array = hostArray(dtype, new ArrayBuffer(Math.ceil(length * itemSize(dtype) / 64) * 64), { length });
  for (let k = 0; k < length; k++) {
    const value = (k * 7 + (k >> 2)) % 11 - 5;
    array[k] = array instanceof BigInt64Array ? BigInt(value) : value;
  }
  return array;
};

Deno.test("products and convolutions of every type, without rounding", () => {
  for (const dtype of ["float64", "int64", "int32"] as const) {
    const of = (...shape: readonly number[]): TestOperand => ({ shape, dtype });
    const [m, n, k] = [7, 9, 5];
    const a = { ...of(2, m, k), strides: [m * k, 1, m] }, b = of(2, k, n), product = of(2, m, n);
    const products = libraryCall({ op: "matmul", accumulate: false }, [a, b], [product]);
    check(products, [whole(dtype, 2 * m * k), whole(dtype, 2 * k * n)], 0);
    const geometry = { stride: [2, 1], padding: [1, 2], dilation: [1, 2], groups: 2 } as const;
    const [input, weight, bias, result] = [of(2, 4, 6, 7), of(6, 2, 3, 2), of(6), of(2, 6, 3, 9)];
    const runs = [
      { op: "convForward", operands: [input, weight, bias], out: result },
      { op: "convBackwardInput", operands: [result, weight], out: input },
      { op: "convBackwardWeight", operands: [result, input], out: weight },
    ] as const;
    for (const { op, operands, out } of runs) {
      const program = libraryCall({ op, ...geometry }, operands, [out]);
      check(program, operands.map((t) => whole(dtype, count(t))), 0);
    }
  }
});

/** A tensor whose last two dimensions are transposed in memory, with elements so far apart. */
const turned = ({ shape }: TestOperand, by: number): TestOperand => {
  const [n = 1, c = 1, h = 1, w = 1] = shape;
  return float([n, c, h, w], [c * h * w, h * w, 1, h].map((stride) => stride * by));
};

Deno.test("convolutions of operands with any strides, on one thread and several", () => {
  const geometry = { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 } as const;
  const [input, weight, result] = [float([3, 4, 6, 7]), float([5, 4, 3, 3]), float([3, 5, 6, 7])].map((t) =>
    turned(t, 2)
  );
  assert(input && weight && result);
  const runs = [
    { op: "convForward", operands: [input, weight], out: result },
    { op: "convBackwardInput", operands: [result, weight], out: input },
    { op: "convBackwardWeight", operands: [result, input], out: weight },
  ] as const;
  for (const { op, operands, out } of runs) {
    const program = libraryCall({ op, ...geometry }, operands, [turned(out, 1)]);
    check(program, operands.map((t) => wave(2 * count(t))), 3e-5);
  }
});

Deno.test("convolutions of as many images as a call passes", () => {
  const n = sizeLike("n", 4, [0, Infinity]),
    of = (images: number) => ({
      input: float([images, 4, 5, 7]),
      weight: float([6, 2, 3, 3]),
      result: float([images, 6, 3, 4]),
    });
  const geometry = { stride: [2, 2], padding: [1, 1], dilation: [1, 1], groups: 2 } as const;
  for (const op of ["convForward", "convBackwardInput", "convBackwardWeight"] as const) {
    const programOf = (images: number) => {
      const { input, weight, result } = of(images);
      const [first, second, out] = {
        convForward: [input, weight, result],
        convBackwardInput: [result, weight, input],
        convBackwardWeight: [result, input, weight],
      }[op];
      assert(first && second && out);
      return libraryCall({ op, ...geometry }, [first, second], [out]);
    };
    // The program of one image, with sizes and lengths of all buffers but that of the weight times n
    const one = programOf(1), [kernel] = one.kernels;
    assert(kernel?.kind === "extern");
    const views = (list: readonly BufferView[]) =>
      list.map((v) => v.shape[0] === 1 ? { ...v, shape: [n, ...v.shape.slice(1)] } : v);
    const several: Program = {
      ...one,
      sizes: [n],
      buffers: one.buffers.map((b) => b.length === 108 ? b : { ...b, length: mul(n, b.length) }),
      kernels: [{ ...kernel, inputs: views(kernel.inputs), outputs: views(kernel.outputs) }],
    };
    for (const pool of POOLS) {
      const compiled = compileToWasm(several, pool);
      for (const images of [3, 0, 9]) {
        const program = programOf(images),
          run: Runner = (_, inputs, outputs) => {
            const [from, to] = [inputs, outputs].map((list) => list.map(memoryOf));
            assert(from && to);
            compiled.run({ inputs: from, outputs: to, sizes: [images] });
            return compiled.source;
          };
        const lengths = program.inputs.map((id) => Number(program.buffers[id]?.length));
        compare(program, lengths.map((length) => wave(length)), { run, tolerance: 3e-5 });
      }
    }
  }
});
