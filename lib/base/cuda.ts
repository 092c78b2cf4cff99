/**
 * The namespace `cuda`, for programs that query CUDA before they choose a device. Invariant: there are no such
 * devices; GPUs of every vendor are "webgpu".
 */
import { refuseSurplus } from "./checked_input.ts";

/** Returns whether there is a CUDA device: always false. */
export function isAvailable(): boolean {
  if (arguments.length > 0) refuseSurplus("isAvailable", 0, arguments);
  return false;
}

/** Returns the number of CUDA devices: always 0. */
export function deviceCount(): number {
  if (arguments.length > 0) refuseSurplus("deviceCount", 0, arguments);
  return 0;
}
