/** The options that say where a layer's parameters and buffers are created. */
import type { DType } from "../base/dtype.ts";

/** Options that all layers with parameters have; default: the default device and type. */
export interface Placement {
  readonly device?: string | undefined;
  readonly dtype?: DType | undefined;
}

/** The placement among a layer's options. */
export function placementOf({ device, dtype }: Placement): Placement {
  return { device, dtype };
}
