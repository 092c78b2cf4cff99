/**
 * Compiles loops.
 *
 * Invariant: closures created in one iteration share that iteration's variables and no others.
 */
import { iterableWords } from "./engine_words.ts";
import type * as ast from "acorn";
import type { Register } from "./instruction.ts";
import type { Label } from "./builder.ts";
import { FunctionContext } from "./context.ts";
import { bindPattern, updateExpression } from "./assignment.ts";
import { jumpUnless } from "./expressions.ts";
import { resource, scopeOfResources, withDisposal } from "./using.ts";

/** Runs `body` with this loop as the target of `break` and `continue`. */
function loopBody(
  ctx: FunctionContext,
  labels: readonly string[],
  targets: { readonly exit: Label; readonly next: Label },
  body: () => void,
): void {
  ctx.inside({ kind: "break", labels, plain: true, target: targets.exit }, () => {
    ctx.inside({ kind: "continue", labels, target: targets.next }, body);
  });
}

export function whileStatement(
  ctx: FunctionContext,
  node: ast.WhileStatement | ast.DoWhileStatement,
  labels: readonly string[],
): void {
  const b = ctx.builder;
  const top = b.label();
  const next = b.label();
  const exit = b.label();
  b.place(top);
  if (node.type === "WhileStatement") {
    b.place(next);
    jumpUnless(ctx, node.test, exit);
  }
  loopBody(ctx, labels, { exit, next }, () => ctx.statement(node.body));
  if (node.type === "WhileStatement") b.jump(next, node);
  else {
    b.place(next);
    jumpUnless(ctx, node.test, exit);
    b.jump(top, node);
  }
  b.place(exit);
}

export function forStatement(ctx: FunctionContext, node: ast.ForStatement, labels: readonly string[]): void {
  const b = ctx.builder;
  const scope = [...(ctx.analysis.scopes.get(node)?.variables.values() ?? [])];
  const init = node.init;
  const loop = (): void => {
    // Each iteration has its own copy of the variables that closures share.
    const shared = scope.filter((v) => v.kind === "let" && FunctionContext.needsCell(v));
    const freshCells = (): void => {
      for (const v of shared) {
        const cell = ctx.place(v);
        if (cell.kind !== "cell") continue;
        const held = b.temp();
        b.emit({ op: "loadCell", dst: held, cell: cell.register }, node);
        b.emit({ op: "newCell", dst: cell.register, src: held, name: v.name }, node);
      }
    };
    freshCells();
    const top = b.label();
    const next = b.label();
    const exit = b.label();
    b.place(top);
    if (node.test) jumpUnless(ctx, node.test, exit);
    loopBody(ctx, labels, { exit, next }, () => ctx.statement(node.body));
    b.place(next);
    freshCells();
    const update = node.update;
    if (update?.type === "UpdateExpression") updateExpression(ctx, update, undefined, true);
    else if (update) ctx.expression(update);
    b.jump(top, node);
    b.place(exit);
  };
  for (const v of scope) if (v.kind !== "var") ctx.enter(v, node);
  if (init?.type === "VariableDeclaration") {
    if (init.kind === "using" || init.kind === "await using") {
      return withDisposal(ctx, init, { rest: loop, scope: scopeOfResources(ctx, [init]) });
    }
    ctx.statement(init);
  } else if (init?.type === "UpdateExpression") updateExpression(ctx, init, undefined, true);
  else if (init) ctx.expression(init);
  loop();
}

/** The engine's name for the item of a loop that declares its own variable. */
const ITEM = { object: ".for", list: ".for" };

/** Binds the loop variable of for-in and for-of and runs the body. */
function iteration(
  ctx: FunctionContext,
  node: ast.ForInStatement | ast.ForOfStatement,
  value: Register,
): void {
  const left = node.left;
  for (const v of ctx.analysis.scopes.get(node)?.variables.values() ?? []) ctx.enter(v, node.left);
  if (left.type !== "VariableDeclaration") {
    bindPattern(ctx, left, value, { mode: "assign", named: ITEM });
    return ctx.statement(node.body);
  }
  const id = left.declarations[0]?.id;
  if (!id) return ctx.unsupported("loop without a variable", node);
  if (left.kind === "using" || left.kind === "await using") {
    return resource(ctx, { node: left, id, value }, () => ctx.statement(node.body));
  }
  bindPattern(ctx, id, value, { mode: "initialize", named: ITEM });
  ctx.statement(node.body);
}

/** The iterated value; the loop's variables exist but are uninitialised while it is evaluated. */
function subject(ctx: FunctionContext, node: ast.ForInStatement | ast.ForOfStatement): Register {
  for (const v of ctx.analysis.scopes.get(node)?.variables.values() ?? []) ctx.enter(v, node.left);
  return ctx.expression(node.right);
}

export function forInStatement(
  ctx: FunctionContext,
  node: ast.ForInStatement,
  labels: readonly string[],
): void {
  const b = ctx.builder;
  if (node.left.type === "VariableDeclaration" && node.left.declarations[0]?.init) {
    return ctx.unsupported("for-in with an initialiser", node);
  }
  const enumerator = b.temp();
  b.emit({ op: "forIn", dst: enumerator, object: subject(ctx, node) }, node.right);
  const next = b.label();
  const exit = b.label();
  b.place(next);
  const done = b.temp();
  const key = b.temp();
  b.emit({ op: "forInNext", done, key, enumerator }, node);
  b.emit({ op: "jumpIf", condition: "truthy", test: done, target: exit.id }, node);
  loopBody(ctx, labels, { exit, next }, () => iteration(ctx, node, key));
  b.jump(next, node);
  b.place(exit);
}

export function forOfStatement(
  ctx: FunctionContext,
  node: ast.ForOfStatement,
  labels: readonly string[],
): void {
  const b = ctx.builder;
  const async = node.await;
  const iterator = b.temp();
  const step = b.temp();
  const source = subject(ctx, node);
  const text = iterableWords(node.right);
  b.emit({ op: "getIterator", iterator, next: step, source, async, text }, node.right);
  const next = b.label();
  const exit = b.label();
  const done = b.temp();
  const value = b.temp();
  ctx.constant(false, node, done);
  b.place(next);
  if (async) {
    const result = b.temp();
    const settled = b.temp();
    b.emit(
      { op: "call", dst: result, callee: step, self: iterator, args: [], text: "iterator.next" },
      node.right,
    );
    b.emit({ op: "await", dst: settled, src: result }, node.right);
    b.emit({ op: "iteratorResult", done, value, result: settled }, node.right);
  } else b.emit({ op: "iteratorNext", done, value, iterator, next: step }, node.right);
  b.emit({ op: "jumpIf", condition: "truthy", test: done, target: exit.id }, node);
  const error = b.temp();
  const region = b.region;
  const handler = b.guarded(error, () => {
    // Leaving the loop closes the iterator; continuing with the next iteration does not.
    ctx.inside({ kind: "break", labels, plain: true, target: exit }, () => {
      ctx.inside({ kind: "iterator", iterator, done: null, async, region }, () => {
        ctx.inside({ kind: "continue", labels, target: next }, () => iteration(ctx, node, value));
      });
    });
  });
  b.jump(next, node);
  b.place(handler, true);
  if (async) {
    const quiet = b.temp();
    const rethrow = b.guarded(quiet, () => ctx.closeAsync(iterator, false, node));
    b.place(rethrow, true);
  } else b.emit({ op: "iteratorClose", iterator, quiet: true }, node);
  b.emit({ op: "throw", src: error }, node);
  b.place(exit);
}
