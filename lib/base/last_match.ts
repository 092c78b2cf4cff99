/**
 * The last match of a regular expression, which programs read as RegExp.$1, RegExp.lastMatch and so on: any expression
 * that matches anywhere changes it, those of dyn's own code too. Invariant: code of the program finds the match that its
 * own code has left.
 */

const { apply, getOwnPropertyDescriptor } = Reflect, OwnRegExp = RegExp;
const { exec } = RegExp.prototype;
const { indexOf, lastIndexOf } = String.prototype;

function readerOf(name: string): () => string {
  const get = getOwnPropertyDescriptor(RegExp, name)?.get;
  return () => get ? apply(get, OwnRegExp, []) : "";
}

const setInput = getOwnPropertyDescriptor(RegExp, "input")?.set;
const input = readerOf("input"), matched = readerOf("lastMatch"), lastGroup = readerOf("lastParen");
const before = readerOf("leftContext"), behind = readerOf("rightContext");
const $1 = readerOf("$1"), $2 = readerOf("$2"), $3 = readerOf("$3"), $4 = readerOf("$4");
const $5 = readerOf("$5"), $6 = readerOf("$6"), $7 = readerOf("$7"), $8 = readerOf("$8"), $9 = readerOf("$9");

/** A match: the text that was searched, the position of the match in it, its text, and what its groups have matched. */
export interface Match {
  readonly text: string;
  readonly at: number;
  readonly found: string;
  readonly groups: readonly string[];
  /** The text of the last group, which may be none of the groups above. */
  readonly last: string;
}

/** The last match as programs can read it, with the text that they may have set as its input. */
interface LastMatch extends Match {
  readonly input: string;
}

/** The last match. */
export function lastMatch(): LastMatch {
  const left = before(), found = matched();
  return {
    text: left + found + behind(),
    at: left.length,
    found,
    groups: [$1(), $2(), $3(), $4(), $5(), $6(), $7(), $8(), $9()],
    last: lastGroup(),
    input: input(),
  };
}

/** The source of a group with a part of the text. */
function groupOf(text: string, at: number, part: string): string {
  const { length } = part, ahead = apply(indexOf, text, [part, at]);
  if (length === 0) return "()";
  if (ahead >= 0) return `(?=[^]{${ahead - at}}([^]{${length}}))`;
  return `(?<=(?=([^]{${length}}))[^]{${at - apply(lastIndexOf, text, [part, at])}})`;
}

/** The source of an expression that matches like another one, if it is sticky and begins there. */
export function patternOf({ text, at, found, groups, last }: Match): string {
  const { length } = groups;
  let count = length;
  while (count > 0 && groups[count - 1] === "") count--;
  let source = "";
  for (let i = 0; i < count; i++) source += groupOf(text, at, groups[i] ?? "");
  if (last !== "" && (count === 0 || groups[count - 1] !== last)) {
    // Of more groups than have a name
    for (let i = count; i < length; i++) source += "()";
    source += groupOf(text, at, last);
  } else if (last === "" && count > 0) source += "()";
  return `${source}[^]{${found.length}}`;
}

/** Makes a match the last one. */
export function repeatMatch(pattern: string, at: number, text: string): void {
  const regexp = new OwnRegExp(pattern, "y");
  regexp.lastIndex = at;
  apply(exec, regexp, [text]);
}

function isSame(a: LastMatch, b: LastMatch): boolean {
  if (a.input !== b.input || a.found !== b.found || a.at !== b.at || a.last !== b.last) return false;
  for (let i = 0; i < a.groups.length; i++) if (a.groups[i] !== b.groups[i]) return false;
  return a.text === b.text;
}

function restore(match: LastMatch): void {
  if (isSame(match, lastMatch())) return;
  repeatMatch(patternOf(match), match.at, match.text);
  if (input() !== match.input && setInput) apply(setInput, OwnRegExp, [match.input]);
}

/** The match that the program will find; null while its own code runs. */
let kept: LastMatch | null = null;

/** Runs work of dyn, which leaves the last match as it was. */
export function keepingLastMatch<T>(work: () => T): T {
  if (kept !== null) return work();
  kept = lastMatch();
  try {
    return work();
  } finally {
    const match = kept;
    kept = null;
    if (match !== null) restore(match);
  }
}

/** Runs code of the program in the middle of such work. */
export function withProgramsMatch<T>(run: () => T): T {
  const match = kept;
  if (match === null) return run();
  kept = null;
  restore(match);
  try {
    return run();
  } finally {
    kept = lastMatch();
  }
}

/** The input while nothing has matched. */
const NOTHING = "\u0000no match\u0000";

/** Searches; returns its last match as well, or null if nothing matched. */
export function searching<T>(search: () => T): { readonly result: T; readonly match: Match | null } {
  if (setInput) apply(setInput, OwnRegExp, [NOTHING]);
  const result = search();
  return { result, match: input() === NOTHING ? null : lastMatch() };
}
