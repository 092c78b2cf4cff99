/** The computed keys of classes. Invariant: nothing is evaluated here. */
import type * as ast from "acorn";
import type { FunctionContext } from "./context.ts";
import type { ParsedModule } from "./parse.ts";
import { type AstNode, childrenOf, type ClassNode } from "./syntax.ts";

/**
 * The computed keys that can be evaluated before the class: neither its name, its private names nor its strictness
 * matters to them. Keys of a derived class are evaluated after a check of the superclass, so they must be plain names.
 * Empty if one of them must remain in the text, or all are well-known symbols.
 */
export function keysBefore(ctx: FunctionContext, node: ClassNode): readonly ast.Expression[] {
  const keys: ast.Expression[] = [];
  for (const member of node.body.body) {
    if (member.type === "StaticBlock" || !member.computed) continue;
    if (member.key.type === "PrivateIdentifier") return [];
    keys.push(member.key);
  }
  const isSymbol = (key: AstNode) => wellKnownSymbol(key, ctx.module) !== null;
  if (keys.every(isSymbol)) return [];
  const fits = (key: AstNode): boolean => {
    if (node.superClass) return key.type === "Literal" || isSymbol(key) || isVariable(key);
    let all = PLAIN_KEYS.has(key.type) && !(key.type === "Identifier" && key.name === "arguments");
    childrenOf(key, (child) => {
      all &&= fits(child);
    });
    return all;
  };
  const isVariable = (key: AstNode) => key.type === "Identifier" && ctx.variableOf(key) !== null;
  const { id } = node;
  return keys.every((key) => fits(key) && !(id && names(key, id.name))) ? keys : [];
}

/** Expressions without scopes or assignments of their own. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  "BinaryExpression",
  "CallExpression",
  "ConditionalExpression",
  "Identifier",
  "Literal",
  "LogicalExpression",
  "MemberExpression",
  "ParenthesizedExpression",
  "TemplateElement",
  "TemplateLiteral",
]);

/** Returns whether an identifier of that name occurs in the tree. */
export function names(node: AstNode, name: string): boolean {
  let found = node.type === "Identifier" && node.name === name;
  childrenOf(node, (child) => {
    found ||= names(child, name);
  });
  return found;
}

/**
 * The symbol that a computed key like `Symbol.iterator` refers to, provided that the global `Symbol` is the language's.
 */
export function wellKnownSymbol(key: AstNode, { analysis }: Pick<ParsedModule, "analysis">): symbol | null {
  if (key.type !== "MemberExpression" || key.computed || key.property.type !== "Identifier") return null;
  const { object, property } = key;
  if (object.type !== "Identifier" || object.name !== "Symbol" || analysis.references.get(object)) {
    return null;
  }
  const found = Reflect.getOwnPropertyDescriptor(Symbol, property.name);
  const value: unknown = found?.writable === false ? found.value : null;
  return typeof value === "symbol" ? value : null;
}
