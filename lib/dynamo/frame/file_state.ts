/**
 * Identifies the files from which modules were loaded. Invariant: a file that may have been written since this process
 * started has no identity: V8 may have read another version.
 */
import { isGranted } from "../../base/permissions.ts";
import { isPortableWithCache } from "../../base/portable_addresses.ts";

/**
 * Returns the identity of the file at a URL; null if it may have been written since this process started, or does not
 * exist.
 */
export function fileAt(url: string): string | null {
  if (!url.startsWith("file:") || !isGranted({ name: "read", path: new URL(url) })) return null;
  try {
    const { size, mtime } = Deno.statSync(new URL(url)), written = mtime?.getTime() ?? Infinity;
    // A file that is written while modules are loaded may or may not be what was loaded
    if (written >= performance.timeOrigin) return null;
    return `${size} ${isPortableWithCache() ? Math.floor(written / 1000) : written}`;
  } catch {
    return null;
  }
}
