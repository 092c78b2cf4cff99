/**
 * The default device of new tensors, like `torch.set_default_device`: the process chooses it once before any tensor
 * exists, and it is filled into the arguments of creation ops. Invariant: ops that take the device of another tensor
 * (`zerosLike`) are left alone; compiled graphs name devices explicitly.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import type { DeviceName } from "../loops/device.ts";
import { isCreation } from "../ops/call.ts";
import type { OpDefinition } from "../ops/definition.ts";
import type { ArgsOf, Params } from "../ops/params.ts";
import { deviceNamed } from "./storage.ts";

let chosen: DeviceName = "cpu";

/** The device of new tensors whose creation names none, as `torch.get_default_device`. */
export function defaultDevice(): DeviceName {
  if (arguments.length > 0) refuseSurplus("getDefaultDevice", 0, arguments);
  return chosen;
}

/** Chooses the device of new tensors whose creation names none. It must be initialised. */
export function chooseDefaultDevice(name: DeviceName): void {
  chosen = name;
}

/**
 * Sets the device of new tensors whose creation names none, as `torch.set_default_device`; null is the CPU. Throws
 * DynError for a device that is unknown or not initialised.
 */
export function setDefaultDevice(name: DeviceName | null): void {
  if (arguments.length > 1) refuseSurplus("setDefaultDevice", 1, arguments);
  chooseDefaultDevice(deviceNamed(name ?? "cpu").name);
}

/** The arguments of a call, with the default device if it creates a tensor and names no device. */
export function onDefaultDevice<T>(definition: OpDefinition, args: ArgsOf<Params, T>): ArgsOf<Params, T> {
  if (chosen === "cpu" || !isCreation(definition) || args["device"] !== null) return args;
  const takesTensor = Object.entries(definition.params).some(([name, { kind }]) =>
    kind === "tensor" || kind === "tensors" ||
    (kind === "operand" && typeof args[name] === "object" && args[name] !== null)
  );
  return takesTensor ? args : { ...args, device: chosen };
}
