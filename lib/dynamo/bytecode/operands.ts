/**
 * Operands that stay valid while later operands are evaluated: stable registers, keys, argument lists.
 *
 * Invariant: returned operands cannot be changed by code emitted for the nodes named as `later`.
 */
import { iterableWords, wordsFor } from "./engine_words.ts";
import type * as ast from "acorn";
import type { Argument, ArrayElement, KeyOperand, Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";
import { type AstNode, childrenOf, isFunctionNode } from "./syntax.ts";
import { boundNames, type Variable } from "./scope.ts";

/** Evaluates `node` into a register that the evaluation of the `later` nodes does not change. */
export function operand(ctx: FunctionContext, node: ast.Expression, later: readonly AstNode[]): Register {
  const register = ctx.expression(node);
  if (ctx.builder.isTemp(register)) return register;
  const variable = bareVariable(ctx, node);
  if (variable && !later.some((n) => assigns(ctx, n, variable))) return register;
  const copy = ctx.builder.temp();
  ctx.move(copy, register, node);
  return copy;
}

/** The variable that a plain name or `this` refers to. */
function bareVariable(ctx: FunctionContext, node: ast.Expression): Variable | null {
  if (node.type === "ParenthesizedExpression") return bareVariable(ctx, node.expression);
  return node.type === "Identifier" || node.type === "ThisExpression" ? ctx.variableOf(node) : null;
}

/** Returns whether the node, outside of nested functions, may assign the variable. */
function assigns(ctx: FunctionContext, node: AstNode, variable: Variable): boolean {
  if (!variable.reassigned || isFunctionNode(node)) return false;
  if (node.type === "Identifier" || node.type === "Literal") return false;
  if (node.type === "UpdateExpression" && node.argument.type === "Identifier") {
    return ctx.variableOf(node.argument) === variable;
  }
  if (node.type === "CallExpression" && node.callee.type === "Super" && variable.kind === "this") return true;
  if (
    node.type === "AssignmentExpression" &&
    boundNames(node.left).some((id) => ctx.variableOf(id) === variable)
  ) {
    return true;
  }
  let found = false;
  childrenOf(node, (child) => {
    found ||= assigns(ctx, child, variable);
  });
  return found;
}

/** Returns whether evaluating the node neither runs user code nor throws, and yields the same value at any time. */
export function isInert(ctx: FunctionContext, node: AstNode): boolean {
  switch (node.type) {
    case "Literal":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return true;
    case "Identifier": {
      const variable = ctx.variableOf(node);
      return variable !== null && !variable.reassigned && !variable.usedEarly && variable.unit === ctx.unit;
    }
    default:
      return false;
  }
}

/** The key of a member access; computed keys are evaluated, not converted. */
export function keyOf(ctx: FunctionContext, node: ast.MemberExpression): KeyOperand {
  if (node.property.type === "PrivateIdentifier") return ctx.unsupported("private name here", node);
  if (!node.computed) {
    if (node.property.type !== "Identifier") return ctx.unsupported("unknown property name", node);
    return { kind: "name", name: node.property.name };
  }
  if (node.property.type === "Literal" && typeof node.property.value === "string") {
    return { kind: "name", name: node.property.value };
  }
  return { kind: "register", register: ctx.expression(node.property) };
}

/** Registers of arguments. A spread followed by more code is iterated into an array immediately. */
export function argumentList(
  ctx: FunctionContext,
  nodes: readonly (ast.Expression | ast.SpreadElement)[],
): readonly Argument[] {
  const spread = nodes.findIndex((n) => n.type === "SpreadElement");
  const rest = spread < 0 ? [] : nodes.slice(spread + 1);
  if (rest.every((n) => isInert(ctx, n))) {
    return nodes.map((n, i) => {
      const later = nodes.slice(i + 1);
      if (n.type === "SpreadElement") {
        return { register: operand(ctx, n.argument, later), spread: true, words: wordsFor(n.argument) };
      }
      return { register: operand(ctx, n, later), spread: false };
    });
  }
  const node = nodes[spread];
  const end = nodes[nodes.length - 1];
  const span = { start: node?.start ?? 0, end: end?.end ?? 0 };
  return [{ register: elementList(ctx, nodes, { node: span, isUnnamed: true }), spread: true }];
}

/** Creates an array of the elements, in order. */
export function elementList(
  ctx: FunctionContext,
  nodes: readonly (ast.Expression | ast.SpreadElement | null)[],
  options: {
    readonly node: { start: number; end: number };
    readonly dst?: Register | undefined;
    /** Whether the engine names the spread value by its type: as it does in arguments. */
    readonly isUnnamed?: boolean;
  },
): Register {
  const b = ctx.builder;
  const head: ArrayElement[] = [];
  const evaluate = (
    n: ast.Expression | ast.SpreadElement | null,
    later: readonly AstNode[],
  ): ArrayElement => {
    if (n === null) return { kind: "hole" };
    if (n.type === "SpreadElement") {
      const words = options.isUnnamed ? "" : iterableWords(n.argument);
      return { kind: "spread", register: operand(ctx, n.argument, later), words };
    }
    return { kind: "value", register: operand(ctx, n, later) };
  };
  const spread = nodes.findIndex((n) => n?.type === "SpreadElement");
  const simple = spread < 0 || nodes.slice(spread + 1).every((n) => n === null || isInert(ctx, n));
  const headEnd = simple ? nodes.length : spread + 1;
  const present = (from: number, to: number): AstNode[] => nodes.slice(from, to).filter((n) => n !== null);
  for (let i = 0; i < headEnd; i++) head.push(evaluate(nodes[i] ?? null, present(i + 1, headEnd)));
  const array = simple ? options.dst ?? b.temp() : b.temp();
  b.emit({ op: "array", dst: array, elements: head }, options.node);
  for (let i = headEnd; i < nodes.length; i++) {
    b.emit({ op: "arrayAppend", array, element: evaluate(nodes[i] ?? null, []) }, options.node);
  }
  if (options.dst === undefined) return array;
  ctx.move(options.dst, array, options.node);
  return options.dst;
}

/** Index among the free variables of a #name. */
export function privateIndex(ctx: FunctionContext, node: ast.PrivateIdentifier): number {
  const variable = ctx.variableOf(node);
  const place = variable ? ctx.place(variable) : null;
  if (place?.kind !== "free") return ctx.unsupported("private name outside of its class", node);
  return place.index;
}

/** Registers of the home object and of `this`, for super properties. */
export function superBase(ctx: FunctionContext, node: ast.Node): { home: Register; receiver: Register } {
  const home = ctx.pseudo("super");
  const self = ctx.pseudo("this");
  if (!home || !self) return ctx.unsupported("super outside of a method", node);
  const receiver = ctx.read(self, node);
  return { home: ctx.read(home, node), receiver };
}

/** Moves a value to the register that is wanted, if one is. */
export function deliver(ctx: FunctionContext, src: Register, node: ast.Node, dst?: Register): Register {
  if (dst === undefined) return src;
  ctx.move(dst, src, node);
  return dst;
}
