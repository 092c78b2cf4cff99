/**
 * Size classes of reused memory, few enough that freed memory fits later requests. Invariant: a class maps to itself,
 * and is at most an eighth, or 64 bytes, larger than the request.
 */

/** Rounds a byte count up to a size class. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return 64;
  if (bytes <= 4096) return Math.ceil(bytes / 64) * 64;
  const step = 2 ** Math.max(6, Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}
