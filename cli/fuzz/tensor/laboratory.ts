/**
 * The device on which programs are observed, in place of "cpu": its eager kernels can add noise and report wide
 * integers, and its memory never holds expected values by chance: fresh and freed memory is filled with NaN. Invariant:
 * otherwise it behaves as the device "cpu".
 */
import { cpu } from "../../../backends/cpu/device.ts";
import { HostMemory } from "../../../backends/cpu/host_memory.ts";
import {
  type CompiledProgram,
  type Device,
  findDevice,
  type Memory,
  registerDevice,
} from "../../../lib/loops/device.ts";
import type { Program } from "../../../lib/loops/ir.ts";
import { noisy } from "./noise.ts";
import { watched } from "./wide_integers.ts";

/** NaN in every floating type, −1 in every signed one. */
const POISON = 0xFF;

function poison(memory: Memory): Memory {
  if (memory instanceof HostMemory) memory.uint8.fill(POISON);
  return memory;
}

const observed = (program: Program, compiled: CompiledProgram): CompiledProgram =>
  watched(program, noisy(program, compiled));

const { compileClass } = cpu;

const laboratory: Device = {
  ...cpu,
  allocate: (byteLength) => poison(cpu.allocate(byteLength)),
  isClear: () => false,
  free: (memory) => cpu.free(poison(memory)),
  compileEager: (program) => observed(program, cpu.compileEager(program)),
  ...(compileClass ? { compileClass: (source) => observed(source.program(), compileClass(source)) } : {}),
};

/** Installs the device, unless it is installed. */
export function enterLaboratory(): void {
  if (findDevice("cpu") !== laboratory) registerDevice(laboratory);
}
