/** Host memory in tests of kernels. Input: a memory; output: its float32 elements, over the same bytes. */
import type { HostMemory } from "../../backends/cpu/host_memory.ts";

/** The float32 elements of a memory. */
export const floatsOf = ({ uint8: { buffer, byteOffset, byteLength } }: HostMemory): Float32Array =>
  new Float32Array(buffer, byteOffset, byteLength / 4);
