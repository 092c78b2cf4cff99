/** The names of the devices, separate from the devices so that naming them loads nothing. */

/** Devices as users name them; the first is always available. */
export const DEVICES: readonly string[] = ["cpu", "webgpu"];
