/** WebGPU as a target: loops mapped to a grid of workgroups; matrix products and convolutions as shaders of their own. */
import { ALONE, type Target } from "../../lib/codegen/target.ts";

/** Invocations of a workgroup. */
export const INVOCATIONS = 256;

/** Rows and columns of a product that a workgroup makes. */
export const TILE = 64;

/** What printed WGSL runs, where a kernel may touch so many buffers, and these start at whole vectors or do not. */
export function webGpuTarget(kernelBuffers: number, vectors: boolean): Target {
  return {
    name: "webgpu",
    supports: ({ call }) => call.op === "sort" ? "none" : ALONE,
    lanes: false,
    threads: "none",
    grid: {
      groups: 2048,
      elements: 1 << 14,
      invocations: INVOCATIONS,
      vectors,
      tiles: { side: TILE, busy: 256, depth: 512 },
    },
    kernelBuffers,
    integers: 32,
    sizeLimit: Infinity,
    unrolls: 0,
  };
}
