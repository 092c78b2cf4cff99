/** Keys that name elements of arrays. */

/** The array index that a key represents, or null. */
export function indexOfKey(key: string | symbol): number | null {
  if (typeof key !== "string" || !/^(0|[1-9]\d{0,9})$/.test(key)) return null;
  const index = Number(key);
  return index < 0xffffffff ? index : null;
}
