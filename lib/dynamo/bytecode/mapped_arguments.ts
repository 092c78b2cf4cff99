/**
 * Detects sloppy functions whose parameters alias the elements of `arguments`, where writes to one may change the
 * other, which registers cannot express. Invariant: the accepted uses only read.
 */
import type * as ast from "acorn";
import { type AstNode, childrenOf, type FunctionNode, isFunctionNode } from "./syntax.ts";

/** The first use of `arguments` that may write to it, in a function that also uses its parameters by name. */
export const writtenArguments = (node: FunctionNode): AstNode | null => otherUse(node, isOnlyRead);

/** The first use of more than the number of `arguments`, in a function that also uses its parameters by name. */
export const usedArguments = (node: FunctionNode): AstNode | null => otherUse(node, isOnlyCounted);

/** The first use of `arguments` but those of one kind, in a function that also uses its parameters by name. */
function otherUse(node: FunctionNode, isOfKind: typeof isOnlyRead): AstNode | null {
  const names = new Set(node.params.flatMap((p) => p.type === "Identifier" ? p.name : []));
  let used = false;
  let found: AstNode | null = null;
  const visit = (at: AstNode, parents: readonly AstNode[]): void => {
    if (at.type === "Identifier") {
      if (names.has(at.name)) used = true;
      if (at.name === "arguments" && !isOfKind(at, parents)) found ??= at;
      return;
    }
    // Functions other than arrows have their own.
    const own = isFunctionNode(at) && at.type !== "ArrowFunctionExpression";
    childrenOf(at, (child) => own ? visitNames(child) : visit(child, [at, ...parents]));
  };
  const visitNames = (at: AstNode): void => {
    if (at.type === "Identifier" && names.has(at.name)) used = true;
    childrenOf(at, visitNames);
  };
  childrenOf(node.body, (child) => visit(child, [node.body]));
  return used ? found : null;
}

/** Returns whether a use is `arguments.length`, which assignments to parameters do not change. */
function isOnlyCounted(node: AstNode, parents: readonly AstNode[]): boolean {
  const [parent] = parents;
  return parent?.type === "MemberExpression" && !parent.computed && parent.property.type === "Identifier" &&
    parent.property.name === "length" && isOnlyRead(node, parents);
}

function isOnlyRead(node: AstNode, [parent, outer]: readonly AstNode[]): boolean {
  switch (parent?.type) {
    case "SpreadElement":
      return true;
    case "ForOfStatement":
      return parent.right === node;
    case "UnaryExpression":
      return parent.operator === "typeof";
    case "MemberExpression":
      return parent.object === node && outer !== undefined && !changes(outer, parent);
    case "CallExpression":
      return copies(parent, node);
    default:
      return false;
  }
}

/** Returns whether a member is written to, or called with its object as receiver. */
function changes(outer: AstNode, member: ast.MemberExpression): boolean {
  switch (outer.type) {
    case "AssignmentExpression":
      return outer.left === member;
    case "AssignmentPattern":
      return outer.left === member;
    case "UpdateExpression":
    case "ArrayPattern":
    case "RestElement":
    case "Property":
    case "ForInStatement":
    case "ForOfStatement":
    case "ChainExpression":
      return true;
    case "UnaryExpression":
      return outer.operator === "delete";
    case "CallExpression":
      return outer.callee === member;
    case "TaggedTemplateExpression":
      return outer.tag === member;
    default:
      return false;
  }
}

/** f.apply(self, arguments), Array.from(arguments), [].slice.call(arguments) */
function copies({ callee, arguments: args }: ast.CallExpression, node: AstNode): boolean {
  if (callee.type !== "MemberExpression" || callee.computed || callee.property.type !== "Identifier") {
    return false;
  }
  const { object, property: { name } } = callee;
  if (args[1] === node) return name === "apply";
  if (args[0] !== node) return false;
  if (name === "from") return object.type === "Identifier" && object.name === "Array";
  return name === "call" && object.type === "MemberExpression" && !object.computed &&
    object.property.type === "Identifier" && object.property.name === "slice";
}
