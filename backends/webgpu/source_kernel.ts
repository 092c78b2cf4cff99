/**
 * Kernels that users have written in WGSL: a text with an entry point `main` becomes a function that queues it.
 * Invariant: tensors are bound in order as `in0`, …, `out0`, …, after the numbers of the call, `numbers`.
 */
import type { DType } from "../../lib/base/dtype.ts";
import { DynError } from "../../lib/base/errors.ts";
import type { KernelCall, KernelSource } from "../../lib/loops/device.ts";
import { own } from "./memory.ts";
import type { ProgramContext } from "./program.ts";

/** WGSL types of elements, where they exist. */
const TYPES: Readonly<Partial<Record<DType, string>>> = { float32: "f32", int32: "i32" };

/** Number of buffers of numbers that a kernel caches. */
const KEPT_NUMBERS = 64;

/** Compiles a kernel. Throws DynError for types that WGSL lacks. */
export function compileSource(
  { name, wgsl, inputs, outputs }: KernelSource,
  context: ProgramContext,
): (call: KernelCall) => void {
  if (wgsl === null) {
    throw new DynError(
      `Expected WGSL of ${name} for tensors on webgpu but found none: give wgsl, or registerKernel`,
    );
  }
  const { device, pipelines, queue } = context;
  const bound = [
    ...inputs.map((dtype, k) => ({ variable: `in${k}`, dtype, access: "read" })),
    ...outputs.map((dtype, k) => ({ variable: `out${k}`, dtype, access: "read_write" })),
  ];
  const declarations = bound.map(({ variable, dtype, access }, k) => {
    const type = TYPES[dtype];
    if (type === undefined) {
      throw new DynError(
        `Expected tensors of ${Object.keys(TYPES).join(" or ")} for WGSL of ${name} but found ${dtype}`,
      );
    }
    return `@group(0) @binding(${k + 1}) var<storage, ${access}> ${variable}: array<${type}>;`;
  });
  const code = [
    "@group(0) @binding(0) var<storage, read> numbers: array<f32>;",
    ...declarations,
    wgsl,
  ].join("\n");
  const pipeline = pipelines.ofSource({
    code,
    access: [
      "read-only-storage",
      ...bound.map(({ access }) => access === "read" ? "read-only-storage" : "storage"),
    ],
  }, name);
  const kept = new Map<string, GPUBuffer>();
  const bufferOf = (numbers: readonly number[]): GPUBuffer => {
    const key = numbers.join(), known = kept.get(key);
    if (known) return known;
    if (kept.size >= KEPT_NUMBERS) kept.clear();
    const buffer = device.createBuffer({
      size: 4 * Math.max(4, numbers.length),
      usage: GPUBufferUsage.STORAGE,
      mappedAtCreation: true,
    });
    new Float32Array(buffer.getMappedRange()).set(numbers);
    buffer.unmap();
    kept.set(key, buffer);
    return buffer;
  };
  return ({ memories, bytes, numbers, workgroups }) => {
    const most = device.limits.maxComputeWorkgroupsPerDimension;
    if (workgroups.some((count) => !Number.isInteger(count) || count < 0 || count > most)) {
      throw new DynError(`Expected workgroups of ${name} in [0, ${most}] but found [${workgroups}]`);
    }
    const bindGroup = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [
        { binding: 0, resource: { buffer: bufferOf(numbers) } },
        ...memories.map((memory, k) => ({
          binding: k + 1,
          resource: { buffer: own(memory, context).buffer, size: Math.max(4, bytes[k] ?? 0) },
        })),
      ],
    });
    if (workgroups.every((count) => count > 0)) queue.dispatch({ pipeline, bindGroup, workgroups });
  };
}
