/**
 * Sizes of memory that is used again. Input: byte counts; output: the size to allocate, few enough of them that freed
 * memory is found again. Invariant: a size is a class of its own, and at most an eighth larger than what was asked for,
 * or 64 bytes.
 */

/** Rounds a byte count up to a size class. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return 64;
  if (bytes <= 4096) return Math.ceil(bytes / 64) * 64;
  const step = 2 ** Math.max(6, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}
