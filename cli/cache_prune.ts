/**
 * `cache prune`: removes what has not been used for a time, then what was used least recently until the cache is of a
 * given size, and what interrupted compilations have left.
 *
 * Invariants: only files of the cache's own folders are removed; a program that runs meanwhile keeps what it has
 * loaded, and compiles again what it misses. A use counts as the file system notes it: with a precision of a day.
 */
import { parseArgs } from "@std/cli";
import { join } from "node:path";
import { STORES } from "../backends/cpu/cache_artifacts.ts";
import { UsageError } from "./command.ts";

/** Limits of the cache. */
interface Limits {
  /** Seconds without use after which an entry is removed; Infinity: never. */
  readonly unused: number;
  /** Bytes of all entries together. */
  readonly size: number;
}

/** A file or folder of a store. */
interface Item {
  readonly store: string;
  readonly path: string;
  readonly bytes: number;
  /** The time of its last use, in milliseconds. */
  readonly used: number;
  /** Whether an interrupted compilation has left it. */
  readonly isLeft: boolean;
}

/** Amounts that were removed from a store, and that have stayed there. */
export interface Pruned {
  readonly store: string;
  readonly removed: Amount;
  readonly kept: Amount;
}

interface Amount {
  readonly files: number;
  readonly bytes: number;
}

const DAY = 24 * 3600;

const TIMES: Readonly<Record<string, number>> = { h: 3600, d: DAY, w: 7 * DAY };
const SIZES: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9 };

/** The limits in the arguments. Throws UsageError if there are none. */
export function limitsOf(args: readonly string[]): Limits {
  const { unused, to, _: more } = parseArgs(args, {
    string: ["_", "unused", "to"],
    unknown: (arg) => {
      throw new UsageError(`Expected --unused <time> and --to <size> for cache prune but found ${arg}`);
    },
  });
  if (more.length > 0 || (unused === undefined && to === undefined)) {
    throw new UsageError(
      `Expected --unused <time>, such as 30d, or --to <size>, such as 500MB, after cache prune but found ${
        more.join(" ") || "neither"
      }`,
    );
  }
  return {
    unused: unused === undefined ? Infinity : amount(unused, TIMES, "a time such as 12h, 30d or 4w"),
    size: to === undefined ? Infinity : amount(to, SIZES, "a size such as 500MB or 2GB"),
  };
}

function amount(text: string, units: Readonly<Record<string, number>>, expected: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?) ?([a-z]+)$/i.exec(text) ?? [];
  const factor = Object.entries(units).find(([name]) => name.toLowerCase() === unit.toLowerCase())?.[1];
  if (number === undefined || factor === undefined) {
    throw new UsageError(`Expected ${expected} but found ${text || "nothing"}`);
  }
  return Number(number) * factor;
}

/** Removes what is beyond the limits from the cache in a folder; `now` in milliseconds. */
export function prune(root: string, { unused, size }: Limits, now: number = Date.now()): readonly Pruned[] {
  const items = Object.keys(STORES).flatMap((store) => itemsIn(root, store)).sort((a, b) => b.used - a.used);
  const removed = new Set<Item>();
  let total = 0;
  for (const item of items) {
    const age = (now - item.used) / 1000;
    // A compiler that runs works in such a folder
    if (item.isLeft ? age <= DAY : age <= unused && (total += item.bytes) <= size) continue;
    removed.add(item);
  }
  for (const { path } of removed) removeIfThere(path);
  const amountOf = (all: readonly Item[]): Amount => ({
    files: all.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  return Object.keys(STORES).map((store) => {
    const own = items.filter((item) => item.store === store);
    return {
      store,
      removed: amountOf(own.filter((item) => removed.has(item))),
      kept: amountOf(own.filter((item) => !removed.has(item))),
    };
  });
}

function itemsIn(root: string, store: string): Item[] {
  return namesIn(join(root, store)).flatMap((name): Item[] => {
    const path = join(root, store, name), info = statOf(path);
    if (!info) return [];
    const { isDirectory, size, mtime, atime } = info;
    const inside = isDirectory ? namesIn(path).map((each) => statOf(join(path, each))?.size ?? 0) : [];
    return [{
      store,
      path,
      bytes: inside.reduce((sum, bytes) => sum + bytes, isDirectory ? 0 : size),
      // Listing a folder counts as an access
      used: Math.max(mtime?.getTime() ?? 0, isDirectory ? 0 : atime?.getTime() ?? 0),
      isLeft: isDirectory || name.endsWith(".tmp"),
    }];
  });
}

/** Names in a folder; none if there is no such folder. */
const namesIn = (folder: string): readonly string[] =>
  orIfAbsent(() => [...Deno.readDirSync(folder)].map(({ name }) => name), []);

/** The state of a file; null if another process has removed it. */
const statOf = (path: string): Deno.FileInfo | null => orIfAbsent(() => Deno.lstatSync(path), null);

const removeIfThere = (path: string): void =>
  orIfAbsent(() => Deno.removeSync(path, { recursive: true }), undefined);

function orIfAbsent<T>(read: () => T, absent: T): T {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return absent;
    throw thrown;
  }
}
