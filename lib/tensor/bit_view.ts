/**
 * `x.view(dtype)`: the memory of a tensor as elements of another type. Invariant: no element is computed, and no history
 * leads through it, as in PyTorch.
 */
import { checkDType, type DType, itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { shapeText } from "../ops/shapes.ts";
import { layoutOf } from "./layout.ts";
import { deviceNamed, isShapesOnly } from "./storage.ts";
import { modes, Tensor } from "./tensor.ts";

/**
 * A tensor over the same memory: of smaller elements the last dimension has more, of larger ones fewer. Throws DynError
 * where elements of the new type would not lie at whole positions.
 */
export function bitView(tensor: Tensor, dtype: DType): Tensor {
  checkDType(dtype, "view");
  const { device, shape, strides, offset } = tensor, from = itemSize(tensor.dtype), to = itemSize(dtype);
  const refuse = (wanted: string, found: unknown): never => {
    throw new DynError(`Expected ${wanted} to view ${tensor.dtype} as ${dtype} but found ${found}`);
  };
  if (modes.top !== null) refuse("tensors with elements", "a transform or mode around the call");
  if (!isShapesOnly(device) && !deviceNamed(device).hostReadable) {
    refuse("memory of the host", `a tensor on ${device}`);
  }
  if (dtype === "bool" && tensor.dtype !== "bool") {
    throw new DynError(
      `Expected a bool tensor to view as bool, whose elements are 0 or 1, but found ${tensor.dtype}; use ne(0)`,
    );
  }
  tensor.storage.holdsSeveralTypes();
  if (from === to) return new Tensor(tensor.storage, layoutOf({ shape, strides, dtype, device }), offset);
  const last = shape.at(-1);
  if (last === undefined) return refuse("a dimension", "a scalar");
  if (strides.at(-1) !== 1) refuse("a last dimension of stride 1", `strides ${shapeText(strides)}`);
  const sized = (value: number): number => value * from / to;
  const scaled = {
    shape: [...shape.slice(0, -1), sized(last)],
    strides: [...strides.slice(0, -1).map(sized), 1],
  };
  const positions = { sizes: [sized(last)], strides: scaled.strides, offsets: [sized(offset)] };
  for (const [what, values] of Object.entries(positions)) {
    if (!values.every(Number.isInteger)) {
      refuse(
        `${what} divisible by ${to / from}`,
        `${shapeText(shape)} with strides ${shapeText(strides)} from ${offset}`,
      );
    }
  }
  return new Tensor(tensor.storage, layoutOf({ ...scaled, dtype, device }), sized(offset));
}
