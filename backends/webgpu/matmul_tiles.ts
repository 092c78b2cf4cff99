/**
 * The fast matrix product: 128 × 128 tiles of whole float32 matrices, 8 × 8 results a thread. Input: a matmul call
 * whose sizes divide; output: its shader. Invariant: all vectors start at multiples of four elements.
 *
 * Each thread keeps its results in 16 named vectors: an array indexed by a loop would go to memory. Per step of
 * depth the workgroup stages 16 columns of A and 16 rows of B so that a vector holds four rows of A, or four
 * columns of B, at one depth. An operand whose memory runs along the depth (A as it is, B transposed) is
 * transposed in registers, four by four. A subgroup of 32 covers 4 × 8 threads, so that its reads of workgroup
 * memory coincide or lie side by side.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { type Dim, product } from "../../lib/sym/expr.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { finished, openMain, placeThreads, POINT, type Shader } from "./print/entry.ts";
import { ShaderWriter } from "./print/statements.ts";
import { coversTiles, FAST_TILE } from "./target.ts";

const { side: TILE, depth: DEPTH } = FAST_TILE, THREADS = 256, SIDE = 16;
/** Vectors of one tile of an operand, and how many of them each thread stages. */
const VECTORS = TILE * DEPTH / 4, STAGED = VECTORS / THREADS;
/** Rows of a thread: two vectors of four, half a tile apart; columns likewise. */
const HALVES = [0, 1], FOUR = [0, 1, 2, 3];
const PARTS = ["x", "y", "z", "w"];

/** Whether the tiles cover the matrices exactly and rows are made of whole vectors. */
export function fitsTiles(kernel: ExternKernel, program: Program, placement: Placement): boolean {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (!a || !b || !out || kernel.call.op !== "matmul" || !placement.aligned) return false;
  if (kernel.epilogue || kernel.prologues) return false;
  const inVectors = (view: BufferView) =>
    program.buffers[view.buffer]?.dtype === "float32" && unitDimension(view) !== undefined &&
    [view.offset, ...view.strides.toSpliced(unitDimension(view) ?? 0, 1)].every((d) =>
      typeof d === "number" && d % 4 === 0
    );
  return coversTiles(kernel) && [a, b, out].every(inVectors) &&
    unitDimension(out) === out.shape.length - 1;
}

/** Which of a matrix's two dimensions runs along memory. */
function unitDimension({ strides }: BufferView): number | undefined {
  const rank = strides.length;
  return strides[rank - 1] === 1 ? rank - 1 : strides[rank - 2] === 1 ? rank - 2 : undefined;
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
  openMain(w, THREADS);
  w.line(`var point = i32(${POINT});`);
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
  placeThreads(w);
  const results = HALVES.flatMap((half) => FOUR.map((row) => 4 * half + row));
  for (const row of results) w.line(`var s${row}_0 = vec4f(); var s${row}_1 = vec4f();`);
  w.line(`for (var k0 = 0; k0 < ${depth}; k0 = k0 + ${DEPTH}) {`);
  const operands = [operandOf(a, "a", rank - 1), operandOf(b, "b", rank - 2)];
  w.line(`let block = lid % ${TILE / 4}; let block_depth = (lid / ${TILE / 4}) % ${DEPTH / 4};`);
  for (const operand of operands) read(w, bindings, operand);
  w.line("workgroupBarrier();");
  for (const operand of operands) stage(w, operand);
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
  return finished(w, kernel.name, workgroups);
}

interface Operand {
  readonly view: BufferView;
  readonly name: "a" | "b";
  /** First row of A or column of B of the tile. */
  readonly start: string;
  /** Whether memory runs along the depth. */
  readonly alongDepth: boolean;
  /** Stride of the other dimension. */
  readonly stride: Dim;
}

function operandOf(view: BufferView, name: "a" | "b", depthDimension: number): Operand {
  const unit = unitDimension(view), rank = view.strides.length;
  const stride = view.strides[unit === rank - 1 ? rank - 2 : rank - 1] ?? 0;
  return {
    view,
    name,
    start: name === "a" ? "row0" : "column0",
    alongDepth: unit === depthDimension,
    stride,
  };
}

/** Reads what this thread stages: a block of 4 × 4 in every second thread, or two vectors. */
function read(w: ShaderWriter, bindings: Bindings, { view, name, start, alongDepth, stride }: Operand): void {
  const by = w.index(stride);
  if (alongDepth) {
    for (const i of FOUR) {
      const place = `base_${name} + (${start} + block * 4 + ${i}) * ${by} + k0 + block_depth * 4`;
      w.line(`var ${name}_read${i} = vec4f();`);
      w.line(`if (lid < ${VECTORS / 4}) { ${name}_read${i} = ${bindings.loadFour(view.buffer, place)}; }`);
    }
    return;
  }
  for (let i = 0; i < STAGED; i++) {
    const vector = `(lid + ${i * THREADS})`;
    const place = `base_${name} + (k0 + ${vector} / ${TILE / 4}) * ${by} + ${start} + (${vector} % ${
      TILE / 4
    }) * 4`;
    w.line(`let ${name}_read${i} = ${bindings.loadFour(view.buffer, place)};`);
  }
}

/** Puts it where all can see it: tile[depth][row or column / 4]. */
function stage(w: ShaderWriter, { name, alongDepth }: Operand): void {
  if (!alongDepth) {
    for (let i = 0; i < STAGED; i++) w.line(`tile_${name}[lid + ${i * THREADS}] = ${name}_read${i};`);
    return;
  }
  w.line(`if (lid < ${VECTORS / 4}) {`);
  PARTS.forEach((part, i) => {
    const transposed = FOUR.map((row) => `${name}_read${row}.${part}`).join(", ");
    w.line(`tile_${name}[(block_depth * 4 + ${i}) * ${TILE / 4} + block] = vec4f(${transposed});`);
  });
  w.line("}");
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
