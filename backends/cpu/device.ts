/**
 * The device "cpu": pooled host memory, eager programs as JavaScript, graphs as native code or as WebAssembly SIMD.
 * Input: memories and programs; output: elements. Invariant: work is done when a call returns.
 */
import { InternalError } from "../../lib/base/errors.ts";
import { type CompiledProgram, type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import "../eager_classes.ts";
import { HostMemory } from "./host_memory.ts";
import { MemoryPool } from "./memory_pool.ts";
import { compileToJavaScript } from "../js/program.ts";
import { freshBuffer } from "./host_heap.ts";
import { autotune } from "./autotune.ts";
import { compileClassForHost, compileForHost, hostLibrary } from "./native_tier.ts";
import { toolchainStatus } from "./toolchain.ts";

function host(memory: Memory): HostMemory {
  if (memory instanceof HostMemory) return memory;
  throw new InternalError(`Expected host memory but found memory of ${memory.device}`);
}

/** Makes a device over host memory. */
export function createCpuDevice(): Device {
  const pool = new MemoryPool("cpu", 1 << 30, freshBuffer);
  const allocate = (byteLength: number) => pool.allocate(byteLength);
  const interpreted = (program: Program): CompiledProgram =>
    compileToJavaScript(program, { allocate, library: hostLibrary });
  const readSync = (memory: Memory, byteOffset: number, byteLength: number) =>
    host(memory).uint8.slice(byteOffset, byteOffset + byteLength);
  return {
    name: "cpu",
    hostReadable: true,
    synchronousReads: true,
    allocate,
    free: (memory) => pool.free(host(memory)),
    write: (memory, byteOffset, bytes) => host(memory).uint8.set(bytes, byteOffset),
    readSync,
    read: (memory, byteOffset, byteLength) => Promise.resolve(readSync(memory, byteOffset, byteLength)),
    compileEager: interpreted,
    compileClass: compileClassForHost,
    compile: compileForHost,
    choose: (forms) => toolchainStatus().kind === "ready" ? autotune(forms) : undefined,
    synchronize() {},
  };
}

/** The device, registered when this module loads. */
export const cpu: Device = createCpuDevice();
registerDevice(cpu);
