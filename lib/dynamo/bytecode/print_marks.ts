/**
 * Source positions of printed code: marks in its text, and a layout in which expressions that can fail are on the
 * line and, where there is room, at the column of the original.
 *
 * Invariant: the readable text and the layout are the same program. Lines never go back, so code that runs after
 * later lines of the source (the step of a `for` loop) stays on the line reached by then.
 */
import { lineColumn } from "./parse.ts";

/** The delimiter of marks: a character that modules do not contain; one that does gets no marks. */
const EDGE = "\uE000";

/** A mark of an offset in the module's text. */
export function markOf(offset: number): string {
  return `${EDGE}${offset}${EDGE}`;
}

/** The text of a nested function, whose line breaks are kept, between marks. */
export function markedClosure(text: string, start: number): string {
  return `${EDGE}(${start}${EDGE}${text}${EDGE})${EDGE}`;
}

/** Returns whether code of the module can be marked. */
export function takesMarks(module: { readonly text: string }): boolean {
  return !module.text.includes(EDGE);
}

const MARK = /\uE000(\(?)(\d*)(\)?)\uE000/g;

/** The text without its marks. */
export function withoutMarks(text: string): string {
  return text.replace(MARK, "");
}

/** Text on lines of a module: `firstLine` is the number, from 0, of its first one. */
export interface PlacedText {
  readonly text: string;
  readonly firstLine: number;
}

/** Lays text out by its marks; null if it has none. `starts` are the offsets at which lines of the module begin. */
export function placed(marked: string, starts: readonly number[]): PlacedText | null {
  const first = nextMark(marked, 0);
  // The head of the function goes on the line before, if there is one, so that its body keeps its columns.
  return first === null
    ? null
    : new Layout(marked, starts, Math.max(lineColumn(starts, first).line - 1, 0)).run();
}

/** The offset of the first mark after a position, before the end of the line if `inLine` says so. */
function nextMark(text: string, from: number, { inLine = false } = {}): number | null {
  const pattern = new RegExp(MARK);
  pattern.lastIndex = from;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    if (inLine && text.slice(from, found.index).includes("\n")) return null;
    if (found[2]) return Number(found[2]);
  }
  return null;
}

class Layout {
  #out = "";
  #line: number;
  #column = 0;

  constructor(readonly marked: string, readonly starts: readonly number[], readonly firstLine: number) {
    this.#line = firstLine;
  }

  run(): PlacedText {
    const pieces = /\uE000(\(?)(\d*)(\)?)\uE000|\n */g;
    let from = 0, nested = 0;
    for (let found = pieces.exec(this.marked); found; found = pieces.exec(this.marked)) {
      this.#add(this.marked.slice(from, found.index));
      from = pieces.lastIndex;
      const [whole, opens, offset, closes] = found;
      if (offset) this.#goTo(Number(offset), { indented: true });
      if (opens) nested++;
      if (closes) nested--;
      if (offset !== undefined) continue;
      if (nested > 0) this.#add(whole);
      else this.#endStatement(from);
    }
    this.#add(this.marked.slice(from));
    return { text: this.#out, firstLine: this.firstLine };
  }

  /** Breaks the line before a statement, since not every place inside of one allows a break (`return`). */
  #endStatement(next: number): void {
    this.#add(" ");
    const offset = nextMark(this.marked, next, { inLine: true });
    if (offset !== null) this.#goTo(offset, { indented: false });
  }

  #goTo(offset: number, { indented }: { readonly indented: boolean }): void {
    const { line, column } = lineColumn(this.starts, offset);
    if (line > this.#line) this.#add("\n".repeat(line - this.#line));
    if (indented && line === this.#line && column > this.#column) {
      this.#add(" ".repeat(column - this.#column));
    }
  }

  #add(text: string): void {
    if (text === "") return;
    this.#out += text;
    const lines = text.split("\n"), { length: last } = lines.at(-1) ?? "";
    this.#line += lines.length - 1;
    this.#column = lines.length > 1 ? last : this.#column + last;
  }
}
