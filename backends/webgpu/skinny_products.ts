/**
 * Products whose tiles would be mostly empty, above all convolutions of few channels. Invariant: elements outside the
 * matrices count as zero and are never written.
 *
 * With few rows and many columns, each invocation computes all rows of its columns, so that elements of B go from memory
 * straight to registers; those of A, which all invocations need, are staged in workgroup memory. With few rows and
 * columns and a long depth, as in gradients of weights, the invocations of a workgroup divide the depth, each with
 * private sums, which are added up at the end, always in the same order.
 */
import { openMain, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { SKINNY, type SkinnyRows, SLICED, type SlicedSums } from "./target.ts";
import type { TileProduct } from "./tile_stage.ts";
import { placeWorkgroup } from "./tiles.ts";

const { threads: THREADS } = SKINNY, { threads: SLICES } = SLICED;
const PARTS = ["x", "y", "z", "w"];
/** Steps of depth whose loads are in flight together. */
const TOGETHER = 4;

/** Writes the whole shader of a skinny product. */
export function printSkinnyProduct(
  w: ShaderWriter,
  job: TileProduct,
  { rows, each }: SkinnyRows,
): WorkgroupCount {
  const { type, zero, a, b, result } = job;
  // Rows are vectors of four, or a single vector
  const width = Math.min(rows, 4), count = rows <= 4 ? 1 : rows <= 8 ? 2 : 4, depth = THREADS / count;
  const vector = width === 1 ? type : `vec${width}<${type}>`;
  const element = (name: string, i: number) => width === 1 ? name : `${name}.${PARTS[i]}`;
  const vectors = Array.from({ length: count }, (_, v) => v), places = [...Array(each).keys()];
  const declares = b.declares ?? [];
  w.line(`var<workgroup> tile_a: array<${vector}, ${depth * count}>;`);
  w.line(`var<workgroup> taps: array<vec4i, ${depth}>;`);
  openMain(w, THREADS);
  const workgroups = placeWorkgroup(w, job, { rows, columns: THREADS * each }, depth);
  w.line("let lid = i32(lane);");
  for (const c of places) {
    const column = `column${c + 1}`;
    w.line(`let ${column} = column0 + lid + ${c * THREADS}; let in_${column} = ${column} < columns;`);
    b.other(column, column);
    for (const v of vectors) w.line(`var s${c}_${v} = ${vector}(${zero});`);
  }
  w.line(`let own = (lid % ${count}) * 4;`);
  for (let i = 0; i < width; i++) {
    w.line(`let own${i} = own + ${i}; let in_own${i} = own${i} < rows;`);
    a.other(`own${i}`, `own${i}`);
  }
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${depth}) {`);
  w.line(`let staged = k0 + lid / ${count}; let in_staged = staged < to_depth;`);
  a.depth("staged", "staged");
  w.line(`var fetched = ${vector}(${zero});`);
  for (let i = 0; i < width; i++) {
    const { text, inside } = a.element({ other: `own${i}`, depth: "staged" });
    const where = ["in_staged", `in_own${i}`, ...inside === undefined ? [] : [inside]].join(" && ");
    w.line(`${element("fetched", i)} = select(${zero}, ${text}, ${where});`);
  }
  w.line("tile_a[lid] = fetched;");
  // Positions along the depth are decomposed once for all columns
  w.line(`if (lid < ${depth}) {`);
  w.line("let place = k0 + lid;");
  b.depth("place", "place");
  const kept = [...declares.map((each) => `${each}_place`), "0", "0", "0"].slice(0, 3);
  w.line(`taps[lid] = vec4i(${kept.join(", ")}, select(0, 1, place < to_depth));`);
  w.line("}");
  w.line("workgroupBarrier();");
  w.line(`let end = min(${depth}, to_depth - k0);`);
  w.line(`for (var k = 0; k < end; k = k + ${TOGETHER}) {`);
  const steps = Array.from({ length: TOGETHER }, (_, step) => step);
  for (const step of steps) {
    w.line(`let tap${step} = taps[k + ${step}];`);
    declares.forEach((each, i) => w.line(`let ${each}_k${step} = tap${step}.${PARTS[i]};`));
    for (const c of places) {
      const { text, inside = "true" } = b.element({ other: `column${c + 1}`, depth: `k${step}` });
      const where = `tap${step}.w != 0 && in_column${c + 1} && ${inside}`;
      w.line(`let b${step}_${c} = ${vector}(select(${zero}, ${text}, ${where}));`);
    }
  }
  for (const step of steps) {
    for (const v of vectors) {
      const a = `a${step}_${v}`;
      w.line(`let ${a} = tile_a[(k + ${step}) * ${count} + ${v}];`);
      for (const c of places) {
        const sum = `s${c}_${v}`, b = `b${step}_${c}`;
        w.line(`${sum} = ${type === "f32" ? `fma(${a}, ${b}, ${sum})` : `${sum} + ${a} * ${b}`};`);
      }
    }
  }
  w.line("}");
  w.line("workgroupBarrier();");
  w.line("}");
  for (const c of places) {
    const column = `c${c}`;
    w.line(`let ${column} = column${c + 1}; if (in_column${c + 1}) {`);
    result.column(column, column);
    for (let row = 0; row < rows; row++) {
      const name = `r${row}`;
      w.line("{");
      w.line(`let ${name} = row0 + ${row};`);
      result.row(name, name);
      result.store({ row: name, column, value: element(`s${c}_${row >> 2}`, row & 3) });
      w.line("}");
    }
    w.line("}");
  }
  w.line("}");
  return workgroups;
}

/** Writes the whole shader of a product with few results. */
export function printSlicedProduct(
  w: ShaderWriter,
  job: TileProduct,
  { rows, columns }: SlicedSums,
): WorkgroupCount {
  const { type, zero, a, b, result } = job;
  const across = Array.from({ length: columns }, (_, c) => c),
    down = Array.from({ length: rows }, (_, r) => r);
  const sums = down.flatMap((row) => across.map((column) => ({ row, column, name: `s${row}_${column}` })));
  w.line(`var<workgroup> parts: array<${type}, ${SLICES * sums.length}>;`);
  openMain(w, SLICES);
  const workgroups = placeWorkgroup(w, job, { rows, columns }, SLICES);
  w.line("let lid = i32(lane);");
  for (const r of down) {
    w.line(`let own_r${r} = row0 + ${r}; let in_r${r} = own_r${r} < rows;`);
    a.other(`own_r${r}`, `r${r}`);
  }
  for (const c of across) {
    w.line(`let own_c${c} = column0 + ${c}; let in_c${c} = own_c${c} < columns;`);
    b.other(`own_c${c}`, `c${c}`);
  }
  for (const { name } of sums) w.line(`var ${name} = ${zero};`);
  w.line(`for (var k = from_depth + lid; k < to_depth; k = k + ${SLICES}) {`);
  a.depth("k", "ka");
  b.depth("k", "kb");
  for (const r of down) {
    const { text, inside = "true" } = a.element({ other: `r${r}`, depth: "ka" });
    w.line(`let a${r} = select(${zero}, ${text}, in_r${r} && ${inside});`);
  }
  for (const c of across) {
    const { text, inside = "true" } = b.element({ other: `c${c}`, depth: "kb" });
    w.line(`let b${c} = select(${zero}, ${text}, in_c${c} && ${inside});`);
  }
  for (const { row, column, name } of sums) {
    w.line(
      `${name} = ${type === "f32" ? `fma(a${row}, b${column}, ${name})` : `${name} + a${row} * b${column}`};`,
    );
  }
  w.line("}");
  for (const [i, { name }] of sums.entries()) w.line(`parts[${i * SLICES} + lid] = ${name};`);
  w.line("workgroupBarrier();");
  w.line(`for (var half = ${SLICES / 2}; half > 0; half = half / 2) {`);
  w.line("if (lid < half) {");
  for (const i of sums.keys()) {
    const at = `parts[${i * SLICES} + lid`;
    w.line(`${at}] = ${at}] + ${at} + half];`);
  }
  w.line("}");
  w.line("workgroupBarrier();");
  w.line("}");
  // All others end here together
  w.line("if (lid > 0) { return; }");
  for (const c of across) result.column(`own_c${c}`, `to_c${c}`);
  for (const r of down) result.row(`own_r${r}`, `to_r${r}`);
  for (const [i, { row, column }] of sums.entries()) {
    w.line(`if (in_r${row} && in_c${column}) {`);
    result.store({ row: `to_r${row}`, column: `to_c${column}`, value: `parts[${i * SLICES}]` });
    w.line("}");
  }
  w.line("}");
  return workgroups;
}
