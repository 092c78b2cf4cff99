/**
 * Matrix products as WGSL: register tiles fully unrolled into named variables, operands staged in workgroup
 * memory. Input: a matmul call; output: its shader, for any strides, types and sizes. Invariant: elements outside
 * the matrices count as zero and are never written.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { type Dim, product } from "../../lib/sym/expr.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import type { Shader } from "./print/kernel.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { ShaderWriter } from "./print/statements.ts";
import { constantText, registerType } from "./print/scalar.ts";

const TILE = 64, DEPTH = 16, PER_THREAD = 4, SIDE = TILE / PER_THREAD;

/** The shader of a matmul call (its epilogue is a kernel of its own). */
export function printMatmul(kernel: ExternKernel, program: Program, placement: Placement): Shader {
  if (kernel.call.op !== "matmul") throw new InternalError(`Expected a matmul but found ${kernel.call.op}`);
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (!a || !b || !out) throw new InternalError("Expected two operands and a result");
  const rank = out.shape.length;
  const m = at(out.shape, rank - 2), n = at(out.shape, rank - 1), k = at(a.shape, a.shape.length - 1);
  const dtype = program.buffers[out.buffer]?.dtype ?? "float32";
  const type = registerType(dtype);
  const zero = constantText(0, dtype, new Set());
  const bindings = new Bindings(program, [
    ...[a, b, ...(kernel.call.accumulate ? [out] : [])].map((v) =>
      ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype }) as const
    ),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
  ], { placement, lanes: 1 });
  const w = new ShaderWriter({ program, bindings, threads: 256, cooperative: false });
  const batch = out.shape.slice(0, rank - 2);
  w.line(`var<workgroup> tile_a: array<${type}, ${TILE * DEPTH}>;`);
  w.line(`var<workgroup> tile_b: array<${type}, ${TILE * DEPTH}>;`);
  w.line("@compute @workgroup_size(256)");
  w.line(
    "fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, " +
      "@builtin(local_invocation_index) lane: u32) {",
  );
  w.line(`let rows = ${w.index(m)}; let columns = ${w.index(n)}; let depth = ${w.index(k)};`);
  w.line(`let down = (rows + ${TILE - 1}) / ${TILE}; let across = (columns + ${TILE - 1}) / ${TILE};`);
  w.line("var point = i32(group.x + group.y * groups.x);");
  w.line(`if (point >= down * across * ${w.index(product(batch))}) { return; }`);
  w.line(`let column0 = (point % across) * ${TILE}; point = point / across;`);
  w.line(`let row0 = (point % down) * ${TILE}; point = point / down;`);
  const counters = batch.map((size, d) => ({ name: `n${d}`, size }));
  for (const { name, size } of [...counters].reverse()) {
    w.line(`let ${name} = point % ${w.index(size)}; point = point / ${w.index(size)};`);
  }
  const base = (view: BufferView) =>
    [w.index(view.offset), ...counters.map(({ name }, d) => `${name} * ${w.index(at(view.strides, d))}`)]
      .join(" + ");
  w.line(`let base_a = ${base(a)}; let base_b = ${base(b)}; let base_out = ${base(out)};`);
  w.line(`let lid = i32(lane); let ty = lid / ${SIDE}; let tx = lid % ${SIDE};`);
  const ids = Array.from({ length: PER_THREAD }, (_, i) => i);
  for (const i of ids) for (const j of ids) w.line(`var s${i}_${j}: ${type} = ${zero};`);
  w.line(`for (var k0 = 0; k0 < depth; k0 = k0 + ${DEPTH}) {`);
  stage(w, {
    view: a,
    name: "a",
    rows: "rows",
    row0: "row0",
    base: "base_a",
    last: rank - 1,
    zero,
    bindings,
  });
  stage(w, {
    view: b,
    name: "b",
    rows: "columns",
    row0: "column0",
    base: "base_b",
    last: rank - 2,
    zero,
    bindings,
  });
  w.line("workgroupBarrier();");
  w.line(`for (var k = 0; k < ${DEPTH}; k = k + 1) {`);
  for (const i of ids) {
    w.line(`let a${i} = tile_a[k * ${TILE} + ty * ${PER_THREAD} + ${i}];`);
    w.line(`let b${i} = tile_b[k * ${TILE} + tx + ${i * SIDE}];`);
  }
  for (const i of ids) {
    for (const j of ids) {
      w.line(
        type === "f32"
          ? `s${i}_${j} = fma(a${i}, b${j}, s${i}_${j});`
          : `s${i}_${j} = s${i}_${j} + a${i} * b${j};`,
      );
    }
  }
  w.line("}");
  w.line("workgroupBarrier();");
  w.line("}");
  for (const i of ids) {
    for (const j of ids) {
      const row = `row0 + ty * ${PER_THREAD} + ${i}`, column = `column0 + tx + ${j * SIDE}`;
      const place = `base_out + (${row}) * ${w.index(at(out.strides, rank - 2))} + (${column}) * ${
        w.index(at(out.strides, rank - 1))
      }`;
      const value = kernel.call.accumulate
        ? `s${i}_${j} + ${bindings.load(out.buffer, place)}`
        : `s${i}_${j}`;
      w.line(`if (${row} < rows && ${column} < columns) {`);
      w.line(bindings.store(out.buffer, place, { text: `(${value})`, mode: "set" }));
      w.line("}");
    }
  }
  w.line("}");
  const tiles = product([...batch, ceilDiv(m), ceilDiv(n)]);
  return {
    name: kernel.name,
    code: w.finish(),
    memories: bindings.memories,
    workgroups: { items: tiles, each: 1 },
  };
}

