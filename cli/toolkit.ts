/**
 * The one place where the command line imports dyn itself.
 *
 * Invariant: nothing in `cli/` imports it statically, since its settings are read from the environment when it loads,
 * after the flags have filled it.
 */
import { DEVICES } from "../backends/device_names.ts";
import { refuseWord } from "./command.ts";

/** The public module. */
export type Toolkit = typeof import("../mod.ts");

/** Loads the public module; later calls return the same one. */
export async function toolkit(): Promise<Toolkit> {
  return await import("../mod.ts");
}

/**
 * Loads the settings, now that the flags are in the environment. Throws `UsageError` if `--backend` or `--device` names
 * one that does not exist, and `DynError` if the device does not work here.
 */
export async function checkChoices(): Promise<void> {
  await import("../lib/base/config.ts");
  const device = Deno.env.get("DYN_DEVICE");
  if (device) {
    if (!DEVICES.includes(device)) refuseWord("the device", DEVICES, device);
    await toolkit();
  }
  const backend = Deno.env.get("DYN_BACKEND");
  if (!backend) return;
  const names = (await toolkit()).compiler.listBackends({ debug: true });
  if (!names.includes(backend)) refuseWord("the backend", names, backend);
}
