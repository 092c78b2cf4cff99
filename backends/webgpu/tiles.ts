/**
 * Products of matrices that are read through functions: register tiles fully unrolled into named variables,
 * operands staged in workgroup memory. Input: sizes, and how elements are read and written; output: the lines of
 * a shader. Invariant: elements outside the matrices count as zero and are never written.
 */
import { type Dim, product } from "../../lib/sym/expr.ts";
import { TILE } from "./target.ts";
import type { WorkgroupCount } from "./print/kernel.ts";
import type { ShaderWriter } from "./print/statements.ts";

const DEPTH = 16, PER_THREAD = 4, SIDE = TILE / PER_THREAD;

/** Invocations of a workgroup. */
export const TILE_THREADS = 256;

/** One side of a product. */
export interface TileOperand {
  /** Whether neighbouring invocations read along the depth, rather than along rows (of A) or columns (of B). */
  readonly alongDepth: boolean;
  /** Writes lines that assign an element to `value`, which is zero before. Arguments are the texts of places. */
  load(at: { readonly other: string; readonly depth: string }): void;
}

/** out[batch…, row, column] = Σ over depth of A · B. The counters of `batch` are `n0`, `n1`, … */
export interface TileProduct {
  readonly batch: readonly Dim[];
  readonly rows: Dim;
  readonly columns: Dim;
  readonly depth: Dim;
  /** Workgroups that share the depth of one tile; `store` must then accumulate. */
  readonly splits: number;
  readonly type: "f32" | "i32" | "bool";
  readonly zero: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
  /** Writes lines before the first load: bases of addresses. */
  prepare(): void;
  /** Writes lines that put `value` at a place. */
  store(at: { readonly row: string; readonly column: string; readonly value: string }): void;
}

/** Writes the whole shader of a product. */
export function printTiles(w: ShaderWriter, job: TileProduct): WorkgroupCount {
  const { type, zero, splits } = job;
  const batch = splits > 1 ? [...job.batch, splits] : job.batch;
  w.line(`var<workgroup> tile_a: array<${type}, ${TILE * DEPTH}>;`);
  w.line(`var<workgroup> tile_b: array<${type}, ${TILE * DEPTH}>;`);
  w.line(`@compute @workgroup_size(${TILE_THREADS})`);
  w.line(
    "fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, " +
      "@builtin(local_invocation_index) lane: u32) {",
  );
  w.line(
    `let rows = ${w.index(job.rows)}; let columns = ${w.index(job.columns)}; let depth = ${
      w.index(job.depth)
    };`,
  );
  w.line(`let down = (rows + ${TILE - 1}) / ${TILE}; let across = (columns + ${TILE - 1}) / ${TILE};`);
  w.line("var point = i32(group.x + group.y * groups.x);");
  w.line(`if (point >= down * across * ${w.index(product(batch))}) { return; }`);
  w.line(`let column0 = (point % across) * ${TILE}; point = point / across;`);
  w.line(`let row0 = (point % down) * ${TILE}; point = point / down;`);
  for (const [d, size] of [...batch.entries()].reverse()) {
    w.line(`let n${d} = point % ${w.index(size)}; point = point / ${w.index(size)};`);
  }
  const steps = `((depth + ${DEPTH * splits - 1}) / ${DEPTH * splits})`;
  const first = splits > 1 ? `n${batch.length - 1} * ${steps} * ${DEPTH}` : "0";
  w.line(`let from_depth = ${first};`);
  w.line(`let to_depth = min(depth, from_depth + ${steps} * ${DEPTH});`);
  job.prepare();
  w.line(`let lid = i32(lane); let ty = lid / ${SIDE}; let tx = lid % ${SIDE};`);
  const ids = Array.from({ length: PER_THREAD }, (_, i) => i);
  for (const i of ids) for (const j of ids) w.line(`var s${i}_${j}: ${type} = ${zero};`);
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${DEPTH}) {`);
  stage(w, job, { operand: job.a, name: "a", start: "row0", end: "rows" });
  stage(w, job, { operand: job.b, name: "b", start: "column0", end: "columns" });
  w.line("workgroupBarrier();");
  w.line(`for (var k = 0; k < ${DEPTH}; k = k + 1) {`);
  for (const i of ids) {
    w.line(`let a${i} = tile_a[k * ${TILE} + ty * ${PER_THREAD} + ${i}];`);
    w.line(`let b${i} = tile_b[k * ${TILE} + tx + ${i * SIDE}];`);
  }
  for (const i of ids) {
    for (const j of ids) {
      const sum = type === "f32" ? `fma(a${i}, b${j}, s${i}_${j})` : `s${i}_${j} + a${i} * b${j}`;
      w.line(`s${i}_${j} = ${sum};`);
    }
  }
  w.line("}");
  w.line("workgroupBarrier();");
  w.line("}");
  for (const i of ids) {
    for (const j of ids) {
      w.line(`{ let row = row0 + ty * ${PER_THREAD} + ${i}; let column = column0 + tx + ${j * SIDE};`);
      w.line("if (row < rows && column < columns) {");
      job.store({ row: "row", column: "column", value: `s${i}_${j}` });
      w.line("} }");
    }
  }
  w.line("}");
  return { items: product([...batch, tilesOf(job.rows), tilesOf(job.columns)]), each: 1 };
}

interface Stage {
  readonly operand: TileOperand;
  readonly name: "a" | "b";
  /** First row of A or column of B of this tile, and how many there are. */
  readonly start: string;
  readonly end: string;
}

/** Copies a tile [DEPTH][TILE] into workgroup memory. */
function stage(w: ShaderWriter, { type, zero }: TileProduct, { operand, name, start, end }: Stage): void {
  for (let part = 0; part < TILE * DEPTH / TILE_THREADS; part++) {
    const e = `(lid + ${part * TILE_THREADS})`;
    w.line("{");
    w.line(`let kk = ${operand.alongDepth ? `${e} % ${DEPTH}` : `${e} / ${TILE}`};`);
    w.line(`let rr = ${operand.alongDepth ? `${e} / ${DEPTH}` : `${e} % ${TILE}`};`);
    w.line(`var value: ${type} = ${zero}; let k = k0 + kk; let other = ${start} + rr;`);
    w.line(`if (k < to_depth && other < ${end}) {`);
    operand.load({ other: "other", depth: "k" });
    w.line("}");
    w.line(`tile_${name}[kk * ${TILE} + rr] = value;`);
    w.line("}");
  }
}

/** A symbolic count of tiles is bounded by the size itself; surplus workgroups return at once. */
const tilesOf = (size: Dim): Dim => typeof size === "number" ? Math.ceil(size / TILE) : size;
