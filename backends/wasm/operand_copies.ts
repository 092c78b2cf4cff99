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

/** The addresses of a call's buffers: operands that live in the memory keep theirs. */
export function addressesIn(memory: WasmMemory, { program, call, placed }: Running): readonly number[] {
  const { inputs, outputs } = program;
  let addresses: number[] | undefined;
  const find = (id: number, operand: Memory | undefined, offset: number): void => {
    const { place } = hostOf(operand).block;
    if (place?.memory !== memory) return;
    addresses ??= [...placed.addresses];
    addresses[id] = place.address + offset;
  };
  for (let i = 0; i < inputs.length; i++) find(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    find(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
  if (!addresses) return placed.addresses;
  placeWindows(program, addresses);
  return addresses;
}

/** Copies into the memory what a program reads, and the gaps between elements that it writes. */
export function enter(
  bytes: Uint8Array,
  addresses: readonly number[],
  { program, call, placed }: Running,
): void {
  const { inputs, outputs, buffers } = program;
  const copy = (id: number, memory: Memory | undefined, from: number): void => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0;
    // A tensor without elements may begin after the end of its memory
    if (length === 0 || address !== placed.addresses[id]) return;
    const { uint8, byteLength } = hostOf(memory);
    const whole = from === 0 && byteLength <= aligned(length);
    bytes.set(whole ? uint8 : uint8.subarray(from, from + length), address);
  };
  for (let i = 0; i < inputs.length; i++) copy(inputs[i] ?? 0, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  for (let i = 0; i < outputs.length; i++) {
    const id = outputs[i] ?? 0, role = buffers[id]?.role;
    if (role?.kind === "output" && role.partly) {
      copy(id, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
    }
  }
}

/** Copies out of the memory what a program has written. */
export function leave(
  bytes: Uint8Array,
  addresses: readonly number[],
  { program, call, placed }: Running,
): void {
  const { inputs, outputs, buffers } = program;
  const copy = (id: number, memory: Memory | undefined, to: number): void => {
    const address = addresses[id] ?? 0, length = placed.byteLengths[id] ?? 0;
    const isCopy = length > 0 && address === placed.addresses[id];
    if (isCopy) hostOf(memory).uint8.set(bytes.subarray(address, address + length), to);
  };
  for (let i = 0; i < inputs.length; i++) {
    const id = inputs[i] ?? 0, role = buffers[id]?.role;
    if (role?.kind === "input" && role.written) copy(id, call.inputs[i], call.byteOffsets?.[i] ?? 0);
  }
  for (let i = 0; i < outputs.length; i++) {
    copy(outputs[i] ?? 0, call.outputs[i], call.byteOffsets?.[inputs.length + i] ?? 0);
  }
}
