/**
 * Functions that were found before, by their text and by where V8 says that they are: programs create closures of the
 * same code again and again, and the code of a further one is found without looking for its script.
 *
 * Invariant: V8 never gives the number of a script to another one, so a place means one function of one text.
 */
import type { ParsedModule } from "../bytecode/parse.ts";
import type { FunctionNode } from "../bytecode/syntax.ts";
import type { FunctionPlace } from "./loaded_texts.ts";

/** A function of a parsed text. */
export interface KnownFunction {
  readonly module: ParsedModule;
  readonly node: FunctionNode;
}

/** The script of a function, by V8's number, and its place in it. */
interface ScriptPlace extends FunctionPlace {
  readonly script: string;
}

const found = new Map<string, (ScriptPlace & KnownFunction)[]>();

/** Records where the function with that text is. */
export function noteKnown(text: string, place: ScriptPlace, fn: KnownFunction): void {
  const others = found.get(text) ?? [];
  if (others.length === 0) found.set(text, others);
  if (!knownAt(others, place)) others.push({ ...place, ...fn });
}

/** The functions with that text that were found before. */
export function knownWith(text: string): readonly (ScriptPlace & KnownFunction)[] {
  return found.get(text) ?? [];
}

/** The one of these functions that is at that place. */
export function knownAt(
  functions: readonly (ScriptPlace & KnownFunction)[],
  { script, line, column }: ScriptPlace,
): KnownFunction | null {
  for (const each of functions) {
    if (each.script === script && each.line === line && each.column === column) return each;
  }
  return null;
}
