/**
 * Names for the syntax-tree types of the parser, and a walk over children.
 *
 * Invariant: nothing here changes a tree.
 */
import type * as ast from "acorn";

/** Any node of a parsed module. */
export type AstNode = ast.AnyNode;

/** A function of any kind. */
export type FunctionNode =
  | ast.FunctionDeclaration
  | ast.AnonymousFunctionDeclaration
  | ast.FunctionExpression
  | ast.ArrowFunctionExpression;

/** A class declaration or expression. */
export type ClassNode = ast.ClassDeclaration | ast.AnonymousClassDeclaration | ast.ClassExpression;

/** Returns whether a property value of a node is itself a node. */
export function isNode(value: unknown): value is AstNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

export function isFunctionNode(node: AstNode): node is FunctionNode {
  return node.type === "FunctionDeclaration" || node.type === "FunctionExpression" ||
    node.type === "ArrowFunctionExpression";
}

export function isClassNode(node: AstNode): node is ClassNode {
  return node.type === "ClassDeclaration" || node.type === "ClassExpression";
}

/** Returns whether a node assigns to a variable, and thereby names an anonymous function; `(a) = …` does not. */
export function isNaming<N extends ast.AssignmentExpression | ast.AssignmentPattern>(
  node: N,
): node is N & { readonly left: ast.Identifier } {
  return node.left.type === "Identifier" && node.start === node.left.start;
}

/** Returns whether it is an anonymous function or class. */
export function isAnonymous(node: AstNode): boolean {
  return node.type === "ArrowFunctionExpression" ||
    ((node.type === "FunctionExpression" || node.type === "ClassExpression") && !node.id);
}

/**
 * Calls `visit` for each child in source order; the key and value of a shorthand property are the same node, visited
 * once.
 */
export function childrenOf(node: AstNode, visit: (child: AstNode) => void): void {
  const shorthand = node.type === "Property" && node.shorthand;
  for (const [key, value] of Object.entries(node)) {
    if (shorthand && key === "key") continue;
    if (Array.isArray(value)) { for (const item of value) if (isNode(item)) visit(item); }
    else if (isNode(value)) {
      visit(value);
    }
  }
}

/** The name that a property key gives a function; null if it is computed at run time. */
export function knownKeyName(
  { computed, key }: { readonly computed: boolean; readonly key: ast.Expression | ast.PrivateIdentifier },
): string | null {
  if (!computed) return staticKeyName(key);
  return key.type === "Literal" && typeof key.value === "string" ? key.value : null;
}

/** The name that a key which is not computed spells. */
export function staticKeyName(key: ast.Expression | ast.PrivateIdentifier): string {
  switch (key.type) {
    case "Identifier":
      return key.name;
    case "PrivateIdentifier":
      return `#${key.name}`;
    case "Literal":
      return key.bigint ?? String(key.value);
    default:
      return "";
  }
}

/** Returns whether the node is a function or class expression that takes its name from its assignment. */
export function isAnonymousFunction(node: AstNode): boolean {
  if (node.type === "ParenthesizedExpression") return isAnonymousFunction(node.expression);
  if (node.type === "ArrowFunctionExpression") return true;
  return (node.type === "FunctionExpression" || node.type === "ClassExpression") && !node.id;
}
