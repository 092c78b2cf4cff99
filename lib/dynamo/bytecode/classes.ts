/**
 * Compiles class expressions and declarations: one `class` instruction after the heritage expression and the computed
 * keys evaluates the whole class from its text.
 *
 * Invariant: a class that suspends inside its computed keys has no such instruction and is refused.
 */
import { keysBefore, names } from "./class_keys.ts";
import { operand } from "./operands.ts";
import type { Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";
import { describeFree, freeVariables } from "./free.ts";
import { captures } from "./literals.ts";
import type { Unit } from "./scope.ts";
import { type AstNode, childrenOf, type ClassNode, isFunctionNode } from "./syntax.ts";

export function classExpression(ctx: FunctionContext, node: ClassNode, dst?: Register): Register {
  const unit = ctx.analysis.units.get(node);
  if (!unit) return ctx.unsupported("unknown class", node);
  for (const member of node.body.body) {
    if (member.type !== "StaticBlock" && member.computed && suspends(member.key)) {
      ctx.unsupported("await or yield in a computed class key", member);
    }
  }
  if (hasDynamicScope(unit)) ctx.unsupported("direct eval in a class", node);
  if (node.superClass && node.id && names(node.superClass, node.id.name)) {
    ctx.unsupported("a class's own name in what it extends", node.superClass);
  }
  const { strict } = ctx;
  ctx.strict = true;
  const heritage = node.superClass ? ctx.expression(node.superClass) : null;
  const keys = keysBefore(ctx, node);
  const registers = keys.map((key, i) => {
    const [src, dst] = [operand(ctx, key, keys.slice(i + 1)), ctx.builder.temp()];
    ctx.builder.emit({ op: "toPropertyKey", dst, src }, key);
    return dst;
  });
  ctx.strict = strict;
  const index = ctx.classes.push({
    name: unit.name,
    span: { start: node.start, end: node.end },
    heritage: node.superClass ? { start: node.superClass.start, end: node.superClass.end } : null,
    keys: keys.map(({ start, end }) => ({ start, end })),
    free: freeVariables(unit, ctx.module).map((v) => describeFree(v, unit)),
  }) - 1;
  const r = dst ?? ctx.builder.temp();
  ctx.builder.emit(
    {
      op: "class",
      dst: r,
      index,
      heritage,
      keys: registers.length > 0 ? registers : null,
      captures: captures(ctx, unit),
      name: unit.name,
    },
    node,
  );
  return r;
}

/** Returns whether code in the class sees every variable around it. */
function hasDynamicScope(unit: Unit): boolean {
  return unit.dynamicScope || unit.children.some(hasDynamicScope);
}

function suspends(node: AstNode): boolean {
  if (isFunctionNode(node)) return false;
  if (node.type === "AwaitExpression" || node.type === "YieldExpression") return true;
  let found = false;
  childrenOf(node, (child) => {
    found ||= suspends(child);
  });
  return found;
}
