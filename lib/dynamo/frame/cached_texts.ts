/**
 * Caches texts of modules between processes: the text that V8 has of each module of a program, as the debugger reported
 * it once, so that later runs of the program need no debugger, which is slow to enable.
 *
 * Invariant: a text is used only if its file is the one from which it was made and was written before this process
 * started, so that V8 has read that very file; a function is found in it only by its own text at its own position.
 */
import { findSourceMap, SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { cachedEntry, cacheEntry, cachesEntries, dropEntry } from "../../base/cached_entries.ts";
import { counters, logs } from "../../base/logs.ts";
import { ownIdentity } from "../../base/own_sources.ts";
import { isPortableWithCache, localAddress, portableAddress } from "../../base/portable_addresses.ts";
import type { EmittedText, MapPayload } from "./emitted_texts.ts";
import { fileAt } from "./file_state.ts";
import { isLikely, noteText } from "./loaded_texts.ts";

/** A text, its source map, and the identity of its file. */
interface KeptText {
  readonly url: string;
  readonly text: string;
  readonly map: MapPayload | null;
  readonly file: string;
  /** Offsets of functions in it that use no outer variables, as far as determined. */
  readonly closed: readonly number[];
}

/** A module's text and the script that V8 made of it. */
interface FoundText {
  readonly url: string;
  readonly text: string;
}

/**
 * A source map as text, which is parsed only when a position is requested: that takes longer than everything else about
 * a module.
 */
interface NotedMap {
  readonly payload: MapPayload;
  read: SourceMap | null;
}

const maps = new Map<string, NotedMap | undefined>();

function notedMap(url: string): NotedMap | undefined {
  if (!maps.has(url)) {
    const found = url.startsWith("file:") ? findSourceMap(fileURLToPath(url)) : undefined;
    maps.set(url, found && { payload: found.payload, read: found });
  }
  return maps.get(url);
}

/** The source map from a module to the user's file; undefined if it has none. */
export function mapOf(url: string): SourceMap | undefined {
  const noted = notedMap(url);
  return noted && (noted.read ??= new SourceMap(noted.payload));
}

/** The same, unparsed. */
export function mapPayloadOf(url: string): MapPayload | undefined {
  return notedMap(url)?.payload;
}

/** Records the source map that the runtime caches with a module's text: looking for it takes a millisecond. */
export function noteMap({ url, map }: EmittedText): void {
  if (!maps.has(url)) maps.set(url, { payload: map, read: null });
}

/** The key under which the texts of this program are cached; null if nothing is. */
function keyOf(): string | null {
  if (!cachesEntries()) return null;
  try {
    const own = ownIdentity();
    if (own === null) return null;
    // A cache that is shipped with a program holds just that program
    const cwd = isPortableWithCache() ? null : Deno.cwd();
    return JSON.stringify({ own, main: portableAddress(Deno.mainModule), cwd });
  } catch {
    // The program may lack permission to know where it is
    return null;
  }
}

const kept = new Map<string, KeptText>();
let isRead = false;

/** Functions that use no outer variables, by the text that contains them. */
const closed = new Map<string, Set<number>>();

/** Returns whether the function at an offset of a text is known to use no outer variables. */
export function isKnownClosed({ text }: FoundText, offset: number): boolean {
  return closed.get(text)?.has(offset) ?? false;
}

/** Records that it does not, which is cached together with the text. */
export function noteClosed({ text }: FoundText, offset: number): void {
  closed.set(text, (closed.get(text) ?? new Set()).add(offset));
}

/** Loads the texts that earlier runs of this program cached. Does so once. */
export function noteCachedTexts(): void {
  if (isRead) return;
  isRead = true;
  const key = keyOf(), stored = key === null ? undefined : cachedEntry("texts", key);
  if (key === null || stored === undefined) return;
  try {
    for (const each of readTexts(JSON.parse(stored))) {
      if (each.file !== fileAt(each.url)) continue;
      kept.set(each.url, each);
      maps.set(each.url, each.map === null ? undefined : { payload: each.map, read: null });
      noteText(each.url, each.text);
      for (const offset of each.closed) noteClosed(each, offset);
    }
    counters.add("cached_texts", "hits");
  } catch (error) {
    dropEntry("texts", key, String(error));
  }
}

/** Caches the texts of modules in which functions were found. */
export function cacheTexts(found: readonly FoundText[]): void {
  const key = keyOf();
  if (key === null) return;
  let isNew = false;
  for (const { url, text } of found) {
    const file = isLikely(url) ? fileAt(url) : null;
    const known = kept.get(url), within = [...closed.get(text) ?? []];
    if (file === null || (known?.text === text && known.closed.length === within.length)) continue;
    const payload = mapPayloadOf(url);
    // The user's lines are read from the file
    const map = payload ? { ...payload, sourcesContent: [] } : null;
    kept.set(url, { url, text, map, file, closed: within });
    isNew = true;
  }
  if (!isNew) return;
  logs.emit("cache", () => `texts: ${kept.size} modules kept`);
  cacheEntry(
    "texts",
    key,
    JSON.stringify([...kept.values()].map((each) => withAddresses(each, portableAddress))),
  );
}

/** A text with the URLs of its module translated. */
function withAddresses(kept: KeptText, translated: (address: string) => string): KeptText {
  const { url, map } = kept;
  return { ...kept, url: translated(url), map: map && { ...map, sources: map.sources.map(translated) } };
}

function readTexts(form: unknown): readonly KeptText[] {
  if (!Array.isArray(form)) throw new TypeError("Expected a list of texts");
  return form.map((each: unknown): KeptText => {
    if (isKeptText(each)) return withAddresses(each, localAddress);
    throw new TypeError("Expected a text, its file and its map");
  });
}

function isKeptText(value: unknown): value is KeptText {
  return typeof value === "object" && value !== null && "url" in value && "text" in value &&
    "file" in value &&
    "map" in value && typeof value.url === "string" && typeof value.text === "string" &&
    typeof value.file === "string" && typeof value.map === "object" && "closed" in value &&
    Array.isArray(value.closed) && value.closed.every((each: unknown) => typeof each === "number");
}
