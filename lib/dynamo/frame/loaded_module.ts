/**
 * A module's text before V8 loads it: parsed, with its source map.
 *
 * Null for modules that should not be rewritten.
 */
import type * as acorn from "acorn";
import { lineStarts, type ParsedModule, parseModule } from "../bytecode/parse.ts";
import { isOwnModule } from "../../base/errors.ts";
import { userPosition } from "./positions.ts";
import { identityMap, inlineMap, sourceMap, type WrittenMap } from "./source_map.ts";

export interface LoadedModule {
  readonly parsed: ParsedModule;
  readonly map: WrittenMap;
  /** Returns the offset of the nearest arrow before an offset. */
  readonly arrowBefore: (offset: number) => number;
  /** Offset at which the first statement can be inserted. */
  readonly bodyStart: number;
}

/** Longer texts are generated; parsing them would take longer than all captures together. */
const LONGEST = 1_000_000;

/** Parses a module. `reserved` is a name that its text must not contain. */
export function loadedModule(url: string, loaded: string, reserved: string): LoadedModule | null {
  if (!isUsers(url) || loaded.length > LONGEST || loaded.includes(reserved)) return null;
  const { text, map } = inlineMap(loaded);
  if (map === "elsewhere") return null;
  const tokens: number[] = [], arrows: number[] = [];
  const lines = lineStarts(text);
  try {
    const parsed = parseModule({
      url,
      text,
      sourceType: "module",
      position: userPosition({ url, text, lines, map: () => map ? sourceMap(map) : undefined }),
      onToken: (token: acorn.Token) => {
        tokens.push(token.start);
        if (token.type.label === "=>") arrows.push(token.start);
      },
    });
    return {
      parsed,
      map: map ?? identityMap(url, tokens, lines),
      arrowBefore: (offset) => arrows[arrows.findLastIndex((at) => at < offset)] ?? 0,
      bodyStart: text.startsWith("#!") ? lines[1] ?? text.length : 0,
    };
  } catch (error) {
    // V8 reports errors in it
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Returns whether functions of this module are likely to be captured. */
function isUsers(url: string): boolean {
  if (url.startsWith("data:")) return /^data:(?:text|application)\/javascript[;,]/.test(url);
  if (!url.startsWith("file:") || url.includes("/node_modules/")) return false;
  return /\.(?:m?[jt]s|[jt]sx)(?:[?#]|$)/.test(url) && !isOwnModule(url);
}
