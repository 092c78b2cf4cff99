/**
 * `x.at(…)` and `x.set([…], v)` over tensors: integers and slices are views, tensors and masks gather. Input: a
 * tensor and index arguments; output: the indexed tensor. Invariant: indexing is composed of ops, so that it is
 * differentiable; with several index tensors the gathered dimensions stand where NumPy puts them.
 */
import { DynError } from "../base/errors.ts";
import type { Element } from "./host.ts";
import {
  type IndexArgument,
  type IndexItem,
  parseIndex,
  takesNumbersFirst,
  tensorIndex,
  type TensorIndexRank,
} from "./index_syntax.ts";
import { ops } from "./eager.ts";
import { tensor as makeTensor } from "./creation.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** What a view step leaves: the tensor, and for each of its dimensions the gathering index, if any. */
interface Indexed {
  readonly view: Tensor;
  readonly gather: readonly (Tensor | null)[];
}

const rankOf: TensorIndexRank<Tensor> = (value) =>
  isTensor(value) ? tensorIndex(value, value.dtype, value.ndim) : undefined;

/** Takes an integer in a tensor out of a dimension, which goes away. */
type TakeNumber = (view: Tensor, dim: number, index: Tensor) => Tensor;

/** The value of `x.at(…)`. */
export function valueAt(x: Tensor, index: readonly IndexArgument<Tensor>[]): Tensor {
  const taken: TakeNumber = (view, dim, index) =>
    ops.index(view, [...new Array<null>(dim).fill(null), index]);
  const { view, gather } = apply(x, index, taken);
  if (gather.every((g) => g === null)) return view === x ? ops.alias(x) : view;
  return ops.index(view, gather);
}

/** `x.set([…], value)`: writes into x and returns it. */
export function setAt(x: Tensor, index: readonly IndexArgument<Tensor>[], value: Tensor | Element): Tensor {
  const { view, gather } = apply(x, index, (view, dim, at) => ops.select(view, dim, Number(at.item())));
  const source = isTensor(value) ? value : makeTensor(value, { dtype: x.dtype, device: x.device });
  if (gather.every((g) => g === null)) {
    view.copy_(withoutLeadingOnes(source, view.ndim));
  } else {
    view.indexPut_(gather, source.dtype === x.dtype ? source : ops.to(source, x.dtype));
  }
  return x;
}

/** Extra leading dimensions of size 1 are allowed in assignments. */
function withoutLeadingOnes(source: Tensor, rank: number): Tensor {
  let value = source;
  while (value.ndim > rank && value.shape[0] === 1) value = ops.squeeze(value, 0);
  return value;
}

function apply(x: Tensor, index: readonly IndexArgument<Tensor>[], taken: TakeNumber): Indexed {
  let view = x, dim = 0;
  const gather: (Tensor | null)[] = [], steps = parseIndex<Tensor>(index, x.ndim, rankOf);
  const isTaken = takesNumbersFirst(steps);
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
        gather.push(makeTensor(step.value ? [0] : [], { dtype: "int64", device: x.device }));
        dim++;
        break;
      case "list": {
        const list = listTensor(step.items, x);
        for (const each of indicesOf(list, view, dim)) {
          gather.push(each);
          dim++;
        }
        break;
      }
      case "tensor":
        if (step.isNumber && isTaken) {
          view = taken(view, dim, step.tensor);
          break;
        }
        // A mask of one truth is one for a new dimension
        if (step.dims === 0) view = ops.unsqueeze(view, dim);
        for (
          const each of indicesOf(step.dims === 0 ? ops.unsqueeze(step.tensor, 0) : step.tensor, view, dim)
        ) {
          gather.push(each);
          dim++;
        }
        break;
      default:
        step satisfies never;
    }
  }
  return { view, gather };
}

function listTensor(items: readonly IndexItem[], x: Tensor): Tensor {
  const made = makeTensor(nested(items), { device: x.device });
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

/** Integer index tensors for one index tensor: itself, or the positions of a mask, one per dimension. */
function indicesOf(index: Tensor, view: Tensor, dim: number): readonly Tensor[] {
  if (index.dtype === "int64" || index.dtype === "int32") return [index];
  if (index.dtype !== "bool" && index.dtype !== "uint8") {
    throw new DynError(`Expected integers or bools as indices but found ${index.dtype}`);
  }
  index.shape.forEach((size, d) => {
    if (size !== view.shape[dim + d]) {
      throw new DynError(
        `Expected a mask of shape [${view.shape.slice(dim, dim + index.ndim)}] but found [${index.shape}]`,
      );
    }
  });
  const positions = ops.nonzero(index);
  return index.shape.map((_, d) => ops.select(positions, 1, d));
}
