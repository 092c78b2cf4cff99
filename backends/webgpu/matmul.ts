/**
 * Matrix products of any strides, types and sizes as WGSL. Input: a matmul call; output: its shader. Prologues and the
 * epilogue are functions of one element each. Matrices that fit the fast tiles are matmul_tiles.ts's.
 */
import { valueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { finished, type Shader } from "./print/entry.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { elementOf, printElement } from "./nests.ts";
import { ShaderWriter } from "./print/statements.ts";
import { registerType } from "./print/scalar.ts";
import { tilesOf } from "./target.ts";
import { printTiles, TILE_THREADS, type TileOperand } from "./tiles.ts";

/** The shader of a matmul call. */
export function printMatmul(kernel: ExternKernel, program: Program, placement: Placement): Shader {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (kernel.call.op !== "matmul" || !a || !b || !out) {
    throw new InternalError("Expected two operands and a result of a matmul");
  }
  const { accumulate } = kernel.call;
  const rank = out.shape.length;
  const dtype = valueType(program.buffers[out.buffer]?.dtype ?? "float32");
  const prologues = kernel.prologues ?? [], { epilogue } = kernel;
  const read = kernel.inputs.filter((_, input) => !prologues.some((each) => each.input === input));
  const bindings = new Bindings(program, [
    ...[...read, ...(accumulate ? [out] : [])].map((v) =>
      ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype }) as const
    ),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
    ...prologues.flatMap(({ nest }) => elementOf(nest).body.filter((s) => s.kind !== "store")),
    ...epilogue?.body ?? [],
  ], { placement, lanes: 1 });
  const w = new ShaderWriter({ program, bindings, threads: TILE_THREADS, cooperative: false });
  for (const { input, nest } of prologues) {
    printElement(w, nest, { name: `element${input}`, type: registerType(dtype) });
  }
  if (epilogue) printElement(w, epilogue, { name: "finish" });
  const batch = out.shape.slice(0, rank - 2);
  const base = (view: BufferView) =>
    [w.index(view.offset), ...batch.map((_, d) => `n${d} * ${w.index(at(view.strides, d))}`)].join(" + ");
  const counters = batch.map((_, d) => `n${d}, `).join("");
  const operand = (view: BufferView, name: string, depth: number): TileOperand => {
    const prologue = prologues.find(({ input }) => kernel.inputs[input] === view);
    if (prologue) {
      // The innermost loop of a prologue runs along memory
      const isLast = depth === rank - 1, alongDepth = isLast !== prologue.transposed;
      return {
        alongDepth,
        reads: "inside",
        other() {},
        depth() {},
        element(at) {
          const two = alongDepth ? `${at.other}, ${at.depth}` : `${at.depth}, ${at.other}`;
          return { text: `element${prologue.input}(${counters}${two})` };
        },
      };
    }
    const stride = w.index(at(view.strides, depth));
    const other = w.index(at(view.strides, depth === rank - 1 ? rank - 2 : rank - 1));
    return {
      alongDepth: at(view.strides, depth) === 1,
      reads: "anywhere",
      other: (place, as) => w.line(`let at_${as} = base_${name} + ${place} * ${other};`),
      depth: (place, as) => w.line(`let at_${as} = ${place} * ${stride};`),
      element: (at) => ({ text: bindings.load(view.buffer, `at_${at.other} + at_${at.depth}`) }),
    };
  };
  const workgroups = printTiles(w, {
    batch,
    rows: at(out.shape, rank - 2),
    columns: at(out.shape, rank - 1),
    depth: at(a.shape, rank - 1),
    splits: 1,
    type: registerType(dtype),
    zero: `${registerType(dtype)}()`,
    a: operand(a, "a", rank - 1),
    b: operand(b, "b", rank - 2),
    prepare: () => w.line(`let base_a = ${base(a)}; let base_b = ${base(b)}; let base_out = ${base(out)};`),
    result: {
      row: (place, as) =>
        w.line(`let at_${as} = base_out + ${place} * ${w.index(at(out.strides, rank - 2))};`),
      column: (place, as) => w.line(`let at_${as} = ${place} * ${w.index(at(out.strides, rank - 1))};`),
      store({ row, column, value }) {
        const place = `at_${row} + at_${column}`;
        const text = accumulate ? `(${value} + ${bindings.load(out.buffer, place)})` : value;
        w.line(bindings.store(out.buffer, place, { text, mode: "set", helpers: w.helpers }));
        if (epilogue) w.line(`finish(${counters}${row}, ${column});`);
      },
    },
  }, tilesOf(kernel));
  return finished(w, kernel.name, workgroups);
}

function at(list: readonly Dim[], i: number): Dim {
  const item = list[i];
  if (item === undefined) throw new InternalError(`Expected dimension ${i} but found ${list.length}`);
  return item;
}
