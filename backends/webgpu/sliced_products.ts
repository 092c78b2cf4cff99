/**
 * Products of few rows and columns with a long depth, sliced along the depth: gradients of the weights of depthwise and
 * grouped convolutions. The invocations of a workgroup divide the depth, each with private sums for some results, which
 * are added up at the end, always in the same order. Invariant: elements outside the matrices count as zero and are
 * never written.
 */
import { openMain, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { SLICED, type SlicedSums } from "./target.ts";
import type { TileProduct } from "./tile_product.ts";
import { placeWorkgroup } from "./tiles.ts";

const { threads: THREADS } = SLICED;

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
  w.line(`var<workgroup> parts: array<${type}, ${THREADS * sums.length}>;`);
  openMain(w, THREADS);
  const workgroups = placeWorkgroup(w, job, { rows, columns }, THREADS);
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
  w.line(`for (var k = from_depth + lid; k < to_depth; k = k + ${THREADS}) {`);
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
  for (const [i, { name }] of sums.entries()) w.line(`parts[${i * THREADS} + lid] = ${name};`);
  w.line("workgroupBarrier();");
  w.line(`for (var half = ${THREADS / 2}; half > 0; half = half / 2) {`);
  w.line("if (lid < half) {");
  for (const i of sums.keys()) {
    const at = `parts[${i * THREADS} + lid`;
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
    result.store({ row: `to_r${row}`, column: `to_c${column}`, value: `parts[${i * THREADS}]` });
    w.line("}");
  }
  w.line("}");
  return workgroups;
}
