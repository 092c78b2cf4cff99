/**
 * Caches entries between processes in folders next to that of compiled code, and finds those shipped with dyn. Imported
 * for its effect. A file is the entry's sealed text with its complete key. Invariant: a file is used only if it is whole,
 * its key equals the wanted one and only this user can have written it.
 */
import { dirname } from "node:path";
import { config } from "../../lib/base/config.ts";
import { fingerprintText } from "../../lib/base/fingerprint.ts";
import { type EntryKind, setEntryStore } from "../../lib/base/cached_entries.ts";
import { isWrittenLast } from "../../lib/base/own_sources.ts";
import { shipEntries } from "../../lib/base/shipped_entries.ts";
import { shipped } from "../../lib/written/shipped.ts";
import { writeAtomically } from "../../lib/base/atomic_files.ts";
import { cacheDirectory, removeIfThere } from "./cache_directory.ts";
import { folderFault, isOwn, sealed, unsealed } from "./trust.ts";

const MAGIC = "dyn-entry-1\n";
const encoder = new TextEncoder(), decoder = new TextDecoder();

const folders = new Map<EntryKind, string>();

/** The folder of a kind, which only this user can write. Throws if there is none. */
function folderOf(kind: EntryKind): string {
  let folder = folders.get(kind);
  if (folder === undefined) {
    folder = `${dirname(cacheDirectory())}/${kind}`;
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fault = folderFault(folder, 2);
    if (fault !== undefined) {
      throw new Error(`Expected a folder that only the user can write but found that ${fault}`);
    }
    folders.set(kind, folder);
  }
  return folder;
}

const pathOf = (kind: EntryKind, key: string): string => `${folderOf(kind)}/${fingerprintText(key)}.json`;

/** Kinds of which a process reads many entries, each once. */
const LISTED: ReadonlySet<EntryKind> = new Set(["classes", "programs"]);
/** Size in bytes of a folder itself up to which its names are listed: about a thousand of them. */
const SHORT_LIST = 2 ** 16;
/** The files of a kind when the first was requested; null: too many to list. */
const files = new Map<EntryKind, ReadonlySet<string> | null>();

function filesOf(kind: EntryKind): ReadonlySet<string> | null {
  let names = files.get(kind);
  if (names === undefined) {
    const folder = folderOf(kind);
    names = Deno.statSync(folder).size > SHORT_LIST
      ? null
      : new Set([...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`));
    files.set(kind, names);
  }
  return names;
}

/**
 * Returns the path at which a file may exist; null if it certainly does not, which is cheaper than a look-up for each.
 * Files that other processes write later may be missed.
 */
function placeOf(kind: EntryKind, key: string): string | null {
  const names = LISTED.has(kind) ? filesOf(kind) : null;
  if (names?.size === 0) return null;
  const path = pathOf(kind, key);
  return names?.has(path) === false ? null : path;
}

/** Returns the contents of a file; null if it is damaged. */
function entryIn(bytes: Uint8Array<ArrayBuffer>): { readonly key: string; readonly text: string } | null {
  const [text, key] = unsealed(bytes, MAGIC) ?? [];
  return text && key ? { text: decoder.decode(text), key: decoder.decode(key) } : null;
}

setEntryStore({
  isOn: () => config.graphCache,
  read(kind, key) {
    const path = placeOf(kind, key);
    if (path === null) return null;
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      using file = Deno.openSync(path);
      const info = file.statSync();
      if (!isOwn(info)) return null;
      bytes = new Uint8Array(info.size);
      for (let at = 0; at < bytes.length;) {
        const count = file.readSync(bytes.subarray(at));
        if (count === null) break;
        at += count;
      }
    } catch (thrown) {
      if (thrown instanceof Deno.errors.NotFound) return null;
      throw thrown;
    }
    const found = entryIn(bytes);
    if (!found) {
      removeIfThere(path);
      return "damaged";
    }
    return found.key === key ? { text: found.text } : null;
  },
  write: (kind, key, text) =>
    writeAtomically(pathOf(kind, key), sealed([encoder.encode(text), encoder.encode(key)], MAGIC)),
  remove: (kind, key) => removeIfThere(pathOf(kind, key)),
  keys: (kind) =>
    [...Deno.readDirSync(folderOf(kind))].flatMap(({ name }) =>
      name.endsWith(".json") ? entryIn(Deno.readFileSync(`${folderOf(kind)}/${name}`))?.key ?? [] : []
    ),
  artifacts: {
    save: async () => await (await import("./cache_artifacts.ts")).saveArtifacts(),
    load: async (bytes) => await (await import("./cache_artifacts.ts")).loadArtifacts(bytes),
  },
});

// Not on demand: nearly every program runs eager calls, and a late load of so much text takes five times as long
shipEntries({ isCurrent: () => isWrittenLast("lib/written/shipped.ts"), lines: shipped });
