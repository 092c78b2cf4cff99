/**
 * Maps positions in the text that V8 has to positions in the user's file.
 *
 * Invariant: if Deno has no map, the text is the file's.
 */
import type { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import { isGranted } from "../../base/permissions.ts";
import type { UserPosition } from "../bytecode/code.ts";
import { lineColumn } from "../bytecode/parse.ts";
import { numberField, textField } from "./inspector.ts";

const fileLines = new Map<string, readonly string[] | null>();

/** Lines of a file on disk; null if it cannot be read. */
function linesOf(file: string): readonly string[] | null {
  let lines = fileLines.get(file);
  if (lines === undefined) {
    try {
      lines = isGranted({ name: "read", path: file }) ? Deno.readTextFileSync(file).split("\n") : null;
    } catch {
      lines = null;
    }
    fileLines.set(file, lines);
  }
  return lines;
}

/** A text that V8 has, or would have. */
interface MappedText {
  readonly url: string;
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly lines: readonly number[];
  /** The map to the user's file, computed once; undefined if the text is that file. */
  readonly map: () => SourceMap | undefined;
}

/** Maps offsets in the text to the user's file. */
export function userPosition({ url, text, lines, map }: MappedText): (offset: number) => UserPosition {
  const own = url.startsWith("file:") ? fileURLToPath(url) : null;
  let found: SourceMap | null | undefined;
  return (offset) => {
    if (found === undefined) found = map() ?? null;
    const { line, column } = lineColumn(lines, offset);
    const entry: Readonly<Record<string, unknown>> = { ...found?.findEntry(line, column) };
    const originalLine = numberField(entry, "originalLine");
    if (originalLine < 0) {
      const end = text.indexOf("\n", offset);
      const shown = text.slice(lines[line], end < 0 ? text.length : end);
      return { file: own ?? url, line: line + 1, column, text: shown };
    }
    const source = textField(entry, "originalSource");
    const file = source.startsWith("file:") ? fileURLToPath(source) : source || (own ?? url);
    // An entry covers the rest of its line, so the distance from it counts.
    const generatedColumn = numberField(entry, "generatedColumn");
    const sameLine = numberField(entry, "generatedLine") === line;
    const shift = sameLine && generatedColumn >= 0 ? column - generatedColumn : 0;
    const written = linesOf(file)?.[originalLine] ?? null;
    const originalColumn = numberField(entry, "originalColumn");
    const at = fitColumn(originalColumn, shift, written, text.slice(offset, offset + 1));
    return { file, line: originalLine + 1, column: at, text: written };
  };
}

/** Adds the distance from the mapped place only where that lands on the same character. */
function fitColumn(column: number, shift: number, written: string | null, character: string): number {
  if (shift === 0 || written === null) return column;
  return written[column + shift] === character ? column + shift : column;
}
