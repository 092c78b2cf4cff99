/**
 * Products of matrices that are read through functions: register tiles fully unrolled into named variables,
 * operands staged in workgroup memory. Input: sizes, and how elements are read and written; output: the lines of
 * a shader. Invariant: elements outside the matrices count as zero and are never written.
 */
import { type Dim, product } from "../../lib/sym/expr.ts";
import type { TileSide } from "./target.ts";
import { openMain, placeThreads, POINT, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";

/** Columns of A that are staged at once, and threads along each side of a tile. */
const DEPTH = 16, SIDE = 16;
const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];

/** Invocations of a workgroup. */
export const TILE_THREADS = 256;

/** An element of an operand. */
export interface TileElement {
  readonly text: string;
  /** When it counts; it is zero otherwise. */
  readonly inside?: string;
}

/** One side of a product. What lines declare for a place ends in its name, and elements are told by both names. */
export interface TileOperand {
  /** Whether neighbouring invocations read along the depth, rather than along rows (of A) or columns (of B). */
  readonly alongDepth: boolean;
  /** Whether elements may be read outside of the matrix, to be thrown away. */
  readonly reads: "anywhere" | "inside";
  /** Writes lines about a row (of A) or a column (of B), which are there once for all its elements. */
  other(place: string, name: string): void;
  /** Writes lines about a place along the depth. */
  depth(place: string, name: string): void;
  /** The integers that these declare, by what stands before `_` and the name. */
  readonly declares?: readonly string[];
  element(at: { readonly other: string; readonly depth: string }): TileElement;
}

/** Where results go. */
export interface TileResult {
  /** Writes lines about a row and a column, as of operands. */
  row(place: string, name: string): void;
  column(place: string, name: string): void;
  /** Writes lines that put `value` at a place. */
  store(at: { readonly row: string; readonly column: string; readonly value: string }): void;
}

/**
 * out[batch…, row, column] = Σ over depth of A · B. The counters of `batch` are `n0`, `n1`, …; where the depth is shared,
 * `part` is the number of the share.
 */
export interface TileProduct {
  readonly batch: readonly Dim[];
  readonly rows: Dim;
  readonly columns: Dim;
  /** Or an expression of counters, and of what `prepare` declares. */
  readonly depth: Dim | string;
  /** Workgroups that share the depth of one tile. */
  readonly splits: number;
  readonly type: "f32" | "i32" | "bool";
  readonly zero: string;
  readonly a: TileOperand;
  readonly b: TileOperand;
  readonly result: TileResult;
  /** Writes lines before the first load: bases of addresses. */
  prepare(): void;
}

/** Rows and columns that a workgroup makes. */
export interface Tile {
  readonly rows: TileSide;
  readonly columns: TileSide;
}

/**
 * Finds the place of a workgroup: `column0` and `row0`, the counters, and the part of the depth that is its own. Gives how
 * many workgroups there are.
 */
export function placeWorkgroup(
  w: ShaderWriter,
  job: TileProduct,
  tile: { readonly rows: number; readonly columns: number },
  step: number,
): WorkgroupCount {
  const { splits, depth } = job, batch = splits > 1 ? [...job.batch, splits] : job.batch;
  w.line(`let rows = ${w.index(job.rows)}; let columns = ${w.index(job.columns)};`);
  w.line(`let down = (rows + ${tile.rows - 1}) / ${tile.rows};`);
  w.line(`let across = (columns + ${tile.columns - 1}) / ${tile.columns};`);
  w.line(`var point = i32(${POINT});`);
  w.line(`if (point >= down * across * ${w.index(product(batch))}) { return; }`);
  w.line(`let column0 = (point % across) * ${tile.columns}; point = point / across;`);
  w.line(`let row0 = (point % down) * ${tile.rows}; point = point / down;`);
  for (const [d, size] of [...batch.entries()].reverse()) {
    w.line(`let n${d} = point % ${w.index(size)}; point = point / ${w.index(size)};`);
  }
  job.prepare();
  w.line(`let depth = ${typeof depth === "string" ? depth : w.index(depth)};`);
  const steps = `((depth + ${step * splits - 1}) / ${step * splits})`;
  if (splits > 1) w.line(`let part = n${batch.length - 1};`);
  w.line(`let from_depth = ${splits > 1 ? `part * ${steps} * ${step}` : "0"};`);
  w.line(`let to_depth = min(depth, from_depth + ${steps} * ${step});`);
  return {
    items: product([...batch, tilesOf(job.rows, tile.rows), tilesOf(job.columns, tile.columns)]),
    each: 1,
  };
}

