/**
 * Detects programs for which the tape or a graph adds zeros to gradients where the other does not, so that −0 becomes
 * 0: both functionalise in-place writes, each in its own way. Invariant: if the answer is no, no call writes into a
 * view that the program has made in the same call, or is a composition in place.
 */
import { everyStatement, namesBound, namesInArg, type Program } from "./program.ts";
import { FORMS } from "./forms.ts";

const FORM_OF = new Map(FORMS.filter(({ style }) => style === "method").map((form) => [form.name, form]));

/** Views have an op of their own, or are composed of others. */
function mayGiveView(style: string, name: string): boolean {
  const kind = FORM_OF.get(name)?.definition.implementation.kind;
  return style === "property" || kind === "view" || kind === "composite";
}

/** Returns whether calls of a program write into views that they create, or into composed values. */
export function addsZeros({ body }: Program): boolean {
  const parts = new Set<string>();
  for (const statement of everyStatement(body)) {
    if (statement.kind !== "call") continue;
    const { style, name, args: [receiver = null] } = statement, form = FORM_OF.get(name);
    // Indices of `set` select views
    if (name === "set") return true;
    if (form?.inplace) {
      // The tape copies the result of a composition into its receiver
      if (form.definition.gradient.kind === "composite") return true;
      if (namesInArg(receiver).some((each) => parts.has(each))) return true;
    } else if (mayGiveView(style, name)) {
      for (const each of namesBound(statement)) parts.add(each);
    }
  }
  return false;
}
