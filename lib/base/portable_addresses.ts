/**
 * Relocatable addresses of modules in data cached between processes. In standalone executables dyn, the program and the
 * cache are in one folder, which may be moved: there addresses are stored relative to that folder, elsewhere unchanged.
 * Invariant: a text refers to the same file of the folder wherever it is; values of the program are never treated as
 * addresses.
 */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { OWN_ROOT } from "./errors.ts";
import { environmentVariable } from "./permissions.ts";

/** Returns whether the dyn of a folder is next to its cache, as in standalone executables: they move together. */
export function isPortable(path: string): boolean {
  return environmentVariable("DYN_CACHE_DIR") === join(path, "../cache");
}

/** A folder as the prefix of URLs and of paths. */
interface Folder {
  readonly url: string;
  readonly path: string;
}

/** Prefixes of texts that refer to files of the folder. No URL has such a scheme, and no path has such a beginning. */
const MARKS: Folder = { url: "beside-dyn-url:", path: "beside-dyn-path:" };

/** Translates addresses that begin with one folder to those that begin with another. */
function translated(address: string, from: Folder, to: Folder): string {
  for (const kind of ["url", "path"] as const) {
    if (address.startsWith(from[kind])) return to[kind] + address.slice(from[kind].length);
  }
  return address;
}

/** Translates addresses to texts and back, for a folder that may move; null: no translation. */
export function addressesOf(
  folder: string | null,
): { readonly kept: (address: string) => string; readonly found: (kept: string) => string } {
  if (folder === null) return { kept: (address) => address, found: (kept) => kept };
  const here = { url: `${pathToFileURL(folder).href}/`, path: `${folder}/` };
  return {
    kept: (address) => translated(address, here, MARKS),
    found: (kept) => translated(kept, MARKS, here),
  };
}

/** The folder of this process that may move, or null. */
function ownFolder(): string | null {
  if (!OWN_ROOT.startsWith("file:") || !OWN_ROOT.endsWith("/")) return null;
  try {
    const path = fileURLToPath(OWN_ROOT);
    return isPortable(path) ? join(path, "..").replace(/\/$/, "") : null;
  } catch {
    // Access to the environment may be denied
    return null;
  }
}

let known: { readonly isPortable: boolean; readonly addresses: ReturnType<typeof addressesOf> } | undefined;

function own(): NonNullable<typeof known> {
  const folder = known ? null : ownFolder();
  return known ??= { isPortable: folder !== null, addresses: addressesOf(folder) };
}

/** Returns whether the cache of this process moves together with its modules. */
export function isPortableWithCache(): boolean {
  return own().isPortable;
}

/** Returns a module's URL or path in its stored form. */
export function portableAddress(address: string): string {
  return own().addresses.kept(address);
}

/** Returns the URL or path that a stored text refers to here. */
export function localAddress(kept: string): string {
  return own().addresses.found(kept);
}
