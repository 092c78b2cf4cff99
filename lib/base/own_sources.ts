/**
 * The identity of this dyn, on which everything cached between processes depends: a text that changes whenever dyn's
 * own modules do. Invariant: if it cannot be determined (modules from an address without a version, files written since
 * the process began), nothing is cached.
 */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { isOwnModule, OWN_ROOT } from "./errors.ts";
import { fingerprintText } from "./fingerprint.ts";
import { isGranted } from "./permissions.ts";
import { isPortable } from "./portable_addresses.ts";

/** The folders whose code determines the result of a compilation. */
const ROOMS = ["lib", "backends"] as const;

let known: string | null | undefined;
/** The time of the last write to files of each inspected folder's identity. */
const lastWritten = new Map<string, number>();

/** Returns the text that identifies this dyn under this runtime; null if it cannot be determined. */
export function ownIdentity(): string | null {
  if (known === undefined) known = identityOf(OWN_ROOT);
  return known;
}

/** Returns whether a module is among those that determine the identity. */
export function isOfIdentity(url: string): boolean {
  return isOwnModule(url) && ROOMS.some((room) => url.startsWith(`${OWN_ROOT}${room}/`));
}

/** Returns whether dyn's module at a path below its root was written last, see `wasWrittenLast`. */
export function isWrittenLast(path: string): boolean {
  return ownIdentity() !== null && wasWrittenLast(OWN_ROOT, path);
}

/**
 * Returns whether no file covered by a root's identity was written after the given one, so that its statements about
 * the others are up to date. Files of a published version never change. A checkout writes files in the order of their
 * names, and unpacked files share one time; edited ones are newer. Requires a previous call of `identityOf`.
 */
export function wasWrittenLast(root: string, path: string): boolean {
  if (!root.startsWith("file:")) return true;
  try {
    const written = Deno.statSync(fileURLToPath(`${root}${path}`)).mtime?.getTime();
    return written !== undefined && written >= (lastWritten.get(root) ?? Infinity);
  } catch {
    return false;
  }
}

/** Notes that a module was loaded long after the others: if its folder changed meanwhile, dyn is of no known version. */
export function noteLoaded(url: string): void {
  if (known && !isAsLoaded(url)) known = null;
}

/** Returns whether no file beside a module or below, where its imports are, was written since the process began. */
export function isAsLoaded(url: string): boolean {
  try {
    filesBelow(dirname(fileURLToPath(url)));
    return true;
  } catch {
    return false;
  }
}

/** Returns the identity of a dyn whose modules are below an address. */
export function identityOf(root: string): string | null {
  const { deno, v8 } = Deno.version;
  const sources = sourcesAt(root);
  return sources === null ? null : `dyn ${sources}, Deno ${deno}, V8 ${v8}, ${Deno.build.target}`;
}

function sourcesAt(root: string): string | null {
  if (!root.startsWith("file:")) return /[@/]v?\d+\.\d+\.\d+/.test(root) ? root : null;
  try {
    if (Deno.build.standalone) return stated(Deno.execPath()).line;
    const path = fileURLToPath(root);
    if (!isGranted({ name: "read", path })) return null;
    if (!root.endsWith("/")) return stated(path).line;
    const files = ROOMS.flatMap((room) => filesBelow(`${path}${room}`)),
      lines = files.map(({ line }) => line);
    lastWritten.set(root, Math.max(...files.map(({ written }) => written)));
    if (!isPortable(path)) return `${root} ${lines.length} files ${fingerprintText(lines.sort().join("\n"))}`;
    // Archives store names relative to the folder, and whole seconds
    const places = lines.map((line) => line.slice(path.length).replace(/\d{3}$/, ""));
    return `${places.length} files ${fingerprintText(places.sort().join("\n"))}`;
  } catch {
    return null;
  }
}

/** A file of dyn's own. */
interface Stated {
  /** Its path, its size and the time of its last write. */
  readonly line: string;
  readonly written: number;
}

/** Throws for files written since the process began, which runs the earlier version. */
function stated(path: string): Stated {
  const { size, mtime } = Deno.statSync(path), written = mtime?.getTime() ?? Infinity;
  if (written >= performance.timeOrigin) {
    throw new Error(`Expected what this process runs but found a newer ${path}`);
  }
  return { line: `${path} ${size} ${written}`, written };
}

function filesBelow(folder: string): Stated[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(`${folder}/${name}`) : [stated(`${folder}/${name}`)]
  );
}
