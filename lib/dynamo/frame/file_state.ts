/**
 * Which files modules were loaded from. Input: addresses; output: what tells a file from later ones at the same place.
 * Invariant: a file that may have been written since this process began has no answer: V8 may have read another one.
 */
import { travelsWithCache } from "../../base/travelling.ts";

/** Which file lies at a URL; null: one that may have been written since this process began, or none. */
export function fileAt(url: string): string | null {
  if (!url.startsWith("file:")) return null;
  try {
    const { size, mtime } = Deno.statSync(new URL(url)), written = mtime?.getTime() ?? Infinity;
    // What is written while modules are loaded may be what was loaded or not
    if (written >= performance.timeOrigin) return null;
    return `${size} ${travelsWithCache() ? Math.floor(written / 1000) : written}`;
  } catch {
    return null;
  }
}
