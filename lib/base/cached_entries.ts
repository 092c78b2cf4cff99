/**
 * Cached results of compilation from earlier processes, by complete keys. The store is set by the code that knows the
 * folder that only the user can write. Invariant: an entry is complete and of exactly this key, or absent; without a
 * store, or if it fails, nothing is cached and nothing else changes.
 */
import { refuseSurplus } from "./checked_input.ts";
import { DynError } from "./errors.ts";
import { counters, logs } from "./logs.ts";

/**
 * The kind of a cached entry: compiled graphs; captures of calls; texts of modules; classes of eager calls and their
 * programs; measured choices between alternatives; sizes that changed in earlier processes of a job.
 */
export type EntryKind = "graphs" | "captures" | "texts" | "classes" | "programs" | "choices" | "profiles";

/** The content of a cache. */
export interface CacheArtifacts {
  /** To be stored anywhere, and given to `loadCacheArtifacts`. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of files that they hold. */
  readonly files: number;
}

/** Stores texts by kind and key. All methods throw if the system denies access. */
interface EntryStore {
  /** Returns whether the settings enable the cache. */
  isOn(): boolean;
  /** Returns the text of a key; null: there is none; "damaged": the file was incomplete and has been deleted. */
  read(kind: EntryKind, key: string): { readonly text: string } | "damaged" | null;
  write(kind: EntryKind, key: string, text: string): void;
  remove(kind: EntryKind, key: string): void;
  /** Returns the existing keys. */
  keys(kind: EntryKind): readonly string[];
  /** Saves everything that is cached, and adds what another store has saved. Absent: impossible. */
  readonly artifacts?: {
    save(): Promise<CacheArtifacts>;
    load(bytes: Uint8Array): Promise<number>;
  };
}

let store: EntryStore | null = null;

/** Sets the store of entries. */
export function setEntryStore(given: EntryStore): void {
  store = given;
}

/** Returns whether anything is cached. */
export function cachesEntries(): boolean {
  return store?.isOn() ?? false;
}

/** Returns the text cached under a key, or undefined. */
export function cachedEntry(kind: EntryKind, key: string): string | undefined {
  let found: ReturnType<EntryStore["read"]> = null;
  try {
    found = store?.read(kind, key) ?? null;
  } catch (thrown) {
    logs.emit("cache", () => `${kind}: the cache cannot be read: ${thrown}`);
  }
  if (found === "damaged") noteDamaged(kind, "a file was incomplete");
  return typeof found === "object" ? found?.text : undefined;
}

/** Returns the cached keys, for explanations. */
export function cachedKeys(kind: EntryKind): readonly string[] {
  try {
    return store?.keys(kind) ?? [];
  } catch {
    return [];
  }
}

/** Caches a text under a key. */
export function cacheEntry(kind: EntryKind, key: string, text: string): void {
  try {
    store?.write(kind, key, text);
    counters.add(`cached_${kind}`, "stored");
  } catch (thrown) {
    logs.emit("cache", () => `${kind}: the cache cannot be written: ${thrown}`);
  }
}

/** Texts to be cached, by kind and key. */
const pending = new Map<string, () => void>();

/**
 * Number of entries written together: in the first call of an op each write would take as long as its kernel, and most
 * programs have fewer entries, so none of their calls writes any.
 */
const BATCH = 256;

let flushesAtExit = false;

/** Caches a text soon, at the latest when the process ends; a later one with the same key replaces it. */
export function cacheSoon(kind: EntryKind, key: string, text: () => string): void {
  pending.set(`${kind} ${key}`, () => cacheEntry(kind, key, text()));
  if (!flushesAtExit) globalThis.addEventListener("unload", flush);
  flushesAtExit = true;
  if (pending.size >= BATCH) flush();
}

/** Writes the pending entries. */
export function flush(): void {
  for (const write of pending.values()) write();
  pending.clear();
}

/** Deletes an invalid entry, so that it is created again. */
export function dropEntry(kind: EntryKind, key: string, because: string): void {
  noteDamaged(kind, because);
  try {
    store?.remove(kind, key);
  } catch {
    // Another process was faster
  }
}

function noteDamaged(kind: EntryKind, because: string): void {
  counters.add(`cached_${kind}`, "damaged");
  logs.emit("cache", `${kind}: an entry is recomputed: ${because}`);
}

function artifactsOf(): Required<EntryStore>["artifacts"] {
  if (store?.artifacts) return store.artifacts;
  throw new DynError("Expected a device that caches what it compiles but found none");
}

/**
 * Returns everything that is cached: captures, graphs, kernels and measured choices, of this process and of earlier
 * ones, as `torch.compiler.save_cache_artifacts`. What the C++ compiler is still working at is not part of it. Throws
 * DynError if dyn's own modules were written since the process began.
 */
export function saveCacheArtifacts(): Promise<CacheArtifacts> {
  if (arguments.length > 0) refuseSurplus("saveCacheArtifacts", 0, arguments);
  const artifacts = artifactsOf();
  flush();
  return artifacts.save();
}

/**
 * Adds saved artifacts to the cache of this machine, and returns the number of files. They contain machine code, which
 * later calls run: load them only from where nobody else can write. Throws DynError, and changes nothing, if they were
 * saved by another version of dyn or for another target, or are damaged.
 */
export async function loadCacheArtifacts(bytes: Uint8Array): Promise<number> {
  if (arguments.length > 1) refuseSurplus("loadCacheArtifacts", 1, arguments);
  if (bytes instanceof Uint8Array) return await artifactsOf().load(bytes);
  throw new DynError(`Expected the bytes of saved artifacts but found ${Deno.inspect(bytes)}`);
}
