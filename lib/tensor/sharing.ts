/**
 * Converts CPU tensors to buffers for other threads, and back. Invariant: buffers are multiples of 64 bytes, so that
 * they serve as host memory without a copy.
 */
import { bufferOf, byteLengthOf } from "../base/memory_getters.ts";
import type { DType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { ops } from "./eager.ts";
import { readStored } from "./host.ts";
import { contiguousLayout } from "./layout.ts";
import { allocateStorage, deviceNamed, Storage } from "./storage.ts";
import { Tensor } from "./tensor.ts";

/** Bytes that buffers are multiples of. */
const ALIGNMENT = 64;

/** Elements in row-major order, with their type and shape. */
export interface SharedElements {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
}

/** The elements of a tensor in a separate buffer. Throws DynError for tensors of other devices. */
export function elementsOf(
  tensor: Tensor,
  make: (bytes: number) => ArrayBuffer | SharedArrayBuffer,
): SharedElements {
  if (tensor.device !== "cpu") {
    throw new DynError(`Expected a tensor of the CPU for another thread but found one of ${tensor.device}`);
  }
  const { dtype, shape } = tensor, stored = readStored(ops.contiguous(ops.detach(tensor)));
  const buffer = make(Math.ceil(stored.byteLength / ALIGNMENT) * ALIGNMENT);
  new Uint8Array(buffer).set(new Uint8Array(bufferOf(stored), stored.byteOffset, stored.byteLength));
  return { dtype, shape, buffer };
}

/** A tensor over a buffer, which it keeps. */
export function tensorOver({ dtype, shape, buffer }: SharedElements): Tensor {
  const layout = contiguousLayout(shape, dtype, "cpu"), device = deviceNamed("cpu");
  if (layout.numel === 0) return new Tensor(allocateStorage("cpu", 0), layout);
  if (device.adopt) return new Tensor(new Storage("cpu", device.adopt(buffer)), layout);
  const storage = allocateStorage("cpu", byteLengthOf(buffer));
  device.write(storage.memory, 0, new Uint8Array(buffer));
  return new Tensor(storage, layout);
}
