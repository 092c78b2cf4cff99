/** WebGPU as a target: loops mapped to a grid of workgroups; matrix products and convolutions as shaders of their own. */
import type { Target } from "../../lib/codegen/target.ts";
import { isConvolution } from "./convolution.ts";

/** What printed WGSL runs, where a kernel may touch so many buffers. */
export function webGpuTarget(kernelBuffers: number): Target {
  return {
    name: "webgpu",
    supports: ({ call }) => call.op === "matmul" || isConvolution(call) ? "alone" : "none",
    lanes: false,
    chunks: false,
    grid: { groups: 2048, elements: 1 << 14 },
    kernelBuffers,
    integers: 32,
    sizeLimit: Infinity,
    unrolls: 0,
  };
}
