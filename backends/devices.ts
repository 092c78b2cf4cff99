/**
 * Devices by name: preparing one, and making one the default. Invariant: a device becomes the default only once it
 * works.
 */
import { checkOneOf } from "../lib/base/checked_input.ts";
import { chooseDefaultDevice } from "../lib/tensor/default_device.ts";
import { DEVICES } from "./device_names.ts";
import * as webgpu from "./webgpu/mod.ts";

/**
 * Prepares a device. "cpu" needs no preparation; "webgpu" acquires its adapter once and fails with advice if there is
 * none. Throws DynError for any other name.
 */
export async function initDevice(name: string): Promise<void> {
  checkOneOf("the device", name, DEVICES);
  if (name === "webgpu") await webgpu.init();
}

/** Prepares a device and makes it the default of new tensors. Throws as `initDevice` does. */
export async function useDevice(name: string): Promise<void> {
  await initDevice(name);
  chooseDefaultDevice(name);
}
