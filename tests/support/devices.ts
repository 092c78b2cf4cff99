/**
 * Devices for tests, over host memory: "oracle", whose programs the reference interpreter runs statement by
 * statement, and "wasm", whose graphs run as WebAssembly on a machine that has a C++ compiler too. Registered when
 * this module loads.
 */
import { fail } from "@std/assert";
import { HostMemory } from "../../backends/cpu/host_memory.ts";
import { MemoryPool } from "../../backends/cpu/memory_pool.ts";
import { interpret } from "../reference/interpret.ts";
import { compileToWasm } from "../../backends/wasm/program.ts";
import { hostArray, itemSize } from "../../lib/base/dtype.ts";
import { type CompiledProgram, type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";
import type { Program } from "../../lib/loops/ir.ts";
import { verifyProgram } from "../../lib/loops/verify.ts";

const host = (memory: Memory): HostMemory => memory instanceof HostMemory ? memory : fail("Foreign memory");

type Compilers = Pick<Device, "compile" | "compileEager">;

function hostDevice(name: string, compilers: Compilers): Device {
  const pool = new MemoryPool(name);
  const readSync = (memory: Memory, at: number, length: number) => host(memory).uint8.slice(at, at + length);
  return {
    name,
    hostReadable: true,
    synchronousReads: true,
    allocate: (bytes) => pool.allocate(bytes),
    free: (memory) => pool.free(host(memory)),
    memoryUse: pool,
    write: (memory, at, bytes) => host(memory).uint8.set(bytes, at),
    readSync,
    read: (memory, at, length) => Promise.resolve(readSync(memory, at, length)),
    synchronize() {},
    ...compilers,
  };
}

function interpreted(program: Program): CompiledProgram {
  verifyProgram(program);
  const dtypes = [...program.inputs, ...program.outputs].map((id) =>
    program.buffers[id]?.dtype ?? fail("No buffer")
  );
  return {
    source: "",
    language: "txt",
    kernelCount: program.kernels.length,
    run({ inputs, outputs, byteOffsets, sizes }) {
      const arrays = [...inputs, ...outputs].map((memory, k) => {
        const dtype = dtypes[k] ?? "float32", offset = byteOffsets?.[k] ?? 0;
        const length = Math.floor((memory.byteLength - offset) / itemSize(dtype));
        const { buffer, byteOffset } = host(memory).uint8;
        return hostArray(dtype, buffer, { byteOffset: byteOffset + offset, length });
      });
      interpret(program, {
        inputs: arrays.slice(0, inputs.length),
        outputs: arrays.slice(inputs.length),
        sizes,
      });
      return true;
    },
  };
}

registerDevice(hostDevice("oracle", { compile: interpreted, compileEager: interpreted }));
const toWasm = (program: Program) => compileToWasm(program);
registerDevice(hostDevice("wasm", { compile: toWasm, compileEager: toWasm }));
