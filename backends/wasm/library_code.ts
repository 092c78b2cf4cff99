/**
 * Modules of the library: written on first use, and loaded once for each pool. Invariant: these modules also run in
 * browsers, so the cache between processes is injected.
 */
import type { MemoryKind } from "./binary.ts";
import type { Code, JobPool } from "./pool.ts";

/** Caches modules between processes, since writing one takes as long as many calls. */
interface LibraryStore {
  /** A module that an earlier process wrote. */
  take(pool: JobPool, name: string): Code | undefined;
  keep(pool: JobPool, name: string, bytes: Uint8Array<ArrayBuffer>): void;
}

let store: LibraryStore | null = null;

/** Sets the cache of modules. */
export function keepLibraryIn(given: LibraryStore): void {
  store = given;
}

const loaded = new WeakMap<JobPool, Map<string, Code>>();

function codesOf(pool: JobPool): Map<string, Code> {
  let codes = loaded.get(pool);
  if (!codes) loaded.set(pool, codes = new Map());
  return codes;
}

/** Loads a module that was written before, for the pool's kind of memory. */
export function useLibraryModule(pool: JobPool, name: string, bytes: Uint8Array<ArrayBuffer>): void {
  codesOf(pool).set(name, pool.load(bytes));
}

/** The functions of a module in a pool. */
export function libraryCode(
  pool: JobPool,
  name: string,
  write: (memory: MemoryKind) => Uint8Array<ArrayBuffer>,
): Code {
  const codes = codesOf(pool), known = codes.get(name);
  if (known) return known;
  const code = store?.take(pool, name) ?? writtenCode(pool, name, write);
  codes.set(name, code);
  return code;
}

function writtenCode(
  pool: JobPool,
  name: string,
  write: (memory: MemoryKind) => Uint8Array<ArrayBuffer>,
): Code {
  const bytes = write(pool.memory.kind);
  store?.keep(pool, name, bytes);
  return pool.load(bytes);
}
