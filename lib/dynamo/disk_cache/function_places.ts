/**
 * Identifies functions by source position: module text, position in it, and variables. Invariant: a position refers
 * to the same code in all processes in which the text is the same.
 */
import { fingerprintText } from "../../base/fingerprint.ts";
import { isOfIdentity } from "../../base/own_sources.ts";
import type { Plain } from "../../base/recording.ts";
import { localAddress, portableAddress } from "../../base/portable_addresses.ts";
import { listIn, NotStorable, textIn } from "../../sym/stored/forms.ts";
import { type FunctionSite, moduleText, positionOf, siteOf } from "../frame/capture.ts";
import type { FreeBinding, LiveCell } from "../frame/info.ts";
import { mapPayloadOf } from "../frame/cached_texts.ts";
import type { ScopeValue } from "../frame/scopes.ts";
import { consultedImports, importedUrl } from "../frame/specifiers.ts";
import { codesOf, type FunctionInfo, madeInfo } from "../functions/functions.ts";
import { classLabel, functionLabel } from "../variables/labels.ts";

/** Thrown if the state of the program differs from that of the journal. */
export class Differs extends Error {
  override readonly name = "Differs";
}

/** Returns the name of an object in messages. */
export function labelOf(object: object): string {
  return typeof object === "function"
    ? functionLabel(object)
    : `an object of ${classLabel(Object.getPrototypeOf(object))}`;
}

/** The texts in which functions and variables were looked up. */
export class Texts {
  readonly #numbers = new Map<string, number>();
  readonly form: Plain[] = [];

  numberOf(url: string): number {
    const known = this.#numbers.get(url);
    if (known !== undefined) return known;
    const number = this.form.push([portableAddress(url), printOf(url)]) - 1;
    this.#numbers.set(url, number);
    return number;
  }
}

/** Returns the fingerprint of a module's text; null for dyn's own modules, which the journal's key covers. */
function printOf(url: string): string | null {
  if (isOfIdentity(url)) return null;
  const text = moduleText(url), known = prints.get(url);
  if (text === null) throw new NotStorable(`a function of ${url}, whose text is not known`);
  if (known?.text === text) return known.print;
  // Guards and graphs contain lines of the user's file
  const print = `${text.length} ${fingerprintText(`${text}\n${mapPayloadOf(url)?.mappings ?? ""}`)}`;
  // Other modules belong to short-lived functions
  if (/^(?:file|https?):/.test(url)) prints.set(url, { text, print });
  return print;
}

const prints = new Map<string, { readonly text: string; readonly print: string }>();

/** The URL of a text, which must be unchanged. Throws Differs. */
export function urlOf(form: Plain): string {
  const [given, print] = listIn(form), url = localAddress(textIn(given));
  if (isOfIdentity(url) !== (print === null)) throw new Differs(`${url} is another module`);
  let found: string | null = null;
  try {
    found = printOf(url);
  } catch (error) {
    if (!(error instanceof NotStorable)) throw error;
    throw new Differs(error.message);
  }
  if (found !== print) throw new Differs(`${url} has another text`);
  return url;
}

/** The names under which modules were imported, with the modules for which they stood. */
export function importForms(): Plain[] {
  return [...consultedImports()].map(({ specifier, parent, url }) => [
    specifier,
    portableAddress(parent),
    url === null ? null : portableAddress(url),
  ]);
}

/** Throws Differs unless such names stand for the same modules here: an import map may have changed. */
export function checkImports(form: Plain): void {
  for (const each of listIn(form)) {
    const [specifier, parent, given] = listIn(each), name = textIn(specifier);
    const url = importedUrl(name, localAddress(textIn(parent)));
    if (url !== (given === null ? null : localAddress(textIn(given)))) {
      throw new Differs(`${name} is the name of another module`);
    }
  }
}

/** The source position of a function, and its captures. */
export interface Place {
  readonly url: string;
  readonly at: Plain;
  lookup(name: string): FreeBinding | ScopeValue | null;
}

/** The place of a function, or of its code if generated code made it; null if it has no place in a file. */
export function placeOf(fn: object): Place | null {
  const made = madeInfo(fn);
  if (!made) {
    const position = positionOf(fn);
    if (!position) return null;
    let site: FunctionSite | null | undefined;
    const lookup = (name: string) => (site ??= siteOf(fn))?.lookup(name) ?? null;
    return { url: position.url, at: position.offset, lookup };
  }
  if (made.kind === "class") return null;
  const { code: { module: { url }, span, kind, name } } = made;
  return { url, at: [span.start, span.end, kind, name], lookup: (name) => bindingIn(made, name) };
}

function bindingIn({ code, binding }: FunctionInfo, name: string): FreeBinding | null {
  const index = code.free.findIndex((variable) => variable.name === name);
  return index < 0 ? null : binding(index);
}

/** A variable of a function that may be reassigned. Throws Differs. */
export function cellIn(fn: object, name: string): LiveCell {
  for (const [, info] of codesOf(fn)) {
    const found = bindingIn(info, name);
    if (found?.kind === "cell") return found.cell;
  }
  throw new Differs(`${name} is not a variable of ${labelOf(fn)} that changes`);
}
