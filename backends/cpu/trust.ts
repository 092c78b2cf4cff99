/**
 * Checks that nobody else can plant code that will be run: why a folder is not trusted, and whether an opened file is.
 * Invariant: a trusted file or folder belongs to this process's user (its parents may belong to the system), and only
 * that user can write to it.
 *
 * Files of the cache are sealed: two parts and a footer (the lengths of both, a fingerprint), so that one rename
 * publishes all of them, and a file that is cut off or changed is not read.
 */
import { dirname } from "node:path";
import { fingerprint } from "../../lib/base/fingerprint.ts";

/** The checked metadata of a file. */
type Owned = Pick<Deno.FileInfo, "uid" | "gid" | "mode">;

const WRITABLE_BY_GROUP = 0o020, WRITABLE_BY_ALL = 0o002, STICKY = 0o1000;

/** The user that this process runs as; null if files have no owners. */
function ownUser(): number | null {
  return Deno.build.os === "windows" ? null : Deno.uid();
}

/** Returns whether a file belongs to a user and only that user can write it. */
export function isOnlyWritableBy(user: number, { uid, mode }: Owned): boolean {
  return uid === user && ((mode ?? 0) & (WRITABLE_BY_GROUP | WRITABLE_BY_ALL)) === 0;
}

/** Returns whether a file belongs to the user of this process, and nobody else can write it. */
export function isOwn(info: Owned): boolean {
  const user = ownUser();
  return user === null || isOnlyWritableBy(user, info);
}

/**
 * Returns why others could replace a cache below a folder, if they could: anyone who can write to a folder can rename
 * files that belong to others, unless it is sticky. A group named after the user has no other members.
 */
export function parentFault(user: number, { uid, gid, mode }: Owned): string | undefined {
  const rights = mode ?? 0;
  if (uid !== user && uid !== 0) return `belongs to another user (${uid})`;
  if (rights & STICKY) return undefined;
  if (rights & WRITABLE_BY_ALL) return "can be written by everybody";
  return rights & WRITABLE_BY_GROUP && gid !== uid ? `can be written by a group (${gid})` : undefined;
}

/**
 * Returns why a folder must not hold code that is run: others can write to it or to a folder above it. `levels` of them
 * are dyn's.
 */
export function folderFault(path: string, levels: number): string | undefined {
  const user = ownUser();
  if (user === null) return undefined;
  for (let folder = Deno.realPathSync(path), level = 0;; folder = dirname(folder), level++) {
    const info = Deno.lstatSync(folder);
    const fault = level >= levels
      ? parentFault(user, info)
      : info.uid !== user
      ? `belongs to another user (${info.uid})`
      : isOnlyWritableBy(user, info)
      ? undefined
      : "can be written by others";
    if (fault) return `${folder} ${fault}`;
    if (folder === dirname(folder)) return undefined;
  }
}

const encoder = new TextEncoder(), decoder = new TextDecoder();

/** The parts of a file. */
export type Parts = readonly [first: Uint8Array, second: Uint8Array];

/** The bytes of a file; `magic` names its kind and version. */
export function sealed([first, second]: Parts, magic: string): Uint8Array {
  const content = new Uint8Array(first.length + second.length);
  content.set(first);
  content.set(second, first.length);
  const lengths = `${first.length}`.padStart(16) + `${second.length}`.padStart(16);
  const footer = encoder.encode(lengths + fingerprint(content) + magic);
  const bytes = new Uint8Array(content.length + footer.length);
  bytes.set(content);
  bytes.set(footer, content.length);
  return bytes;
}

/** Returns the parts of a file; null if it is damaged. */
export function unsealed(bytes: Uint8Array<ArrayBuffer>, magic: string): Parts | null {
  const end = bytes.length - (16 + 16 + 32 + magic.length);
  if (end < 0) return null;
  const footer = decoder.decode(bytes.subarray(end)), content = bytes.subarray(0, end);
  const first = Number(footer.slice(0, 16)), second = Number(footer.slice(16, 32));
  if (!footer.endsWith(magic) || first + second !== end) return null;
  return footer.slice(32, 64) === fingerprint(content)
    ? [content.subarray(0, first), content.subarray(first)]
    : null;
}
