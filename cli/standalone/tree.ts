/**
 * dyn as a self-contained folder: the modules that `cli.ts` reaches (unbundled: stack traces, and the sources that
 * the tracer reads, stay small and named), the npm packages that they use, and a `deno.json` that maps `jsr:@x/dyn`
 * to this folder.
 */
import { registerHooks } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import settings from "../../deno.json" with { type: "json" };
import { DynError } from "../../lib/base/errors.ts";
import { copy, isFile, type ModuleGraph, output } from "./files.ts";

const ROOT = new URL("../../", import.meta.url);

/** Files besides the modules. */
const OTHERS = ["LICENSE", "cli/standalone/launcher.sh"];

/** Paths of the repository's own modules that the entry reaches, dynamic imports included. */
async function ownModules(): Promise<string[]> {
  const graph: ModuleGraph = JSON.parse(
    await output(Deno.execPath(), ["info", "--json", "cli.ts"], fileURLToPath(ROOT)),
  );
  const broken = graph.modules.find(({ error }) => error !== undefined);
  if (broken) throw new DynError(`Expected a complete module graph but found ${broken.error}`);
  return graph.modules.map(({ specifier }) => specifier)
    .filter((specifier) => specifier.startsWith(ROOT.href))
    .map((specifier) => specifier.slice(ROOT.href.length));
}

/** The file that an npm package's name resolves to, by importing it. */
async function entryOf(name: string): Promise<string> {
  let found: string | undefined;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      if (specifier === name) found = resolved.url;
      return resolved;
    },
  });
  await import(name);
  hooks.deregister();
  if (!found?.startsWith("file:")) {
    throw new DynError(`Expected a file for npm package ${name} but found ${found}`);
  }
  return fileURLToPath(found);
}

/** Copies a package without dependencies below `vendor/`; returns the entry's path relative to the tree. */
async function vendor(name: string, tree: string): Promise<string> {
  const entry = await entryOf(name);
  let folder = dirname(entry);
  while (!isFile(join(folder, "package.json"))) folder = dirname(folder);
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    Deno.readTextFileSync(join(folder, "package.json")),
  );
  const dependencies = Object.keys(manifest.dependencies ?? {});
  if (dependencies.length > 0) {
    throw new DynError(`Expected ${name} to depend on nothing but found ${dependencies.join(", ")}`);
  }
  const target = `vendor/${name}/${entry.slice(folder.length + 1)}`;
  copy(entry, join(tree, target));
  for (const notice of ["LICENSE", "LICENSE.md", "package.json"]) {
    if (isFile(join(folder, notice))) copy(join(folder, notice), join(tree, `vendor/${name}`, notice));
  }
  return `./${target}`;
}

/** Fills a folder with everything that the executable runs, except the runtime. */
export async function makeTree(tree: string): Promise<void> {
  if (ROOT.protocol !== "file:") {
    throw new DynError(
      `Expected modules of dyn that are files but found ${ROOT}; clone it, or use its executable`,
    );
  }
  const modules = await ownModules();
  for (const path of [...modules, ...OTHERS]) copy(fileURLToPath(new URL(path, ROOT)), join(tree, path));
  const texts = modules.map((path) => Deno.readTextFileSync(new URL(path, ROOT)));
  const imports: Record<string, string> = {};
  for (const [name, target] of Object.entries(settings.imports)) {
    if (!texts.some((text) => text.includes(`"${name}"`) && !text.startsWith("{"))) continue;
    imports[name] = target.startsWith("npm:") ? await vendor(name, tree) : target;
  }
  const { name, version, license, exports, compilerOptions } = settings;
  const config = { name, version, license, exports, imports, compilerOptions };
  Deno.writeTextFileSync(join(tree, "deno.json"), JSON.stringify(config, undefined, 2));
}
