/**
 * Rewrites modules while they are loaded, so that their functions expose accessors of their variables, and notes what
 * their imports are resolved to.
 *
 * Invariant: modules that are not rewritten are loaded as without the hook. Modules that were loaded before keep
 * their text.
 *
 * The loader returns JavaScript, also for TypeScript, and does not change text that a hook declares as JavaScript: so
 * the text that V8 has is the text that was parsed, except for the insertions, which its source map accounts for.
 *
 * Deno's load hooks: https://nodejs.org/api/module.html#synchronous-hooks-accepted-by-moduleregisterhooks
 */
import { type LoadFnOutput, registerHooks } from "node:module";
import { lineStarts } from "../bytecode/parse.ts";
import { type LoadedModule, loadedModule } from "./loaded_module.ts";
import { noteText } from "./loaded_texts.ts";
import { rewrite } from "./rewrite.ts";
import { addModule, firstEntry, NAMES, withoutEntries } from "./rewritten.ts";
import { mapComment, withInsertions } from "./source_map.ts";
import { showClean } from "./source_text.ts";
import { noteResolved } from "./specifiers.ts";

/** The module that rewritten modules import. */
const DOOR = new URL("./probe.ts", import.meta.url).href;

/** URL of the module in which `import.meta.main` is true although Deno was started with another module. */
let main: string | null = null;
let installed = false;

/** Makes `import.meta.main` true in a module that is not loaded yet. */
export function markAsMain(url: string): void {
  main = url;
}

/** Rewrites the modules that are loaded from now on. A second call does nothing. */
export function rewriteLoadedModules(): void {
  if (installed) return;
  installed = true;
  showClean(withoutEntries);
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context), { parentURL } = context;
      if (parentURL !== undefined && found.url !== null) noteResolved(specifier, parentURL, found.url);
      return found;
    },
    load(url, context, next) {
      const result = next(url, context);
      if (!context.conditions.includes("import")) return required(url, result);
      const text = textOf(url, result.source);
      if (text === null) return imported(url, result);
      const module = loadedModule(url, text, NAMES.probe);
      if (module) return { ...result, format: "module", source: rewritten(module) };
      if (typeof result.source === "string") noteText(url, text);
      return url === main ? { ...result, source: MARK_AS_MAIN + text } : imported(url, result);
    },
  });
}

const MARK_AS_MAIN = "import.meta.main = true;";

/** The text being loaded, if it is available. */
function textOf(url: string, source: unknown): string | null {
  if (typeof source === "string") return source;
  const [, base64, data] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url) ?? [];
  if (data === undefined) return null;
  try {
    const text = decodeURIComponent(data);
    return base64 ? new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))) : text;
  } catch {
    return null;
  }
}

/**
 * Returns the result for an import that is not rewritten: Deno's hooks corrupt modules that are not text by reading
 * them as text.
 */
function imported<R extends LoadFnOutput>(url: string, result: R): R {
  return url.endsWith(".wasm") && result.format === undefined ? { ...result, source: null } : result;
}

/**
 * Returns the result for `require`. With a source from a hook it would compile everything as JavaScript, even JSON,
 * native addons and TypeScript; without one it loads by itself.
 */
function required<R extends LoadFnOutput>(url: string, result: R): R {
  if (result.format !== undefined) return result;
  if (url.endsWith(".json")) return { ...result, format: "json" };
  return { ...result, source: null, shortCircuit: false };
}

/** The text that V8 receives. */
function rewritten(module: LoadedModule): string {
  const { parsed, map, arrowBefore } = module;
  const rewriting = rewrite(parsed, { names: NAMES, door: DOOR, first: firstEntry(), arrowBefore });
  addModule(parsed, rewriting);
  const isMain = parsed.url === main && parsed.text.includes("import.meta");
  const insertions = isMain
    ? [{ at: module.bodyStart, text: MARK_AS_MAIN }, ...rewriting.insertions]
    : rewriting.insertions;
  const comment = mapComment(map, lineStarts(parsed.text), insertions);
  return `${withInsertions(parsed.text, insertions)}${rewriting.tail}\n${comment}`;
}
