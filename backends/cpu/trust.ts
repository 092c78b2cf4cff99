/**
 * Checks that nobody else can plant code that will be run: why a folder is not trusted, and whether an opened file is.
 * Invariant: a trusted file or folder belongs to this process's user (its parents may belong to the system), and only
 * that user can write to it.
 */
import { dirname } from "node:path";

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
