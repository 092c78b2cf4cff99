/** The names of the devices, apart from the devices so that naming them loads nothing. */

/** Devices as users name them, the one that is always there first. */
export const DEVICES: readonly string[] = ["cpu", "webgpu"];
