/**
 * A user's program as a folder: its modules and the files that it reads, at the same relative paths. Invariant: modules
 * are resolved as `run` resolves them; a program with modules that are not files is refused.
 */
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DynError } from "../../lib/base/errors.ts";
import type { ImportMap, Names } from "../import_map.ts";
import { isDynCheckout, type ProjectImports, projectOf } from "../script_imports.ts";
import { copy, filesBelow, type ModuleGraph, output } from "./files.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** dyn's public modules, by the names under which programs import them. */
const PUBLIC: Readonly<Record<string, string>> = {
  "jsr:@x/dyn": "mod.ts",
  "jsr:@x/dyn/runtime": "runtime/mod.ts",
  "jsr:@x/dyn/preload": "preload.ts",
};

/** A program in a folder. */
export interface PackedProgram {
  /** The subfolder that contains it. */
  readonly part: string;
  /** The script, relative to the folder. */
  readonly script: string;
}

/**
 * Copies a script, its modules and `include`, files or folders, below `folder`. A program within dyn's own folder keeps
 * its place there. Throws DynError for missing files, and for modules that are not files.
 */
export async function copyProgram(
  script: string,
  include: readonly string[],
  folder: string,
): Promise<PackedProgram> {
  const path = resolve(script);
  const files = [...await modulesOf(path), ...include.flatMap((each) => included(resolve(each)))];
  if (path.startsWith(ROOT)) {
    for (const file of files) copy(file, placeIn(join(folder, "dyn"), ROOT, file));
    return { part: "dyn", script: join("dyn", relative(ROOT, path)) };
  }
  const part = join(folder, "program"), project = projectOf(dirname(path));
  const root = commonFolder(project ? [...files, project.file] : files);
  for (const file of files) copy(file, placeIn(part, root, file));
  // Without its own settings it would use those of an enclosing folder wherever it runs
  const settings = project
    ? placeIn(part, root, join(dirname(project.file), "deno.json"))
    : join(part, "deno.json");
  Deno.mkdirSync(dirname(settings), { recursive: true });
  Deno.writeTextFileSync(settings, JSON.stringify(project ? portableMap(project) : {}));
  return { part: "program", script: join("program", relative(root, path)) };
}

/** Returns the destination of a file. Throws DynError for one that is not below the root. */
function placeIn(part: string, root: string, file: string): string {
  const place = relative(root, file);
  if (!place.startsWith("..")) return join(part, place);
  throw new DynError(`Expected files below ${root} but found ${file}`);
}

function included(path: string): string[] {
  try {
    return Deno.statSync(path).isDirectory ? filesBelow(path) : [path];
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    throw new DynError(`Expected a file or folder to include but found ${path}, and there is none`);
  }
}

/** The folder that contains all files. */
function commonFolder(files: readonly string[]): string {
  const [first = "", ...others] = files.map(dirname);
  let folder = first;
  while (!others.every((each) => each === folder || each.startsWith(join(folder, "/")))) {
    folder = dirname(folder);
  }
  return folder;
}

/** The name of the module of dyn that a target is, of whatever checkout; undefined for others. */
function publicNameOf(target: string): string | undefined {
  return Object.entries(PUBLIC).find(([name, file]) =>
    target === name || target.startsWith(`${name}@`) ||
    target.endsWith(`/${file}`) && isDynCheckout(target.slice(0, -file.length))
  )?.[0];
}

/** A project's import map for other machines: dyn by its names, other files relative to the settings. */
function portableMap({ file, map }: ProjectImports): WrittenMap {
  const portable = (url: string): string => {
    if (!url.startsWith("file:")) return url;
    const path = relative(dirname(file), fileURLToPath(url));
    return `./${path}${url.endsWith("/") && path !== "" ? "/" : ""}`;
  };
  return written(map, portable, (target) => publicNameOf(target) ?? portable(target));
}

/** The map by which the modules of a program are resolved: its project's, and dyn under its names. */
function resolvingMap(script: string): WrittenMap {
  const project = projectOf(dirname(script)), own = (name: string) => pathToFileURL(ROOT + PUBLIC[name]).href;
  const { imports, scopes } = project?.map ?? { imports: new Map(), scopes: new Map() };
  const dyn: readonly (readonly [string, string])[] = Object.keys(PUBLIC).map((name) => [name, own(name)]);
  return written({ imports: new Map([...imports, ...dyn]), scopes }, (name) => name, (target) => {
    const name = publicNameOf(target);
    return name === undefined ? target : own(name);
  });
}

/** An import map as settings contain it. */
interface WrittenMap {
  readonly imports: Readonly<Record<string, string>>;
  readonly scopes: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Writes a map, with other names and targets. */
function written(
  { imports, scopes }: ImportMap,
  name: (written: string) => string,
  target: (written: string) => string,
): WrittenMap {
  const names = (all: Names) => Object.fromEntries([...all].map(([key, to]) => [name(key), target(to)]));
  return {
    imports: names(imports),
    scopes: Object.fromEntries([...scopes].map(([scope, all]) => [name(scope), names(all)])),
  };
}

/** Returns whether a module is one of dyn's, in whose place the executable has its own. */
function isOwn(specifier: string): boolean {
  const path = specifier.startsWith("file:") ? fileURLToPath(specifier) : "";
  return ["lib", "backends", "packaging", "cli"].some((room) => path.startsWith(`${ROOT}${room}/`)) ||
    publicNameOf(specifier) !== undefined;
}

/** The files of a program's modules, without dyn's. */
async function modulesOf(script: string): Promise<string[]> {
  const folder = await Deno.makeTempDir({ prefix: "dyn-compile-" });
  try {
    const config = join(folder, "deno.json");
    await Deno.writeTextFile(config, JSON.stringify(resolvingMap(script)));
    const graph: ModuleGraph = JSON.parse(
      await output(Deno.execPath(), ["info", "--json", "--no-lock", "--config", config, script], folder),
    );
    const modules = new Map(graph.modules.map((module) => [module.specifier, module]));
    const found = new Set<string>(), next = [{ specifier: pathToFileURL(script).href, place: "" }];
    for (let module = next.pop(); module !== undefined; module = next.pop()) {
      const { specifier, place } = module;
      if (found.has(specifier) || isOwn(specifier) || specifier.startsWith("node:")) continue;
      if (!specifier.startsWith("file:")) {
        throw new DynError(
          `Expected modules that are files but found ${specifier}; deno bundle makes one of a program and what it imports`,
        );
      }
      const { error, dependencies = [] } = modules.get(specifier) ?? {};
      if (error !== undefined) throw new DynError(error.includes("\n    at ") ? error : `${error}${place}`);
      found.add(specifier);
      for (const { specifier: name, code } of dependencies) {
        if (code?.error !== undefined) {
          throw new DynError(`${name} in ${fileURLToPath(specifier)}: ${code.error}`);
        }
        if (code?.specifier === undefined) continue;
        const { line, character } = code.span.start;
        next.push({
          specifier: code.specifier,
          place: `\n    at ${specifier}:${line + 1}:${character + 1}`,
        });
      }
    }
    return [...found].map((specifier) => fileURLToPath(specifier));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
