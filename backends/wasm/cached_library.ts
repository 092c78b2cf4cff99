/**
 * Caches modules of the library between processes, or takes those shipped with dyn. Imported for its effect. Invariant:
 * a cached module belongs to this version of dyn and the same kind of memory.
 */
import { messageOf } from "../../lib/base/errors.ts";
import { cachedEntry, cachesEntries, cacheSoon, dropEntry } from "../../lib/base/cached_entries.ts";
import { counters } from "../../lib/base/logs.ts";
import { ownIdentity } from "../../lib/base/own_sources.ts";
import { shippedEntry } from "../../lib/base/shipped_entries.ts";
import { keepLibraryIn } from "./library_code.ts";
import type { JobPool } from "./pool.ts";

const nameOf = ({ memory: { kind: { shared, maximum } } }: JobPool, name: string): string =>
  `library ${name} ${shared} ${maximum}`;

/** The cache key of a module; null if nothing is cached. */
function keyOf(pool: JobPool, name: string): string | null {
  const own = cachesEntries() ? ownIdentity() : null;
  return own === null ? null : `${own}\n${nameOf(pool, name)}`;
}

keepLibraryIn({
  take(pool, name) {
    const key = keyOf(pool, name);
    if (key === null) return undefined;
    const own = cachedEntry("programs", key), text = own ?? shippedEntry(nameOf(pool, name));
    if (text === undefined) return undefined;
    try {
      const code = pool.load(Uint8Array.fromBase64(text));
      counters.add("cached_programs", own === undefined ? "shipped" : "hits");
      return code;
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError || thrown instanceof WebAssembly.CompileError)) throw thrown;
      dropEntry("programs", key, messageOf(thrown));
      return undefined;
    }
  },
  keep(pool, name, bytes) {
    const key = keyOf(pool, name);
    if (key !== null) cacheSoon("programs", key, () => bytes.toBase64());
  },
});