interface Stage {
  readonly view: BufferView;
  readonly name: "a" | "b";
  /** Number of rows (of A) or columns (of B), and the first of this tile. */
  readonly rows: string;
  readonly row0: string;
  readonly base: string;
  /** Dimension of the operand that the depth runs along. */
  readonly last: number;
  readonly zero: string;
  readonly bindings: Bindings;
}

/** Copies a tile [DEPTH][TILE] into workgroup memory, neighbouring invocations along the unit stride. */
function stage(w: ShaderWriter, { view, name, rows, row0, base, last, zero, bindings }: Stage): void {
  const other = last === view.shape.length - 1 ? last - 1 : last + 1;
  const depthStride = at(view.strides, last), otherStride = at(view.strides, other);
  const alongDepth = depthStride === 1;
  for (let part = 0; part < TILE * DEPTH / 256; part++) {
    const e = `(lid + ${part * 256})`;
    const kk = alongDepth ? `${e} % ${DEPTH}` : `${e} / ${TILE}`;
    const rr = alongDepth ? `${e} / ${DEPTH}` : `${e} % ${TILE}`;
    w.line("{");
    w.line(`let kk = ${kk}; let rr = ${rr};`);
    w.line(`var value = ${zero};`);
    w.line(`if (k0 + kk < depth && ${row0} + rr < ${rows}) {`);
    const place = `${base} + (${row0} + rr) * ${w.index(otherStride)} + (k0 + kk) * ${w.index(depthStride)}`;
    w.line(`value = ${bindings.load(view.buffer, place)};`);
    w.line("}");
    w.line(`tile_${name}[kk * ${TILE} + rr] = value;`);
    w.line("}");
  }
}

function ceilDiv(size: Dim): Dim {
  // A symbolic count of tiles is bounded by the size itself; surplus workgroups return at once
  return typeof size === "number" ? Math.ceil(size / TILE) : size;
}

function at(list: readonly Dim[], i: number): Dim {
  const item = list[i];
  if (item === undefined) throw new InternalError(`Expected dimension ${i} but found ${list.length}`);
  return item;
}
