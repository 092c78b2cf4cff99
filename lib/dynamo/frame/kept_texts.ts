/**
 * Texts of modules between processes: what V8 has of the modules of a program, as the debugger told it once, so that
 * later runs of the program do without the debugger, which takes long to enable.
 *
 * Input: texts of loaded scripts, and the files that they were made of; later those files. Output: the texts, noted as
 * those of modules that are loaded. Invariant: a text is used only where its file is the one that it was made of and was
 * written before this process began, so that V8 has read that very file; a function is looked up in it only by its own
 * text at its own place.
 */
import { findSourceMap, SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { dropEntry, keepEntry, keepsEntries, keptEntry } from "../../base/kept_entries.ts";
import { counters, logs } from "../../base/logs.ts";
import { ownIdentity } from "../../base/own_sources.ts";
import { addressOfKept, keptAddress, travelsWithCache } from "../../base/travelling.ts";
import type { EmittedText, MapPayload } from "./emitted_texts.ts";
import { fileAt } from "./file_state.ts";
import { isLikely, noteText } from "./loaded_texts.ts";

/** A text, the map to its file, and which file that was. */
interface KeptText {
  readonly url: string;
  readonly text: string;
  readonly map: MapPayload | null;
  readonly file: string;
}

/** A module's text and the script that V8 made of it. */
export interface FoundText {
  readonly url: string;
  readonly text: string;
}

const maps = new Map<string, SourceMap | undefined>();

/** The map from a module to the file that its user wrote; undefined where there is none. */
export function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url)) {
    maps.set(url, url.startsWith("file:") ? findSourceMap(fileURLToPath(url)) : undefined);
  }
  return maps.get(url);
}

/** Notes the map of a module as the runtime keeps it beside the text: looking for it takes a millisecond. */
export function noteMap({ url, map }: EmittedText): void {
  if (!maps.has(url)) maps.set(url, new SourceMap(map));
}

/** Under what the texts of this program are kept; null where nothing is. */
function keyOf(): string | null {
  if (!keepsEntries()) return null;
  try {
    const own = ownIdentity();
    if (own === null) return null;
    // One program is all that a cache has which goes along with it
    const cwd = travelsWithCache() ? null : Deno.cwd();
    return JSON.stringify({ own, main: keptAddress(Deno.mainModule), cwd });
  } catch {
    // The program may not know where it is
    return null;
  }
}

const kept = new Map<string, KeptText>();
let isRead = false;

/** Notes the texts that earlier runs of this program kept. Does so once. */
export function noteKeptTexts(): void {
  if (isRead) return;
  isRead = true;
  const key = keyOf(), stored = key === null ? undefined : keptEntry("texts", key);
  if (key === null || stored === undefined) return;
  try {
    for (const each of readTexts(JSON.parse(stored))) {
      if (each.file !== fileAt(each.url)) continue;
      kept.set(each.url, each);
      maps.set(each.url, each.map === null ? undefined : new SourceMap(each.map));
      noteText(each.url, each.text);
    }
    counters.add("kept_texts", "hits");
  } catch (error) {
    dropEntry("texts", key, String(error));
  }
}

/** Keeps the texts of modules that functions were found in. */
export function keepTexts(found: readonly FoundText[]): void {
  const key = keyOf();
  if (key === null) return;
  let isNew = false;
  for (const { url, text } of found) {
    const file = isLikely(url) ? fileAt(url) : null;
    if (file === null || kept.get(url)?.text === text) continue;
    const payload = mapOf(url)?.payload;
    // The user's lines are read from the file
    const map = payload ? { ...payload, sourcesContent: [] } : null;
    kept.set(url, { url, text, map, file });
    isNew = true;
  }
  if (!isNew) return;
  logs.emit("cache", () => `texts: ${kept.size} modules kept`);
  keepEntry("texts", key, JSON.stringify([...kept.values()].map((each) => withAddresses(each, keptAddress))));
}

/** A text with other addresses of its module. */
function withAddresses(kept: KeptText, translated: (address: string) => string): KeptText {
  const { url, map } = kept;
  return { ...kept, url: translated(url), map: map && { ...map, sources: map.sources.map(translated) } };
}

function readTexts(form: unknown): readonly KeptText[] {
  if (!Array.isArray(form)) throw new TypeError("Expected a list of texts");
  return form.map((each: unknown): KeptText => {
    if (isKeptText(each)) return withAddresses(each, addressOfKept);
    throw new TypeError("Expected a text, its file and its map");
  });
}

function isKeptText(value: unknown): value is KeptText {
  return typeof value === "object" && value !== null && "url" in value && "text" in value &&
    "file" in value &&
    "map" in value && typeof value.url === "string" && typeof value.text === "string" &&
    typeof value.file === "string" && typeof value.map === "object";
}
