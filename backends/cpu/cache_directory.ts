/**
 * The cache folder of compiled code, and atomic writes to it: DYN_CACHE_DIR or the user's cache folder. Invariants:
 * only the user can write to the folder; a file in it is complete or absent: files are written under another name and
 * renamed.
 */
import { environmentVariable, isGranted } from "../../lib/base/permissions.ts";
import { messageOf } from "../../lib/base/errors.ts";
import { uniqueSuffix } from "../../lib/base/atomic_files.ts";
import { folderFault } from "./trust.ts";

let directory: string | undefined;

const env = (name: string): string | undefined => environmentVariable(name) || undefined;

/** Candidates for the cache folder, the best first. */
function candidates(): string[] {
  const own = env("DYN_CACHE_DIR");
  if (own) return [own];
  const xdg = env("XDG_CACHE_HOME"), home = env("HOME"), local = env("LOCALAPPDATA");
  if (xdg) return [`${xdg}/dyn`];
  if (local) return [`${local}/dyn`];
  if (!home) return [];
  return [Deno.build.os === "darwin" ? `${home}/Library/Caches/dyn` : `${home}/.cache/dyn`];
}

/** Folders for temporary files: TMPDIR, or the usual places if that does not exist. */
const temporaryPlaces = (): string[] => [env("TMPDIR"), "/tmp", "/var/tmp"].flatMap((place) => place ?? []);

/** The folder that is tried first for compiled code. */
export const preferredDirectory = (): string => candidates()[0] ?? temporaryPlaces()[0] ?? "/tmp";

/** The same folders, for all processes of this user. */
function temporaryCandidates(): string[] {
  if (Deno.build.os === "windows") return [];
  return temporaryPlaces().map((place) => `${place}/dyn-${Deno.uid()}`);
}

/** The folder for compiled code: the user's if it can be written and trusted, else a temporary one. */
export function cacheDirectory(): string {
  if (directory !== undefined) return directory;
  const asked = candidates();
  // Without permission to know its user, a process cannot decide whether to trust a folder
  const folders = isGranted({ name: "sys", kind: "uid" }) ? [...asked, ...temporaryCandidates()] : [];
  let unusable: string | undefined;
  for (const base of folders) {
    if (!isGranted({ name: "write", path: base })) continue;
    const path = `${base}/cpu`;
    let fault: string | undefined;
    try {
      Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
      const trial = `${path}/${uniqueSuffix()}`;
      Deno.writeTextFileSync(trial, "");
      Deno.removeSync(trial);
      fault = folderFault(path, 2);
    } catch (thrown) {
      if (base === env("DYN_CACHE_DIR")) unusable = messageOf(thrown);
      continue;
    }
    if (fault === undefined) {
      if (unusable !== undefined) {
        console.warn(
          `dyn: compiled code is cached in ${base}, since DYN_CACHE_DIR cannot be used: ${unusable}`,
        );
      }
      return directory = path;
    }
    // Anyone who can write to it could make dyn run arbitrary code.
    if (asked.includes(base)) {
      console.warn(
        `dyn: compiled code is not cached in ${base}, since ${fault}; make it writable only by yourself (chown, chmod go-w) or ` +
          "set DYN_CACHE_DIR to another folder. Until then every process compiles anew",
      );
      break;
    }
  }
  directory = `${processDirectory()}/cpu`;
  Deno.mkdirSync(directory, { mode: 0o700 });
  return directory;
}

let ownDirectory: string | undefined;

/** A folder of this process, removed when it ends. */
export function processDirectory(): string {
  if (ownDirectory !== undefined) return ownDirectory;
  const made = ownDirectory = makeTemporary();
  globalThis.addEventListener("unload", () => Deno.removeSync(made, { recursive: true }));
  return made;
}

/** Throws NotCapable if no folder may be written. */
function makeTemporary(): string {
  const options = { prefix: "dyn-process-" };
  for (const dir of temporaryPlaces()) {
    if (!isGranted({ name: "write", path: dir })) continue;
    try {
      return Deno.makeTempDirSync({ ...options, dir });
    } catch {
      continue;
    }
  }
  if (!isGranted({ name: "write" })) throw new Deno.errors.NotCapable("Requires write access to a folder");
  return Deno.makeTempDirSync(options);
}

/** Removes a file or a folder if it exists and can be removed. */
export function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch {
    // Another process has removed it, or it was never written
  }
}

/** A text file, or undefined if it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined;
  }
}
