/**
 * Modules of packages and URLs that a project's import map names.
 *
 * Deno fetches what it finds in the text of modules before they run; under names that only a hook explains it finds
 * nothing, and refuses the address that the hook gives. So the addresses are written out in a module that imports
 * them in a function that nobody calls: they are fetched, and not run.
 */
import { fileURLToPath } from "node:url";
import { absolute, mapped } from "./import_map.ts";
import { isDynCheckout, placeOf, projectOf } from "./script_imports.ts";

/** Texts that may be specifiers, also of modules that are imported later; others are no names of the map, nor files. */
const SPECIFIER = /(["'`])([^\s"'`]+)\1/g;

/** Files of modules whose imports can be read. */
const MODULE = /^file:.*\.[cm]?[jt]sx?$/;

/** The folder of dyn itself, for whose names Deno was started with its settings. */
const OWN = new URL("../", import.meta.url).href;

/** Returns whether an address is in dyn itself, or leads into another checkout, in whose place this one runs. */
const isOfDyn = (address: string): boolean =>
  address.startsWith(OWN) ||
  (address.endsWith("/mod.ts") && isDynCheckout(new URL("./", address).href));

/**
 * Fetches what a module and those that it imports name, by the map of a folder's project. A script from elsewhere
 * imports as if it were at a place in the folder. An address that cannot be fetched fails where it is imported.
 */
export async function fetchOutsideModules(
  folder: string,
  url: string,
  place: string = placeOf(url, folder),
): Promise<void> {
  const map = projectOf(folder)?.map;
  if (map === undefined || place.startsWith(OWN)) return;
  const targets = [map.imports, ...map.scopes.values()].flatMap((names) => [...names.values()]);
  if (!targets.some(isOutside)) return;
  const found = new Set<string>(), next = [place], seen = new Set(next);
  for (let module = next.pop(); module !== undefined; module = next.pop()) {
    for (const [, , specifier = ""] of textOf(module === place ? url : module).matchAll(SPECIFIER)) {
      const target = mapped(specifier, module, map);
      if (isOutside(target) && target !== specifier) found.add(target);
      const address = absolute(target, module);
      if (!MODULE.test(address) || seen.has(address) || isOfDyn(address)) continue;
      seen.add(address);
      next.push(address);
    }
  }
  await Promise.all([...found].map(async (target) => {
    const text = `() => import(${JSON.stringify(target)})`;
    await import(`data:text/javascript,${encodeURIComponent(text)}`).catch(() => {});
  }));
}

/** Returns whether a target has to be fetched; dyn itself does not. */
const isOutside = (target: string): boolean => /^(npm|jsr|https?):(?!@x\/dyn\b)/.test(target);

function textOf(module: string): string {
  try {
    return Deno.readTextFileSync(fileURLToPath(module));
  } catch {
    return "";
  }
}
