/**
 * Whether a program writes into parts of tensors that it computes with. Input: a program; output: whether it does.
 * Invariant: where it says no, no call writes into a view that the program has made in the same call.
 */
import { everyStatement, namesBound, namesInArg, type Program } from "./program.ts";
import { FORMS } from "./forms.ts";

const FORM_OF = new Map(FORMS.filter(({ style }) => style === "method").map((form) => [form.name, form]));

/** Views have an op of their own, or are composed of others. */
function mayGiveView(style: string, name: string): boolean {
  const kind = FORM_OF.get(name)?.definition.implementation.kind;
  return style === "property" || kind === "view" || kind === "composite";
}

/** Whether calls of a program write into views that they make. */
export function writesParts({ body }: Program): boolean {
  const parts = new Set<string>();
  for (const statement of everyStatement(body)) {
    if (statement.kind !== "call") continue;
    const { style, name, args: [receiver = null] } = statement;
    const isWrite = FORM_OF.get(name)?.inplace === true;
    if (isWrite && namesInArg(receiver).some((each) => parts.has(each))) return true;
    if (isWrite || !mayGiveView(style, name)) continue;
    for (const each of namesBound(statement)) parts.add(each);
  }
  return false;
}
