/**
 * What programs ask of CUDA before they choose a device: the namespace `cuda`. Invariant: there are no such devices, and
 * GPUs of every make are "webgpu".
 */

/** Whether there is a CUDA device: no. */
export function isAvailable(): boolean {
  return false;
}

/** How many CUDA devices there are: 0. */
export function deviceCount(): number {
  return 0;
}
