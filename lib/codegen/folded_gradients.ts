/**
 * Gradients of images of few channels under strided filters, for grids: a product of filters and gradients of results
 * makes what each tap of each window adds to a pixel, and loops add that up for each pixel. As products of their own,
 * gradients of a few channels would be read for each of them. Invariant: sums are over output channels, then taps.
 */
import { InternalError } from "../base/errors.ts";
import { add, boundsOf, ceilDiv, type Dim, floorDiv, min, mod, mul, product, sub } from "../sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel, Kernel, LoopKernel, Program } from "../loops/ir.ts";
import { axesOf, symbolsOf } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value } from "../loops/record.ts";
import { isOfFloats, type MakeTemporary, replaceWithTemporaries, roomIn, rowMajor } from "./kernels.ts";
import { pixelOrZero } from "./convolution_results.ts";
import { sideBySide } from "./split_products.ts";
import type { Target } from "./target.ts";

/** Channels of images, and the number of summed channels that are worth storing a sum. */
const MOST_CHANNELS = 4, LEAST_DEPTH = 16;

/** Replaces such gradients of a program. */
export function foldedGradients(program: Program, { grid }: Target): Program {
  if (!grid) return program;
  return replaceWithTemporaries(program, (kernel, temporary) => {
    if (kernel.kind !== "extern" || kernel.call.op !== "convBackwardInput") return [kernel];
    const { call, inputs: [grad, filter] } = kernel;
    if (!grad || !filter || !isOfFloats(kernel, program)) return [kernel];
    if (!isFoldable(call, filter) || !isWhole(grad)) return [kernel];
    const bytes = mul(4, product([...filter.shape.slice(1), ...[0, 2, 3].map((d) => grad.shape[d] ?? 1)]));
    return boundsOf(bytes)[1] <= roomIn(program, grid) ? folded({ ...kernel, call }, temporary) : [kernel];
  }, "replaced");
}

/** Returns whether filters with few input channels overlap, and are matrices of output channels by taps. */
function isFoldable({ stride, dilation, groups }: ConvGeometry, { shape, strides }: BufferView): boolean {
  const [outputs = 1, inputs = 1, ...taps] = shape;
  return groups === 1 && Number(inputs) <= MOST_CHANNELS && Number(outputs) >= LEAST_DEPTH &&
    stride.some((by) => by > 1) && dilation.every((by) => by === 1) &&
    taps.every((size) => typeof size === "number") &&
    [1, 2, 3].every((d) => strides[d] === product(shape.slice(d + 1)));
}

/** Returns whether planes of images are contiguous. */
const isWhole = ({ shape: [, , , width = 1], strides: [, , line, step] }: BufferView): boolean =>
  step === 1 && line === width;

function folded(
  { inputs: [grad, filter], outputs: [out], epilogue, ...kernel }: ExternKernel & {
    readonly call: ConvGeometry;
  },
  temporary: MakeTemporary,
): readonly Kernel[] {
  if (!grad || !filter || !out) throw new InternalError("Expected two operands and a result");
  const [images = 1, outputs = 1, ...places] = grad.shape,
    [, inputs = 1, down = 1, across = 1] = filter.shape;
  const rows = product([inputs, down, across]), columns = product(places), { origins, originals } = kernel;
  const parts = rowMajor(temporary("float32", product([images, rows, columns])), [images, rows, ...places]);
  const [ofImage = 0, ofChannel = 0] = grad.strides;
  const products: ExternKernel = {
    ...kernel,
    call: { op: "matmul", accumulate: false },
    inputs: [
      { ...filter, shape: [images, rows, outputs], strides: [0, 1, filter.strides[0] ?? 0] },
      { ...grad, shape: [images, outputs, columns], strides: [ofImage, ofChannel, 1] },
    ],
    outputs: [{ ...parts, shape: [images, rows, columns], strides: [mul(rows, columns), columns, 1] }],
  };
  const axes = axesOf(out.shape), at = symbolsOf(axes), [n = 0, c = 0, ...pixel] = at;
  const o = new Recorder(loadBufferOperand), { stride, padding } = kernel.call;
  /** The windows that a pixel is in, along one dimension, with the tap that meets it: not all of these exist. */
  const windows = pixel.map((place, d) => {
    const by = stride[d] ?? 1, shifted = add(place, padding[d] ?? 0), size = filter.shape[2 + d] ?? 1;
    return Array.from({ length: Number(ceilDiv(size, by)) }, (_, j) => {
      const tap = add(mod(shifted, by), j * by);
      return {
        window: sub(floorDiv(shifted, by), j),
        tap: min(tap, sub(size, 1)),
        exists: below(o, tap, size),
      };
    });
  });
  let sum: Value | undefined;
  const zero = o.constant(0, "float32");
  for (const y of windows[0] ?? []) {
    for (const x of windows[1] ?? []) {
      const row = add(mul(add(mul(c, down), y.tap), across), x.tap);
      const found = pixelOrZero(o, parts, [n, row, y.window, x.window]);
      const exists = y.exists && x.exists ? o.and(y.exists, x.exists) : y.exists ?? x.exists;
      const part = exists ? o.select(exists, found, zero) : found;
      sum = sum ? o.add(sum, part) : part;
    }
  }
  o.store({ buffer: out.buffer, dtype: "float32" }, flatIndex(out, at), { value: sum ?? zero });
  const fold: LoopKernel = {
    kind: "loops",
    name: `${kernel.name}_fold`,
    body: sideBySide(axes, o.statements),
    origins,
    originals,
  };
  return [products, fold, ...epilogue ? [epilogue] : []];
}

/** The condition that an index is less than a size; undefined if it always is. */
function below(o: Recorder, index: Dim, size: Dim): Value | undefined {
  if (boundsOf(index)[1] < boundsOf(size)[0]) return undefined;
  return o.lt(o.index(index, "int32"), o.index(size, "int32"));
}
