/**
 * A module's text on its way to V8: parsed, with the map back to what the user wrote.
 *
 * Input: URL and text of a module as Deno's loader gives them: JavaScript, of TypeScript with a map behind it.
 * Output: `LoadedModule`, or null for modules that are better left alone.
 */
import type * as acorn from "acorn";
import { lineStarts, type ParsedModule, parseModule } from "../bytecode/parse.ts";
import { isOwnModule } from "../../base/errors.ts";
import { userPosition } from "./positions.ts";
import { identityMap, inlineMap, sourceMap, type WrittenMap } from "./source_map.ts";

export interface LoadedModule {
  readonly parsed: ParsedModule;
  readonly map: WrittenMap;
  /** Offset of the nearest arrow in front of an offset. */
  readonly arrowBefore: (offset: number) => number;
  /** Where the first statement can stand. */
  readonly bodyStart: number;
}

/** Longer texts are machine-made; parsing them would take longer than all captures together. */
const LONGEST = 1_000_000;

/** Reads a module. `reserved` is a name that its text must not have. */
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
    // V8 says what is wrong with it, if anything is.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Whether functions that will be captured are likely to come from there. */
function isUsers(url: string): boolean {
  if (url.startsWith("data:")) return /^data:(?:text|application)\/javascript[;,]/.test(url);
  if (!url.startsWith("file:") || url.includes("/node_modules/")) return false;
  return /\.(?:m?[jt]s|[jt]sx)(?:[?#]|$)/.test(url) && !isOwnModule(url);
}
