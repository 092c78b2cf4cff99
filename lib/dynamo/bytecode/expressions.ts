/**
 * Compiles expressions.
 *
 * Invariant: operands are evaluated left to right; a result register may be a variable's own register, so a caller that
 * evaluates more code before it uses the value obtains it through `operand`.
 */
import { wordsFor } from "./engine_words.ts";
import type * as ast from "acorn";
import { pseudoOwner, type Unit } from "./scope.ts";
import type { Argument, BinaryOperator, KeyOperand, Register, UnaryOperator } from "./instruction.ts";
import type { Label } from "./builder.ts";
import type { FunctionContext } from "./context.ts";
import { assignmentExpression, updateExpression } from "./assignment.ts";
import { arrayLiteral, closureOf, objectLiteral, taggedTemplate, templateLiteral } from "./literals.ts";
import { classExpression } from "./classes.ts";
import { argumentList, deliver, keyOf, operand, privateIndex, superBase } from "./operands.ts";

/** Emits the expression; the result is in `dst` if that is given, else in the register returned. */
export function expression(ctx: FunctionContext, node: ast.Expression, dst?: Register): Register {
  const b = ctx.builder;
  const result = (): Register => dst ?? b.temp();
  switch (node.type) {
    case "ParenthesizedExpression":
      return ctx.expression(node.expression, dst);
    case "Literal":
      return literal(ctx, node, dst);
    case "Identifier":
      return identifier(ctx, node, dst);
    case "ThisExpression":
    case "MetaProperty": {
      const variable = ctx.variableOf(node);
      if (!variable) return ctx.unsupported("this outside of any function", node);
      return ctx.read(variable, node, dst);
    }
    case "UnaryExpression":
      return unary(ctx, node, dst);
    case "BinaryExpression":
      return binary(ctx, node, dst);
    case "LogicalExpression":
      return logical(ctx, node, dst);
    case "ConditionalExpression":
      return conditional(ctx, node, dst);
    case "SequenceExpression": {
      const final = node.expressions.at(-1);
      if (!final) return ctx.unsupported("empty sequence", node);
      for (const each of node.expressions.slice(0, -1)) ctx.expression(each);
      return ctx.expression(final, dst);
    }
    case "AssignmentExpression":
      return assignmentExpression(ctx, node, dst);
    case "UpdateExpression":
      return updateExpression(ctx, node, dst);
    case "MemberExpression":
      return member(ctx, node, dst).value;
    case "ChainExpression":
      return chain(ctx, node, (inner, r) => {
        ctx.expression(inner, r);
      }, dst);
    case "CallExpression":
      return call(ctx, node, dst);
    case "NewExpression": {
      const callee = operand(ctx, node.callee, node.arguments);
      const args = argumentList(ctx, node.arguments), r = result();
      b.emit({ op: "new", dst: r, callee, args, text: wordsFor(node.callee) }, node);
      return r;
    }
    case "ArrayExpression":
      return arrayLiteral(ctx, node, dst);
    case "ObjectExpression":
      return objectLiteral(ctx, node, dst);
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return closureOf(ctx, node, { dst });
    case "ClassExpression":
      return classExpression(ctx, node, dst);
    case "TemplateLiteral":
      return templateLiteral(ctx, node, dst);
    case "TaggedTemplateExpression": {
      const { value, self } = calleeOf(ctx, node.tag, node.quasi.expressions);
      const args = taggedTemplate(ctx, node.quasi), r = result();
      b.emit({ op: "call", dst: r, callee: value, self, args, text: wordsFor(node.tag) }, node);
      return r;
    }
    case "AwaitExpression": {
      const src = ctx.expression(node.argument), r = result();
      b.emit({ op: "await", dst: r, src }, node);
      return r;
    }
    case "YieldExpression":
      return yielded(ctx, node, dst);
    case "ImportExpression": {
      // Only the engine knows to which module evaluated text belongs.
      if (!URL.canParse(ctx.module.url)) ctx.unsupported("import in evaluated code", node);
      const specifier = operand(ctx, node.source, node.options ? [node.options] : []);
      const options = node.options ? ctx.expression(node.options) : null;
      const r = result();
      b.emit({ op: "import", dst: r, specifier, options }, node);
      return r;
    }
    default:
      node satisfies never;
      return ctx.unsupported("unknown expression", node);
  }
}

