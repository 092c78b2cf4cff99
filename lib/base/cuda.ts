/**
 * The namespace `cuda`, for programs that query CUDA before they choose a device. Invariant: there are no such
 * devices; GPUs of every vendor are "webgpu".
 */

/** Returns whether there is a CUDA device: always false. */
export function isAvailable(): boolean {
  return false;
}

/** Returns the number of CUDA devices: always 0. */
export function deviceCount(): number {
  return 0;
}
