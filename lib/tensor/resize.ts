/**
 * `x.resize_(…)`: another row-major shape over the same storage, which grows if it is too small. Invariant: existing
 * elements of the storage keep their positions.
 */
import { itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { contiguousLayout } from "./layout.ts";
import { metadataChanges } from "./metadata_version.ts";
import { allocateStorage, deviceNamed } from "./storage.ts";
import type { Tensor } from "./tensor.ts";

/** Gives a tensor another shape. Throws if it requires grad. */
export function resize(tensor: Tensor, shape: readonly number[]): void {
  if (tensor.requiresGrad) {
    throw new DynError("Expected a tensor that does not require grad for resize_ but found one that does");
  }
  const bad = shape.find((size) => !Number.isInteger(size) || size < 0);
  if (bad !== undefined) throw new DynError(`Expected non-negative sizes but found ${bad}`);
  const { dtype, device, storage, offset } = tensor;
  const layout = contiguousLayout(shape, dtype, device), needed = (offset + layout.extent) * itemSize(dtype);
  if (needed > storage.byteLength) {
    const grown = allocateStorage(device, needed), at = deviceNamed(device);
    at.write(grown.memory, 0, at.readSync(storage.memory, 0, storage.byteLength));
    storage.replace(grown.memory);
  } else {
    storage.version++;
  }
  storage.extent = Math.max(storage.extent ?? 0, needed);
  tensor.layout = layout;
  metadataChanges(tensor);
}
