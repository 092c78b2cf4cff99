/**
 * Texts of modules as the runtime keeps what it makes of TypeScript: what V8 has of them, without the debugger, which
 * takes long to enable. Input: addresses of modules that are loaded; output: texts. Invariant: a text says itself that it
 * was made of the very file that lies at the address and was written before this process began.
 */
import { fileURLToPath } from "node:url";
import { fileAt } from "./file_state.ts";

/** Modules that the runtime translates before it loads them. */
const TRANSLATED = /\.(?:ts|mts|tsx|jsx)$/;

/** Ends a text that is kept. */
const METADATA = "\n// denoCacheMetadata=";
/** Begins the map behind a text, which V8 is not given: it has the text of the file. */
const MAP = "//# sourceMappingURL=data:application/json;base64,";

const isGranted = (permission: Deno.PermissionDescriptor): boolean =>
  Deno.permissions.querySync(permission).state === "granted";

/** A variable of the environment; nobody is asked for it. */
function variable(name: string): string | undefined {
  return isGranted({ name: "env", variable: name }) ? Deno.env.get(name) : undefined;
}

let folder: string | null | undefined;

/** Where the runtime keeps texts; null where that is not known or may not be read. */
function folderOfTexts(): string | null {
  if (folder === undefined) {
    const { os, standalone } = Deno.build, named = variable("DENO_DIR"), home = variable("HOME");
    const caches = os === "darwin"
      ? home && `${home}/Library/Caches`
      : variable("XDG_CACHE_HOME") || (home && `${home}/.cache`);
    const found = named || (caches && `${caches}/deno`);
    const isKnown = os !== "windows" && !standalone && found?.startsWith("/") &&
      isGranted({ name: "read", path: found });
    folder = isKnown ? found ?? null : null;
  }
  return folder;
}

/** The text that V8 has of a module; null where nothing kept is known to be it. */
export function emittedText(url: string): string | null {
  const at = TRANSLATED.test(url) && url.startsWith("file:") ? folderOfTexts() : null;
  if (at === null) return null;
  try {
    const path = fileURLToPath(url);
    if (!isGranted({ name: "read", path }) || fileAt(url) === null) return null;
    const kept = Deno.readTextFileSync(`${at}/gen/file${path}.js`);
    const map = kept.lastIndexOf(MAP), end = kept.indexOf(METADATA, map);
    if (map < 0 || end < 0) return null;
    return sourceIn(kept.slice(map + MAP.length, end)) === Deno.readTextFileSync(path)
      ? kept.slice(0, map)
      : null;
  } catch {
    // Nothing is kept, or it is none of what is known here
    return null;
  }
}

/** What a text was made of, as its map says; undefined where it does not. Throws where it is no map. */
function sourceIn(encoded: string): unknown {
  const map: unknown = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(encoded)));
  if (typeof map !== "object" || map === null || !("sourcesContent" in map)) return undefined;
  const { sourcesContent: list } = map;
  return Array.isArray(list) ? list[0] : undefined;
}
