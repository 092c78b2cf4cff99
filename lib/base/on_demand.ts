/**
 * Modules that most programs never need, loaded by the first call that does: each costs a third of a millisecond of
 * every start, and one that loads late a dozen. They load synchronously, as ES modules of this process, which takes a
 * folder of files under their real names and permission to read it; elsewhere (addresses on the web, bundles,
 * executables, symbolic links, programs without that permission) all of them are loaded with dyn. Invariants: a module
 * is evaluated once, with the builtins as they were when dyn loaded; once files have changed under a running process it
 * caches nothing more.
 */
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { InternalError, OWN_ROOT } from "./errors.ts";
import { preferringOwnBuiltins } from "./own_builtins.ts";
import { noteLoaded } from "./own_sources.ts";
import { isGranted } from "./permissions.ts";

/** A module that is loaded on demand. */
interface OnDemand {
  readonly url: string;
  /** Loads it asynchronously. */
  readonly load: () => Promise<unknown>;
  /** Its exports, once it has been loaded. */
  exports: unknown;
}

const modules: OnDemand[] = [];

/** The modules that are loaded on demand. */
export const modulesOnDemand: readonly Readonly<OnDemand>[] = modules;

/** Returns whether modules can be loaded within a synchronous call. */
function loadsLater(): boolean {
  return OWN_ROOT.startsWith("file:") && OWN_ROOT.endsWith("/") && !Deno.build.standalone &&
    isGranted({ name: "read", path: fileURLToPath(OWN_ROOT) }) && modules.every(hasRealName);
}

/**
 * Returns whether the address of a module is that of its real path: a synchronous call loads it from there, and under
 * another name it would be a second module, with another copy of all that it imports.
 */
function hasRealName({ url }: OnDemand): boolean {
  try {
    return pathToFileURL(Deno.realPathSync(fileURLToPath(url))).href === url;
  } catch {
    return false;
  }
}

/** Loads all modules now where that is impossible later. Awaited by the module that loads dyn. */
export async function loadUnlessOnDemand(): Promise<void> {
  if (loadsLater()) return;
  await Promise.all(modules.map(async (each) => {
    each.exports = await each.load();
  }));
}

/**
 * Returns a function that returns a module, and loads it when first called. `load` imports the same specifier: it gives
 * the type, and lists the module for tools that pack dyn.
 */
export function onDemand<T>(base: string, specifier: string, load: () => Promise<T>): () => T {
  const module: OnDemand & { exports: T | undefined } = {
    url: new URL(specifier, base).href,
    load,
    exports: undefined,
  };
  modules.push(module);
  return () => module.exports ??= required<T>(module.url);
}

function required<T>(url: string): T {
  if (!url.startsWith("file:")) throw new InternalError(`Expected ${url} to be loaded with dyn`);
  return preferringOwnBuiltins(() => {
    const exports: T = createRequire(url)(fileURLToPath(url));
    noteLoaded(url);
    return exports;
  });
}
