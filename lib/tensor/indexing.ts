/**
 * `x.at(…)` and `x.set([…], v)` over tensors, eager or traced: integers and slices are views, tensors and masks
 * gather. Invariant: indexing is composed of ops, so that it is differentiable; with several index tensors the
 * gathered dimensions are placed as in NumPy.
 */
import { isDifferentiable, isInteger } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { OpApi } from "../ops/generated.ts";
import type { TensorLike } from "../ops/tensor_like.ts";
import { isEqual } from "../sym/decide.ts";
import type { Dim } from "../sym/expr.ts";
import type { Element } from "./host.ts";
import { type IndexItem, parseIndex, takesNumbersFirst, tensorIndex } from "./index_syntax.ts";
import { ops } from "./eager.ts";
import { tensor as makeTensor } from "./creation.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Operations to index tensors T and to write values V into them. */
export interface Indexing<T extends TensorLike, V> {
  readonly ops: OpApi<T>;
  isTensor(value: unknown): value is T;
  /** A tensor of indices given as a list. */
  listed(make: () => Tensor): T;
  /** The integer in a tensor, as the position of a write or the end of a slice. */
  numberIn(index: T): Dim;
  /** A value as a tensor with the type and the device of another. */
  valueLike(x: T, value: V): T;
  copy(view: T, source: T): void;
  put(view: T, indices: readonly (T | null)[], source: T): void;
}

/** A view with the index, if any, that gathers along each of its dimensions; a mask takes several. */
interface Indexed<T> {
  readonly view: T;
  readonly gather: readonly (T | null)[];
  /** Whether a mask, or true or false, is the only index that gathers. */
  readonly isSelection: boolean;
}

/** Selects the index in a tensor along a dimension, which is removed. */
type TakeNumber<T> = (view: T, dim: number, index: T) => T;

/** The value of `x.at(…)`. */
export function valueAt<T extends TensorLike, V>(of: Indexing<T, V>, x: T, index: readonly unknown[]): T {
  const { ops } = of;
  const taken: TakeNumber<T> = (view, dim, index) =>
    ops.index(view, [...new Array<null>(dim).fill(null), index]);
  const { view, gather } = apply(of, x, { index, taken });
  if (gather.every((g) => g === null)) return view === x ? ops.alias(x) : view;
  return ops.index(view, gather);
}

/** `x.set([…], value)`: writes into x and returns it. */
export function setAt<T extends TensorLike, V>(
  of: Indexing<T, V>,
  x: T,
  { index, value }: { readonly index: readonly unknown[]; readonly value: V },
): T {
  const { ops } = of;
  const taken: TakeNumber<T> = (view, dim, index) => ops.select(view, dim, of.numberIn(index));
  const indexed = apply(of, x, { index, taken }), { view, gather } = indexed;
  let source = of.valueLike(x, value);
  // Extra leading dimensions of size 1 are allowed
  while (source.shape[0] === 1) source = ops.squeeze(source, 0);
  if (gather.some((g) => g !== null)) {
    of.put(view, gather, convertsTo(x, indexed, source) ? ops.to(source, x.dtype) : source);
    return x;
  }
  of.copy(view, source);
  return x;
}

