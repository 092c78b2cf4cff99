/**
 * Modules of the library: written when something of them is first called, loaded once for each pool, and kept between
 * processes, since writing one takes as long as many calls. Input: a pool, a module's name and who writes it; output:
 * its functions. Invariant: a kept module is that of this dyn and of the same kind of memory.
 */
import { dropEntry, keepsEntries, keepSoon, keptEntry } from "../../lib/base/kept_entries.ts";
import { messageOf } from "../../lib/base/errors.ts";
import { counters } from "../../lib/base/logs.ts";
import { ownIdentity } from "../../lib/base/own_sources.ts";
import type { MemoryKind } from "./binary.ts";
import type { Code, JobPool } from "./pool.ts";

const loaded = new WeakMap<JobPool, Map<string, Code>>();

/** The functions of a module in a pool. */
export function libraryCode(
  pool: JobPool,
  name: string,
  write: (memory: MemoryKind) => Uint8Array<ArrayBuffer>,
): Code {
  let codes = loaded.get(pool);
  if (!codes) loaded.set(pool, codes = new Map());
  const known = codes.get(name);
  if (known) return known;
  const code = keptCode(pool, name) ?? writtenCode(pool, name, write);
  codes.set(name, code);
  return code;
}

/** Names a module between processes; null where nothing is kept. */
function keyOf({ memory: { kind: { shared, maximum } } }: JobPool, name: string): string | null {
  const own = keepsEntries() ? ownIdentity() : null;
  return own === null ? null : `${own}\nlibrary ${name} ${shared} ${maximum}`;
}

/** The module as a former process wrote it. */
function keptCode(pool: JobPool, name: string): Code | undefined {
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
}

function writtenCode(
  pool: JobPool,
  name: string,
  write: (memory: MemoryKind) => Uint8Array<ArrayBuffer>,
): Code {
  const bytes = write(pool.memory.kind), key = keyOf(pool, name);
  if (key !== null) keepSoon("programs", key, () => bytes.toBase64());
  return pool.load(bytes);
}
