/**
 * Eager tensors in control flow that depends on them. Invariant: results of functions are row-major and own their
 * memory, so that plain and compiled calls agree on what a later write changes.
 */
import { DynError } from "../base/errors.ts";
import type { RegionAccess } from "../graph/higher_order.ts";
import { ops } from "./eager.ts";
import { lastSerial, type Storage } from "./storage.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** Access to eager tensors in loops and branches. */
export const eagerRegions: RegionAccess = {
  isTrue(value) {
    if (typeof value === "boolean") return value;
    if (isTensor(value) && value.numel() === 1) return Boolean(value.item());
    const found = isTensor(value) ? `a tensor of shape [${value.shape}]` : typeof value;
    throw new DynError(`Expected a boolean or a tensor of one element as a condition but found ${found}`);
  },
  own(run) {
    const start = lastSerial(), taken = new Set<Storage>();
    return run().map((value) => {
      const tensor = tensorOf(value);
      const { storage, offset, viewState } = tensor;
      const isOwn = storage.serial > start && !taken.has(storage) && viewState === null && offset === 0;
      taken.add(storage);
      return isOwn && tensor.isContiguous() ? tensor : rowMajorCopy(tensor);
    });
  },
  rows(value) {
    const [count] = tensorOf(value).shape;
    if (count === undefined) {
      throw new DynError("Expected a tensor with dimensions to loop over but found a 0-d one");
    }
    return count;
  },
  row: (value, index) => rowMajorCopy(ops.select(tensorOf(value), 0, index)),
  stack: (rows) => ops.stack(rows.map(tensorOf)),
  form(value) {
    const { dtype, shape, device } = tensorOf(value);
    return `${dtype} of shape [${shape}] on ${device}`;
  },
};

function rowMajorCopy(tensor: Tensor): Tensor {
  const copy = ops.clone(tensor);
  return copy.isContiguous() ? copy : ops.contiguous(copy);
}

function tensorOf(value: unknown): Tensor {
  if (isTensor(value)) return value;
  throw new DynError(`Expected a tensor but found ${value === null ? "null" : typeof value}`);
}