function logical(ctx: FunctionContext, node: ast.LogicalExpression, dst?: Register): Register {
  const b = ctx.builder, r = b.temp(), end = b.label();
  ctx.expression(node.left, r);
  const condition = node.operator === "&&" ? "falsy" : node.operator === "||" ? "truthy" : "notNullish";
  b.emit({ op: "jumpIf", condition, test: r, target: end.id }, node);
  ctx.expression(node.right, r);
  b.place(end);
  return deliver(ctx, r, node, dst);
}

function conditional(ctx: FunctionContext, node: ast.ConditionalExpression, dst?: Register): Register {
  const b = ctx.builder, r = b.temp(), otherwise = b.label(), end = b.label();
  jumpUnless(ctx, node.test, otherwise);
  ctx.expression(node.consequent, r);
  b.jump(end, node);
  b.place(otherwise);
  ctx.expression(node.alternate, r);
  b.place(end);
  return deliver(ctx, r, node, dst);
}

function yielded(ctx: FunctionContext, node: ast.YieldExpression, dst?: Register): Register {
  const b = ctx.builder;
  const src = node.argument ? ctx.expression(node.argument) : ctx.constant(undefined, node);
  const r = b.temp(), onReturn = ctx.returnAtYield(r, node)?.id ?? null;
  if (node.delegate) {
    // In a separate register, since the iterator replaces it in a generator that is resumed here.
    const source = b.temp();
    b.emit({ op: "move", dst: source, src }, node);
    b.emit({ op: "yieldDelegate", dst: r, source, onReturn }, node);
  } else b.emit({ op: "yield", dst: r, src, onReturn }, node);
  return deliver(ctx, r, node, dst);
}

/** Jumps to `target` unless the expression is truthy. */
export function jumpUnless(ctx: FunctionContext, node: ast.Expression, target: Label): void {
  jumpOn(ctx, node, { when: false, target });
}

/** Jumps if the truth of the expression is `when`; `!`, `&&` and `||` become jumps themselves. */
function jumpOn(
  ctx: FunctionContext,
  node: ast.Expression,
  jump: { readonly when: boolean; readonly target: Label },
): void {
  const b = ctx.builder;
  if (node.type === "UnaryExpression" && node.operator === "!") {
    return jumpOn(ctx, node.argument, { when: !jump.when, target: jump.target });
  }
  if (node.type === "LogicalExpression" && node.operator !== "??") {
    if ((node.operator === "||") === jump.when) {
      jumpOn(ctx, node.left, jump);
      return jumpOn(ctx, node.right, jump);
    }
    const skip = b.label();
    jumpOn(ctx, node.left, { when: !jump.when, target: skip });
    jumpOn(ctx, node.right, jump);
    b.place(skip);
    return;
  }
  const test = ctx.expression(node);
  b.emit({ op: "jumpIf", condition: jump.when ? "truthy" : "falsy", test, target: jump.target.id }, node);
}

function literal(ctx: FunctionContext, node: ast.Literal, dst?: Register): Register {
  if (node.regex) {
    const r = dst ?? ctx.builder.temp();
    ctx.builder.emit({ op: "regexp", dst: r, pattern: node.regex.pattern, flags: node.regex.flags }, node);
    return r;
  }
  if (node.bigint !== undefined) {
    return ctx.constant(BigInt(node.bigint.replaceAll("_", "")), node, dst ?? ctx.builder.temp());
  }
  const value = node.value;
  if (value instanceof RegExp || value === undefined) return ctx.unsupported("unknown literal", node);
  return ctx.constant(value, node, dst ?? ctx.builder.temp());
}

function identifier(ctx: FunctionContext, node: ast.Identifier, dst?: Register): Register {
  const variable = ctx.variableOf(node);
  if (variable) return ctx.read(variable, node, dst);
  const r = dst ?? ctx.builder.temp();
  switch (node.name) {
    case "undefined":
      return ctx.constant(undefined, node, r);
    case "NaN":
      return ctx.constant(NaN, node, r);
    case "Infinity":
      return ctx.constant(Infinity, node, r);
    default:
      ctx.builder.emit({ op: "loadGlobal", dst: r, name: node.name, forTypeof: false }, node);
      return r;
  }
}

