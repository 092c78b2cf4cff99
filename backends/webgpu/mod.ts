/** The public namespace `webgpu`. */
import { type AdapterDescription, initWebGpu } from "./device.ts";

export type { AdapterDescription } from "./device.ts";

/** Acquires the adapter once; `device: "webgpu"` works from then on. Throws with advice if there is none. */
export function init(): Promise<AdapterDescription> {
  return initWebGpu();
}
