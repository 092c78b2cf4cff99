/**
 * Adjusts a module's source map to text that is inserted into the module.
 *
 * Invariant: lines are kept, so only columns change.
 *
 * The format: https://tc39.es/ecma426/
 */
import { SourceMap, type SourceMapPayload } from "node:module";
import { lineColumn } from "../bytecode/parse.ts";
import type { Insertion } from "./rewrite.ts";

/** A parsed map, with its segments. */
export interface WrittenMap {
  /** The map as it is written. */
  readonly payload: SourceMapPayload;
  /** The segments of the text, by line. */
  readonly lines: readonly (readonly Segment[])[];
}

/** The target of a column; `rest` are the other fields in the format's encoding. */
interface Segment {
  readonly column: number;
  readonly rest: string;
}

const COMMENT = "//# sourceMappingURL=";

/** A text without the comment that contains its map, and the map; null if it has none. */
export function inlineMap(loaded: string): { text: string; map: WrittenMap | "elsewhere" | null } {
  const at = loaded.lastIndexOf(COMMENT);
  // If a line follows, it is an ordinary comment.
  if (at < 0 || loaded.slice(at).trimEnd().includes("\n")) return { text: loaded, map: null };
  const text = loaded.slice(0, at);
  const [, data] = /^data:application\/json[^,]*;base64,(\S*)\s*$/.exec(loaded.slice(at + COMMENT.length)) ??
    [];
  if (data === undefined) return { text, map: "elsewhere" };
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const payload: SourceMapPayload = JSON.parse(new TextDecoder().decode(bytes));
  // Maps of concatenated parts have no mappings of their own.
  if (typeof payload.mappings !== "string") return { text, map: "elsewhere" };
  return { text, map: { payload, lines: payload.mappings.split(";").map(segmentsOf) } };
}

/** The map of the text without insertions, for look-ups. */
export function sourceMap(map: WrittenMap): SourceMap {
  return new SourceMap(map.payload);
}

function segmentsOf(line: string): Segment[] {
  if (line === "") return [];
  let column = 0;
  return line.split(",").map((segment) => {
    const { value, length } = decoded(segment);
    column += value;
    return { column, rest: segment.slice(length) };
  });
}

/** The map of a text that is the user's file itself: each token maps to itself. */
export function identityMap(url: string, tokens: readonly number[], starts: readonly number[]): WrittenMap {
  const lines: Segment[][] = [];
  let last = { line: 0, column: 0 };
  for (const offset of tokens) {
    const place = lineColumn(starts, offset);
    while (lines.length <= place.line) lines.push([]);
    const rest = `A${encoded(place.line - last.line)}${encoded(place.column - last.column)}`;
    lines[place.line]?.push({ column: place.column, rest });
    last = place;
  }
  const payload = {
    file: "",
    version: 3,
    sources: [url],
    sourcesContent: [],
    names: [],
    mappings: "",
    sourceRoot: "",
  };
  return { payload, lines };
}

/** The text with the insertions, which are in order. */
export function withInsertions(text: string, insertions: readonly Insertion[]): string {
  let out = "", from = 0;
  for (const { at, text: inserted } of insertions) {
    out += text.slice(from, at) + inserted;
    from = at;
  }
  return out + text.slice(from);
}

/** The comment that contains the map of the text with the insertions. */
export function mapComment(
  map: WrittenMap,
  starts: readonly number[],
  insertions: readonly Insertion[],
): string {
  let next = 0;
  const mappings = map.lines.map((segments, line) => {
    const start = starts[line] ?? Infinity;
    let shift = 0, former = 0;
    return segments.map(({ column, rest }) => {
      for (let each = insertions[next]; each && each.at <= start + column; each = insertions[++next]) {
        // Insertions on earlier lines do not shift this one.
        if (each.at >= start) shift += each.text.length;
      }
      const delta = column + shift - former;
      former = column + shift;
      return encoded(delta) + rest;
    }).join(",");
  }).join(";");
  return `${COMMENT}data:application/json;base64,${base64(JSON.stringify({ ...map.payload, mappings }))}`;
}

function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A number in base64 digits of five bits, the lowest first; the lowest bit of all is the sign. */
function encoded(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let out = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    out += DIGITS.charAt(rest > 0 ? digit | 32 : digit);
  } while (rest > 0);
  return out;
}

/** The number at the start of a segment and how many digits it has. */
function decoded(segment: string): { value: number; length: number } {
  let bits = 0, shift = 0, length = 0, digit = 32;
  while ((digit & 32) !== 0 && length < segment.length) {
    digit = DIGITS.indexOf(segment.charAt(length++));
    bits |= (digit & 31) << shift;
    shift += 5;
  }
  return { value: (bits & 1) === 1 ? -(bits >>> 1) : bits >>> 1, length };
}
