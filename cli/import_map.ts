/**
 * Import maps (https://html.spec.whatwg.org/multipage/webappapis.html#import-maps), with what Deno adds: a name that
 * stands for a package stands for the package's modules too.
 *
 * Invariant: relative names and targets of a map are URLs, relative to the file that the map is written in.
 */
import { isPlainObject } from "../lib/base/tree.ts";

/** Names, or prefixes that end in a slash, and their targets. */
export type Names = ReadonlyMap<string, string>;

/** Names for all modules, and for those at a URL or below it. */
export interface ImportMap {
  readonly imports: Names;
  readonly scopes: ReadonlyMap<string, Names>;
}

/** Reads the map that settings contain; `base` is the URL of their file. */
export function importMapIn(settings: Readonly<Record<string, unknown>>, base: string): ImportMap {
  const { imports, scopes } = settings;
  return {
    imports: namesIn(imports, base),
    scopes: new Map(
      entries(scopes).map(([scope, names]) => [new URL(scope, base).href, namesIn(names, base)]),
    ),
  };
}

function namesIn(written: unknown, base: string): Names {
  return new Map(
    entries(written).flatMap(([name, target]) =>
      typeof target === "string" ? [[absolute(name, base), absolute(target, base)]] : []
    ),
  );
}

const entries = (written: unknown): [string, unknown][] =>
  isPlainObject(written) ? Object.entries(written) : [];

/** A relative specifier as a URL; other ones as they are. */
export const absolute = (specifier: string, base: string): string =>
  /^\.{0,2}\//.test(specifier) ? new URL(specifier, base).href : specifier;

/** Returns what a specifier stands for in a module; the specifier itself if the map does not have it. */
export function mapped(specifier: string, importer: string, { imports, scopes }: ImportMap): string {
  const wanted = absolute(specifier, importer);
  const around = [...scopes.keys()].filter((scope) =>
    importer === scope || (scope.endsWith("/") && importer.startsWith(scope))
  );
  for (const names of [...byLength(around).map((scope) => scopes.get(scope)), imports]) {
    const found = names && targetOf(wanted, names);
    if (found !== undefined) return found;
  }
  return specifier;
}

/** The target of a name; the longest prefix wins. */
function targetOf(wanted: string, names: Names): string | undefined {
  const matching = [...names].filter(([name, target]) =>
    wanted === name || (name.endsWith("/") && wanted.startsWith(name)) ||
    (/^(npm|jsr):/.test(target) && wanted.startsWith(`${name}/`))
  );
  const [longest] = byLength(matching.map(([name]) => name));
  return longest === undefined ? undefined : `${names.get(longest)}${wanted.slice(longest.length)}`;
}

const byLength = (texts: readonly string[]): readonly string[] =>
  texts.toSorted((a, b) => b.length - a.length);
