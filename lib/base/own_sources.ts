/**
 * The identity of this dyn, which everything that is kept between processes depends on: a text that changes whenever
 * dyn's own modules do. Invariant: where that cannot be determined (modules from an address without a version, files
 * that were written since the process began) nothing is kept.
 */
import { fileURLToPath } from "node:url";
import { isOwnModule, OWN_ROOT } from "./errors.ts";
import { fingerprintText } from "./fingerprint.ts";
import { travels } from "./travelling.ts";

/** The rooms whose code decides what a compilation gives. */
const ROOMS = ["lib", "backends"] as const;

let known: string | null | undefined;
/** The time of the last write to files of each inspected folder's identity. */
const lastWritten = new Map<string, number>();

/** Returns the text that distinguishes this dyn, under this runtime, from every other one; null if there is none. */
export function ownIdentity(): string | null {
  if (known === undefined) known = identityOf(OWN_ROOT);
  return known;
}

/** Returns whether a module is covered by the identity. */
export function isOfIdentity(url: string): boolean {
  return isOwnModule(url) && ROOMS.some((room) => url.startsWith(`${OWN_ROOT}${room}/`));
}

/** Returns whether dyn's module at a path below its root was written last, see `wasWrittenLast`. */
export function isWrittenLast(path: string): boolean {
  return ownIdentity() !== null && wasWrittenLast(OWN_ROOT, path);
}

/**
 * Returns whether no file covered by a root's identity was written after one of them, so that its claims about the
 * others are up to date. Files of a published version never change. Files that are checked out together are written
 * in the order of their names, and those that are unpacked together have one time; edited ones are newer.
 * `identityOf` has looked at them.
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

/** The identity of a dyn whose modules lie below an address. */
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
    if (!root.endsWith("/")) return stated(path).line;
    const files = ROOMS.flatMap((room) => filesBelow(`${path}${room}`)),
      lines = files.map(({ line }) => line);
    lastWritten.set(root, Math.max(...files.map(({ written }) => written)));
    if (!travels(path)) return `${root} ${lines.length} files ${fingerprintText(lines.sort().join("\n"))}`;
    // Archives hold names from the folder on and whole seconds
    const places = lines.map((line) => line.slice(path.length).replace(/\d{3}$/, ""));
    return `${places.length} files ${fingerprintText(places.sort().join("\n"))}`;
  } catch {
    return null;
  }
}

/** A file of dyn's own. */
interface Stated {
  /** Its path, its size and when it was written last. */
  readonly line: string;
  readonly written: number;
}

/** Throws for what was written since the process began: it runs the former one. */
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
