/** Runs programs on the WebGPU device: fills host arrays, and returns the shaders. */
import { assert } from "@std/assert";
import type { HostArray } from "../../lib/base/dtype.ts";
import { type Device, findDevice, type Memory } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { bytesOf } from "./compare.ts";

/** The arguments of a call: arrays, and values of the program's sizes. */
export interface HostCall {
  readonly inputs: readonly HostArray[];
  readonly outputs: readonly HostArray[];
  readonly sizes?: readonly number[];
}

/** The device, which is there after `initWebGpu`. */
export function webGpu(): Device {
  const found = findDevice("webgpu");
  assert(found);
  return found;
}

/** Runs a program on copies of arrays; fills the outputs, and the inputs that it writes. */
export function runOnWebGpu(program: Program, { inputs, outputs, sizes = [] }: HostCall): string {
  const gpu = webGpu();
  const upload = (array: HostArray) => {
    const memory = gpu.allocate(array.byteLength);
    gpu.write(memory, 0, bytesOf(array));
    return memory;
  };
  const memories = inputs.map(upload), results = outputs.map(upload), compiled = gpu.compile(program);
  compiled.run({ inputs: memories, outputs: results, sizes });
  const read = (array: HostArray, memory: Memory | undefined): void => {
    assert(memory);
    bytesOf(array).set(gpu.readSync(memory, 0, array.byteLength));
  };
  outputs.forEach((array, i) => read(array, results[i]));
  inputs.forEach((array, i) => {
    const role = program.buffers[program.inputs[i] ?? -1]?.role;
    if (role?.kind === "input" && role.written) read(array, memories[i]);
  });
  return compiled.source;
}
