/**
 * The device "cpu": pooled host memory, eager programs as JavaScript, graphs as native code where a compiler is
 * there and as WebAssembly SIMD (with a notice) where none is. Input: memories and programs; output: elements. Invariant: work is done when a call returns.
 */
import { config } from "../../lib/base/config.ts";
import { DynError, InternalError } from "../../lib/base/errors.ts";
import { type CompiledProgram, type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { HostMemory, MemoryPool } from "../js/memory.ts";
import { compileToJavaScript } from "../js/program.ts";
import { wasmLibrary } from "../wasm/eager.ts";
import { compileToWasm } from "../wasm/program.ts";
import { freshBuffer } from "./host_heap.ts";
import { nativeLibrary } from "./native_extern.ts";
import { compileNative } from "./native_program.ts";
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
    compileToJavaScript(program, { allocate, library: hasCompiler() ? nativeLibrary : wasmLibrary });
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
    compile: (program: Program): CompiledProgram => {
      const { tier } = config.inductor;
      switch (tier) {
        case "wait":
          return hasCompiler() ? compileNative(program) : withoutCompiler(program);
        case "wasm":
          return compileToWasm(program);
        default:
          tier satisfies never;
          throw new DynError(`Expected inductor.tier "wait" or "wasm" but found ${String(tier)}`);
      }
    },
    synchronize() {},
  };
}

const hasCompiler = (): boolean => toolchainStatus().kind === "ready";

let noticed = false;

/** Says once what a compiler would bring, then uses WebAssembly. */
function withoutCompiler(program: Program): CompiledProgram {
  if (!noticed) {
    noticed = true;
    console.warn(
      "dyn: found no C++ compiler, so graphs run as WebAssembly SIMD; with one (Debian: apt-get " +
        "install g++, or DYN_CXX) they use wider vectors",
    );
  }
  return compileToWasm(program);
}

/** The device, registered when this module loads. */
export const cpu: Device = createCpuDevice();
registerDevice(cpu);