function unary(ctx: FunctionContext, node: ast.UnaryExpression, dst?: Register): Register {
  const b = ctx.builder;
  if (node.operator === "delete") return deletion(ctx, node, dst);
  if (node.operator === "typeof" && node.argument.type === "Identifier" && !ctx.variableOf(node.argument)) {
    const held = b.temp();
    b.emit({ op: "loadGlobal", dst: held, name: node.argument.name, forTypeof: true }, node);
    const r = dst ?? b.temp();
    b.emit({ op: "unary", dst: r, operator: "typeof", src: held }, node);
    return r;
  }
  if (node.operator === "-" && node.argument.type === "Literal" && typeof node.argument.value === "number") {
    return ctx.constant(-node.argument.value, node, dst ?? b.temp());
  }
  const operator: UnaryOperator = node.operator;
  const src = ctx.expression(node.argument);
  if (operator === "void") return ctx.constant(undefined, node, dst ?? b.temp());
  const r = dst ?? b.temp();
  b.emit({ op: "unary", dst: r, operator, src }, node);
  return r;
}

function deletion(ctx: FunctionContext, node: ast.UnaryExpression, dst?: Register): Register {
  const b = ctx.builder;
  let target: ast.Expression = node.argument;
  while (target.type === "ParenthesizedExpression") target = target.expression;
  const { strict } = ctx;
  const remove = (m: ast.MemberExpression, r: Register): void => {
    if (m.object.type === "Super") ctx.unsupported("delete of a super property", node);
    const object = operand(
      ctx,
      m.object,
      m.computed && m.property.type !== "PrivateIdentifier" ? [m.property] : [],
    );
    optionalStep(ctx, m.optional, object, m);
    b.emit({ op: "deleteProp", dst: r, object, key: keyOf(ctx, m), strict }, node);
  };
  if (target.type === "MemberExpression") {
    const r = dst ?? b.temp();
    remove(target, r);
    return r;
  }
  if (target.type === "ChainExpression") {
    return chain(
      ctx,
      target,
      (inner, r) => {
        if (inner.type === "MemberExpression") remove(inner, r);
        else {
          ctx.expression(inner);
          ctx.constant(true, node, r);
        }
      },
      dst,
      true,
    );
  }
  if (target.type === "Identifier") return ctx.unsupported("delete of a variable", node);
  ctx.expression(target);
  return ctx.constant(true, node, dst ?? b.temp());
}

function binary(ctx: FunctionContext, node: ast.BinaryExpression, dst?: Register): Register {
  const b = ctx.builder;
  if (node.left.type === "PrivateIdentifier") {
    const object = ctx.expression(node.right);
    const r = dst ?? b.temp();
    b.emit({ op: "hasPrivate", dst: r, object, name: privateIndex(ctx, node.left) }, node);
    return r;
  }
  const left = operand(ctx, node.left, [node.right]);
  const right = ctx.expression(node.right);
  const r = dst ?? b.temp();
  const operator: BinaryOperator = node.operator;
  b.emit({ op: "binary", dst: r, operator, left, right }, node);
  return r;
}

/** Leaves the optional chain if `object` is null or undefined and this step has a `?.`. */
function optionalStep(ctx: FunctionContext, optional: boolean, object: Register, node: ast.Node): void {
  if (!optional) return;
  if (!ctx.chainExit) ctx.unsupported("optional step outside of a chain", node);
  ctx.builder.emit({ op: "jumpIf", condition: "nullish", test: object, target: ctx.chainExit.id }, node);
}

/** Evaluates an optional chain; `otherwise` is its value if the chain stops early. */
function chain(
  ctx: FunctionContext,
  node: ast.ChainExpression,
  body: (inner: ast.MemberExpression | ast.CallExpression, r: Register) => void,
  dst?: Register,
  otherwise?: boolean,
): Register {
  const b = ctx.builder;
  const r = b.temp();
  const exit = b.label();
  const end = b.label();
  const saved = ctx.chainExit;
  ctx.chainExit = exit;
  body(node.expression, r);
  ctx.chainExit = saved;
  b.jump(end, node);
  b.place(exit);
  ctx.constant(otherwise, node, r);
  b.place(end);
  return deliver(ctx, r, node, dst);
}

