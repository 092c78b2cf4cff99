/**
 * Numbers of a program as 0-d tensors of graphs. Invariant: numbers lose no precision on the way to a device that has
 * float64; others convert them as an operation between a tensor and a number does there.
 */
import { contiguousMeta, type TensorMeta } from "../graph/meta.ts";
import { type DeviceName, findDevice } from "../loops/device.ts";
import { scalarTensor } from "../tensor/creation.ts";
import type { Tensor } from "../tensor/tensor.ts";

const takesNumbers = (device: DeviceName): boolean => findDevice(device)?.lacksFloat64 !== true;

/**
 * Returns the device of numbers beside tensors on these devices: the host, unless one of them cannot read its floats.
 */
export const scalarDevice = (devices: readonly DeviceName[]): DeviceName =>
  devices.find((device) => !takesNumbers(device)) ?? "cpu";

/** Metadata of a number for a device. */
export const scalarMeta = (device: DeviceName): TensorMeta =>
  contiguousMeta([], takesNumbers(device) ? "float64" : "float32", device);

/** A number for a device. */
export function scalar(value: number, device: DeviceName = "cpu"): Tensor {
  return scalarTensor(value, { dtype: scalarMeta(device).dtype, device });
}
