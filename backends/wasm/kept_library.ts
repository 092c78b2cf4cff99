/**
 * Modules of the library between processes. Input: a pool and a module's name; output: its functions as a former process
 * wrote them. Imported for its effect. Invariant: a kept module is that of this dyn and of the same kind of memory.
 */
import { messageOf } from "../../lib/base/errors.ts";
import { dropEntry, keepsEntries, keepSoon, keptEntry } from "../../lib/base/kept_entries.ts";
import { counters } from "../../lib/base/logs.ts";
import { ownIdentity } from "../../lib/base/own_sources.ts";
import { keepLibraryIn } from "./library_code.ts";
import type { JobPool } from "./pool.ts";

/** Names a module between processes; null where nothing is kept. */
function keyOf({ memory: { kind: { shared, maximum } } }: JobPool, name: string): string | null {
  const own = keepsEntries() ? ownIdentity() : null;
  return own === null ? null : `${own}\nlibrary ${name} ${shared} ${maximum}`;
}

keepLibraryIn({
  take(pool, name) {
    const key = keyOf(pool, name), text = key === null ? undefined : keptEntry("programs", key);
    if (key === null || text === undefined) return undefined;
    try {
      const code = pool.load(Uint8Array.fromBase64(text));
      counters.add("kept_programs", "hits");
      return code;
    } catch (thrown) {
      if (!(thrown instanceof SyntaxError || thrown instanceof WebAssembly.CompileError)) throw thrown;
      dropEntry("programs", key, messageOf(thrown));
      return undefined;
    }
  },
  keep(pool, name, bytes) {
    const key = keyOf(pool, name);
    if (key !== null) keepSoon("programs", key, () => bytes.toBase64());
  },
});
