/**
 * Finds the module that contains a function by searching likely modules: V8 reports the URLs of its scripts only by
 * listing all functions of all of them, which takes as long as everything else in a small first call. Invariants: those
 * of emitted_texts.ts; the function is in the text at that very position, and in no other text of the group.
 */
import { isOwnModule, OWN_ROOT } from "../../base/errors.ts";
import { lineStarts } from "../bytecode/parse.ts";
import { type CachedFile, cachedFile, cachedNames, type EmittedText, emittedText } from "./emitted_texts.ts";
import { type FunctionPlace, GONE_THROUGH, standsAt } from "./loaded_texts.ts";

/** Maximum number of modules of a program that are searched. */
const MOST = 64;

/** Relative URLs that a module imports or re-exports, as emitted texts write them. */
const IMPORTED = /\bfrom\s*"(\.[^"]+)"/g;

interface Candidate {
  readonly url: string;
  readonly kept: CachedFile;
}

const candidateAt = (url: string): Candidate[] => {
  const kept = cachedFile(url);
  return kept ? [{ url, kept }] : [];
};

let program: readonly Candidate[] | undefined;

/** The program's main module and its imports, without dyn's. */
function modulesOfProgram(): readonly Candidate[] {
  const urls = new Set<string>(), found: Candidate[] = [];
  try {
    urls.add(Deno.mainModule);
  } catch {
    // The program may lack permission to know where it is
    return [];
  }
  for (const url of urls) {
    for (const each of candidateAt(url)) {
      found.push(each);
      for (const [, written = ""] of each.kept.text.matchAll(IMPORTED)) {
        const imported = new URL(written, url).href;
        if (urls.size < MOST && !isOwnModule(imported)) urls.add(imported);
      }
    }
  }
  return found;
}

const ownModules = new Map<string, readonly Candidate[]>();

/** Returns dyn's modules in a folder of `lib`. */
function modulesIn(folder: string): readonly Candidate[] {
  let found = ownModules.get(folder);
  if (!found) {
    const at = `${OWN_ROOT}lib/${folder}/`;
    found = cachedNames(at).flatMap((name) => candidateAt(`${at}${name}`));
    ownModules.set(folder, found);
  }
  return found;
}

/** Yields groups of modules to search together, the likeliest first. */
function* groups(): Iterable<readonly Candidate[]> {
  yield program ??= modulesOfProgram();
  for (const folder of GONE_THROUGH.folders) yield modulesIn(folder);
  yield GONE_THROUGH.modules.flatMap((each) => candidateAt(`${OWN_ROOT}lib/${each}`));
}

/** The module that contains a function at a place; null: none of those searched, or several. */
export function likelyModule(shown: string, place: FunctionPlace): EmittedText | null {
  for (const group of groups()) {
    const [found, ...others] = group.filter(({ kept: { text } }) =>
      text.includes(shown) && standsAt(shown, place, { text, lines: lineStarts(text) })
    );
    if (found) return others.length === 0 ? emittedText(found.url, found.kept) : null;
  }
  return null;
}
