/**
 * Compiles assignments, updates, and destructuring patterns.
 *
 * Invariant: a target's object and key are evaluated before the assigned value.
 */
import { wordsFor } from "./engine_words.ts";
import type * as ast from "acorn";
import type { BinaryOperator, KeyOperand, Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";
import { deliver, keyOf, operand, privateIndex, superBase } from "./operands.ts";
import { literalKey } from "./literals.ts";
import type { AstNode } from "./syntax.ts";
import type { Variable } from "./scope.ts";

/** Whether a pattern initialises the names that it declares, or assigns them. */
type BindMode = "initialize" | "assign";

/** A place that can be read and written, whose parts have been evaluated. */
interface Reference {
  /** Register into which the new value may be computed, if that is the whole assignment. */
  readonly direct: Register | undefined;
  read(): Register;
  write(src: Register): void;
}

/** Evaluates the parts of a target; `later` is evaluated before the target is used. */
function reference(
  ctx: FunctionContext,
  node: ast.Pattern | ast.Expression,
  later: readonly AstNode[],
  mode: BindMode = "assign",
): Reference {
  const b = ctx.builder;
  if (node.type === "ParenthesizedExpression") return reference(ctx, node.expression, later, mode);
  if (node.type === "Identifier") {
    const variable = ctx.variableOf(node);
    if (!variable) return globalReference(ctx, node);
    return variableReference(ctx, variable, { node, mode });
  }
  if (node.type !== "MemberExpression") return ctx.unsupported("assignment to this expression", node);
  if (node.object.type === "Super") {
    const { home, receiver } = superBase(ctx, node);
    const key = stableKey(ctx, node, later);
    return {
      direct: undefined,
      read: () => {
        const dst = b.temp();
        b.emit({ op: "getSuper", dst, home, receiver, key }, node);
        return dst;
      },
      write: (value) => b.emit({ op: "setSuper", home, receiver, key, value, strict: ctx.strict }, node),
    };
  }
  if (node.property.type === "PrivateIdentifier") {
    const object = operand(ctx, node.object, later);
    const name = privateIndex(ctx, node.property);
    return {
      direct: undefined,
      read: () => {
        const dst = b.temp();
        b.emit({ op: "getPrivate", dst, object, name }, node);
        return dst;
      },
      write: (value) => b.emit({ op: "setPrivate", object, name, value }, node),
    };
  }
  const object = operand(ctx, node.object, node.computed ? [node.property, ...later] : later);
  const key = stableKey(ctx, node, later);
  return {
    direct: undefined,
    read: () => {
      const dst = b.temp();
      b.emit({ op: "getProp", dst, object, key }, node);
      return dst;
    },
    write: (value) => b.emit({ op: "setProp", object, key, value, strict: ctx.strict }, node),
  };
}

function stableKey(ctx: FunctionContext, node: ast.MemberExpression, later: readonly AstNode[]): KeyOperand {
  if (!node.computed || node.property.type === "PrivateIdentifier") return keyOf(ctx, node);
  if (node.property.type === "Literal" && typeof node.property.value === "string") return keyOf(ctx, node);
  return { kind: "register", register: operand(ctx, node.property, later) };
}

function globalReference(ctx: FunctionContext, node: ast.Identifier): Reference {
  const b = ctx.builder;
  return {
    direct: undefined,
    read: () => {
      const dst = b.temp();
      b.emit({ op: "loadGlobal", dst, name: node.name, forTypeof: false }, node);
      return dst;
    },
    write: (src) => b.emit({ op: "storeGlobal", name: node.name, src, strict: ctx.strict }, node),
  };
}

function variableReference(
  ctx: FunctionContext,
  variable: Variable,
  at: { readonly node: ast.Identifier; readonly mode: BindMode },
): Reference {
  const first = at.mode === "initialize" && variable.kind !== "var";
  return {
    direct: first ? ctx.initialRegister(variable) : ctx.writeRegister(variable),
    read: () => ctx.read(variable, at.node),
    write: (src) => first ? ctx.initialize(variable, src, at.node) : ctx.write(variable, src, at.node),
  };
}

export function assignmentExpression(
  ctx: FunctionContext,
  node: ast.AssignmentExpression,
  dst?: Register,
): Register {
  if (node.left.type === "ObjectPattern" || node.left.type === "ArrayPattern") {
    let value = ctx.expression(node.right, dst);
    if (!ctx.builder.isTemp(value)) {
      const copy = ctx.builder.temp();
      ctx.move(copy, value, node);
      value = copy;
    }
    bindPattern(ctx, node.left, value, { mode: "assign", named: { object: wordsFor(node.right), list: "" } });
    return value;
  }
  if (node.operator === "=") {
    const target = reference(ctx, node.left, [node.right]);
    const value = ctx.expression(node.right, target.direct ?? dst);
    if (target.direct === undefined) target.write(value);
    return deliver(ctx, value, node, dst);
  }
  if (node.operator === "&&=" || node.operator === "||=" || node.operator === "??=") {
    return logicalAssignment(ctx, node, dst);
  }
  const target = reference(ctx, node.left, [node.right]);
  let left = target.read();
  if (!ctx.builder.isTemp(left) && node.right.type !== "Identifier" && node.right.type !== "Literal") {
    left = operandCopy(ctx, left, node);
  }
  const right = ctx.expression(node.right);
  const result = target.direct ?? dst ?? ctx.builder.temp();
  const operator = COMPOUND[node.operator];
  ctx.builder.emit({ op: "binary", dst: result, operator, left, right }, node);
  if (target.direct === undefined) target.write(result);
  return deliver(ctx, result, node, dst);
}

function operandCopy(ctx: FunctionContext, src: Register, node: ast.Node): Register {
  const copy = ctx.builder.temp();
  ctx.move(copy, src, node);
  return copy;
}

/** The operators of compound assignments. */
const COMPOUND: Readonly<
  Record<Exclude<ast.AssignmentOperator, "=" | "&&=" | "||=" | "??=">, BinaryOperator>
> = {
  "+=": "+",
  "-=": "-",
  "*=": "*",
  "/=": "/",
  "%=": "%",
  "**=": "**",
  "<<=": "<<",
  ">>=": ">>",
  ">>>=": ">>>",
  "&=": "&",
  "|=": "|",
  "^=": "^",
};

function logicalAssignment(ctx: FunctionContext, node: ast.AssignmentExpression, dst?: Register): Register {
  const b = ctx.builder;
  const target = reference(ctx, node.left, [node.right]);
  const r = b.temp();
  const end = b.label();
  ctx.move(r, target.read(), node);
  const condition = node.operator === "&&=" ? "falsy" : node.operator === "||=" ? "truthy" : "notNullish";
  b.emit({ op: "jumpIf", condition, test: r, target: end.id }, node);
  ctx.expression(node.right, r);
  target.write(r);
  b.place(end);
  return deliver(ctx, r, node, dst);
}

/** `x++` and the like. As a statement it is `++x`: the old value is not needed. */
export function updateExpression(
  ctx: FunctionContext,
  node: ast.UpdateExpression,
  dst?: Register,
  resultUnused = false,
): Register {
  const b = ctx.builder;
  const target = reference(ctx, node.argument, []);
  const old = b.temp();
  b.emit({ op: "toNumeric", dst: old, src: target.read() }, node);
  const next = target.direct ?? b.temp();
  b.emit({ op: "increment", dst: next, src: old, by: node.operator === "++" ? 1 : -1 }, node);
  if (target.direct === undefined) target.write(next);
  return deliver(ctx, node.prefix || resultUnused ? next : old, node, dst);
}

/** How a pattern binds values to its targets. */
export interface Binding {
  readonly mode: BindMode;
  /**
   * The engine's names for the value in its messages, as an object and as a list; "" to name it by its type. Absent
   * where messages name only the missing part, as for the parts of a destructured value.
   */
  readonly named?: { readonly object: string; readonly list: string };
}

/** Destructures `value` (or assigns it to a single name) according to the pattern. */
export function bindPattern(
  ctx: FunctionContext,
  pattern: ast.Pattern,
  value: Register,
  binding: Binding,
): void {
  const { mode } = binding;
  switch (pattern.type) {
    case "ObjectPattern":
      return objectPattern(ctx, pattern, value, binding);
    case "ArrayPattern":
      return arrayPattern(ctx, pattern, value, binding);
    case "AssignmentPattern":
      return element(ctx, pattern, mode)((dst) => deliver(ctx, value, pattern, dst));
    case "RestElement":
      return bindPattern(ctx, pattern.argument, value, { mode });
    default:
      return reference(ctx, pattern, [], mode).write(value);
  }
}

/**
 * Evaluates the parts of one element's target. The result takes a producer of the value and stores the value in the
 * target.
 */
function element(
  ctx: FunctionContext,
  pattern: ast.Pattern,
  mode: BindMode,
): (produce: (dst?: Register) => Register) => void {
  const target = pattern.type === "AssignmentPattern" ? pattern.left : pattern;
  const fallback = pattern.type === "AssignmentPattern" ? pattern.right : null;
  const nested = target.type === "ObjectPattern" || target.type === "ArrayPattern";
  const place = nested ? null : reference(ctx, target, fallback ? [fallback] : [], mode);
  return (produce) => {
    let value: Register;
    if (fallback) {
      // The default may read the variable itself, so the value waits in a temporary.
      value = produce(ctx.builder.temp());
      const skip = ctx.builder.label();
      ctx.builder.emit({ op: "jumpIf", condition: "notUndefined", test: value, target: skip.id }, pattern);
      ctx.expression(fallback, value);
      ctx.builder.place(skip);
    } else value = produce(place?.direct);
    if (place === null) bindPattern(ctx, target, value, { mode });
    else if (place.direct !== value) place.write(value);
  };
}

function objectPattern(
  ctx: FunctionContext,
  pattern: ast.ObjectPattern,
  value: Register,
  { mode, named }: Binding,
): void {
  const b = ctx.builder;
  const first = pattern.properties[0];
  if (!first || first.type === "RestElement" || first.computed) {
    b.emit({ op: "checkObjectCoercible", src: value, words: named?.object ?? "" }, pattern);
  }
  const keys: KeyOperand[] = [];
  for (const p of pattern.properties) {
    if (p.type === "RestElement") {
      element(ctx, p.argument, mode)((dst) => {
        const rest = dst ?? b.temp();
        b.emit({ op: "objectRest", dst: rest, source: value, excluded: keys }, p);
        return rest;
      });
      continue;
    }
    const key = literalKey(ctx, p, [p.value]);
    keys.push(key);
    element(ctx, p.value, mode)((dst) => {
      const read = dst ?? b.temp();
      const takenApart = p === first && !p.computed ? named?.object : undefined;
      const apart = takenApart === undefined ? {} : { takenApart };
      b.emit({ op: "getProp", dst: read, object: value, key, ...apart }, p);
      return read;
    });
  }
}

function arrayPattern(
  ctx: FunctionContext,
  pattern: ast.ArrayPattern,
  value: Register,
  { mode, named }: Binding,
): void {
  const b = ctx.builder;
  const iterator = b.temp();
  const next = b.temp();
  const done = b.temp();
  const text = named?.list ?? "";
  b.emit({ op: "getIterator", iterator, next, source: value, async: false, text }, pattern);
  ctx.constant(false, pattern, done);
  const steps = (): void => {
    for (const p of pattern.elements) {
      if (p === null) {
        b.emit({ op: "iteratorNext", done, value: b.temp(), iterator, next, elided: true }, pattern);
      } else if (p.type === "RestElement") {
        element(ctx, p.argument, mode)((dst) => {
          const rest = dst ?? b.temp();
          b.emit({ op: "iteratorRest", done, dst: rest, iterator, next }, p);
          return rest;
        });
      } else {
        element(ctx, p, mode)((dst) => {
          const read = dst ?? b.temp();
          b.emit({ op: "iteratorNext", done, value: read, iterator, next }, p);
          return read;
        });
      }
    }
  };
  const close = (quiet: boolean): void => {
    const skip = b.label();
    b.emit({ op: "jumpIf", condition: "truthy", test: done, target: skip.id }, pattern);
    b.emit({ op: "iteratorClose", iterator, quiet }, pattern);
    b.place(skip);
  };
  // If all targets are plain local names, only steps can throw, and a step that throws leaves `done` true.
  if (pattern.elements.every((p) => p === null || isLocalName(ctx, p, mode))) {
    steps();
    return close(false);
  }
  const error = b.temp();
  const region = b.region;
  const handler = b.guarded(
    error,
    () => ctx.inside({ kind: "iterator", iterator, done, async: false, region }, steps),
  );
  close(false);
  const end = b.label();
  b.jump(end, pattern);
  b.place(handler, true);
  close(true);
  b.emit({ op: "throw", src: error }, pattern);
  b.place(end);
}

function isLocalName(ctx: FunctionContext, pattern: ast.Pattern, mode: BindMode): boolean {
  const target = pattern.type === "RestElement" ? pattern.argument : pattern;
  if (target.type !== "Identifier") return false;
  const variable = ctx.variableOf(target);
  return variable !== null && variable.unit === ctx.unit &&
    (mode === "initialize" || (!variable.usedEarly && variable.assignment === "plain"));
}
