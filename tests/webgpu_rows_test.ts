/**
 * Rows on WebGPU: what several loops go through is read once, scans are divided, and transposed reads are made by
 * squares, against the reference interpreter, for lengths that fill vectors and workgroups and others.
 */
import { assert, assertEquals } from "@std/assert";
import { initWebGpu } from "../backends/webgpu/device.ts";
import { webGpuTarget } from "../backends/webgpu/target.ts";
import { generate } from "../lib/codegen/generate.ts";
import { vec4LoopsIn } from "../lib/codegen/vec4.ts";
import type { Axis, BufferRole, Program, Reduction, Statement } from "../lib/loops/ir.ts";
import { axesOf, loopOver, storeOf } from "../lib/loops/nest.ts";
import { accessesOf } from "../lib/loops/uses.ts";
import { add, mul } from "../lib/sym/expr.ts";
import { compare } from "./support/compare.ts";
import { sampleBySeed } from "./support/sampling.ts";
import { singleOp, vectorised } from "./support/single_op.ts";
import { SKIP_WEBGPU } from "./support/webgpu.ts";
import { runOnWebGpu } from "./support/webgpu_run.ts";

const target = webGpuTarget({ kernelBuffers: 8, workgroupBytes: 1 << 14, bindingBytes: 1 << 27 }, true);
const dtype = "float32" as const;

function test(name: string, body: () => void): void {
  Deno.test({ name: `webgpu rows: ${name}`, ignore: SKIP_WEBGPU, fn: () => initWebGpu().then(body) });
}

/** Whole numbers, so that sums are equal in whatever order they are added. */
const wholes = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => i * 31 % 17 - 8);

function check(program: Program, inputs: readonly Float32Array[]): void {
  compare(program, inputs, {
    run: (program, inputs, outputs) => runOnWebGpu(program, { inputs, outputs }),
    tolerance: 0,
  });
}

/** How often the kernels of a program access its memory. */
const accesses = ({ kernels, buffers }: Program): number =>
  kernels.flatMap((kernel) => kernel.kind === "loops" ? [...accessesOf(kernel.body)] : [])
    .filter(({ buffer }) => buffers[buffer]?.role.kind !== "local").length;

/** y = x − the maximum of the row, then y times its sum over the row, plus x: three loops, of two reads, two and one. */
function threeLoops(rows: number, length: number): Program {
  const [row, first, second, third] = axesOf([rows, length, length, length]);
  assert(row && first && second && third);
  const at = ({ symbol }: Axis) => add(mul(row.symbol, length), symbol);
  const load = (id: number, buffer: 0 | 1, axis: Axis): Statement => ({
    kind: "load",
    id,
    buffer,
    index: at(axis),
    dtype,
  });
  const scalar = (id: number, op: "add" | "sub" | "mul", ...args: number[]): Statement => ({
    kind: "scalar",
    id,
    op,
    args,
    dtype,
  });
  const reduced = (axis: Axis, body: readonly Statement[], reduction: Omit<Reduction, "dtype">) =>
    loopOver(axis, body, { order: "reduction", reductions: [{ ...reduction, dtype }] });
  const body = [
    reduced(first, [load(0, 0, first)], { id: 1, op: "max", value: 0 }),
    reduced(second, [load(2, 0, second), scalar(3, "sub", 2, 1), storeOf(1, at(second), 3)], {
      ...{ id: 4, op: "sum", value: 3 },
    }),
    loopOver(third, [
      ...[load(5, 1, third), scalar(6, "mul", 5, 4), load(7, 0, third), scalar(8, "add", 6, 7)],
      storeOf(1, at(third), 8),
    ]),
  ];
  const buffer = (name: string, role: BufferRole) => ({ name, dtype, length: rows * length, role }) as const;
  return {
    ...{ name: "rows", inputs: [0], outputs: [1], sizes: [], arenaBytes: 0 },
    buffers: [buffer("x", { kind: "input", written: false }), buffer("y", { kind: "output" })],
    kernels: [{ kind: "loops", name: "rows", body: [loopOver(row, body)], origins: [] }],
  };
}

test("invocations read a row once for all loops, and write it once", () => {
  // By vectors, whole and not; by elements; in more iterations than are written down
  for (const [rows, length, found] of [[16, 1024, 2], [3, 4000, 2], [5, 99, 2], [3, 2051, 6]] as const) {
    const program = threeLoops(rows, length);
    assertEquals(accesses(generate(program, target)), found, `rows of ${length}`);
    check(program, [wholes(rows * length)]);
  }
});

/** Running sums of a matrix along one of its dimensions. */
const sums = (shape: readonly [number, number], dim: 0 | 1): Program => {
  const program = singleOp([{ shape, dtype }], [{ shape, dtype }], (x) => ({
    kind: "scan",
    ...{ shape, dtype, dim, initial: 0 },
    combine: (o, before, value) => o.add(before, value),
    element: (o, index) => o.load(x!, index),
  }));
  return dim === 0 ? vectorised(program, "outermost") : program;
};

test("workgroups divide scans, and long ones are split", () => {
  const cases = [[[5, 256], 1], [[5, 1000], 1], [[3, 99], 1], [[40, 31], 1], [[1, 20000], 1], [
    [2, 9001],
    1,
  ]] as const;
  const columns = [[[3000, 12], 0], [[70, 5], 0]] as const;
  for (const [shape, dim] of sampleBySeed([...cases, ...columns], 4)) {
    const program = sums(shape, dim), [rows, length] = dim === 1 ? shape : shape.toReversed();
    const made = generate(program, target).kernels;
    assertEquals(made.length, (length ?? 0) > 2048 ? 3 : 1, `${shape} along ${dim}`);
    const last = made.at(-1);
    if (dim === 1) assertEquals(last?.kind === "loops" && last.workgroup !== undefined, (length ?? 0) >= 32);
    check(program, [wholes((rows ?? 0) * (length ?? 0))]);
  }
});

test("transposed reads are made by squares of four by four", () => {
  for (const [shape, found] of [[[64, 48], 8], [[30, 64], 0], [[12, 8], 8]] as const) {
    const [rows, columns] = shape, turned = { shape, dtype, strides: [1, rows] }, plain = { shape, dtype };
    const program = vectorised(
      singleOp([turned, plain, { shape, dtype, strides: [0, 1] }], [plain], (...xs) => ({
        kind: "pointwise",
        ...{ shape, dtype },
        element: (o, index) => xs.map((x) => o.load(x, index)).reduce((sum, x) => o.add(o.mul(sum, x), x)),
      })),
      "innermost",
    );
    const [kernel] = generate(program, target).kernels;
    assertEquals(kernel?.kind === "loops" && vec4LoopsIn(kernel.body).length, found, `${shape}`);
    check(program, [wholes(rows * columns), wholes(rows * columns), wholes(columns)]);
  }
});
