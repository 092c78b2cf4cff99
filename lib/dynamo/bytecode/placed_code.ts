/**
 * Evaluates printed code as scripts at the positions of their originals: an error in them names the program's file and
 * line. Invariant: the evaluated text differs from the readable one only in the name of the function and in line
 * breaks.
 */
import { Script } from "node:vm";
import { apply } from "../../base/own_builtins.ts";
import type { CodeObject, SourceModule } from "./code.ts";
import { lineStarts } from "./parse.ts";
import { placed, withoutMarks } from "./print_marks.ts";

/** Prefix of the URLs of such scripts in the debugger; the rest is that of the modules. */
export const PLACED_URL = "dyn:code";

/** The evaluated text: a function expression with marks, and its parameters. */
interface PlacedRequest {
  readonly marked: string;
  readonly strict: boolean;
  readonly parameters: readonly string[];
}

/** A function that takes the parameters and returns the printed function. */
export function evaluatePlaced(code: CodeObject, request: PlacedRequest): (...given: unknown[]) => unknown {
  const { marked, strict, parameters } = request;
  const named = anonymous(marked, code.name);
  const layout = URL.canParse(code.module.url) ? placed(named, startsOf(code.module)) : null;
  // Lines are counted from the script's first one: V8 ignores a line offset if there is a source URL.
  const above = "\n".repeat(layout?.firstLine ?? 0);
  const directive = strict ? '"use strict";' : "";
  const text = `(function (${parameters.join(", ")}) {${directive} return (${above}${
    layout?.text ?? withoutMarks(named)
  }); })`;
  const script = layout === null
    ? new Script(text)
    : new Script(`${text}\n//# sourceURL=${PLACED_URL}`, { filename: code.module.url });
  const make: unknown = script.runInThisContext();
  if (typeof make !== "function") throw new TypeError("Expected a function");
  return (...given) => apply(make, undefined, given);
}

const starts = new WeakMap<SourceModule, readonly number[]>();

function startsOf(module: SourceModule): readonly number[] {
  let found = starts.get(module);
  if (!found) starts.set(module, found = lineStarts(module.text));
  return found;
}

const HEAD = /^((?:async )?function\*?) [^\s(]+(?=\()/;

/** A named function expression that stack traces show under the original's name, which its body cannot see. */
function anonymous(marked: string, name: string): string {
  const text = marked.replace(HEAD, "$1 ");
  if (name === "") return text;
  const key = JSON.stringify(name);
  return `({ [${key}]: ${text} })[${key}]`;
}
