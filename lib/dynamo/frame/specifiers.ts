/**
 * The modules that specifiers of imports name. Import maps and packages give names of their own to modules: those are
 * known from the load of the importing module, or from the runtime.
 *
 * Invariant: a URL is that of the module which the import loads; null if it is not known.
 */

/** URLs by the importing module and the specifier, for those that are not themselves URLs or paths. */
const resolved = new Map<string, string>();

const keyOf = (specifier: string, parent: string): string => `${parent} ${specifier}`;

const isPathOrAddress = (specifier: string): boolean =>
  /^(?:\.{0,2}\/|(?:file|https?|data|blob):)/.test(specifier);

/** Records what the runtime resolved the import of a module to. */
export function noteResolved(specifier: string, parent: string, url: string): void {
  if (!isPathOrAddress(specifier)) resolved.set(keyOf(specifier, parent), url);
}

/** A name under which a module imports another, and what the runtime resolves it to. */
export interface NamedImport {
  readonly specifier: string;
  readonly parent: string;
  readonly url: string | null;
}

/** Names that were resolved, in the whole process: like the texts of modules, they determine results. */
const consulted = new Map<string, NamedImport>();

/** The names of modules on which any result depends. */
export function consultedImports(): Iterable<NamedImport> {
  return consulted.values();
}

/** Returns the URL of the module that another one imports by a specifier; null if it is not known. */
export function importedUrl(specifier: string, parent: string): string | null {
  if (isPathOrAddress(specifier)) return urlOrNull(() => new URL(specifier, parent).href);
  const key = keyOf(specifier, parent);
  // An import map is the same for dyn's modules as for the program's, unless its scopes or a workspace say otherwise
  const url = resolved.get(key) ?? urlOrNull(() => import.meta.resolve(specifier));
  consulted.set(key, { specifier, parent, url });
  return url;
}

function urlOrNull(resolve: () => string): string | null {
  try {
    return resolve();
  } catch {
    return null;
  }
}

/** Returns whether a URL is that of a module of the runtime, which has no text. */
export function isOfRuntime(url: string): boolean {
  return url.startsWith("node:");
}
