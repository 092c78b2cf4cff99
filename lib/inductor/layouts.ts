/**
 * Memory layouts of results: strides of fresh tensors, formulas that are views, products that are read transposed.
 * Invariant: a fresh result fills its memory without gaps.
 */
import { isComplex, isHalf } from "../base/dtype.ts";
import { contiguousStrides, type TensorMeta } from "../graph/meta.ts";
import type { Argument, Node } from "../graph/node.ts";
import type { Element, Operand } from "../loops/body.ts";
import { coefficientOf } from "../loops/nest.ts";
import { type BufferOperand, Recorder } from "../loops/record.ts";
import { pairsMeta } from "../ops/complex/views.ts";
import { add, type Dim, mul } from "../sym/expr.ts";
import { extentOf, newAxis } from "./computation.ts";
import { makeLoader } from "./tensors.ts";

/** The requested strides if they lay the shape out without gaps, else row-major ones. */
export function denseStrides(shape: readonly Dim[], wanted: readonly Dim[] | undefined): readonly Dim[] {
  const rowMajor = contiguousStrides(shape);
  if (!wanted || wanted.every((s, d) => s === rowMajor[d])) return rowMajor;
  if (wanted.length !== shape.length) return rowMajor;
  const left = shape.map((size, d) => ({ size, stride: wanted[d] ?? 0 })).filter((x) => x.size !== 1);
  let step: Dim = 1;
  while (left.length > 0) {
    const at = left.findIndex((x) => x.stride === step);
    const [next] = at < 0 ? [] : left.splice(at, 1);
    if (!next) return rowMajor;
    step = mul(step, next.size);
  }
  return wanted;
}

/** The strided view that a formula expresses: a single load whose index is linear in the axes; undefined for others. */
export function linearView(
  element: Element,
  result: Pick<Operand, "shape" | "dtype">,
): BufferOperand | undefined {
  const axes = result.shape.map((size, d) => newAxis(size, `i${d}`));
  const recorder = new Recorder(makeLoader());
  const value = element(recorder, axes.map((a) => a.symbol));
  const [load, ...rest] = recorder.statements;
  // Small floats are loaded as their bits, followed by one conversion
  if (load?.kind !== "load" || rest.length !== (isHalf(result.dtype) ? 1 : 0)) return undefined;
  const inMemory = value.fits ?? load.dtype;
  const last = rest[0] ?? load;
  if (inMemory !== result.dtype || !("id" in last) || value.id !== last.id) return undefined;
  const strides: Dim[] = [];
  let offset: Dim = load.index;
  for (const axis of axes) {
    const stride = coefficientOf(load.index, axis.symbol);
    if (stride === undefined) return undefined;
    strides.push(stride);
    offset = add(offset, mul(-1, mul(stride, axis.symbol)));
  }
  return { shape: result.shape, dtype: result.dtype, buffer: load.buffer, offset, strides };
}

/**
 * Returns whether all readers of a matrix product transpose its last two dimensions, and none of them is among the
 * results, whose layout must be that of eager execution.
 */
export function wantedTransposed(node: Node, results: ReadonlySet<Argument>): boolean {
  const { value } = node.meta;
  if (value.kind !== "tensor" || node.users.size === 0) return false;
  const { shape, strides } = value.tensor;
  const rows = shape.at(-2), columns = shape.at(-1);
  if (rows === 1 || columns === 1 || strides.at(-1) !== 1) return false;
  const users = [...node.users.keys()];
  if (users.some((user) => results.has(user))) return false;
  return users.every(({ op, meta: { value: seen } }) =>
    op === "call_function" && seen.kind === "tensor" && seen.tensor.shape.length === shape.length &&
    seen.tensor.shape.at(-1) === rows && seen.tensor.shape.at(-2) === columns &&
    seen.tensor.strides.at(-2) === 1 && seen.tensor.strides.at(-1) === strides.at(-2)
  );
}

/** Row-major strides of a tensor whose last two dimensions are transposed. */
export function transposedStrides(shape: readonly Dim[]): Dim[] {
  return exchangeLast(contiguousStrides(exchangeLast(shape)));
}

/** A view with its last two dimensions transposed. */
export function transposed(view: BufferOperand): BufferOperand {
  return { ...view, shape: exchangeLast(view.shape), strides: exchangeLast(view.strides) };
}

function exchangeLast(list: readonly Dim[]): Dim[] {
  const [a, b] = list.slice(-2);
  return a === undefined || b === undefined ? [...list] : [...list.slice(0, -2), b, a];
}

/** Elements that a view spans, from its first. */
export function lengthOf(view: Pick<BufferOperand, "offset" | "shape" | "strides">): Dim {
  return view.shape.some((s) => s === 0) ? 0 : extentOf(view);
}

/** Returns whether a view has the strides that a node promises; those of dimensions of size 1 do not matter. */
export function hasLayoutOf({ shape, strides }: BufferOperand, { meta: { value } }: Node): boolean {
  if (value.kind !== "tensor") return true;
  const promised = realMeta(value.tensor).strides;
  return shape.every((size, d) => size === 1 || strides[d] === promised[d]);
}

/** Returns the metadata of a tensor's memory: complex tensors are stored as pairs. */
export function realMeta(meta: TensorMeta): TensorMeta {
  return isComplex(meta.dtype) ? pairsMeta(meta) : meta;
}