/** Creates the views of integers and slices. */
function apply<T extends TensorLike, V>(
  of: Indexing<T, V>,
  x: T,
  { index, taken }: { readonly index: readonly unknown[]; readonly taken: TakeNumber<T> },
): Indexed<T> {
  const { ops } = of, gather: (T | null)[] = [];
  let view = x, dim = 0;
  const rankOf = (value: unknown) =>
    of.isTensor(value) ? tensorIndex(value, value.dtype, value.shape.length) : undefined;
  const steps = parseIndex<T>(index, x.shape.length, { rankOf, numberIn: (index) => of.numberIn(index) }),
    isTaken = takesNumbersFirst(steps);
  const gatherBy = (indices: T) => {
    checkIndices(view, indices, dim);
    gather.push(indices);
    dim += isMask(indices) ? indices.shape.length : 1;
  };
  for (const step of steps) {
    switch (step.kind) {
      case "select":
        view = ops.select(view, dim, step.index);
        break;
      case "slice":
        if (step.start !== null || step.stop !== null || step.step !== 1) {
          view = ops.slice(view, dim, step.start, step.stop, step.step);
        }
        gather.push(null);
        dim++;
        break;
      case "newaxis":
        view = ops.unsqueeze(view, dim);
        gather.push(null);
        dim++;
        break;
      case "flag":
        view = ops.unsqueeze(view, dim);
        gatherBy(of.listed(() => listTensor(step.value ? [0] : [], x)));
        break;
      case "list":
        gatherBy(of.listed(() => listTensor(step.items, x)));
        break;
      case "tensor":
        if (step.isNumber && isTaken) {
          view = taken(view, dim, step.tensor);
          break;
        }
        // A 0-d mask applies to a new dimension
        if (step.dims === 0) view = ops.unsqueeze(view, dim);
        gatherBy(step.dims === 0 ? ops.unsqueeze(step.tensor, 0) : step.tensor);
        break;
      default:
        step satisfies never;
    }
  }
  const gathers = steps.filter(({ kind }) => kind !== "select" && kind !== "slice" && kind !== "newaxis");
  const isSelection = gathers.length === 1 &&
    (gathers[0]?.kind === "flag" || gather.some((index) => index !== null && isMask(index)));
  return { view, gather, isSelection };
}

/**
 * Returns whether a write converts its value to the type of x: any where integers in tensors select one place, one
 * element where a mask alone selects, and whole numbers to be stored among floats, since a list of whole numbers is a
 * tensor of integers in JavaScript. Other values of another type are refused by the write, as in PyTorch.
 */
function convertsTo<T extends TensorLike>(
  { dtype }: TensorLike,
  { gather, isSelection }: Indexed<T>,
  source: TensorLike,
): boolean {
  if (source.dtype === dtype) return false;
  if (isInteger(source.dtype) && isDifferentiable(dtype)) return true;
  return gather.every((index) => index === null || index.shape.length === 0) ||
    (isSelection && source.shape.every((size) => size === 1));
}

const isMask = ({ dtype }: TensorLike): boolean => dtype === "bool" || dtype === "uint8";

/** Throws unless the indices are integers, or a mask of the sizes that it indexes. */
function checkIndices(view: TensorLike, indices: TensorLike, dim: number): void {
  if (indices.dtype === "int64" || indices.dtype === "int32") return;
  if (!isMask(indices)) {
    throw new DynError(`Expected integers or bools as indices but found ${indices.dtype}`);
  }
  const fits = indices.shape.every((size, d) => {
    const indexed = view.shape[dim + d];
    return indexed !== undefined && isEqual(size, indexed);
  });
  if (fits) return;
  throw new DynError(
    `Expected a mask of shape [${
      view.shape.slice(dim, dim + indices.shape.length)
    }] but found [${indices.shape}]`,
  );
}

/** Indexing of eager tensors. */
export const INDEXING: Indexing<Tensor, Tensor | Element> = {
  ops,
  isTensor,
  listed: (make) => make(),
  numberIn: (index) => Number(index.item()),
  valueLike: ({ dtype, device }, value) => isTensor(value) ? value : makeTensor(value, { dtype, device }),
  copy: (view, source) => void view.copy_(source),
  put: (view, indices, source) => void view.indexPut_(indices, source),
};

function listTensor(items: readonly IndexItem[], { device }: TensorLike): Tensor {
  const made = makeTensor(nested(items), { device });
  return made.numel() === 0 ? ops.to(made, "int64") : made;
}

function nested(items: readonly IndexItem[]): NestedIndex[] {
  return items.map((item) => {
    if (Array.isArray(item)) return nested(item);
    if (typeof item === "number" || typeof item === "boolean") return item;
    throw new DynError(`Expected integers or bools in a list of indices but found ${String(item)}`);
  });
}

type NestedIndex = number | boolean | NestedIndex[];
