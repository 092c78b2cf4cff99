/** Returns the float32 elements of host memory, over the same bytes, for tests of kernels. */
import type { HostMemory } from "../../backends/cpu/host_memory.ts";

/** The float32 elements of a memory. */
export const floatsOf = ({ uint8: { buffer, byteOffset, byteLength } }: HostMemory): Float32Array =>
  new Float32Array(buffer, byteOffset, byteLength / 4);
