/** Saves and loads what is cached between processes as one sequence of bytes; the folder of the cache sets the store. */
import { DynError } from "./errors.ts";

/** The content of a cache. */
export interface CacheArtifacts {
  /** To be stored anywhere, and given to `loadCacheArtifacts`. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The number of files that they hold. */
  readonly files: number;
}

/** Moves a cache. */
export interface ArtifactStore {
  save(): Promise<CacheArtifacts>;
  /** Returns the number of files. */
  load(bytes: Uint8Array): Promise<number>;
}

let store: ArtifactStore | null = null;

/** Sets the store. */
export function setArtifactStore(given: ArtifactStore): void {
  store = given;
}

function storeOf(): ArtifactStore {
  if (store) return store;
  throw new DynError("Expected a device that caches what it compiles but found none");
}

/**
 * Returns everything that is cached: captures, graphs, kernels and measured choices, of this process and of earlier
 * ones, as `torch.compiler.save_cache_artifacts`. What the C++ compiler is still working at is not part of it. Throws
 * DynError if dyn's own modules were written since the process began.
 */
export function saveCacheArtifacts(): Promise<CacheArtifacts> {
  return storeOf().save();
}

/**
 * Adds saved artifacts to the cache of this machine, and returns the number of files. They contain machine code, which
 * later calls run: load them only from where nobody else can write. Throws DynError, and changes nothing, if they were
 * saved by another version of dyn or for another target, or are damaged.
 */
export async function loadCacheArtifacts(bytes: Uint8Array): Promise<number> {
  if (bytes instanceof Uint8Array) return await storeOf().load(bytes);
  throw new DynError(`Expected the bytes of saved artifacts but found ${Deno.inspect(bytes)}`);
}
