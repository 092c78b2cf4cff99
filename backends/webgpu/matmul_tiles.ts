/**
 * The fast matrix product: 128 × 128 tiles of whole row-major float32 matrices, 8 × 8 results a thread. Input: a
 * matmul call whose sizes divide; output: its shader. Invariant: all vectors start at multiples of four elements.
 *
 * Each thread keeps its results in 16 named vectors: an array indexed by a loop would go to memory. Per step of
 * depth the workgroup stages 16 columns of A and 16 rows of B as vectors; A is transposed in registers, four by
 * four, so that a vector holds four rows of one column. A subgroup of 32 covers 4 × 8 threads, so that its reads
 * of workgroup memory coincide or lie side by side.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { type Dim, product } from "../../lib/sym/expr.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import type { Shader } from "./print/kernel.ts";
import { ShaderWriter } from "./print/statements.ts";

const TILE = 128, DEPTH = 16, THREADS = 256, SIDE = 16;
/** Vectors of one tile of an operand, and how many of them each thread stages. */
const VECTORS = TILE * DEPTH / 4, STAGED = VECTORS / THREADS;
/** Rows of a thread: two vectors of four, half a tile apart; columns likewise. */
const HALVES = [0, 1], FOUR = [0, 1, 2, 3];
const PARTS = ["x", "y", "z", "w"];

/** Whether the tiles cover the matrices exactly and rows are made of whole vectors. */
export function fitsTiles(kernel: ExternKernel, program: Program, placement: Placement): boolean {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (!a || !b || !out || kernel.call.op !== "matmul" || !placement.aligned) return false;
  const [m, n] = out.shape.slice(-2), k = a.shape.at(-1);
  const whole = (size: Dim | undefined, by: number) =>
    typeof size === "number" && size > 0 && size % by === 0;
  const inVectors = (view: BufferView) =>
    program.buffers[view.buffer]?.dtype === "float32" && view.strides.at(-1) === 1 &&
    [view.offset, ...view.strides.slice(0, -1)].every((d) => typeof d === "number" && d % 4 === 0);
  return whole(m, TILE) && whole(n, TILE) && whole(k, DEPTH) && [a, b, out].every(inVectors);
}

/** The shader of a call that `fitsTiles`. */
export function printTiledMatmul(kernel: ExternKernel, program: Program, placement: Placement): Shader {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (kernel.call.op !== "matmul" || !a || !b || !out) {
    throw new InternalError("Expected two operands and a result of a matmul");
  }
  const accumulate = kernel.call.accumulate;
  const bindings = new Bindings(program, [
    ...[a, b, ...(accumulate ? [out] : [])].map((v) =>
      ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype: "float32" }) as const
    ),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
  ], { placement, lanes: 4 });
  const w = new ShaderWriter({ program, bindings, threads: THREADS, cooperative: false });
  const rank = out.shape.length, batch = out.shape.slice(0, rank - 2);
  const size = (view: BufferView, d: number) => Number(view.shape.at(d)), rows = size(out, -2);
  const down = rows / TILE, across = size(out, -1) / TILE, depth = size(a, -1);
  const stride = (view: BufferView) => w.index(view.strides.at(-2) ?? 0);
  w.line(`var<workgroup> tile_a: array<vec4f, ${VECTORS}>;`);
  w.line(`var<workgroup> tile_b: array<vec4f, ${VECTORS}>;`);
  w.line(`@compute @workgroup_size(${THREADS})`);
  w.line(
    "fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, " +
      "@builtin(local_invocation_index) lane: u32) {",
  );
  w.line("var point = i32(group.x + group.y * groups.x);");
  w.line(`if (point >= ${w.index(product([...batch, down, across]))}) { return; }`);
  w.line(`let column0 = (point % ${across}) * ${TILE}; point = point / ${across};`);
  w.line(`let row0 = (point % ${down}) * ${TILE}; point = point / ${down};`);
  const counters = batch.map((size, d) => ({ name: `n${d}`, size }));
  for (const { name, size } of [...counters].reverse()) {
    w.line(`let ${name} = point % ${w.index(size)}; point = point / ${w.index(size)};`);
  }
  for (const [name, view] of [["a", a], ["b", b], ["out", out]] as const) {
    const terms = counters.map(({ name }, d) => `${name} * ${w.index(view.strides[d] ?? 0)}`);
    w.line(`let base_${name} = ${[w.index(view.offset), ...terms].join(" + ")};`);
  }
  w.line("let lid = i32(lane); let warp = lid / 32; let within = lid % 32;");
  w.line("let ty = (warp / 2) * 4 + within / 8; let tx = (warp % 2) * 8 + within % 8;");
  const results = HALVES.flatMap((half) => FOUR.map((row) => 4 * half + row));
  for (const row of results) w.line(`var s${row}_0 = vec4f(); var s${row}_1 = vec4f();`);
  w.line(`for (var k0 = 0; k0 < ${depth}; k0 = k0 + ${DEPTH}) {`);
  stageReads(w, bindings, { a, b, strideA: stride(a), strideB: stride(b) });
  w.line("workgroupBarrier();");
  stageWrites(w);
  w.line("workgroupBarrier();");
  for (let k = 0; k < DEPTH; k++) multiply(w, k);
  w.line("}");
  for (const row of results) {
    for (const half of HALVES) {
      const place = `base_out + (row0 + (ty + ${(row >> 2) * SIDE}) * 4 + ${row & 3}) * ${stride(out)} + ` +
        `column0 + (tx + ${half * SIDE}) * 4`;
      const value = `s${row}_${half}`;
      if (accumulate) w.line(`${value} = ${value} + ${bindings.loadFour(out.buffer, place)};`);
      w.line(bindings.storeFour(out.buffer, place, PARTS.map((part) => `${value}.${part}`)));
    }
  }
  w.line("}");
  const workgroups = { items: product([...batch, down, across]), each: 1 };
  return { name: kernel.name, code: w.finish(), memories: bindings.memories, workgroups };
}

