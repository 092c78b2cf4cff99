/**
 * Splits products with few results and long sums into partial sums in a temporary, which another kernel adds up:
 * otherwise the few tiles would leave most of a grid idle. Invariant: parts are added in order, so that equal calls
 * produce equal bits.
 */
import { valueType } from "../base/dtype.ts";
import { add, type Dim, floorDiv, mul, product, type Sym } from "../sym/expr.ts";
import type { Axis, BufferView, ExternKernel, Kernel, LoopKernel, Program, Statement } from "../loops/ir.ts";
import { axesOf, mergeAxes, reduceLoop, wrapLoops } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value, ValueIds } from "../loops/record.ts";
import { usesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { nestOf } from "./nests.ts";
import { productSizes } from "./product_sizes.ts";
import { axisOf } from "./strip_mining.ts";
import { type MakeTemporary, replaceWithTemporaries, rowMajor } from "./kernels.ts";
import type { Grid, Target } from "./target.ts";

/** Depths of parts are multiples of this, so that they can be read by vectors. */
const STEP = 4;
/** Number of partial sums that are read at once rather than in a loop. */
const AT_ONCE = 64;

/** Splits the products of a program. */
export function splitProducts(program: Program, { grid, kernelBuffers }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    const split = kernel.kind === "extern" ? splitOf(kernel, grid) : WHOLE;
    return kernel.kind === "extern" && split.parts > 1
      ? inParts(kernel, split, { program, temporary, kernelBuffers })
      : [kernel];
  }, "replaced");
}

/** Parts of equal size, and what remains of the depth of a matrix. */
interface Split {
  readonly parts: number;
  readonly rest: number;
}

const WHOLE: Split = { parts: 1, rest: 0 };

/** Enough parts to fill a grid, each of them long compared to the tile that it stores. */
function splitOf(kernel: ExternKernel, grid: Grid): Split {
  const sizes = productSizes(kernel);
  if (
    !sizes || kernel.prologues || kernel.weights || kernel.computed || kernel.causal ||
    kernel.transformed ||
    (kernel.call.op === "matmul" && kernel.call.accumulate)
  ) return WHOLE;
  const { depth } = sizes, wanted = grid.parts(kernel);
  if (kernel.call.op !== "matmul") return { parts: wanted, rest: 0 };
  // Parts of a matrix are matrices of equal size: a few more, or else some fewer, or else another one is shorter
  const isEven = (parts: number) => depth % (parts * STEP) === 0;
  for (let parts = wanted; parts > 1 && parts <= 2 * wanted; parts++) {
    if (isEven(parts)) return { parts, rest: 0 };
  }
  for (let parts = wanted; parts > wanted / 2; parts--) if (isEven(parts)) return { parts, rest: 0 };
  return wanted > 1 ? { parts: wanted, rest: depth % (wanted * STEP) } : WHOLE;
}

interface Setting {
  readonly program: Program;
  readonly temporary: MakeTemporary;
  readonly kernelBuffers: number;
}

function inParts(
  kernel: ExternKernel,
  { parts, rest }: Split,
  { program, temporary, kernelBuffers }: Setting,
): readonly Kernel[] {
  const { call, inputs: [a, b, bias], outputs: [out], epilogue } = kernel;
  const stored = program.buffers[out?.buffer ?? -1]?.dtype;
  if (!a || !b || !out || !stored) return [kernel];
  const dtype = valueType(stored), count = product(out.shape), all = rest > 0 ? parts + 1 : parts;
  const partial = rowMajor(temporary(dtype, mul(count, all)), out.shape);
  const { name, team, origins, originals } = kernel;
  const same = {
    kind: "extern",
    name,
    call,
    origins,
    originals,
    ...team && { team },
  } as const;
  const products: ExternKernel[] = [
    call.op === "matmul"
      ? {
        ...same,
        inputs: [cut(a, -1, { parts, rest }), cut(b, -2, { parts, rest })],
        outputs: [stacked(partial, parts, count)],
      }
      : { ...same, inputs: [a, b], outputs: [partial], parts },
  ];
  if (rest > 0) {
    const outputs = [{ ...partial, offset: add(partial.offset, mul(parts, count)) }];
    products.push({ ...same, name: `${name}_rest`, inputs: [end(a, -1, rest), end(b, -2, rest)], outputs });
  }
  const sum = { name: `${name}_sum`, partial, parts: all, out, bias };
  const finished = epilogue && withEpilogue(sum, epilogue, program);
  if (finished && usesOf(finished).all.size <= kernelBuffers) return [...products, finished];
  return [...products, added(sum, program), ...(epilogue ? [epilogue] : [])];
}

