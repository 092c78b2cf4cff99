/**
 * Texts that are kept between processes, by name. The store is set by the code that knows the folder that only the
 * user can write. Invariant: a text is complete or absent; without a store, or if it fails, nothing is kept and
 * nothing else changes.
 */

/** Keeps texts by names of letters, digits, `_` and `-`. Both throw where the machine does not let them. */
export interface TextStore {
  read(name: string): string | undefined;
  write(name: string, text: string): void;
}

let store: TextStore | null = null;

/** Says where texts are kept. */
export function keepTextsIn(given: TextStore): void {
  store = given;
}

/** A cached text, or undefined. */
export function keptText(name: string): string | undefined {
  try {
    return store?.read(name);
  } catch {
    return undefined;
  }
}

/** Keeps a text; false where that cannot be done. */
export function keepText(name: string, text: string): boolean {
  try {
    store?.write(name, text);
    return store !== null;
  } catch {
    return false;
  }
}
