/**
 * The device "meta": tensors with shapes, types and strides, and no elements. Invariant: nothing is computed and no
 * memory is allocated; reading elements is an error that says so.
 */
import { DynError } from "../../lib/base/errors.ts";
import { type CompiledProgram, type Device, type Memory, registerDevice } from "../../lib/loops/device.ts";

const PROGRAM: CompiledProgram = { run: () => true, source: "", language: "txt", kernelCount: 0 };

const NO_USE = { allocated: 0, reserved: 0, peakAllocated: 0, peakReserved: 0, limit: undefined };

function refuse(): never {
  throw new DynError(
    'Expected a tensor with elements but found one of the device "meta", which has shapes only; make it on another ' +
      "device, or give its module memory with toEmpty({ device }) or loadStateDict(state, { assign: true })",
  );
}

/** The device, registered when this module loads. */
export const meta: Device = {
  name: "meta",
  shapesOnly: true,
  synchronousReads: false,
  allocate: (byteLength): Memory => ({ device: "meta", byteLength }),
  free() {},
  memoryUse: { ...NO_USE, resetPeaks() {}, releaseUnused() {} },
  write() {},
  readSync: refuse,
  read: refuse,
  compileEager: () => PROGRAM,
  compile: () => PROGRAM,
  synchronize() {},
};
registerDevice(meta);
