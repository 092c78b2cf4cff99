/** Comparison of lists. Invariant: nothing here calls a builtin, which programs may have replaced. */

/** Returns whether two lists have the same items in the same order. */
export function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
