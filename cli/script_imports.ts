/**
 * The import map of a script's own project: dyn's own process was started with dyn's settings.
 *
 * A hook resolves imports of modules below the project's folder as its `deno.json` says. Invariant: dyn itself is
 * always this installation, under whatever name the project imports it.
 */
import { registerHooks } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DynError, messageOf } from "../lib/base/errors.ts";
import { isPlainObject } from "../lib/base/tree.ts";

/** A project's mappings: names, or prefixes that end in a slash, to their targets. */
export interface ProjectImports {
  /** The file of its settings. */
  readonly file: string;
  /** The URL of the project's folder. */
  readonly root: string;
  /** The URL that relative targets are relative to. */
  readonly base: string;
  readonly imports: ReadonlyMap<string, string>;
}

/** Makes modules of a folder's project, and a script that may be elsewhere, resolve imports by its settings. */
export function useProjectImports(folder: string, script: string): void {
  const project = projectOf(folder);
  if (project === null || project.imports.size === 0) return;
  registerHooks({
    resolve(specifier, context, next) {
      const isOurs = context.parentURL === script || context.parentURL?.startsWith(project.root) === true;
      return next(isOurs ? mapped(specifier, project) : specifier, context);
    },
  });
}

/** Resolves a target of a project's import map: another specifier, or a URL. */
export const targetIn = (target: string, { base }: ProjectImports): string =>
  /^\.{0,2}\//.test(target) ? new URL(target, base).href : target;

/** Resolves a specifier; the longest prefix wins, as in import maps. */
function mapped(specifier: string, project: ProjectImports): string {
  const { imports } = project;
  const keys = [...imports.keys()].filter((key) =>
    specifier === key || (key.endsWith("/") && specifier.startsWith(key))
  );
  const key = keys.sort((a, b) => b.length - a.length)[0];
  const target = key === undefined ? undefined : imports.get(key);
  if (key === undefined || target === undefined) return specifier;
  return targetIn(target + specifier.slice(key.length), project);
}

/** Returns whether a URL is that of a folder with a checkout of dyn. */
export function isDynCheckout(folder: string): boolean {
  if (!folder.startsWith("file:")) return false;
  try {
    return settingsIn(fileURLToPath(new URL("deno.json", folder)))?.["name"] === "@x/dyn";
  } catch {
    return false;
  }
}

/** The nearest settings above a folder; null if there are none. Throws DynError if they cannot be read. */
export function projectOf(folder: string): ProjectImports | null {
  for (let at = folder;; at = dirname(at)) {
    for (const name of ["deno.json", "deno.jsonc"]) {
      const file = join(at, name), settings = settingsIn(file);
      if (settings === null) continue;
      const map = settings["importMap"];
      const from = typeof map === "string" ? join(at, map) : file;
      const listed = from === file ? settings["imports"] : settingsIn(from)?.["imports"];
      const imports = isPlainObject(listed) ? Object.entries(listed) : [];
      return {
        file,
        root: `${pathToFileURL(at).href}/`,
        base: pathToFileURL(from).href,
        imports: new Map(imports.flatMap(([key, to]) => typeof to === "string" ? [[key, to]] : [])),
      };
    }
    if (dirname(at) === at) return null;
  }
}

function settingsIn(file: string): Record<string, unknown> | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(file);
  } catch {
    return null;
  }
  try {
    const settings: unknown = JSON.parse(withoutComments(text));
    return isPlainObject(settings) ? settings : null;
  } catch (thrown) {
    throw new DynError(`Expected JSON in ${file} but found an error: ${messageOf(thrown)}`);
  }
}

/** JSON with comments and trailing commas as plain JSON. */
function withoutComments(text: string): string {
  const stripped = text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\/\/.*|\/\*[^]*?\*\//g,
    (_, kept?: string) => kept ?? "",
  );
  return stripped.replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, kept?: string) => kept ?? "");
}
