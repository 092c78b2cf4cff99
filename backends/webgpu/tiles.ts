/**
 * Products of matrices that are read through functions: register tiles fully unrolled into named variables, operands
 * staged in workgroup memory. Invariant: elements outside the matrices count as zero and are never written.
 */
import { ceilDiv, product } from "../../lib/sym/expr.ts";
import { sliceThreads, stageWidth, type Tile, tileThreads } from "./product_tiles.ts";
import { openMain, placeThreads, POINT, type WorkgroupCount } from "./print/entry.ts";
import { type TileProduct, TileStage } from "./tile_stage.ts";
import type { ShaderWriter } from "./print/statements.ts";

const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];

/**
 * Computes the position of a workgroup: `column0` and `row0`, the counters, and its part of the depth. Returns the
 * number of workgroups.
 */
export function placeWorkgroup(
  w: ShaderWriter,
  job: Pick<TileProduct, "batch" | "rows" | "columns" | "depth" | "splits" | "prepare">,
  tile: Pick<Tile, "rows" | "columns">,
  step: number,
): WorkgroupCount {
  const { splits, depth } = job, batch = splits > 1 ? [...job.batch, splits] : job.batch;
  w.line(`let rows = ${w.number("rows", job.rows)}; let columns = ${w.number("columns", job.columns)};`);
  w.line(`let down = (rows + ${tile.rows - 1}) / ${tile.rows};`);
  w.line(`let across = (columns + ${tile.columns - 1}) / ${tile.columns};`);
  w.line(`var point = i32(${POINT});`);
  w.line(`if (point >= down * across * ${w.number("batch", product(batch))}) { return; }`);
  w.line(`let column0 = (point % across) * ${tile.columns}; point = point / across;`);
  w.line(`let row0 = (point % down) * ${tile.rows}; point = point / down;`);
  for (const [d, size] of [...batch.entries()].reverse()) {
    const count = w.number(`batch ${d}`, size);
    w.line(`let n${d} = point % ${count}; point = point / ${count};`);
  }
  job.prepare();
  w.line(`let depth = ${typeof depth === "string" ? depth : w.number("depth", depth)};`);
  const together = w.number("depth of all parts together", step * splits);
  const steps = `((depth + ${together} - 1) / ${together})`;
  if (splits > 1) w.line(`let part = n${batch.length - 1};`);
  w.line(`let from_depth = ${splits > 1 ? `part * ${steps} * ${step}` : "0"};`);
  w.line(`let to_depth = min(depth, from_depth + ${steps} * ${step});`);
  return {
    items: product([...batch, ceilDiv(job.rows, tile.rows), ceilDiv(job.columns, tile.columns)]),
    each: 1,
  };
}

/**
 * The rows and columns of a thread: of each one or two vectors of four, half a tile apart, or up to four vectors of
 * columns; and the threads of a tile.
 */
function shareOf({ rows, columns, each }: Tile) {
  const tall = FOUR.slice(0, each.rows / 4), wide = FOUR.slice(0, each.columns / 4);
  return {
    tall,
    wide,
    rows: tall.flatMap((part) => FOUR.map((i) => ({ part, i, name: 4 * part + i }))),
    across: columns / each.columns,
    down: rows / each.rows,
  };
}

