/**
 * The whole cache as one sequence of bytes: a first line, the length of a manifest, the manifest as JSON (its origin,
 * and each file with its size and SHA-256), and the files. Invariant: it is treated as data until everything has been
 * checked: that it was made by the same dyn, runtime and target, and that every byte matches the manifest; if a check
 * fails, the cache is unchanged.
 */
import { dirname, join } from "node:path";
import type { CacheArtifacts, EntryKind } from "../../lib/base/cached_entries.ts";
import { DynError } from "../../lib/base/errors.ts";
import { ownIdentity } from "../../lib/base/own_sources.ts";
import { writeAtomically } from "../../lib/base/atomic_files.ts";
import { type Codec, list, number, parsed, record, text } from "../../lib/sym/stored/codec.ts";
import { cacheDirectory } from "./cache_directory.ts";
import { isOwn } from "./trust.ts";

/** Folders of the cache, and their contents. */
export const STORES: Readonly<Record<EntryKind | "cpu", string>> = {
  cpu: "compiled C++",
  graphs: "compiled graphs",
  captures: "captured calls",
  choices: "measured choices",
  texts: "texts of modules",
  classes: "classes of eager calls",
  programs: "programs of eager calls",
  profiles: "sizes that changed",
};

/** The folder that holds all stores. */
export function cacheRoot(): string {
  return dirname(cacheDirectory());
}

const FIRST = "dyn-cache-1\n", LENGTH = 16;

/** One file of the cache. */
interface Kept {
  readonly store: string;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The versions and the target for which a cache is valid. */
interface Made {
  readonly dyn: string;
  readonly target: string;
}

interface Manifest extends Made {
  readonly files: readonly Kept[];
}

const manifestCodec: Codec<Manifest> = record<Manifest>({
  dyn: text,
  target: text,
  files: list(record<Kept>({ store: text, name: text, bytes: number, sha256: text })),
});

/** This dyn. Throws DynError if nothing distinguishes it from others. */
function madeHere(): Made {
  const dyn = ownIdentity();
  if (dyn === null) {
    throw new DynError("Expected modules of dyn that were not written since this process began");
  }
  return { dyn, target: Deno.build.target };
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Names of the files in a folder; none if there is no folder. Temporary files of writers are left out. */
function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name, isFile }) => isFile && isName(name) ? [name] : [])
      .sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

const isName = (name: string): boolean => /^[\w-][\w.-]*$/.test(name) && !name.endsWith(".tmp");

/** Returns the content of the cache. Files that other users could have written are left out. */
export async function saveArtifacts(): Promise<CacheArtifacts> {
  const files: Kept[] = [], parts: Uint8Array<ArrayBuffer>[] = [], made = madeHere(), root = cacheRoot();
  for (const store of Object.keys(STORES)) {
    for (const name of namesIn(join(root, store))) {
      const full = join(root, store, name);
      if (!isOwn(Deno.lstatSync(full))) continue;
      const bytes = Deno.readFileSync(full);
      files.push({ store, name, bytes: bytes.length, sha256: await sha256(bytes) });
      parts.push(bytes);
    }
  }
  const manifest: Manifest = { ...made, files };
  const listed = new TextEncoder().encode(JSON.stringify(manifest, null, 1));
  const head = new TextEncoder().encode(FIRST + `${listed.length}`.padStart(LENGTH));
  return { bytes: await new Blob([head, listed, ...parts]).bytes(), files: files.length };
}

/** Loads such bytes into the cache; returns the number of files. Throws DynError if they do not fit. */
export async function loadArtifacts(whole: Uint8Array): Promise<number> {
  const { manifest, start } = manifestOf(whole), root = cacheRoot();
  const made = madeHere();
  for (const what of ["target", "dyn"] as const) {
    if (manifest[what] === made[what]) continue;
    throw new DynError(`Expected a cache of ${made[what]} but found one of ${manifest[what]}`);
  }
  const parts: { readonly path: string; readonly store: string; readonly bytes: Uint8Array }[] = [];
  let at = start;
  for (const { store, name, bytes, sha256: expected } of manifest.files) {
    if (!Object.hasOwn(STORES, store) || !isName(name)) {
      throw new DynError(`Expected a file of ${Object.keys(STORES).join(", ")} but found ${store}/${name}`);
    }
    const part = whole.slice(at, at += bytes), found = await sha256(part);
    if (part.length !== bytes || found !== expected) {
      throw new DynError(`Expected ${store}/${name} with the SHA-256 ${expected} but found ${found}`);
    }
    parts.push({ path: join(root, store, name), store, bytes: part });
  }
  if (at !== whole.length) throw new DynError(`Expected ${at} bytes but found ${whole.length}`);
  for (const store of new Set(parts.map((part) => part.store))) {
    Deno.mkdirSync(join(root, store), { recursive: true, mode: 0o700 });
  }
  for (const part of parts) {
    writeAtomically(part.path, part.bytes);
    if (Deno.build.os !== "windows") Deno.chmodSync(part.path, part.path.endsWith(".so") ? 0o700 : 0o600);
  }
  return parts.length;
}

/** The manifest, and the offset of the files. Throws DynError if there is none. */
function manifestOf(whole: Uint8Array): { readonly manifest: Manifest; readonly start: number } {
  const decoder = new TextDecoder(), from = FIRST.length + LENGTH;
  const length = Number(decoder.decode(whole.subarray(FIRST.length, from)));
  if (decoder.decode(whole.subarray(0, FIRST.length)) !== FIRST || !Number.isInteger(length) || length < 2) {
    throw new DynError(`Expected a saved cache but found ${whole.length} other bytes`);
  }
  const start = from + length;
  const manifest = parsed(manifestCodec, decoder.decode(whole.subarray(from, start)));
  if (manifest) return { manifest, start };
  const found = whole.length < start + length ? `only ${whole.length} bytes of one` : "other text";
  throw new DynError(`Expected a manifest of target, dyn and files in a saved cache but found ${found}`);
}
