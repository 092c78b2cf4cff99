/**
 * The import map of a script's own project: dyn's own process was started with dyn's settings.
 *
 * A hook resolves imports of modules below the project's folder as its `deno.json`, and that of its workspace, say. Invariant: dyn itself is
 * always this installation, under whatever name the project imports it.
 */
import { registerHooks } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DynError, messageOf } from "../lib/base/errors.ts";
import { isPlainObject } from "../lib/base/tree.ts";
import { type ImportMap, importMapIn, mapped } from "./import_map.ts";

/** The settings of a project, and the import map that they give its modules. */
export interface ProjectImports {
  /** The file of its settings; that of the workspace, if it belongs to one. */
  readonly file: string;
  readonly map: ImportMap;
}

/** Makes modules of a folder's project, and a script that may be elsewhere, resolve imports by its settings. */
export function useProjectImports(folder: string, script: string): void {
  const project = projectOf(folder);
  if (project === null || project.map.imports.size + project.map.scopes.size === 0) return;
  const { file, map } = project, root = folderUrl(dirname(file));
  registerHooks({
    resolve(specifier, context, next) {
      const importer = context.parentURL ?? "",
        place = importer === script ? placeOf(script, folder) : importer;
      if (!place.startsWith(root)) return next(specifier, context);
      return next(mapped(specifier, place, map), context);
    },
  });
}

/** The address of a script, as its imports see it: one from elsewhere imports as if it were in the folder. */
export const placeOf = (script: string, folder: string): string => folderUrl(folder) + basename(script);

const folderUrl = (folder: string): string => `${pathToFileURL(folder).href.replace(/\/$/, "")}/`;

/** Returns whether a URL is that of a folder with a checkout of dyn. */
export function isDynCheckout(folder: string): boolean {
  if (!folder.startsWith("file:")) return false;
  try {
    return settingsIn(fileURLToPath(new URL("deno.json", folder)))?.["name"] === "@x/dyn";
  } catch {
    return false;
  }
}

/**
 * The project of a folder: the nearest settings above it, or the workspace that these belong to; null if there are
 * none. Throws DynError if they cannot be read.
 */
export function projectOf(folder: string): ProjectImports | null {
  let own: ProjectImports | null = null;
  for (let at = folder;; at = dirname(at)) {
    const found = settingsOf(at);
    if (found !== null) {
      const { file, settings } = found, members = membersOf(at, settings);
      if (own === null) own = { file, map: withMembers(mapOf(found), members) };
      else if (members.includes(dirname(own.file))) return { file, map: withMembers(mapOf(found), members) };
    }
    if (dirname(at) === at) return own;
  }
}

/** A file of settings, and what it says. */
interface Settings {
  readonly file: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

function settingsOf(folder: string): Settings | null {
  for (const name of ["deno.json", "deno.jsonc"]) {
    const file = join(folder, name), settings = settingsIn(file);
    if (settings !== null) return { file, settings };
  }
  return null;
}

function mapOf({ file, settings }: Settings): ImportMap {
  const { importMap } = settings;
  const from = typeof importMap === "string" ? join(dirname(file), importMap) : file;
  return importMapIn(from === file ? settings : settingsIn(from) ?? {}, pathToFileURL(from).href);
}

/** The folders of a workspace's members; `*` in a path stands for every folder. */
function membersOf(root: string, { workspace }: Settings["settings"]): readonly string[] {
  const listed = isPlainObject(workspace) ? workspace["members"] : workspace;
  const paths = Array.isArray(listed) ? listed.filter((each) => typeof each === "string") : [];
  return paths.flatMap((path) =>
    path.split("/").reduce<readonly string[]>(
      (folders, part) => folders.flatMap((folder) => part === "*" ? foldersIn(folder) : [join(folder, part)]),
      [root],
    )
  );
}

function foldersIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].filter((each) => each.isDirectory).map(({ name }) =>
      join(folder, name)
    );
  } catch {
    return [];
  }
}

/** A workspace's map: its members know each other by name, and their own imports come first in their modules. */
function withMembers({ imports, scopes }: ImportMap, folders: readonly string[]): ImportMap {
  const names = new Map(imports), all = new Map(scopes);
  for (const folder of folders) {
    const member = settingsOf(folder);
    if (member === null) continue;
    const { name, exports } = member.settings, own = mapOf(member);
    const modules = typeof exports === "string" ? { ".": exports } : isPlainObject(exports) ? exports : {};
    for (const [path, file] of Object.entries(modules)) {
      if (typeof name !== "string" || typeof file !== "string") continue;
      names.set(name + path.slice(1), new URL(file, folderUrl(folder)).href);
    }
    all.set(folderUrl(folder), own.imports);
    for (const [scope, inScope] of own.scopes) all.set(scope, inScope);
  }
  return { imports: names, scopes: all };
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
