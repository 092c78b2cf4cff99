/**
 * Shaders of matrix products with any strides, types and sizes. Prologues are functions of one element each, the
 * epilogue is one of an element or of four.
 */
import { valueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { BufferView, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { finished, type Shader } from "./print/entry.ts";
import type { Placement } from "./print/bindings.ts";
import {
  elementOf,
  type Fours,
  foursOf,
  passedNest,
  printElement,
  printFours,
  printPassed,
  vectorDimension,
} from "./vec4.ts";
import { ShaderWriter } from "./print/statements.ts";
import { registerType } from "./print/scalar.ts";
import { type Tile, tileThreads } from "./product_tiles.ts";
import { tilesOf } from "./target.ts";
import type { TileOperand, TileResult } from "./tile_stage.ts";
import { printTiles } from "./tiles.ts";

interface MatmulSetting {
  readonly placement: Placement;
  /** Default: the one that the target chooses. */
  readonly tile?: Tile;
}

/** The shader of a matmul call. */
export function printMatmul(
  kernel: ExternKernel,
  program: Program,
  { placement, tile = tilesOf(kernel, placement.workgroupBytes) }: MatmulSetting,
): Shader {
  const [a, b] = kernel.inputs, [out] = kernel.outputs;
  if (kernel.call.op !== "matmul" || !a || !b || !out) {
    throw new InternalError("Expected two operands and a result of a matmul");
  }
  const { accumulate } = kernel.call;
  const rank = out.shape.length;
  const dtype = valueType(program.buffers[out.buffer]?.dtype ?? "float32");
  const prologues = kernel.prologues ?? [], { epilogue } = kernel;
  const read = kernel.inputs.filter((_, input) => !prologues.some((each) => each.input === input));
  const isFloat = (view: BufferView) => program.buffers[view.buffer]?.dtype === "float32";
  const touched = (view: BufferView, byVectors: boolean) => ({ buffer: view.buffer, byVectors });
  const byVectors = (view: BufferView) => isFloat(view) && vectorDimension(view) !== undefined;
  const fours = foursOf({
    program,
    placement,
    statements: [
      ...[...read, ...(accumulate ? [out] : [])].map((v) =>
        ({ kind: "load", id: 0, buffer: v.buffer, index: 0, dtype }) as const
      ),
      { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
      ...prologues.flatMap(({ nest }) => elementOf(nest).body.filter((s) => s.kind !== "store")),
      ...epilogue?.body ?? [],
    ],
    operands: read.map((view) => touched(view, byVectors(view))),
    out: touched(out, isFloat(out) && vectorDimension(out) === rank - 1),
    epilogue,
  });
  const { bindings } = fours;
  const w = new ShaderWriter({ program, bindings, threads: tileThreads(tile), cooperative: false });
  for (const { input, nest } of prologues) {
    printElement(w, nest, { name: `element${input}`, type: registerType(dtype) });
  }
  const passed = fours.epilogue && !accumulate ? passedNest(fours.epilogue, out) : undefined;
  if (passed) printPassed(w, passed, "finish");
  else if (fours.epilogue) printFours(w, fours.epilogue, "finish");
  else if (epilogue) printElement(w, epilogue, { name: "finish" });
  const batch = out.shape.slice(0, rank - 2);
  const base = (view: BufferView) =>
    [w.index(view.offset), ...batch.map((_, d) => `n${d} * ${w.index(at(view.strides, d))}`)].join(" + ");
  const product = {
    w,
    kernel,
    fours,
    out,
    counters: batch.map((_, d) => `n${d}, `).join(""),
    byVectors,
    passed,
  };
  const workgroups = printTiles(w, {
    batch,
    rows: at(out.shape, rank - 2),
    columns: at(out.shape, rank - 1),
    depth: kernel.causal
      ? `min(${w.index(at(a.shape, rank - 1))}, row0 + ${tile.rows})`
      : at(a.shape, rank - 1),
    splits: 1,
    peeled: true,
    type: registerType(dtype),
    zero: `${registerType(dtype)}()`,
    a: operandOf(product, a, { name: "a", depth: rank - 1 }),
    b: operandOf(product, b, { name: "b", depth: rank - 2 }),
    prepare: () => w.line(`let base_a = ${base(a)}; let base_b = ${base(b)}; let base_out = ${base(out)};`),
    result: resultOf(product, accumulate),
  }, tile);
  return finished(w, kernel.name, workgroups);
}

/** Facts that the operands and the result of a product share. */
interface MatmulPrint {
  readonly w: ShaderWriter;
  readonly kernel: ExternKernel;
  readonly fours: Fours;
  readonly out: BufferView;
  /** Counters of the batch, as arguments before others. */
  readonly counters: string;
  /** Returns whether four elements of an operand are adjacent. */
  readonly byVectors: (view: BufferView) => boolean;
  /** The epilogue, if it takes results from registers. */
  readonly passed: ReturnType<typeof passedNest>;
}

/** An operand, whose dimension `depth` is summed. */
function operandOf(
  { w, kernel, fours: { bindings }, out, counters, byVectors }: MatmulPrint,
  view: BufferView,
  { name, depth }: { readonly name: string; readonly depth: number },
): TileOperand {
  const isLast = depth === out.shape.length - 1;
  const prologue = kernel.prologues?.find(({ input }) => kernel.inputs[input] === view);
  if (prologue) {
    // The innermost loop of a prologue is contiguous in memory
    const alongDepth = isLast !== prologue.transposed;
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
  const other = w.index(at(view.strides, isLast ? depth - 1 : depth + 1));
  const place = (at: { readonly other: string; readonly depth: string }) => `at_${at.other} + at_${at.depth}`;
  const along = byVectors(view) && bindings.inFours(view.buffer) ? vectorDimension(view) : undefined;
  return {
    alongDepth: along === undefined ? at(view.strides, depth) === 1 : along === depth,
    reads: "anywhere",
    other: (place, as) => w.line(`let at_${as} = base_${name} + ${place} * ${other};`),
    depth: (place, as) => w.line(`let at_${as} = ${place} * ${stride};`),
    element: (at) => ({ text: bindings.load(view.buffer, place(at)) }),
    ...along !== undefined && { four: (at) => bindings.loadFour(view.buffer, place(at)) },
  };
}

/** The result, which `accumulate` adds to what is there. */
function resultOf({ w, kernel, fours, out, counters, passed }: MatmulPrint, accumulate: boolean): TileResult {
  const { bindings } = fours, [ofRow, ofColumn] = [at(out.strides, -2), at(out.strides, -1)];
  const finish = (row: string, column: string) => {
    if (kernel.epilogue) w.line(`finish(${counters}${row}, ${column});`);
  };
  return {
    row: (place, as) => w.line(`let at_${as} = base_out + ${place} * ${w.index(ofRow)};`),
    column: (place, as) => w.line(`let at_${as} = ${place} * ${w.index(ofColumn)};`),
    store({ row, column, value }) {
      const place = `at_${row} + at_${column}`;
      const text = accumulate ? `(${value} + ${bindings.load(out.buffer, place)})` : value;
      w.line(bindings.store(out.buffer, place, { text, mode: "set", helpers: w.helpers }));
      finish(row, column);
    },
    ...fours.stores && {
      storeFour({ row, column, value }) {
        const place = `at_${row} + at_${column}`;
        const text = accumulate ? `(${value} + ${bindings.loadFour(out.buffer, place)})` : value;
        if (!passed?.overwrites) w.line(bindings.storeFour(out.buffer, place, text));
        finish(row, `${column} / 4${passed?.passed.map(() => `, ${text}`).join("") ?? ""}`);
      },
    },
  };
}

function at(list: readonly Dim[], i: number): Dim {
  const item = list.at(i);
  if (item === undefined) throw new InternalError(`Expected dimension ${i} but found ${list.length}`);
  return item;
}
