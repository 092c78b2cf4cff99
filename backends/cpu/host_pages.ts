/**
 * Large array buffers on separate pages, with arbitrary content, on huge pages where the system has them. Invariant:
 * the address of a buffer is never reused, so that nothing can reach memory that is gone.
 *
 * An ordinary ArrayBuffer is cleared, and a large one consists of small pages that the system must first provide:
 * four times what huge ones cost, which is more than a memory-bound kernel does.
 */
import { ownWeakSet } from "../../lib/base/collections.ts";

/** From this size on huge pages fit in. */
const HUGE_PAGE = 2 ** 21;
/** Of the ordinary size. */
const PAGE = 2 ** 12;
const PROT_READ_WRITE = 3, MAP_PRIVATE_ANONYMOUS = 0x22;
const MADV_DONTNEED = 4, MADV_HUGEPAGE = 14;

const SYMBOLS = {
  mmap: { parameters: ["pointer", "usize", "i32", "i32", "i32", "i64"], result: "pointer" },
  munmap: { parameters: ["pointer", "usize"], result: "i32" },
  madvise: { parameters: ["pointer", "usize", "i32"], result: "i32" },
} as const;

type System = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** The system's C library; null if it is not one that is known. */
function findSystem(): System | null {
  if (Deno.build.os !== "linux") return null;
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      return Deno.dlopen(name, SYMBOLS).symbols;
    } catch {
      continue;
    }
  }
  return null;
}

let system: System | null | undefined;
/** Addresses without pages, by size. */
const hollow = new Map<number, ArrayBuffer[]>();

/** A buffer of `bytes`, a multiple of 64. Throws RangeError where there is no room. */
export function hostPages(bytes: number): ArrayBuffer {
  if (bytes < HUGE_PAGE) return new ArrayBuffer(bytes);
  return hollow.get(bytes)?.pop() ?? mapPages(bytes) ?? new ArrayBuffer(bytes);
}

/** Gives the pages of buffers back to the system; the buffers themselves are nobody's from here on. */
export function discardPages(buffers: readonly ArrayBuffer[]): void {
  for (const buffer of buffers) {
    if (!mapped.has(buffer)) continue;
    system?.madvise(Deno.UnsafePointer.of(buffer), BigInt(buffer.byteLength), MADV_DONTNEED);
    const same = hollow.get(buffer.byteLength);
    if (same) same.push(buffer);
    else hollow.set(buffer.byteLength, [buffer]);
  }
}

/** Gives the pages that lie wholly within some bytes back to the system; what is read there next is 0. */
export function releasePages(bytes: Uint8Array): void {
  system ??= findSystem();
  const start = Deno.UnsafePointer.of(bytes);
  if (!system || start === null) return;
  const before = Number(-Deno.UnsafePointer.value(start) & BigInt(PAGE - 1));
  const whole = Math.floor((bytes.byteLength - before) / PAGE) * PAGE;
  if (whole <= 0) return;
  system.madvise(Deno.UnsafePointer.offset(start, before), BigInt(whole), MADV_DONTNEED);
}

/** Asks for huge pages where bytes lie that nobody has touched. */
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
  // The system's answer where there is no room is -1
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
