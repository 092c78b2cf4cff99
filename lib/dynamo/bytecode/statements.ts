/**
 * Compiles statements other than loops.
 *
 * Invariant: entering a statement list first creates its variables and hoisted functions.
 */
import { isNamedList, iterableWords, wordsFor } from "./engine_words.ts";
import type * as ast from "acorn";
import type { Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";
import { bindPattern, updateExpression } from "./assignment.ts";
import { classExpression } from "./classes.ts";
import { jumpUnless } from "./expressions.ts";
import { closureOf } from "./literals.ts";
import { forInStatement, forOfStatement, forStatement, whileStatement } from "./loops.ts";
import { type Scope, scopeOfResources, withDisposal } from "./using.ts";
import type { AstNode } from "./syntax.ts";

export function statement(ctx: FunctionContext, node: ast.Statement, labels: readonly string[]): void {
  const b = ctx.builder;
  switch (node.type) {
    case "EmptyStatement":
      return;
    case "FunctionDeclaration":
      return copyBlockFunction(ctx, node);
    case "ExpressionStatement":
      return effect(ctx, node.expression);
    case "BlockStatement":
      return statementList(ctx, node, node.body);
    case "DebuggerStatement":
      return b.emit({ op: "debugger" }, node);
    case "WithStatement":
      return ctx.unsupported("with statement", node);
    case "ReturnStatement": {
      let value = node.argument ? ctx.expression(node.argument) : ctx.constant(undefined, node);
      if (node.argument && ctx.flags.async && ctx.flags.generator) {
        const settled = b.temp();
        b.emit({ op: "await", dst: settled, src: value, returns: true }, node);
        value = settled;
      }
      return ctx.leaveByReturn(value, node);
    }
    case "LabeledStatement":
      return labeled(ctx, node, labels);
    case "BreakStatement":
      return ctx.leaveTo("break", node.label?.name ?? null, node);
    case "ContinueStatement":
      return ctx.leaveTo("continue", node.label?.name ?? null, node);
    case "IfStatement": {
      const otherwise = b.label();
      jumpUnless(ctx, node.test, otherwise);
      ctx.statement(node.consequent);
      if (!node.alternate) return b.place(otherwise);
      const end = b.label();
      b.jump(end, node);
      b.place(otherwise);
      ctx.statement(node.alternate);
      return b.place(end);
    }
    case "SwitchStatement":
      return switchStatement(ctx, node);
    case "ThrowStatement":
      return b.emit({ op: "throw", src: ctx.expression(node.argument) }, node);
    case "TryStatement":
      return tryStatement(ctx, node);
    case "WhileStatement":
    case "DoWhileStatement":
      return whileStatement(ctx, node, labels);
    case "ForStatement":
      return forStatement(ctx, node, labels);
    case "ForInStatement":
      return forInStatement(ctx, node, labels);
    case "ForOfStatement":
      return forOfStatement(ctx, node, labels);
    case "VariableDeclaration":
      return declaration(ctx, node);
    case "ClassDeclaration": {
      const variable = node.id ? ctx.variableOf(node.id) : null;
      if (!variable) return ctx.unsupported("class without a variable", node);
      return ctx.initialize(variable, classExpression(ctx, node, ctx.initialRegister(variable)), node);
    }
    default:
      node satisfies never;
  }
}

/** An expression whose value is not needed. */
export function effect(ctx: FunctionContext, node: ast.Expression): void {
  if (node.type === "UpdateExpression") updateExpression(ctx, node, undefined, true);
  else ctx.expression(node);
}

/** The statements of a block, body, or switch case, with the scope of `owner`. */
export function statementList(ctx: FunctionContext, owner: AstNode, body: readonly ast.Statement[]): void {
  enterScope(ctx, owner, body);
  sequence(ctx, body);
}

/** Creates the variables and hoisted functions of a scope. */
function enterScope(ctx: FunctionContext, owner: AstNode, body: readonly ast.Statement[]): void {
  for (const variable of ctx.analysis.scopes.get(owner)?.variables.values() ?? []) {
    if (variable.kind !== "var" && variable.kind !== "parameter" && variable.unit === ctx.unit) {
      ctx.enter(variable, { start: owner.start, end: owner.start });
    }
  }
  for (const outer of body) {
    let s: ast.Statement = outer;
    while (s.type === "LabeledStatement") s = s.body;
    if (s.type !== "FunctionDeclaration") continue;
    const variable = ctx.variableOf(s.id);
    if (variable) ctx.initialize(variable, closureOf(ctx, s, { dst: ctx.initialRegister(variable) }), s);
  }
}

function sequence(ctx: FunctionContext, body: readonly ast.Statement[], within: Scope | null = null): void {
  for (const [i, s] of body.entries()) {
    if (s.type === "VariableDeclaration" && (s.kind === "using" || s.kind === "await using")) {
      const scope = within ?? scopeOfResources(ctx, body);
      const rest = () => sequence(ctx, body.slice(i + 1), { ...scope, isFirst: false });
      return withDisposal(ctx, s, { rest, scope });
    }
    ctx.statement(s);
  }
}

/**
 * In sloppy code a function declared in a block is copied to the function-level variable when control reaches its
 * declaration.
 */
function copyBlockFunction(ctx: FunctionContext, node: ast.FunctionDeclaration): void {
  const outer = ctx.analysis.blockFunctions.get(node);
  const inner = ctx.variableOf(node.id);
  if (outer && inner) ctx.write(outer, ctx.read(inner, node), node);
}

function declaration(ctx: FunctionContext, node: ast.VariableDeclaration): void {
  if (node.kind === "using" || node.kind === "await using") {
    return ctx.unsupported("using declaration here", node);
  }
  for (const d of node.declarations) {
    if (d.id.type === "Identifier") {
      const variable = ctx.variableOf(d.id);
      if (!variable) return ctx.unsupported("declaration at the top of a script", d);
      if (node.kind === "var") {
        if (!d.init) continue;
        const direct = ctx.writeRegister(variable);
        const value = ctx.expression(d.init, direct);
        if (direct === undefined) ctx.write(variable, value, d);
        continue;
      }
      const direct = ctx.initialRegister(variable);
      const value = d.init ? ctx.expression(d.init, direct) : ctx.constant(undefined, d, direct);
      if (value !== direct) ctx.initialize(variable, value, d);
    } else if (d.init) {
      const named = { object: wordsFor(d.init), list: isNamedList(d.init) ? iterableWords(d.init) : "" };
      bindPattern(ctx, d.id, settled(ctx, ctx.expression(d.init), d), { mode: "initialize", named });
    }
  }
}

/** The value in a register that is not a variable's own. */
function settled(ctx: FunctionContext, register: Register, node: ast.Node): Register {
  if (ctx.builder.isTemp(register)) return register;
  const copy = ctx.builder.temp();
  ctx.move(copy, register, node);
  return copy;
}

function labeled(ctx: FunctionContext, node: ast.LabeledStatement, labels: readonly string[]): void {
  const all = [...labels, node.label.name];
  switch (node.body.type) {
    case "LabeledStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
      return ctx.statement(node.body, all);
    default: {
      const target = ctx.builder.label();
      ctx.inside({ kind: "break", labels: all, plain: false, target }, () => ctx.statement(node.body));
      ctx.builder.place(target);
    }
  }
}

function switchStatement(ctx: FunctionContext, node: ast.SwitchStatement): void {
  const b = ctx.builder;
  const value = settled(ctx, ctx.expression(node.discriminant), node);
  const end = b.label();
  const targets = node.cases.map(() => b.label());
  enterScope(ctx, node, node.cases.flatMap((c) => c.consequent));
  node.cases.forEach((c, i) => {
    const target = targets[i];
    if (!c.test || !target) return;
    const wanted = ctx.expression(c.test);
    const test = b.temp();
    b.emit({ op: "binary", dst: test, operator: "===", left: value, right: wanted }, c);
    b.emit({ op: "jumpIf", condition: "truthy", test, target: target.id }, c);
  });
  b.jump(targets[node.cases.findIndex((c) => !c.test)] ?? end, node);
  ctx.inside({ kind: "break", labels: [], plain: true, target: end }, () => {
    node.cases.forEach((c, i) => {
      const target = targets[i];
      if (target) b.place(target);
      for (const s of c.consequent) ctx.statement(s);
    });
  });
  b.place(end);
}

function tryStatement(ctx: FunctionContext, node: ast.TryStatement): void {
  if (!node.finalizer) return tryCatch(ctx, node);
  const { finalizer } = node;
  const context = ctx.enterFinally(finalizer, () => {
    if (node.handler) tryCatch(ctx, node);
    else ctx.statement(node.block);
  });
  ctx.statement(finalizer);
  ctx.resumeLeave(context, finalizer);
}

/** The engine's name for a caught value. */
const CAUGHT = { object: ".catch", list: "" };

function tryCatch(ctx: FunctionContext, node: ast.TryStatement): void {
  const handler = node.handler;
  if (!handler) return ctx.unsupported("try without catch", node);
  const b = ctx.builder;
  const error = b.temp();
  const caught = b.guarded(error, () => ctx.statement(node.block));
  const end = b.label();
  b.jump(end, node);
  b.place(caught, true);
  enterScope(ctx, handler, []);
  if (handler.param) bindPattern(ctx, handler.param, error, { mode: "initialize", named: CAUGHT });
  ctx.statement(handler.body);
  b.place(end);
}
