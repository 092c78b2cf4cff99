/**
 * Printed code as scripts that stand where their originals do: an error in them names the program's file and line, and
 * variables by the names that the program gives them. Input: code, its printed text and the names of its parameters;
 * output: a function of these. Invariant: what is evaluated differs from what people read in names and line breaks only.
 */
import { Script } from "node:vm";
import type { CodeObject, SourceModule } from "./code.ts";
import { lineStarts } from "./parse.ts";
import { placed, withoutMarks } from "./print_marks.ts";

/** What the debugger calls such scripts, whose names are those of the modules. */
export const PLACED_URL = "dyn:code";

/** What is evaluated: a function expression with marks, and what its surroundings give it. */
export interface PlacedRequest {
  readonly marked: string;
  readonly strict: boolean;
  readonly parameters: readonly string[];
}

/** A function that takes the parameters and gives the function that was printed. */
export function evaluatePlaced(code: CodeObject, request: PlacedRequest): (...given: unknown[]) => unknown {
  const { marked, strict, parameters } = request;
  const { renamed, names } = withOwnNames(anonymous(marked, code.name), parameters, code.module.text);
  const layout = URL.canParse(code.module.url) ? placed(renamed, startsOf(code.module)) : null;
  // Lines are counted from the script's first one: V8 ignores an offset beside a source URL.
  const above = "\n".repeat(layout?.firstLine ?? 0);
  const directive = strict ? '"use strict";' : "";
  const text = `(function (${names.join(", ")}) {${directive} return (${above}${
    layout?.text ?? withoutMarks(renamed)
  }); })`;
  const script = layout === null
    ? new Script(text)
    : new Script(`${text}\n//# sourceURL=${PLACED_URL}`, { filename: code.module.url });
  const make: unknown = script.runInThisContext();
  if (typeof make !== "function") throw new TypeError("Expected a function");
  return (...given) => Reflect.apply(make, undefined, given);
}

const starts = new WeakMap<SourceModule, readonly number[]>();

function startsOf(module: SourceModule): readonly number[] {
  let found = starts.get(module);
  if (!found) starts.set(module, found = lineStarts(module.text));
  return found;
}

const HEAD = /^((?:async )?function\*?) [^\s(]+(?=\()/;

/** A named function expression as one that traces show under the original's name, which its body does not see. */
function anonymous(marked: string, name: string): string {
  const text = marked.replace(HEAD, "$1 ");
  if (name === "") return text;
  const key = JSON.stringify(name);
  return `({ [${key}]: ${text} })[${key}]`;
}

/** Identifiers with the character before them, or strings, which stay. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|(?<![\p{ID_Continue}$])[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

/** Names of registers and free variables: the program's name and a number. */
const NUMBERED = /^(.+?)\$f?\d+$/;

const RESERVED = new Set(
  ("arguments async await break case catch class const continue debugger default delete do else enum eval export " +
    "extends false finally for function get if implements import in instanceof interface let new null of package " +
    "private protected public return set static super switch this throw true try typeof undefined using var void " +
    "while with yield").split(" "),
);

/** Takes numbers off the names of variables wherever the names alone mean nothing else in the text or the module. */
function withOwnNames(text: string, parameters: readonly string[], module: string): {
  readonly renamed: string;
  readonly names: readonly string[];
} {
  const used = new Set<string>(parameters);
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isProperty = text[index - 1] === "." && text[index - 2] !== ".";
    if (!isProperty) used.add(token);
  }
  const wanted = new Map<string, string[]>();
  for (const name of used) {
    const plain = NUMBERED.exec(name)?.[1];
    if (plain === undefined || RESERVED.has(plain) || used.has(plain) || module.includes(name)) continue;
    wanted.set(plain, [...wanted.get(plain) ?? [], name]);
  }
  const plainOf = new Map<string, string>();
  for (const [plain, names] of wanted) {
    const [only, ...others] = names;
    if (only !== undefined && others.length === 0) plainOf.set(only, plain);
  }
  const nameOf = (name: string) => plainOf.get(name) ?? name;
  return { renamed: text.replace(TOKEN, nameOf), names: parameters.map(nameOf) };
}