/** A stack of matrices as a stack of parts along one of their dimensions, without its end. */
function cut(view: BufferView, dimension: -1 | -2, { parts, rest }: Split): BufferView {
  const at = view.shape.length + dimension, matrix = view.shape.length - 2;
  const size = floorDiv(add(view.shape[at] ?? 1, -rest), parts);
  return {
    ...view,
    shape: view.shape.with(at, size).toSpliced(matrix, 0, parts),
    strides: view.strides.toSpliced(matrix, 0, mul(size, view.strides[at] ?? 0)),
  };
}

/** The end of matrices along one of their dimensions. */
function end(view: BufferView, dimension: -1 | -2, size: number): BufferView {
  const at = view.shape.length + dimension, from = add(view.shape[at] ?? size, -size);
  return {
    ...view,
    shape: view.shape.with(at, size),
    offset: add(view.offset, mul(from, view.strides[at] ?? 0)),
  };
}

/** A stack of matrices as contiguous parts. */
function stacked(view: BufferView, parts: number, count: Dim): BufferView {
  const matrix = view.shape.length - 2;
  return {
    ...view,
    shape: view.shape.toSpliced(matrix, 0, parts),
    strides: view.strides.toSpliced(matrix, 0, count),
  };
}

/** Partial sums of a result, to which a convolution's bias is added. */
interface Sum {
  readonly name: string;
  readonly partial: BufferView;
  readonly parts: number;
  readonly out: BufferView;
  readonly bias: BufferView | undefined;
}

/** Adds up partial sums. */
function added(sum: Sum, { buffers }: Program): LoopKernel {
  const recorder = new Recorder(loadBufferOperand), axes = axesOf(sum.out.shape);
  recordSum(sum, recorder, { at: axes.map(({ symbol }) => symbol), buffers });
  const merged = mergeAxes(axes, recorder.statements);
  return { kind: "loops", name: sum.name, body: sideBySide(merged.axes, merged.body), origins: [] };
}

/**
 * Adds up partial sums and applies an epilogue to each result; undefined if the epilogue walks the results in another
 * order.
 */
function withEpilogue(sum: Sum, epilogue: LoopKernel, { buffers }: Program): LoopKernel | undefined {
  const { loops, body } = nestOf(epilogue.body), { shape } = sum.out;
  if (loops.length !== shape.length || !loops.every(({ axis }, d) => axis.size === shape[d])) {
    return undefined;
  }
  const used = new ValueIds(nextId(epilogue.body));
  const recorder = new Recorder(loadBufferOperand, used), axes = loops.map(({ axis }) => axis);
  recordSum(sum, recorder, { at: axes.map(({ symbol }) => symbol), buffers });
  return { ...epilogue, body: sideBySide(axes, [...recorder.statements, ...body]) };
}

/** Loops, the last of which runs over adjacent elements. */
export function sideBySide(axes: readonly Axis[], body: readonly Statement[]): readonly Statement[] {
  const last = axes.slice(-1), inner = wrapLoops(last, body);
  return wrapLoops(axes.slice(0, -1), inner.map((s) => s.kind === "loop" ? { ...s, vector: true } : s));
}

/** Records the sum of one result, and its store. */
function recordSum(
  { partial, parts, out, bias }: Sum,
  recorder: Recorder,
  { at, buffers }: { readonly at: readonly Sym[]; readonly buffers: Program["buffers"] },
): void {
  const typeOf = ({ buffer }: BufferView) => buffers[buffer]?.dtype ?? "float32";
  const dtype = valueType(typeOf(out)), count = product(out.shape), place = flatIndex(partial, at);
  const load = (part: Dim) => recorder.loadBuffer(partial.buffer, add(mul(part, count), place), dtype);
  const total = parts <= AT_ONCE
    ? Array.from({ length: parts }, (_, part) => load(part)).reduce((sum, value) => recorder.add(sum, value))
    : sumInLoop(recorder, parts, load);
  const result = bias
    ? recorder.add(total, recorder.loadBuffer(bias.buffer, flatIndex(bias, [at[1] ?? 0]), typeOf(bias)))
    : total;
  recorder.store({ buffer: out.buffer, dtype: typeOf(out) }, flatIndex(out, at), { value: result });
}

function sumInLoop(recorder: Recorder, parts: number, load: (part: Dim) => Value): Value {
  const part = axisOf("p", parts), { statements, result } = recorder.nested(() => load(part.symbol));
  const total = reduceLoop(part, statements, { op: "sum", value: result, index: undefined, recorder });
  recorder.push(total.statement);
  return total.value;
}
