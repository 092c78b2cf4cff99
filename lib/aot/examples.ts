/**
 * Example values for graph inputs that have none yet: tensors without elements, or numbers, according to the
 * placeholder's metadata. Invariant: symbolic sizes have the values of the traced call.
 */
import { DynError } from "../base/errors.ts";
import type { Node } from "../graph/node.ts";
import { hintOf } from "../sym/decide.ts";
import { Tensor } from "../tensor/tensor.ts";

/** An example of an input. Throws DynError for one that is neither a tensor nor a size. */
export function exampleOf({ name, meta: { value } }: Node): unknown {
  switch (value.kind) {
    case "tensor": {
      const { shape, strides, offset, dtype, device } = value.tensor;
      const layout = { shape: shape.map(hintOf), strides: strides.map(hintOf), dtype, device };
      return Tensor.elementless({ ...layout, offset: hintOf(offset) });
    }
    case "size":
      return hintOf(value.size);
    case "tensors":
    case "number":
    case "unknown":
      throw new DynError(`Expected a tensor or a size as input ${name} but found ${value.kind}`);
    default:
      return value satisfies never;
  }
}
