/**
 * Texts cached between processes, by name. The store is set by the code that knows the folder that only the user can
 * write. Invariant: a text is complete or absent; without a store, or if it fails, nothing is cached and nothing else
 * changes.
 */

/** Stores texts by names of letters, digits, `_` and `-`. Both methods throw if the system denies access. */
export interface TextStore {
  read(name: string): string | undefined;
  write(name: string, text: string): void;
}

let store: TextStore | null = null;

/** Sets the store of texts. */
export function setTextStore(given: TextStore): void {
  store = given;
}

/** Returns a cached text, or undefined. */
export function cachedText(name: string): string | undefined {
  try {
    return store?.read(name);
  } catch {
    return undefined;
  }
}

/** Caches a text; false if that fails. */
export function cacheText(name: string, text: string): boolean {
  try {
    store?.write(name, text);
    return store !== null;
  } catch {
    return false;
  }
}