/** Writes the whole shader of a product. */
export function printTiles(w: ShaderWriter, job: TileProduct, tile: Tile): WorkgroupCount {
  const { type, zero } = job, vector = `vec4<${type}>`, threads = tileThreads(tile), { depth } = tile;
  const stages = ([["a", "row0", "rows"], ["b", "column0", "columns"]] as const).map(([name, start, end]) => {
    const setting = {
      operand: job[name],
      name,
      start,
      end,
      side: tile[end],
      count: job[end],
      depth,
      threads,
    };
    return new TileStage(w, job, setting);
  });
  for (const each of stages) each.declare();
  openMain(w, threads);
  const { rows, across, down, tall, wide } = shareOf(tile);
  const workgroups = placeWorkgroup(w, job, tile, depth);
  const sliced = tile.slices > 1 ? sliceThreads(tile) : undefined;
  placeThreads(w, across, sliced);
  for (const { name } of rows) {
    for (const column of wide) w.line(`var s${name}_${column} = ${vector}(${zero});`);
  }
  for (const each of stages) each.prepare();
  const fetch = (from: string) => stages.forEach((each) => each.fetch(from));
  const put = () => {
    for (const each of stages) each.put();
    w.line("workgroupBarrier();");
  };
  const { peeled } = job;
  if (peeled) fetch("from_depth");
  w.line(`for (var k0 = from_depth${peeled ? "" : ` - ${depth}`}; k0 < to_depth; k0 = k0 + ${depth}) {`);
  if (peeled) put();
  // The next elements are in flight while products of the previous ones are computed
  w.line(`if (k0 + ${depth} < to_depth) {`);
  fetch(`k0 + ${depth}`);
  w.line("}");
  if (!peeled) w.line("if (k0 >= from_depth) {");
  for (let k = 0; k < depth / tile.slices; k++) {
    const at = sliced === undefined ? k : `slice * ${depth / tile.slices} + ${k}`;
    w.line("{");
    for (const part of tall) w.line(`let a${part} = tile_a[${at}][ty + ${part * down}];`);
    for (const part of wide) w.line(`let b${part} = tile_b[${at}][tx + ${part * across}];`);
    for (const { part, i, name } of rows) {
      const a = `${vector}(a${part}.${PARTS[i]})`;
      for (const column of wide) {
        const sum = `s${name}_${column}`;
        w.line(
          `${sum} = ${type === "f32" ? `fma(${a}, b${column}, ${sum})` : `${sum} + ${a} * b${column}`};`,
        );
      }
    }
    w.line("}");
  }
  if (!peeled) w.line("}");
  w.line("workgroupBarrier();");
  if (!peeled) put();
  w.line("}");
  if (sliced !== undefined) {
    addSlices(w, tile, rows.map(({ name }) => wide.map((column) => `s${name}_${column}`)));
    w.line("if (slice == 0) {");
  }
  storeResults(w, job, tile);
  if (sliced !== undefined) w.line("}");
  w.line("}");
  return workgroups;
}

/** Writes the sums of a thread to where the result has them. */
function storeResults(w: ShaderWriter, { result }: TileProduct, tile: Tile): void {
  const { rows, across, down, wide } = shareOf(tile);
  const { storeFour } = result, lanes = storeFour ? [0] : FOUR;
  const places = wide.flatMap((part) => lanes.map((j) => ({ part, j, name: `c${4 * part + j}` })));
  for (const { part, j, name } of places) {
    w.line(`let ${name} = column0 + (tx + ${part * across}) * 4 + ${j};`);
    result.column(name, name);
  }
  for (const { part, i, name } of rows) {
    const row = `r${name}`;
    w.line(`let ${row} = row0 + (ty + ${part * down}) * 4 + ${i}; if (${row} < rows) {`);
    result.row(row, row);
    for (const { part, j, name: column } of places) {
      w.line(`if (${column} < columns) {`);
      const sum = `s${name}_${part}`;
      if (storeFour) storeFour({ row, column, value: sum });
      else result.store({ row, column, value: `${sum}.${PARTS[j]}` });
      w.line("}");
    }
    w.line("}");
  }
}

/** Adds sums of the second slice to those of the first, four rows at a time, through the memory of an operand. */
function addSlices(w: ShaderWriter, tile: Tile, sums: readonly (readonly string[])[]): void {
  const threads = sliceThreads(tile), width = stageWidth(tile.columns);
  for (let from = 0; from < sums.length; from += FOUR.length) {
    const each = sums.slice(from, from + FOUR.length).flat().map((sum, n) => {
      const place = `(inner + ${n * threads})`;
      return { sum, kept: `tile_b[${place} / ${width}][${place} % ${width}]` };
    });
    if (from > 0) w.line("workgroupBarrier();");
    w.line("if (slice == 1) {");
    for (const { sum, kept } of each) w.line(`${kept} = ${sum};`);
    w.line("}");
    w.line("workgroupBarrier();");
    w.line("if (slice == 0) {");
    for (const { sum, kept } of each) w.line(`${sum} = ${sum} + ${kept};`);
    w.line("}");
  }
}
