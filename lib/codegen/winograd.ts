/**
 * 3 × 3 convolutions with stride 1, and gradients of their filters, as products of transforms (Winograd 1980, Lavin and
 * Gray 2016): squares of results with the pixels under them, and filters, become as many places each, and the products
 * of one place are one of matrices. A square of 2 × 2 results takes 16 products instead of 36, one of 4 × 4 results 36
 * instead of 144. Invariant: pixels outside images count as zero.
 */
import { InternalError } from "../base/errors.ts";
import { add, ceilDiv, type Dim, min, mul, product, sub } from "../sym/expr.ts";
import type { BufferView, ConvGeometry, ExternKernel, Kernel, LoopKernel } from "../loops/ir.ts";
import { axesOf, symbolsOf } from "../loops/nest.ts";
import { flatIndex, loadBufferOperand, Recorder, type Value } from "../loops/record.ts";
import { pixelOrZero, resultKernels } from "./convolution_results.ts";
import { type MakeTemporary, rowMajor } from "./kernels.ts";

import { sideBySide } from "./split_products.ts";
import {
  type Matrix,
  ofFactors,
  ofPixels,
  ofSums,
  placesOf,
  POINTS,
  type Side,
  TAPS,
} from "./winograd_matrices.ts";

/** How a convolution is transformed. */
interface Transforms {
  readonly side: Side;
  readonly temporary: MakeTemporary;
  readonly kernelBuffers: number;
}

type Convolution = ExternKernel & { readonly call: ConvGeometry };

/** Squares of results: images, and those of an image down and across. */
const squaresOf = ({ shape: [images = 1, , ...size] }: BufferView, side: Side): readonly Dim[] => [
  images,
  ...size.map((each) => ceilDiv(each, side)),
];

/** The kernels of a convolution, or a gradient of filters, whose images have known sizes. */
export const transformedKernels = (kernel: Convolution, transforms: Transforms): readonly Kernel[] =>
  kernel.call.op === "convBackwardWeight" ? gradient(kernel, transforms) : convolution(kernel, transforms);

function convolution(kernel: Convolution, transforms: Transforms): readonly Kernel[] {
  const { inputs: [image, filter], outputs: [out], call } = kernel,
    { side, temporary, kernelBuffers } = transforms;
  if (!image || !filter || !out) throw new InternalError("Expected the operands of a convolution");
  const points = POINTS[side], [outputs = 1, inputs = 1] = filter.shape, [, , ...size] = out.shape;
  const squares = squaresOf(out, side), count = product(squares);
  const filters = transformedView(kernel, "filter", {
    to: temporary,
    sizes: [outputs, inputs],
    matrix: ofFactors(points, TAPS),
    load: (o, at, i, j) => o.loadBuffer(filter.buffer, flatIndex(filter, [...at, i, j]), "float32"),
  });
  const pixels = transformedImages(kernel, image, {
    to: temporary,
    squares,
    side,
    matrix: ofPixels(points),
    padding: call.padding,
  });
  const [products, sums] = multiplied(kernel, temporary, {
    left: stacked(filters.view, [outputs, inputs]),
    right: stacked(pixels.view, [inputs, count]),
  });
  const rest = size.map((each) => Number(each) % side);
  const finish = resultKernels(kernel, kernelBuffers, {
    repeats: rest.some((each) => each > 0),
    record(o, store) {
      const axes = axesOf([squares[0] ?? 1, outputs, ...squares.slice(1)]);
      const [n = 0, c = 0, ...square] = symbolsOf(axes);
      const place = [n, ...square].reduce((at, each, d) => add(mul(at, squares[d] ?? 1), each));
      const found = transformed(
        o,
        ofSums(points, side),
        (i, j) => o.loadBuffer(sums.buffer, flatIndex(sums, [i * placesOf(side) + j, c, place]), "float32"),
      );
      /** A line of a square, and one inside the image to take instead: results outside repeat the last ones inside. */
      const line = (d: 0 | 1, k: number) => {
        const at = add(mul(square[d] ?? 0, side), k), all = size[d] ?? 1, last = (rest[d] ?? 0) - 1;
        if (last < 0 || k <= last) return { at, own: undefined, last: k };
        return { at: min(at, sub(all, 1)), own: o.lt(o.index(at, "int32"), o.index(all, "int32")), last };
      };
      const valueOf = (i: number, j: number) => found[i]?.[j] ?? o.constant(0, "float32");
      for (let i = 0; i < side; i++) {
        const y = line(0, i);
        const inRow = (j: number) =>
          y.own ? o.select(y.own, valueOf(i, j), valueOf(y.last, j)) : valueOf(i, j);
        for (let j = 0; j < side; j++) {
          const x = line(1, j);
          store([n, c, y.at, x.at], x.own ? o.select(x.own, inRow(j), inRow(x.last)) : inRow(j));
        }
      }
      return axes;
    },
  });
  return [filters.kernel, pixels.kernel, products, ...finish];
}

