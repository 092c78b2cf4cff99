/**
 * Measures the limits of a device: bytes per second of a large copy, operations per second of a large matrix product.
 * Invariant: measured once in each process, counting kernels alone, in memory that is freed afterwards.
 */
import { refuseSurplus } from "../../base/checked_input.ts";
import { contiguousStrides } from "../../graph/meta.ts";
import {
  type Device,
  type DeviceName,
  type KernelClock,
  type Memory,
  type TimeSpan,
} from "../../loops/device.ts";
import type { BufferDecl, BufferView, Kernel, Program } from "../../loops/ir.ts";
import { hintOf } from "../../sym/decide.ts";
import { measure as costs } from "../../loops/metrics.ts";
import { recordLowered } from "../../loops/nest.ts";
import { deviceNamed } from "../../tensor/storage.ts";

/** Rates of a device. */
export interface MachineLimits {
  /** Bytes that a large copy reads and writes; 0 if kernels cannot be timed, as below. */
  readonly bytesPerSecond: number;
  /** Operations of a large matrix product, two per multiply-add. */
  readonly operationsPerSecond: number;
}

/** Elements that are copied: with the result 64 MiB, more than most caches hold. */
const COPIED = 1 << 23;
/** Rows and columns of the matrices. */
const SIDE = 512;
/** Number of runs; the fastest counts. */
const RUNS = 5;

const measured = new Map<DeviceName, MachineLimits>();

/**
 * Returns the limits of a device, measured in float32 on the first request. Throws DynError if the device is not
 * available.
 */
export function machineLimits(device: DeviceName): MachineLimits {
  if (arguments.length > 1) refuseSurplus("machineLimits", 1, arguments);
  let found = measured.get(device);
  if (!found) measured.set(device, found = measure(deviceNamed(device)));
  return found;
}

function measure(device: Device): MachineLimits {
  const [from, to] = [0, 1].map((buffer) => viewOf(buffer, [COPIED]));
  const copy = from && to && recordLowered(
    {
      kind: "pointwise",
      shape: [COPIED],
      dtype: "float32",
      element: (o, index) => o.load({ ...from, dtype: "float32" }, index),
    },
    [{ ...to, dtype: "float32" }],
    { name: "copy" },
  );
  const [a, b, product] = [0, 1, 2].map((buffer) => viewOf(buffer, [SIDE, SIDE]));
  const matmul: Kernel | undefined = a && b && product && {
    kind: "extern",
    name: "matmul",
    call: { op: "matmul", accumulate: false },
    inputs: [a, b],
    outputs: [product],
    origins: [],
  };
  return {
    bytesPerSecond: copy ? rate(device, programOf(copy, [COPIED, COPIED]), "bytes") : 0,
    operationsPerSecond: matmul
      ? rate(device, programOf(matmul, Array(3).fill(SIDE * SIDE)), "operations")
      : 0,
  };
}

function viewOf(buffer: number, shape: readonly number[]): BufferView {
  return { buffer, offset: 0, shape, strides: contiguousStrides(shape) };
}

/** A program of one kernel, whose last buffer is its result. */
function programOf(kernel: Kernel, lengths: readonly number[]): Program {
  const last = lengths.length - 1;
  const buffers = lengths.map((length, at): BufferDecl => ({
    name: `b${at}`,
    dtype: "float32",
    length,
    role: at === last ? { kind: "output" } : { kind: "input", written: false },
  }));
  return {
    name: kernel.name,
    buffers,
    inputs: buffers.slice(0, last).map((_, at) => at),
    outputs: [last],
    sizes: [],
    arenaBytes: 0,
    kernels: [kernel],
  };
}

/** The best rate of a program's kernels, in bytes or operations per second. */
function rate(device: Device, program: Program, counted: "bytes" | "operations"): number {
  const { bytesRead, bytesWritten, operations } = costs(program);
  const amount = counted === "bytes" ? bytesRead + bytesWritten : operations;
  const memories = program.buffers.map(({ length }): Memory => {
    const bytes = 4 * hintOf(length), memory = device.allocate(bytes);
    device.write(memory, 0, new Uint8Array(bytes));
    return memory;
  });
  const compiled = device.compile(program), last = memories.length - 1;
  let best = 0;
  try {
    for (let run = 0; run < RUNS; run++) {
      let milliseconds = 0;
      const clock: KernelClock = { ran: (_, span: TimeSpan) => void (milliseconds += span.duration) };
      compiled.run({ inputs: memories.slice(0, last), outputs: memories.slice(last), sizes: [], clock });
      if (milliseconds > 0) best = Math.max(best, 1000 * amount / milliseconds);
    }
  } finally {
    for (const memory of memories) device.free(memory);
  }
  return best;
}

/**
 * Returns how close work comes to the limits of its device: 1 if it takes no longer than its bytes or operations
 * require. Null if a rate is 0 because the device's kernels could not be timed.
 */
export function shareOfLimit(
  { bytes, flops, microseconds }: {
    readonly bytes: number;
    readonly flops: number;
    readonly microseconds: number;
  },
  { bytesPerSecond, operationsPerSecond }: MachineLimits,
): number | null {
  if (bytesPerSecond === 0 || operationsPerSecond === 0) return null;
  const least = 1e6 * Math.max(bytes / bytesPerSecond, flops / operationsPerSecond);
  return least / Math.max(microseconds, 1e-3);
}
