/**
 * Transpiled texts of TypeScript modules from the runtime's cache: the text that V8 has, without the debugger, which is
 * slow to enable. Invariant: a text is used only if it records that it was made from the very file at its URL and was
 * written before this process started.
 */
import type { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { environmentVariable, isGranted } from "../../base/permissions.ts";
import { fileAt } from "./file_state.ts";

/** Modules that the runtime transpiles before it loads them. */
const TRANSLATED = /\.(?:ts|mts|tsx|jsx)$/;

/** The end of a cached text. */
const METADATA = "\n// denoCacheMetadata=";
/** The start of the source map after a text, which is not part of V8's text. */
const MAP = "//# sourceMappingURL=data:application/json;base64,";

let folder: string | null | undefined;

/** Returns the folder of the runtime's cached texts; null if it is unknown or may not be read. */
function folderOfTexts(): string | null {
  if (folder === undefined) {
    const { os, standalone } = Deno.build,
      named = environmentVariable("DENO_DIR"),
      home = environmentVariable("HOME");
    const caches = os === "darwin"
      ? home && `${home}/Library/Caches`
      : environmentVariable("XDG_CACHE_HOME") || (home && `${home}/.cache`);
    const found = named || (caches && `${caches}/deno`);
    const isKnown = os !== "windows" && !standalone && found?.startsWith("/") &&
      isGranted({ name: "read", path: found });
    folder = isKnown ? found ?? null : null;
  }
  return folder;
}

/** The source map of a text. */
export type MapPayload = ConstructorParameters<typeof SourceMap>[0];

/** A module's file in the runtime's cache. */
export interface CachedFile {
  readonly path: string;
  readonly text: string;
  readonly encodedMap: string;
}

/** A text that V8 has. */
export interface EmittedText {
  readonly url: string;
  readonly text: string;
  readonly map: MapPayload;
}

/** Returns the runtime's cached file of the module at a URL; null if there is none, or if it may not be read. */
export function cachedFile(url: string): CachedFile | null {
  const at = TRANSLATED.test(url) && url.startsWith("file:") ? folderOfTexts() : null;
  if (at === null) return null;
  try {
    const path = fileURLToPath(url), kept = Deno.readTextFileSync(`${at}/gen/file${path}.js`);
    const map = kept.lastIndexOf(MAP), end = kept.indexOf(METADATA, map);
    if (map < 0 || end < 0) return null;
    return { path, text: kept.slice(0, map), encodedMap: kept.slice(map + MAP.length, end) };
  } catch {
    // No cached file
    return null;
  }
}

/** The names of modules in a folder, given as URL with a trailing slash, of which the runtime caches something. */
export function cachedNames(folder: string): readonly string[] {
  const at = folder.startsWith("file:") ? folderOfTexts() : null;
  if (at === null) return [];
  try {
    const files = [...Deno.readDirSync(`${at}/gen/file${fileURLToPath(folder)}`)].filter(({ isFile }) =>
      isFile
    );
    return files.map(({ name }) => name.replace(/\.js$/, ""));
  } catch {
    // No cached file
    return [];
  }
}

/** The text that V8 has of a module; null if no cached text is known to be it. */
export function emittedText(url: string, kept: CachedFile | null = cachedFile(url)): EmittedText | null {
  if (!kept) return null;
  const { path, text, encodedMap } = kept;
  try {
    if (!isGranted({ name: "read", path }) || fileAt(url) === null) return null;
    const map = mapIn(encodedMap);
    return map && map.sourcesContent[0] === Deno.readTextFileSync(path) ? { url, text, map } : null;
  } catch {
    // The file does not have a known form
    return null;
  }
}

/** The source map in a text; null if the text holds something else. Throws if it is not JSON. */
function mapIn(encoded: string): MapPayload | null {
  const map: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(encoded)));
  return isMap(map) ? map : null;
}

function isMap(map: unknown): map is MapPayload {
  return typeof map === "object" && map !== null && "mappings" in map && typeof map.mappings === "string" &&
    "sources" in map && Array.isArray(map.sources) && "sourcesContent" in map &&
    Array.isArray(map.sourcesContent);
}
