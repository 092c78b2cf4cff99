/**
 * The scripts V8 has loaded: their texts, parsed, with positions in the user's files.
 *
 * Input: script ids. Output: `Script`s. Invariant: a script is fetched and parsed at most once; fetching needs the
 * debugger, so all texts that may be wanted are fetched together once a program asks repeatedly.
 */
import { findSourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import type { UserPosition } from "../bytecode/code.ts";
import { lineColumn, lineStarts, type ParsedModule, parseModule } from "../bytecode/parse.ts";
import { type Inspector, InspectorUnavailable, numberField, textField } from "./inspector.ts";

/** A loaded script. */
export interface Script {
  readonly id: string;
  readonly url: string;
  readonly text: string;
  /** Offsets at which lines begin. */
  readonly lines: readonly number[];
  /** The parsed text; null where it cannot be parsed. */
  readonly module: ParsedModule | null;
}

/** Total size of texts fetched ahead of need, in characters. */
const FETCH_AHEAD = 8_000_000;

export class Scripts {
  private readonly loaded = new Map<string, Script>();
  private readonly urls = new Map<string, string>();
  private readonly modules = new Set<string>();
  /** Times the debugger was enabled to fetch texts. */
  private enabled = 0;

  constructor(private readonly inspector: Inspector) {
    const note = (params: Record<string, unknown>): void => {
      this.urls.set(textField(params, "scriptId"), textField(params, "url"));
      if (params.isModule === true) this.modules.add(textField(params, "scriptId"));
    };
    inspector.on("Debugger.scriptParsed", note);
    inspector.on("Debugger.scriptFailedToParse", note);
  }

  /** The script of that id, null if V8 does not give its text. */
  get(id: string): Script | null {
    const known = this.loaded.get(id);
    if (known) return known;
    const before = this.inspector.timesEnabled;
    this.inspector.withDebugger(() => {
      this.fetch(id);
      // A program that comes again will come often; the first time it may be for a few scripts only.
      if (this.inspector.timesEnabled > before && ++this.enabled === 2) this.fetchAhead();
    });
    return this.loaded.get(id) ?? null;
  }

  /** The module loaded from a URL, if any. */
  moduleAt(url: string): ParsedModule | null {
    for (const [id, known] of this.urls) {
      if (known === url && this.modules.has(id)) return this.get(id)?.module ?? null;
    }
    return null;
  }

  /** Returns the length of the text. */
  private fetch(id: string): number {
    const text = textField(this.inspector.post("Debugger.getScriptSource", { scriptId: id }), "scriptSource");
    this.loaded.set(id, makeScript({ id, url: this.urls.get(id) ?? "", text }, this.modules.has(id)));
    return text.length;
  }

  private fetchAhead(): void {
    let total = 0;
    for (const [id, url] of this.urls) {
      if (total > FETCH_AHEAD) return;
      if (this.loaded.has(id) || !isUsers(url)) continue;
      try {
        total += this.fetch(id);
      } catch (error) {
        // V8 has dropped the script meanwhile.
        if (!(error instanceof InspectorUnavailable)) throw error;
      }
    }
  }
}

/** Whether a script is likely to hold functions that will be captured. */
function isUsers(url: string): boolean {
  return !/^(ext|node|internal|checkin|wasm):/.test(url) && !url.includes("/node_modules/") &&
    !url.includes("/npm/");
}

function makeScript(source: Pick<Script, "id" | "url" | "text">, isModule: boolean): Script {
  const { id, url, text } = source;
  const lines = lineStarts(text);
  let parsed: ParsedModule | null | undefined;
  return {
    id,
    url,
    text,
    lines,
    get module(): ParsedModule | null {
      if (parsed === undefined) {
        try {
          parsed = parseModule({
            url,
            text,
            sourceType: isModule ? "module" : "script",
            position: userPosition(url, text, lines),
          });
        } catch {
          parsed = null;
        }
      }
      return parsed;
    },
  };
}

const fileLines = new Map<string, readonly string[] | null>();

/** Lines of a file as it is on disk; null where it cannot be read. */
function linesOf(file: string): readonly string[] | null {
  let lines = fileLines.get(file);
  if (lines === undefined) {
    try {
      lines = Deno.readTextFileSync(file).split("\n");
    } catch {
      lines = null;
    }
    fileLines.set(file, lines);
  }
  return lines;
}

/** Maps offsets in the loaded text to the file the user wrote. */
function userPosition(url: string, text: string, lines: readonly number[]): (offset: number) => UserPosition {
  const own = url.startsWith("file:") ? fileURLToPath(url) : null;
  const map = own ? findSourceMap(own) : undefined;
  return (offset) => {
    const { line, column } = lineColumn(lines, offset);
    const entry: Readonly<Record<string, unknown>> = { ...map?.findEntry(line, column) };
    const originalLine = numberField(entry, "originalLine");
    if (originalLine < 0) {
      const end = text.indexOf("\n", offset);
      const shown = text.slice(lines[line], end < 0 ? text.length : end);
      return { file: own ?? url, line: line + 1, column, text: shown };
    }
    const source = textField(entry, "originalSource");
    const file = source.startsWith("file:") ? fileURLToPath(source) : source || (own ?? url);
    // An entry covers what follows it on its line, so the distance from it counts.
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
