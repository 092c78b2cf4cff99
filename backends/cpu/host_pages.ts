/**
 * Large array buffers on separate pages, with arbitrary content, on huge pages if the system has them. Invariant: the
 * address of a buffer is never reused, so that a stale reference cannot reach other memory.
 *
 * An ordinary ArrayBuffer is cleared, and the system has to map its small pages first: that costs four times as much as
 * huge pages, and more than a memory-bound kernel.
 */
import { byteLengthOf } from "../../lib/base/memory_getters.ts";
import { ownWeakSet } from "../../lib/base/collections.ts";
import { isGranted } from "../../lib/base/permissions.ts";

/** Buffers of at least this size contain whole huge pages. */
const HUGE_PAGE = 2 ** 21;
/** Size of an ordinary page. */
const PAGE = 2 ** 12;
const PROT_READ_WRITE = 3, MAP_PRIVATE_ANONYMOUS = 0x22;
const MADV_DONTNEED = 4, MADV_HUGEPAGE = 14;

const SYMBOLS = {
  mmap: { parameters: ["pointer", "usize", "i32", "i32", "i32", "i64"], result: "pointer" },
  munmap: { parameters: ["pointer", "usize"], result: "i32" },
  madvise: { parameters: ["pointer", "usize", "i32"], result: "i32" },
} as const;

type System = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** The system's C library; null for unknown systems. */
function findSystem(): System | null {
  if (Deno.build.os !== "linux") return null;
  for (const name of ["libc.so.6", "libc.so"]) {
    if (!isGranted({ name: "ffi", path: name })) continue;
    try {
      return Deno.dlopen(name, SYMBOLS).symbols;
    } catch {
      continue;
    }
  }
  return null;
}

let system: System | null | undefined;
/** Address ranges without pages, by size. */
const hollow = new Map<number, ArrayBuffer[]>();

/** A buffer of `bytes`, a multiple of 64. Throws RangeError if there is no room. */
export function hostPages(bytes: number): ArrayBuffer {
  if (bytes < HUGE_PAGE) return new ArrayBuffer(bytes);
  return hollow.get(bytes)?.pop() ?? mapPages(bytes) ?? new ArrayBuffer(bytes);
}

/** Returns the pages of buffers to the system; the buffers must not be used afterwards. */
export function discardPages(buffers: readonly ArrayBuffer[]): void {
  for (const buffer of buffers) {
    if (!mapped.has(buffer)) continue;
    system?.madvise(Deno.UnsafePointer.of(buffer), BigInt(byteLengthOf(buffer)), MADV_DONTNEED);
    const same = hollow.get(byteLengthOf(buffer));
    if (same) same.push(buffer);
    else hollow.set(byteLengthOf(buffer), [buffer]);
  }
}

/** Returns the pages that lie entirely within some bytes to the system; reading there yields 0 afterwards. */
export function releasePages(bytes: Uint8Array): void {
  system ??= findSystem();
  const start = Deno.UnsafePointer.of(bytes);
  if (!system || start === null) return;
  const before = Number(-Deno.UnsafePointer.value(start) & BigInt(PAGE - 1));
  const whole = Math.floor((bytes.byteLength - before) / PAGE) * PAGE;
  if (whole <= 0) return;
  system.madvise(Deno.UnsafePointer.offset(start, before), BigInt(whole), MADV_DONTNEED);
}

/** Requests huge pages for bytes that have never been touched. */
export function adviseHugePages(bytes: Uint8Array): void {
  system ??= findSystem();
  system?.madvise(Deno.UnsafePointer.of(bytes), BigInt(bytes.byteLength), MADV_HUGEPAGE);
}

const mapped = ownWeakSet<ArrayBuffer>();

function mapPages(bytes: number): ArrayBuffer | undefined {
  system ??= findSystem();
  if (!system) return undefined;
  const whole = Math.ceil(bytes / HUGE_PAGE) * HUGE_PAGE;
  const start = system.mmap(null, BigInt(whole + HUGE_PAGE), PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0n);
  const address = Deno.UnsafePointer.value(start);
  // The system returns -1 if there is no room
  if (!start || address % BigInt(PAGE) !== 0n) throw new RangeError("Array buffer allocation failed");
  const before = Number((BigInt(HUGE_PAGE) - address % BigInt(HUGE_PAGE)) % BigInt(HUGE_PAGE));
  const aligned = before === 0 ? start : Deno.UnsafePointer.offset(start, before);
  if (!aligned) return undefined;
  if (before > 0) system.munmap(start, BigInt(before));
  const after = Deno.UnsafePointer.offset(aligned, whole);
  system.munmap(after, BigInt(HUGE_PAGE - before));
  system.madvise(aligned, BigInt(whole), MADV_HUGEPAGE);
  const buffer = Deno.UnsafePointerView.getArrayBuffer(aligned, bytes);
  mapped.add(buffer);
  return buffer;
}