function gradient(kernel: Convolution, transforms: Transforms): readonly Kernel[] {
  const { inputs: [grad, image], outputs: [out], call } = kernel,
    { side, temporary, kernelBuffers } = transforms;
  if (!grad || !image || !out) throw new InternalError("Expected two operands and a result");
  const points = POINTS[side], [outputs = 1, inputs = 1] = out.shape;
  const squares = squaresOf(grad, side), count = product(squares), shared = { to: temporary, squares, side };
  const grads = transformedImages(kernel, grad, {
    ...shared,
    matrix: ofFactors(points, side),
    padding: [0, 0],
  });
  const pixels = transformedImages(kernel, image, {
    ...shared,
    matrix: ofPixels(points),
    padding: call.padding,
  });
  const right = stacked(pixels.view, [inputs, count]);
  const [products, sums] = multiplied(kernel, temporary, {
    left: stacked(grads.view, [outputs, count]),
    right: {
      ...right,
      shape: right.shape.with(1, count).with(2, inputs),
      strides: right.strides.with(1, 1).with(2, count),
    },
  });
  const finish = resultKernels(kernel, kernelBuffers, {
    record(o, store) {
      const axes = axesOf([outputs, inputs]), at = symbolsOf(axes);
      const found = transformed(
        o,
        ofSums(points, TAPS),
        (i, j) => o.loadBuffer(sums.buffer, flatIndex(sums, [i * placesOf(side) + j, ...at]), "float32"),
      );
      found.forEach((line, i) => line.forEach((value, j) => store([...at, i, j], value)));
      return axes;
    },
  });
  return [grads.kernel, pixels.kernel, products, ...finish];
}

/** A stack of matrices of these sizes, one for each place. */
function stacked(view: BufferView, [rows, columns]: readonly [Dim, Dim]): BufferView {
  const [across = 1, down = 1] = view.shape;
  return { ...view, shape: [mul(across, down), rows, columns], strides: [mul(rows, columns), columns, 1] };
}

/** A product of stacks of matrices, and its result. */
function multiplied(
  { name, origins, originals }: ExternKernel,
  temporary: MakeTemporary,
  { left, right }: { readonly left: BufferView; readonly right: BufferView },
): readonly [ExternKernel, BufferView] {
  const shape = left.shape.with(2, right.shape[2] ?? 1),
    out = rowMajor(temporary("float32", product(shape)), shape);
  const call = { op: "matmul", accumulate: false } as const;
  return [{ kind: "extern", name, call, inputs: [left, right], outputs: [out], origins, originals }, out];
}

/** Transforms the squares of images, [places, places, channels, squares]. */
function transformedImages(
  kernel: ExternKernel,
  image: BufferView,
  { to, squares, side, matrix, padding }: {
    readonly to: MakeTemporary;
    readonly squares: readonly Dim[];
    readonly side: Side;
    readonly matrix: Matrix;
    readonly padding: readonly [number, number];
  },
) {
  return transformedView(kernel, "squares", {
    to,
    sizes: [image.shape[1] ?? 1, ...squares],
    matrix,
    load: (o, [c = 0, n = 0, y = 0, x = 0], i, j) => {
      const [line, step] = [y, x].map((each, d) => sub(mul(each, side), padding[d] ?? 0));
      return pixelOrZero(o, image, [n, c, add(line ?? 0, i), add(step ?? 0, j)]);
    },
  });
}

/** A kernel that transforms squares of elements, and where it writes their places. */
function transformedView(
  { name, origins, originals }: ExternKernel,
  what: string,
  { to, sizes, matrix, load }: {
    readonly to: MakeTemporary;
    readonly sizes: readonly Dim[];
    readonly matrix: Matrix;
    readonly load: (o: Recorder, at: readonly Dim[], i: number, j: number) => Value;
  },
): { readonly kernel: LoopKernel; readonly view: BufferView } {
  const shape = [matrix.length, matrix.length, ...sizes],
    view = rowMajor(to("float32", product(shape)), shape);
  const axes = axesOf(sizes), at = symbolsOf(axes), o = new Recorder(loadBufferOperand);
  transformed(o, matrix, (i, j) => load(o, at, i, j)).forEach((line, i) =>
    line.forEach((value, j) =>
      o.store({ buffer: view.buffer, dtype: "float32" }, flatIndex(view, [i, j, ...at]), { value })
    )
  );
  const body = sideBySide(axes, o.statements);
  return { kernel: { kind: "loops", name: `${name}_${what}`, body, origins, originals }, view };
}

/** Transforms a square by columns, then by rows. */
function transformed(
  o: Recorder,
  matrix: Matrix,
  element: (line: number, column: number) => Value,
): readonly (readonly Value[])[] {
  const places = [...(matrix[0] ?? []).keys()];
  const columns = places.map((j) => through(o, matrix, places.map((i) => element(i, j))));
  return matrix.map((_, i) => through(o, matrix, columns.flatMap((column) => column.slice(i, i + 1))));
}

/** Multiplies a vector by a matrix. */
function through(o: Recorder, matrix: Matrix, vector: readonly Value[]): readonly Value[] {
  return matrix.map((row) =>
    row.reduce<Value | undefined>((sum, factor, k) => {
      const value = vector[k];
      if (!value || factor === 0) return sum;
      if (Math.abs(factor) !== 1) {
        const by = o.constant(factor, "float32");
        return sum ? o.fma(value, by, sum) : o.mul(value, by);
      }
      if (!sum) return factor < 0 ? o.neg(value) : value;
      return factor < 0 ? o.sub(sum, value) : o.add(sum, value);
    }, undefined) ?? o.constant(0, "float32")
  );
}
