/** The public namespace `webgpu`. The device is loaded on demand, since few programs use it. */
import { refuseSurplus } from "../../lib/base/checked_input.ts";
import type { AdapterDescription } from "./device.ts";

export type { AdapterDescription } from "./device.ts";

/** Acquires the adapter once; `device: "webgpu"` works from then on. Throws with advice if there is none. */
export async function init(): Promise<AdapterDescription> {
  if (arguments.length > 0) refuseSurplus("init", 0, arguments);
  const { initWebGpu } = await import("./device.ts");
  return await initWebGpu();
}
