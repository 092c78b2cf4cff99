/**
 * Compiles array and object literals, templates, and closures.
 *
 * Invariant: members whose evaluation is observable are evaluated in source order.
 */
import type * as ast from "acorn";
import type { Argument, Capture, KeyOperand, ObjectMember, Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";
import { elementList, isInert, operand } from "./operands.ts";
import { freeVariables } from "./free.ts";
import { type AstNode, type FunctionNode, isAnonymousFunction, staticKeyName } from "./syntax.ts";
import { templateIndex } from "./runtime.ts";
import type { Unit } from "./scope.ts";

export function arrayLiteral(ctx: FunctionContext, node: ast.ArrayExpression, dst?: Register): Register {
  return elementList(ctx, node.elements, { node, dst });
}

type Member = ast.Property | ast.SpreadElement;

/** An object literal: one instruction as far as possible, then one per member. */
export function objectLiteral(ctx: FunctionContext, node: ast.ObjectExpression, dst?: Register): Register {
  const b = ctx.builder, properties = inOrder(node.properties);
  const needsHome = properties.some((p) => p.type === "Property" && usesHome(ctx, p.value));
  const spread = properties.findIndex((p) => p.type === "SpreadElement");
  const whole = !needsHome &&
    (spread < 0 ||
      properties.slice(spread + 1).every((p) =>
        p.type === "Property" && !p.computed && isInert(ctx, p.value)
      ));
  const headEnd = whole ? properties.length : needsHome ? 0 : spread + 1;
  const object = whole && dst !== undefined ? dst : b.temp();
  const head: ObjectMember[] = [];
  for (let i = 0; i < headEnd; i++) {
    const p = properties[i];
    if (p) head.push(objectMember(ctx, p, properties.slice(i + 1, headEnd), null));
  }
  b.emit({ op: "object", dst: object, members: head }, node);
  for (const p of properties.slice(headEnd)) {
    b.emit({ op: "define", object, member: objectMember(ctx, p, [], object) }, p);
  }
  if (dst === undefined) return object;
  ctx.move(dst, object, node);
  return dst;
}

/**
 * Members in the order in which V8 defines them. In a literal that begins with a spread, it defines getters and setters
 * after the other members up to the next computed key or spread, where names are distinct.
 */
function inOrder(members: readonly Member[]): readonly Member[] {
  if (members[0]?.type !== "SpreadElement") return members;
  const found = members.findIndex((p, i) => i > 0 && (p.type === "SpreadElement" || p.computed));
  const end = found < 0 ? members.length : found, run = members.slice(1, end);
  const isAccessor = (p: Member) => p.type === "Property" && p.kind !== "init";
  const [accessors, others] = [run.filter(isAccessor), run.filter((p) => !isAccessor(p))];
  const nameOf = (p: Member) => p.type === "Property" ? staticKeyName(p.key) : null;
  if (accessors.some((p) => others.some((q) => nameOf(p) === nameOf(q)))) return members;
  return [members[0], ...others, ...accessors, ...members.slice(end)];
}

/** Returns whether a method (or an arrow in it) uses super, so that it needs its home object. */
function usesHome(ctx: FunctionContext, value: ast.Expression): boolean {
  return value.type === "FunctionExpression" && (ctx.analysis.units.get(value)?.pseudo.has("super") ?? false);
}

function objectMember(
  ctx: FunctionContext,
  node: ast.Property | ast.SpreadElement,
  later: readonly AstNode[],
  home: Register | null,
): ObjectMember {
  if (node.type === "SpreadElement") return { kind: "spread", register: operand(ctx, node.argument, later) };
  const kind = node.kind === "init" ? "value" : node.kind;
  if (
    !node.computed && !node.shorthand && !node.method && kind === "value" &&
    staticKeyName(node.key) === "__proto__"
  ) {
    return { kind: "proto", register: operand(ctx, node.value, later) };
  }
  const key = literalKey(ctx, node, [node.value, ...later]);
  const isMethod = node.method || kind !== "value";
  if (node.value.type === "FunctionExpression" && isMethod) {
    const own = usesHome(ctx, node.value) ? home : null;
    const prefix = kind === "value" ? "" : kind;
    return { kind, key, register: closureOf(ctx, node.value, { name: key, namePrefix: prefix, home: own }) };
  }
  if (key.kind === "register" && isAnonymousFunction(node.value)) {
    const value = unwrapped(node.value);
    if (value.type === "ClassExpression") ctx.unsupported("anonymous class named by a computed key", value);
    if (value.type === "FunctionExpression" || value.type === "ArrowFunctionExpression") {
      return { kind, key, register: closureOf(ctx, value, { name: key }) };
    }
  }
  return { kind, key, register: operand(ctx, node.value, later) };
}

function unwrapped(node: ast.Expression): ast.Expression {
  return node.type === "ParenthesizedExpression" ? unwrapped(node.expression) : node;
}

/** Key of a literal's or pattern's property, converted to a property key. */
export function literalKey(
  ctx: FunctionContext,
  node: { readonly computed: boolean; readonly key: ast.Expression },
  later: readonly AstNode[],
): KeyOperand {
  if (!node.computed) return { kind: "name", name: staticKeyName(node.key) };
  if (node.key.type === "Literal" && typeof node.key.value === "string") {
    return { kind: "name", name: node.key.value };
  }
  const raw = operand(ctx, node.key, later);
  const register = ctx.builder.temp();
  ctx.builder.emit({ op: "toPropertyKey", dst: register, src: raw }, node.key);
  return { kind: "register", register };
}

/** Captured variables of a unit whose closure is created here. */
export function captures(ctx: FunctionContext, unit: Unit): readonly Capture[] {
  return freeVariables(unit, ctx.module).map((variable): Capture => {
    const place = ctx.place(variable);
    if (place.kind === "free") return { kind: "free", index: place.index };
    return { kind: place.kind === "cell" ? "cell" : "value", register: place.register };
  });
}

/** A new function of a function node. */
export function closureOf(
  ctx: FunctionContext,
  node: FunctionNode,
  options: {
    readonly dst?: Register | undefined;
    readonly name?: KeyOperand;
    readonly namePrefix?: "" | "get" | "set";
    readonly home?: Register | null;
  },
): Register {
  const unit = ctx.analysis.units.get(node);
  if (!unit) return ctx.unsupported("unknown function", node);
  const child = ctx.children.push(ctx.hooks.child(unit)) - 1;
  const captured = captures(ctx, unit);
  const dst = options.dst ?? ctx.builder.temp();
  const prefix = options.namePrefix ?? "";
  const name = options.name?.kind === "register"
    ? options.name
    : { kind: "name" as const, name: plainName(unit, prefix) };
  ctx.builder.emit(
    { op: "closure", dst, child, captures: captured, home: options.home ?? null, name, namePrefix: prefix },
    node,
  );
  return dst;
}

/** The name without the `get ` or `set ` of `namePrefix`. */
function plainName(unit: Unit, prefix: string): string {
  return prefix && unit.name.startsWith(`${prefix} `) ? unit.name.slice(prefix.length + 1) : unit.name;
}

export function templateLiteral(ctx: FunctionContext, node: ast.TemplateLiteral, dst?: Register): Register {
  const b = ctx.builder;
  const values = node.expressions.map((e, i) => {
    const later = node.expressions.slice(i + 1);
    const value = operand(ctx, e, later);
    // Each value becomes a string before the next expression runs; this is observable only if the next one is not
    // inert.
    if (later.every((n) => isInert(ctx, n))) return value;
    const text = b.temp();
    b.emit({ op: "toString", dst: text, src: value }, e);
    return text;
  });
  const r = dst ?? b.temp();
  const quasis = node.quasis.map((q) => q.value.cooked ?? "");
  b.emit({ op: "template", dst: r, quasis, values }, node);
  return r;
}

/** Arguments of a tag's call: the strings and the values. */
export function taggedTemplate(ctx: FunctionContext, node: ast.TemplateLiteral): readonly Argument[] {
  const strings = ctx.builder.temp();
  const raw = node.quasis.map((q) => q.value.raw);
  ctx.builder.emit({ op: "templateObject", dst: strings, index: templateIndex(node), raw }, node);
  const values = node.expressions.map((e, i) => operand(ctx, e, node.expressions.slice(i + 1)));
  return [strings, ...values].map((register) => ({ register, spread: false }));
}
