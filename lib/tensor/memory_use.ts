/**
 * Memory use of tensors in bytes: `torch.cuda.memory_allocated` and its relatives, for every device. Invariant: the
 * numbers are the allocator's own; nothing is estimated.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { alignedRows } from "../base/report_text.ts";
import type { DeviceName, MemoryUse } from "../loops/device.ts";
import { defaultDevice } from "./default_device.ts";
import { deviceNamed } from "./storage.ts";

const useOf = (device: DeviceName | undefined): MemoryUse => deviceNamed(device ?? defaultDevice()).memoryUse;

/**
 * The bytes that tensors occupy on a device, by default the default one, each rounded up to the allocator's sizes.
 * Dropped tensors count until the allocator collects them, when it needs memory or in `emptyCache`; those released
 * explicitly, as by `using`, do not. Throws DynError for a device that is not initialised. As
 * `torch.cuda.memory_allocated`.
 */
export function memoryAllocated(device?: DeviceName): number {
  if (arguments.length > 1) refuseSurplus("memoryAllocated", 1, arguments);
  return useOf(device).allocated;
}

/** The bytes that the allocator holds: those of tensors, and those kept for later ones. As `torch.cuda.memory_reserved`. */
export function memoryReserved(device?: DeviceName): number {
  if (arguments.length > 1) refuseSurplus("memoryReserved", 1, arguments);
  return useOf(device).reserved;
}

/** The maximum of `memoryAllocated` since the start or `resetPeakMemoryStats`. As `torch.cuda.max_memory_allocated`. */
export function maxMemoryAllocated(device?: DeviceName): number {
  if (arguments.length > 1) refuseSurplus("maxMemoryAllocated", 1, arguments);
  return useOf(device).peakAllocated;
}

/** The maximum of `memoryReserved` since the start or `resetPeakMemoryStats`. As `torch.cuda.max_memory_reserved`. */
export function maxMemoryReserved(device?: DeviceName): number {
  if (arguments.length > 1) refuseSurplus("maxMemoryReserved", 1, arguments);
  return useOf(device).peakReserved;
}

/** Resets the peaks to the current use. As `torch.cuda.reset_peak_memory_stats`. */
export function resetPeakMemoryStats(device?: DeviceName): void {
  if (arguments.length > 1) refuseSurplus("resetPeakMemoryStats", 1, arguments);
  useOf(device).resetPeaks();
}

/**
 * Collects all tensors that the program has dropped, and returns all unused memory to the system. Takes 50 ms or more;
 * needed only if other programs want the memory. As `torch.cuda.empty_cache`.
 */
export function emptyCache(device?: DeviceName): void {
  if (arguments.length > 1) refuseSurplus("emptyCache", 1, arguments);
  useOf(device).releaseUnused();
}

/**
 * Sets the maximum bytes that the allocator may hold on a device; null removes the limit. An allocation beyond it first
 * releases cached memory and collects dropped tensors, then throws OutOfMemory. `DYN_MEMORY_LIMIT` sets it too.
 * Throws DynError for anything but a number of bytes. As `torch.cuda.set_per_process_memory_fraction`, in bytes.
 */
export function setMemoryLimit(bytes: number | null, device?: DeviceName): void {
  if (arguments.length > 2) refuseSurplus("setMemoryLimit", 2, arguments);
  if (bytes !== null && !(bytes > 0)) {
    throw new DynError(`Expected a positive number of bytes or null but found ${Deno.inspect(bytes)}`);
  }
  useOf(device).limit = bytes ?? undefined;
}

/** The numbers of a device as a table. As `torch.cuda.memory_summary`. */
export function memorySummary(device?: DeviceName): string {
  if (arguments.length > 1) refuseSurplus("memorySummary", 1, arguments);
  const { allocated, reserved, peakAllocated, peakReserved, limit } = useOf(device);
  const rows = [
    [`memory of ${device ?? defaultDevice()}`, "now", "peak"],
    ["allocated", inMebibytes(allocated), inMebibytes(peakAllocated)],
    ["reserved", inMebibytes(reserved), inMebibytes(peakReserved)],
    ["limit", limit === undefined ? "none" : inMebibytes(limit), ""],
  ];
  return alignedRows(rows, 1).join("\n");
}

const inMebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(2)} MiB`;
