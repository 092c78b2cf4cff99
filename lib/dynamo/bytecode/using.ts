/**
 * Compiles `using` and `await using` declarations: the rest of the block runs inside a finally that disposes.
 *
 * Invariant: an error of a dispose method is combined with a pending error in a SuppressedError.
 */
import type * as ast from "acorn";
import type { Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";

/** Declares the resources of `node`, runs `rest`, and disposes them in reverse order. */
export function withDisposal(ctx: FunctionContext, node: ast.VariableDeclaration, rest: () => void): void {
  declareFrom(ctx, node, 0, rest);
}

function declareFrom(
  ctx: FunctionContext,
  node: ast.VariableDeclaration,
  index: number,
  rest: () => void,
): void {
  const d = node.declarations[index];
  if (!d) return rest();
  if (!d.init) return ctx.unsupported("using declaration without a value", d);
  resource(
    ctx,
    { node, id: d.id, value: ctx.expression(d.init) },
    () => declareFrom(ctx, node, index + 1, rest),
  );
}

/** One resource, whose value has been evaluated. */
export function resource(
  ctx: FunctionContext,
  used: { readonly node: ast.VariableDeclaration; readonly id: ast.Pattern; readonly value: Register },
  body: () => void,
): void {
  const { node, id } = used;
  const b = ctx.builder;
  const async = node.kind === "await using";
  const variable = id.type === "Identifier" ? ctx.variableOf(id) : null;
  if (!variable) return ctx.unsupported("using declaration of a pattern", id);
  const value = b.temp();
  ctx.move(value, used.value, node);
  const dispose = b.temp();
  b.emit({ op: "getDisposer", dst: dispose, src: value, async }, node);
  ctx.initialize(variable, value, node);
  const context = ctx.enterFinally(node, body);
  const failure = b.temp();
  const disposed = b.label();
  const failed = b.guarded(failure, () => {
    const skip = b.label();
    const result = b.temp();
    ctx.constant(undefined, node, result);
    b.emit({ op: "jumpIf", condition: "undefined", test: dispose, target: skip.id }, node);
    b.emit({ op: "call", dst: result, callee: dispose, self: value, args: [], text: "dispose" }, node);
    b.place(skip);
    if (async) b.emit({ op: "await", dst: b.temp(), src: result }, node);
  });
  b.jump(disposed, node);
  b.place(failed, true);
  const wasThrow = b.temp();
  const fresh = b.label();
  const joined = b.label();
  b.emit(
    { op: "binary", dst: wasThrow, operator: "===", left: context.which, right: ctx.constant(1, node) },
    node,
  );
  b.emit({ op: "jumpIf", condition: "falsy", test: wasThrow, target: fresh.id }, node);
  b.emit({ op: "suppressedError", dst: context.value, error: failure, suppressed: context.value }, node);
  b.jump(joined, node);
  b.place(fresh);
  ctx.move(context.value, failure, node);
  b.place(joined);
  ctx.constant(1, node, context.which);
  b.place(disposed);
  ctx.resumeLeave(context, node);
}
