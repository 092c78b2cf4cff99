/**
 * Texts of modules that are loaded unchanged: they identify a function's script without the debugger, which is slow
 * to enable.
 *
 * Invariant: a module is returned only if the function is in it at that very position, and in no other.
 */
import { lineStarts } from "../bytecode/parse.ts";
import { isOwnModule, OWN_ROOT } from "../../base/errors.ts";

/** A module's text. */
export interface LoadedText {
  readonly url: string;
  readonly text: string;
}

/** Position of a function as V8 reports it, counted from 0. */
export interface FunctionPlace {
  readonly line: number;
  readonly column: number;
}

/** A text and the offsets at which its lines begin. */
export interface PlacedText {
  readonly text: string;
  readonly lines: readonly number[];
}

const texts = new Map<string, LoadedText & { lines: readonly number[] | null }>();

/** Shorter functions may occur at the same place of several modules. */
const TELLING = 40;

/** Parts of dyn that programs' functions call into: folders, and modules of other folders. */
export const GONE_THROUGH = {
  folders: ["nn", "nn/utils", "optim", "autograd", "base", "distributions", "func"],
  modules: [
    "dynamo/functions/polyfills.ts",
    "dynamo/functions/iterator_polyfills.ts",
    "dynamo/functions/promise_polyfills.ts",
    "dynamo/functions/sorting_polyfills.ts",
    "dynamo/functions/marks.ts",
    "ops/api.ts",
    "tensor/checked.ts",
    "tensor/tensor.ts",
    "tensor/creation.ts",
    "tensor/dropped_gradients.ts",
  ],
} as const;

const isGoneThrough = (url: string): boolean =>
  GONE_THROUGH.folders.some((each) => url.startsWith(`${OWN_ROOT}lib/${each}/`)) ||
  GONE_THROUGH.modules.some((each) => url === `${OWN_ROOT}lib/${each}`);

/** Returns whether a module is part of an npm package: of the program's folder, or of Deno's cache of a registry. */
export function isInPackage(url: string): boolean {
  return url.includes("/node_modules/") || /\/npm\/[^/]+\.[^/]+\//.test(url);
}

/** Returns whether functions of this script are likely to be captured. */
export function isLikely(url: string): boolean {
  if (/^(ext|node|internal|checkin|wasm):/.test(url) || isInPackage(url)) return false;
  return !isOwnModule(url) || isGoneThrough(url);
}

/** Records the text of a module that is about to be loaded. */
export function noteText(url: string, text: string): void {
  if (isLikely(url)) texts.set(url, { url, text, lines: null });
}

/** The text loaded from a URL. */
export function textAt(url: string): LoadedText | null {
  return texts.get(url) ?? null;
}

/** Returns whether a function's text may be at the same position of several modules. */
export function isAmbiguous(shown: string): boolean {
  return shown.length < TELLING;
}

/** Returns whether a function is at a position of a text. */
export function standsAt(
  shown: string,
  { line, column }: FunctionPlace,
  { text, lines }: PlacedText,
): boolean {
  const start = lines[line];
  if (start === undefined) return false;
  const offset = start + column, at = text.lastIndexOf(shown, offset);
  return at >= 0 && offset < at + shown.length;
}

/**
 * The module that contains a function at that place; null: none, or several. For short functions not all candidates may
 * be known.
 */
export function textOf(shown: string, place: FunctionPlace): LoadedText | null {
  let found: LoadedText | null = null;
  for (const each of texts.values()) {
    each.lines ??= lineStarts(each.text);
    if (!standsAt(shown, place, { text: each.text, lines: each.lines })) continue;
    if (found) return null;
    found = each;
  }
  return found;
}