interface Operands {
  readonly a: BufferView;
  readonly b: BufferView;
  /** Row strides as text. */
  readonly strideA: string;
  readonly strideB: string;
}

/** Reads what this thread stages: of A a block of 4 × 4 in every second thread, of B two vectors. */
function stageReads(w: ShaderWriter, bindings: Bindings, { a, b, strideA, strideB }: Operands): void {
  w.line(`let block_row = lid % ${TILE / 4}; let block_column = (lid / ${TILE / 4}) % ${DEPTH / 4};`);
  for (const i of FOUR) {
    const place = `base_a + (row0 + block_row * 4 + ${i}) * ${strideA} + k0 + block_column * 4`;
    w.line(`var g${i} = vec4f();`);
    w.line(`if (lid < ${VECTORS / 4}) { g${i} = ${bindings.loadFour(a.buffer, place)}; }`);
  }
  for (let i = 0; i < STAGED; i++) {
    const vector = `(lid + ${i * THREADS})`;
    const place = `base_b + (k0 + ${vector} / ${TILE / 4}) * ${strideB} + column0 + (${vector} % ${
      TILE / 4
    }) * 4`;
    w.line(`let h${i} = ${bindings.loadFour(b.buffer, place)};`);
  }
}

/** A column of four blocks' rows becomes one vector: tile_a[k][row / 4]; tile_b[k][column / 4]. */
function stageWrites(w: ShaderWriter): void {
  w.line(`if (lid < ${VECTORS / 4}) {`);
  PARTS.forEach((part, i) => {
    const column = FOUR.map((row) => `g${row}.${part}`).join(", ");
    w.line(`tile_a[(block_column * 4 + ${i}) * ${TILE / 4} + block_row] = vec4f(${column});`);
  });
  w.line("}");
  for (let i = 0; i < STAGED; i++) w.line(`tile_b[lid + ${i * THREADS}] = h${i};`);
}

/** One step of depth: 8 × 8 products. */
function multiply(w: ShaderWriter, k: number): void {
  w.line("{");
  for (const half of HALVES) {
    w.line(`let a${half} = tile_a[ty + ${k * TILE / 4 + half * SIDE}];`);
    w.line(`let b${half} = tile_b[tx + ${k * TILE / 4 + half * SIDE}];`);
  }
  for (const half of HALVES) {
    PARTS.forEach((part, i) => {
      const row = 4 * half + i;
      for (const column of HALVES) {
        w.line(`s${row}_${column} = fma(vec4f(a${half}.${part}), b${column}, s${row}_${column});`);
      }
    });
  }
  w.line("}");
}