/** Writes the whole shader of a product. */
export function printTiles(w: ShaderWriter, job: TileProduct, tile: Tile): WorkgroupCount {
  const { type, zero } = job, vector = `vec4<${type}>`;
  const [widthA, widthB] = [stageWidth(tile.rows), stageWidth(tile.columns)];
  w.line(`var<workgroup> tile_a: array<${vector}, ${widthA * DEPTH}>;`);
  w.line(`var<workgroup> tile_b: array<${vector}, ${widthB * DEPTH}>;`);
  openMain(w, TILE_THREADS);
  const workgroups = placeWorkgroup(w, job, tile, DEPTH);
  placeThreads(w);
  // Rows of a thread: one or two vectors of four, half a tile apart; columns likewise
  const halves = (side: TileSide) => side === 128 ? [0, 1] : [0], columns = halves(tile.columns);
  const rows = halves(tile.rows).flatMap((half) => FOUR.map((i) => ({ half, i, name: 4 * half + i })));
  for (const { name } of rows) {
    for (const half of columns) w.line(`var s${name}_${half} = ${vector}(${zero});`);
  }
  const stages = [
    new Stage(w, job, { operand: job.a, name: "a", start: "row0", end: "rows", side: tile.rows }),
    new Stage(w, job, { operand: job.b, name: "b", start: "column0", end: "columns", side: tile.columns }),
  ];
  for (const each of stages) each.prepare();
  // The next elements are on their way while products of the last ones are made, where registers are left for them
  const early = tile.rows + tile.columns < 256;
  const fetch = (from: string) => stages.forEach((each) => each.fetch(from));
  if (early) fetch("from_depth");
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${DEPTH}) {`);
  if (!early) fetch("k0");
  for (const each of stages) each.put();
  w.line("workgroupBarrier();");
  if (early) {
    w.line(`if (k0 + ${DEPTH} < to_depth) {`);
    fetch(`k0 + ${DEPTH}`);
    w.line("}");
  }
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
  const { result } = job;
  const places = columns.flatMap((half) => FOUR.map((j) => ({ half, j, name: `c${4 * half + j}` })));
  for (const { half, j, name } of places) {
    w.line(`let ${name} = column0 + (tx + ${half * SIDE}) * 4 + ${j};`);
    result.column(name, name);
  }
  for (const { half, i, name } of rows) {
    const row = `r${name}`;
    w.line(`let ${row} = row0 + (ty + ${half * SIDE}) * 4 + ${i}; if (${row} < rows) {`);
    result.row(row, row);
    for (const { half, j, name: column } of places) {
      w.line(`if (${column} < columns) {`);
      result.store({ row, column, value: `s${name}_${half}.${PARTS[j]}` });
      w.line("}");
    }
    w.line("}");
  }
  w.line("}");
  return workgroups;
}

interface StageSetting {
  readonly operand: TileOperand;
  readonly name: "a" | "b";
  /** First row of A or column of B of this tile, and how many there are. */
  readonly start: string;
  readonly end: string;
  readonly side: TileSide;
}

/** Vectors from one depth of a staged tile to the next: one more than there are, so that banks of memory differ. */
const stageWidth = (side: number): number => side / 4 + 1;

/**
 * Copies a tile into workgroup memory, as [depth][row or column / 4]: each invocation fetches whole vectors and puts them
 * there. Along one of the two directions it has one place for all its vectors, along the other one for each.
 */
class Stage {
  readonly #parts: readonly number[];
  readonly #width: number;

  constructor(
    readonly w: ShaderWriter,
    readonly job: TileProduct,
    readonly setting: StageSetting,
  ) {
    this.#width = setting.side / 4;
    this.#parts = Array.from({ length: this.#width * DEPTH / TILE_THREADS }, (_, part) => part);
  }

  /** Declares the vectors and what is known of them for every depth. */
  prepare(): void {
    const { w } = this, { type, zero } = this.job, { operand, name, start, end } = this.setting;
    for (const part of this.#parts) {
      w.line(`var fetched_${name}${part} = vec4<${type}>(${zero});`);
      if (part > 0 && !operand.alongDepth) continue;
      for (const i of FOUR) {
        const place = this.#other(part, i);
        w.line(
          `let ${place} = ${start} + ${this.#vector(part)} * 4 + ${i}; let in_${place} = ${place} < ${end};`,
        );
        operand.other(place, place);
      }
    }
  }

  fetch(from: string): void {
    const { w } = this, { zero } = this.job, { operand, name } = this.setting;
    w.line("{");
    for (const part of this.#parts) {
      const depth = `depth_${name}${operand.alongDepth ? 0 : part}`;
      if (part === 0 || !operand.alongDepth) {
        w.line(`let ${depth} = ${from} + ${this.#depth(part)}; let in_${depth} = ${depth} < to_depth;`);
        operand.depth(depth, depth);
      }
      FOUR.forEach((i) => {
        const other = this.#other(part, i), { text, inside } = operand.element({ other, depth });
        const where = [`in_${other}`, `in_${depth}`, ...inside === undefined ? [] : [inside]].join(" && ");
        const target = `fetched_${name}${part}.${PARTS[i]}`;
        if (operand.reads === "anywhere") w.line(`${target} = select(${zero}, ${text}, ${where});`);
        else w.line(`${target} = ${zero}; if (${where}) { ${target} = ${text}; }`);
      });
    }
    w.line("}");
  }

  put(): void {
    const { name, side } = this.setting;
    for (const part of this.#parts) {
      const place = `${this.#depth(part)} * ${stageWidth(side)} + ${this.#vector(part)}`;
      this.w.line(`tile_${name}[${place}] = fetched_${name}${part};`);
    }
  }

  #other(part: number, i: number): string {
    const { operand, name } = this.setting;
    return `other_${name}${4 * (operand.alongDepth ? part : 0) + i}`;
  }

  /** The vector's place along the rows or columns, and along the depth. */
  #vector(part: number): string {
    if (!this.setting.operand.alongDepth) return `lid % ${this.#width}`;
    return `(lid / ${DEPTH} + ${part * TILE_THREADS / DEPTH})`;
  }

  #depth(part: number): string {
    if (this.setting.operand.alongDepth) return `lid % ${DEPTH}`;
    return `(lid / ${this.#width} + ${part * TILE_THREADS / this.#width})`;
  }
}

/** A symbolic count of tiles is bounded by the size itself; surplus workgroups return at once. */
const tilesOf = (size: Dim, side: number): Dim => typeof size === "number" ? Math.ceil(size / side) : size;
