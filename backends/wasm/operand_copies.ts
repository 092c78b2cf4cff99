/**
 * Copies operands into the WebAssembly memory and back if they do not live there. Invariant: operands that live in the
 * memory are used in place.
 */
import type { Memory, ProgramCall } from "../../lib/loops/device.ts";
import type { ProgramFrame } from "../../lib/loops/stored/program.ts";
import { hostOf } from "../cpu/host_memory.ts";
import type { WasmMemory } from "./memory.ts";
import { aligned } from "./operands.ts";
import { type Placement, placeWindows } from "./placement.ts";

/** A call of a program. */
export interface Running {
  readonly program: ProgramFrame;
  readonly call: ProgramCall;
  readonly placed: Placement;
}

/** Visits the inputs of a call, then its outputs. */
function visitOperands(
  { program: { inputs, outputs }, call }: Running,
  visit: (id: number, operand: Memory | undefined, byteOffset: number) => void,
): void {
  for (let i = 0; i < inputs.length; i++) visit(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    visit(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
}

/** The addresses of a call's buffers: operands that live in the memory keep theirs. */
export function addressesIn(memory: WasmMemory, running: Running): readonly number[] {
  const { placed } = running;
  let addresses: number[] | undefined;
  visitOperands(running, (id, operand, offset) => {
    const { place } = hostOf(operand).block;
    if (place?.memory !== memory) return;
    addresses ??= [...placed.addresses];
    addresses[id] = place.address + offset;
  });
  if (!addresses) return placed.addresses;
  placeWindows(running.program, addresses);
  return addresses;
}

/** Copies into the memory what a program reads, and the gaps between elements that it writes. */
export function enter(bytes: Uint8Array, addresses: readonly number[], running: Running): void {
  const { program: { buffers }, placed } = running;
  visitOperands(running, (id, operand, from) => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0, role = buffers[id]?.role;
    // A tensor without elements may begin after the end of its memory
    if (length === 0 || address !== placed.addresses[id] || (role?.kind === "output" && !role.partly)) return;
    const { uint8, byteLength } = hostOf(operand);
    const whole = from === 0 && byteLength <= aligned(length);
    bytes.set(whole ? uint8 : uint8.subarray(from, from + length), address);
  });
}

/** Copies out of the memory what a program has written. */
export function leave(bytes: Uint8Array, addresses: readonly number[], running: Running): void {
  const { program: { buffers }, placed } = running;
  visitOperands(running, (id, operand, to) => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0, role = buffers[id]?.role;
    if (length === 0 || address !== placed.addresses[id] || (role?.kind === "input" && !role.written)) return;
    hostOf(operand).uint8.set(bytes.subarray(address, address + length), to);
  });
}
