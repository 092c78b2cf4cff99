/**
 * Products with few results and long sums in parts, each a result of its own, which one kernel adds up: otherwise few
 * tiles would leave most of a grid idle. Input: a program for a grid; output: the same, where such a call has parts in a
 * temporary. Invariant: parts are added in their order, so that equal calls give equal bits.
 */
import { valueType } from "../base/dtype.ts";
import { add, type Dim, floorDiv, mul, product } from "../sym/expr.ts";
import type { BufferView, ExternKernel, Kernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, mergeAxes, reduceLoop, wrapLoops } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder } from "../loops/record.ts";
import { productSizes } from "./product_sizes.ts";
import { axisOf } from "./cut_loop.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import type { Grid, Target } from "./target.ts";

/** The program with parts of sums. */
export function splitProducts(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const parts = kernel.kind === "extern" ? partsOf(kernel, grid) : 1;
    return kernel.kind === "extern" && parts > 1 ? inParts(kernel, parts, { program, temporary }) : [kernel];
  });
}

/** Tiles are filled by parts of sums, each of which should be long against the tile that it leaves. */
function partsOf(kernel: ExternKernel, grid: Grid): number {
  const sizes = productSizes(kernel);
  if (
    !sizes || kernel.prologues || kernel.weights || (kernel.call.op === "matmul" && kernel.call.accumulate)
  ) return 1;
  const { rows, columns, depth, batch } = sizes, tiles = grid.tiles(kernel);
  const count = Math.ceil(rows / tiles.rows) * Math.ceil(columns / tiles.columns) * batch;
  const wanted = Math.min(Math.ceil(tiles.busy / Math.max(1, count)), Math.floor(depth / tiles.depth));
  if (kernel.call.op !== "matmul") return Math.max(1, wanted);
  // Parts of matrices are matrices of one size
  for (let parts = wanted; parts > 1; parts--) if (depth % (parts * tiles.step) === 0) return parts;
  return 1;
}

interface Setting {
  readonly program: Program;
  readonly temporary: MakeTemporary;
}

function inParts(kernel: ExternKernel, parts: number, { program, temporary }: Setting): readonly Kernel[] {
  const { call, inputs: [a, b, bias], outputs: [out], epilogue } = kernel;
  const stored = program.buffers[out?.buffer ?? -1]?.dtype;
  if (!a || !b || !out || !stored) return [kernel];
  const dtype = valueType(stored), count = product(out.shape);
  const partial = rowMajor(temporary(dtype, mul(count, parts)), out.shape);
  const { name, team, origins, given } = kernel,
    same = { kind: "extern", name, call, origins, given, ...team && { team } } as const;
  const first: ExternKernel = call.op === "matmul"
    ? { ...same, inputs: [cut(a, -1, parts), cut(b, -2, parts)], outputs: [stacked(partial, parts, count)] }
    : { ...same, inputs: [a, b], outputs: [partial], parts };
  const sum = added({ name: `${name}_sum`, partial, parts, out, bias }, program);
  return [first, sum, ...(epilogue ? [epilogue] : [])];
}

/** A stack of matrices as a stack of parts of one of their dimensions. */
function cut(view: BufferView, dimension: -1 | -2, parts: number): BufferView {
  const at = view.shape.length + dimension, matrix = view.shape.length - 2;
  const size = floorDiv(view.shape[at] ?? 1, parts);
  return {
    ...view,
    shape: view.shape.with(at, size).toSpliced(matrix, 0, parts),
    strides: view.strides.toSpliced(matrix, 0, mul(size, view.strides[at] ?? 0)),
  };
}

/** A stack of matrices as parts, each behind the other. */
function stacked(view: BufferView, parts: number, count: Dim): BufferView {
  const matrix = view.shape.length - 2;
  return {
    ...view,
    shape: view.shape.toSpliced(matrix, 0, parts),
    strides: view.strides.toSpliced(matrix, 0, count),
  };
}

/** Sums of parts, with the bias of a convolution. */
function added(
  { name, partial, parts, out, bias }: {
    readonly name: string;
    readonly partial: BufferView;
    readonly parts: number;
    readonly out: BufferView;
    readonly bias: BufferView | undefined;
  },
  { buffers }: Program,
): LoopKernel {
  const typeOf = ({ buffer }: BufferView) => buffers[buffer]?.dtype ?? "float32";
  const dtype = valueType(typeOf(out)), recorder = new Recorder(loadBufferOperand);
  const axes = axesOf(out.shape), at = axes.map(({ symbol }) => symbol), part = axisOf("p", parts);
  const count = product(out.shape), place = add(mul(part.symbol, count), flatIndex(partial, at));
  const { statements, result } = recorder.nested(() => recorder.loadBuffer(partial.buffer, place, dtype));
  const total = reduceLoop(part, statements, { op: "sum", value: result, index: undefined, recorder });
  recorder.push(total.statement);
  const biased = bias
    ? recorder.add(total.value, recorder.loadBuffer(bias.buffer, flatIndex(bias, [at[1] ?? 0]), typeOf(bias)))
    : total.value;
  recorder.store({ buffer: out.buffer, dtype: typeOf(out) }, flatIndex(out, at), { value: biased });
  const merged = mergeAxes(axes, recorder.statements);
  return { kind: "loops", name, body: wrapLoops(merged.axes, merged.body), origins: [] };
}