/** A property read; also returns the object, which is `this` of a method call. */
function member(
  ctx: FunctionContext,
  node: ast.MemberExpression,
  dst?: Register,
  later: readonly ast.AnyNode[] = [],
): { value: Register; self: Register } {
  const b = ctx.builder;
  const r = (): Register => dst ?? b.temp();
  if (node.object.type === "Super") {
    const { home, receiver } = superBase(ctx, node);
    const key = keyOf(ctx, node);
    const value = r();
    b.emit({ op: "getSuper", dst: value, home, receiver, key }, node);
    return { value, self: receiver };
  }
  const computed = node.computed && node.property.type !== "PrivateIdentifier" ? [node.property] : [];
  const self = operand(ctx, node.object, [...computed, ...later]);
  optionalStep(ctx, node.optional, self, node);
  if (node.property.type === "PrivateIdentifier") {
    const value = r();
    b.emit({ op: "getPrivate", dst: value, object: self, name: privateIndex(ctx, node.property) }, node);
    return { value, self };
  }
  const key: KeyOperand = keyOf(ctx, node);
  const value = r();
  b.emit({ op: "getProp", dst: value, object: self, key }, node);
  return { value, self };
}

/** Evaluates the callee, with its `this`. */
function calleeOf(
  ctx: FunctionContext,
  node: ast.Expression,
  later: readonly ast.AnyNode[],
): { value: Register; self: Register | null } {
  if (node.type === "ParenthesizedExpression") return calleeOf(ctx, node.expression, later);
  if (node.type === "MemberExpression") return member(ctx, node, undefined, later);
  if (node.type === "ChainExpression" && node.expression.type === "MemberExpression") {
    const inner = node.expression;
    const self = ctx.builder.temp();
    // Also if the chain stops early: registers must be set before they are read
    ctx.constant(undefined, node, self);
    const value = chain(ctx, node, (_, r) => {
      const found = member(ctx, inner, r, later);
      ctx.move(self, found.self, node);
    });
    return { value, self };
  }
  return { value: operand(ctx, node, later), self: null };
}

function call(ctx: FunctionContext, node: ast.CallExpression, dst?: Register): Register {
  if (node.callee.type === "Super") return superCall(ctx, node, dst);
  if (node.callee.type === "Identifier" && node.callee.name === "eval" && !ctx.variableOf(node.callee)) {
    return ctx.unsupported("direct eval", node);
  }
  const b = ctx.builder;
  const callee = calleeOf(ctx, node.callee, node.arguments);
  optionalStep(ctx, node.optional, callee.value, node);
  const args: readonly Argument[] = argumentList(ctx, node.arguments);
  const r = dst ?? b.temp();
  b.emit(
    { op: "call", dst: r, callee: callee.value, self: callee.self, args, text: wordsFor(node.callee) },
    node,
  );
  return r;
}

/** super(…): constructs, binds `this`, initialises the fields. */
/** Returns whether a class adds fields or private methods to its instances. */
function initializes(unit: Unit | null): boolean {
  const node = unit?.node;
  if (node?.type !== "ClassDeclaration" && node?.type !== "ClassExpression") return true;
  return node.body.body.some((member) =>
    member.type !== "StaticBlock" && !member.static &&
    (member.type === "PropertyDefinition" || member.key.type === "PrivateIdentifier")
  );
}

function superCall(ctx: FunctionContext, node: ast.CallExpression, dst?: Register): Register {
  const b = ctx.builder;
  const running = ctx.pseudo("callee");
  const target = ctx.pseudo("new.target");
  const self = ctx.pseudo("this");
  if (!running || !target || !self) return ctx.unsupported("super call outside of a constructor", node);
  const args = argumentList(ctx, node.arguments);
  const callee = ctx.read(running, node);
  const made = b.temp();
  b.emit({ op: "superCall", dst: made, callee, newTarget: ctx.read(target, node), args }, node);
  const place = ctx.place(self);
  if (place.kind === "free") b.emit({ op: "storeFree", index: place.index, src: made }, node);
  else if (place.kind === "cell") {
    const held = b.temp();
    b.emit({ op: "loadCell", dst: held, cell: place.register }, node);
    b.emit({ op: "checkSuperOnce", src: held }, node);
    b.emit({ op: "storeCell", cell: place.register, src: made }, node);
  } else {
    b.emit({ op: "checkSuperOnce", src: place.register }, node);
    ctx.move(place.register, made, node);
  }
  if (initializes(pseudoOwner(ctx.unit).parent)) b.emit({ op: "initFields", object: made, callee }, node);
  if (dst === undefined) return made;
  ctx.move(dst, made, node);
  return dst;
}
