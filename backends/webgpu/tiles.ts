/**
 * Products of matrices that are read through functions: register tiles fully unrolled into named variables,
 * operands staged in workgroup memory. Input: sizes, and how elements are read and written; output: the lines of
 * a shader. Invariant: elements outside the matrices count as zero and are never written.
 */
import { type Dim, product } from "../../lib/sym/expr.ts";
import type { TileSide } from "./target.ts";
import type { WorkgroupCount } from "./print/kernel.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** Columns of A that are staged at once, and threads along each side of a tile. */
const DEPTH = 16, SIDE = 16;
const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];

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
  /** Of one workgroup. */
  readonly tile: { readonly rows: TileSide; readonly columns: TileSide };
  /** Workgroups that share the depth of one tile, whose number is the last counter. */
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
  const { type, zero, splits, tile } = job, vector = `vec4<${type}>`;
  const [widthA, widthB] = [stageWidth(tile.rows), stageWidth(tile.columns)];
  const batch = splits > 1 ? [...job.batch, splits] : job.batch;
  w.line(`var<workgroup> tile_a: array<${vector}, ${widthA * DEPTH}>;`);
  w.line(`var<workgroup> tile_b: array<${vector}, ${widthB * DEPTH}>;`);
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
  w.line(`let down = (rows + ${tile.rows - 1}) / ${tile.rows};`);
  w.line(`let across = (columns + ${tile.columns - 1}) / ${tile.columns};`);
  w.line("var point = i32(group.x + group.y * groups.x);");
  w.line(`if (point >= down * across * ${w.index(product(batch))}) { return; }`);
  w.line(`let column0 = (point % across) * ${tile.columns}; point = point / across;`);
  w.line(`let row0 = (point % down) * ${tile.rows}; point = point / down;`);
  for (const [d, size] of [...batch.entries()].reverse()) {
    w.line(`let n${d} = point % ${w.index(size)}; point = point / ${w.index(size)};`);
  }
  const steps = `((depth + ${DEPTH * splits - 1}) / ${DEPTH * splits})`;
  const first = splits > 1 ? `n${batch.length - 1} * ${steps} * ${DEPTH}` : "0";
  w.line(`let from_depth = ${first};`);
  w.line(`let to_depth = min(depth, from_depth + ${steps} * ${DEPTH});`);
  job.prepare();
  w.line("let lid = i32(lane); let warp = lid / 32; let within = lid % 32;");
  w.line("let ty = (warp / 2) * 4 + within / 8; let tx = (warp % 2) * 8 + within % 8;");
  // Rows of a thread: one or two vectors of four, half a tile apart; columns likewise
  const halves = (side: TileSide) => side === 128 ? [0, 1] : [0], columns = halves(tile.columns);
  const rows = halves(tile.rows).flatMap((half) => FOUR.map((i) => ({ half, i, name: 4 * half + i })));
  for (const { name } of rows) {
    for (const half of columns) w.line(`var s${name}_${half} = ${vector}(${zero});`);
  }
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${DEPTH}) {`);
  stage(w, job, { operand: job.a, name: "a", start: "row0", end: "rows", side: tile.rows });
  stage(w, job, { operand: job.b, name: "b", start: "column0", end: "columns", side: tile.columns });
  w.line("workgroupBarrier();");
  w.line(`for (var k = 0; k < ${DEPTH}; k = k + 1) {`);
  for (const half of halves(tile.rows)) w.line(`let a${half} = tile_a[k * ${widthA} + ty + ${half * SIDE}];`);
  for (const half of columns) w.line(`let b${half} = tile_b[k * ${widthB} + tx + ${half * SIDE}];`);
  for (const { half, i, name } of rows) {
    const a = `${vector}(a${half}.${PARTS[i]})`;
    for (const column of columns) {
      const sum = `s${name}_${column}`;
      w.line(`${sum} = ${type === "f32" ? `fma(${a}, b${column}, ${sum})` : `${sum} + ${a} * b${column}`};`);
    }
  }
  w.line("}");
  w.line("workgroupBarrier();");
  w.line("}");
  for (const { half, i, name } of rows) {
    w.line(`{ let row = row0 + (ty + ${half * SIDE}) * 4 + ${i}; if (row < rows) {`);
    for (const column of columns) {
      for (const j of FOUR) {
        w.line(`{ let column = column0 + (tx + ${column * SIDE}) * 4 + ${j}; if (column < columns) {`);
        job.store({ row: "row", column: "column", value: `s${name}_${column}.${PARTS[j]}` });
        w.line("} }");
      }
    }
    w.line("} }");
  }
  w.line("}");
  return {
    items: product([...batch, tilesOf(job.rows, tile.rows), tilesOf(job.columns, tile.columns)]),
    each: 1,
  };
}

interface Stage {
  readonly operand: TileOperand;
  readonly name: "a" | "b";
  /** First row of A or column of B of this tile, and how many there are. */
  readonly start: string;
  readonly end: string;
  readonly side: TileSide;
}

/** Vectors from one depth of a staged tile to the next: one more than there are, so that banks of memory differ. */
const stageWidth = (side: number): number => side / 4 + 1;

/** Copies a tile into workgroup memory, as [depth][row or column / 4]: each invocation writes whole vectors. */
function stage(
  w: ShaderWriter,
  { type, zero }: TileProduct,
  { operand, name, start, end, side }: Stage,
): void {
  const width = side / 4;
  for (let part = 0; part < width * DEPTH / TILE_THREADS; part++) {
    const e = `(lid + ${part * TILE_THREADS})`;
    w.line("{");
    w.line(`let kk = ${operand.alongDepth ? `${e} % ${DEPTH}` : `${e} / ${width}`};`);
    w.line(`let rr = ${operand.alongDepth ? `${e} / ${DEPTH}` : `${e} % ${width}`};`);
    w.line(`let k = k0 + kk; var staged = vec4<${type}>(${zero});`);
    w.line("if (k < to_depth) {");
    for (const i of FOUR) {
      w.line(`{ let other = ${start} + rr * 4 + ${i}; var value: ${type} = ${zero};`);
      w.line(`if (other < ${end}) {`);
      operand.load({ other: "other", depth: "k" });
      w.line("}");
      w.line(`staged.${PARTS[i]} = value; }`);
    }
    w.line("}");
    w.line(`tile_${name}[kk * ${stageWidth(side)} + rr] = staged;`);
    w.line("}");
  }
}

/** A symbolic count of tiles is bounded by the size itself; surplus workgroups return at once. */
const tilesOf = (size: Dim, side: number): Dim => typeof size === "number" ? Math.ceil(size / side) : size;
