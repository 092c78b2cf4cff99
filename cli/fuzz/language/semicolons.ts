/** Removes semicolons, as many people write programs. Invariant: the program is equivalent. */
import { parse } from "acorn";
import { type AstNode, childrenOf } from "../../../lib/dynamo/bytecode/syntax.ts";

/** Statements whose semicolon a line break can replace. */
const ENDED: ReadonlySet<AstNode["type"]> = new Set<AstNode["type"]>([
  "ExpressionStatement",
  "VariableDeclaration",
  "ReturnStatement",
  "ThrowStatement",
  "BreakStatement",
  "ContinueStatement",
]);

/** The module with line breaks in place of semicolons, except where the statement would continue on the next line. */
export function withoutSemicolons(text: string): string {
  const places: number[] = [];
  const visit = (node: AstNode): void => {
    const at = node.end - 1;
    if (ENDED.has(node.type) && text[at] === ";" && /^\s*(?:[\w$}]|$)/.test(text.slice(node.end))) {
      places.push(at);
    }
    childrenOf(node, visit);
  };
  visit(parse(text, { ecmaVersion: "latest" }));
  const removed = new Set(places);
  return [...text].map((character, at) => removed.has(at) ? "\n" : character).join("");
}
