/**
 * Compiles `using` and `await using` declarations: the rest of the block runs inside a finally that disposes.
 *
 * Invariant: an error of a dispose method is combined with a pending error in a SuppressedError.
 */
import type * as ast from "acorn";
import type { Register } from "./instruction.ts";
import type { FunctionContext } from "./context.ts";

/**
 * Registers that the resources of a scope share: whether a wait is owed for one without a value, and
 * whether there has been any, which settles that.
 */
export interface Waits {
  readonly owed: Register;
  readonly had: Register;
}

/** Resources that have been declared before in the scope. */
export interface Scope {
  /** Null if waits for one resource are independent of others. */
  readonly waits: Waits | null;
  /** Whether there are none, so that this resource is the last that is disposed of. */
  readonly isFirst: boolean;
}

/** A scope of one resource. */
const ALONE: Scope = { waits: null, isFirst: true };

/** Returns the scope that begins with the first of these statements, which declares resources. */
export function scopeOfResources(ctx: FunctionContext, body: readonly ast.AnyNode[]): Scope {
  const found = body.flatMap((s) =>
    s.type === "VariableDeclaration" && (s.kind === "using" || s.kind === "await using")
      ? s.declarations.map(() => s)
      : []
  );
  const [first] = found;
  if (!first || found.length === 1 || found.every(({ kind }) => kind === "using")) return ALONE;
  const register = () => ctx.constant(false, first, ctx.builder.temp());
  return { waits: { owed: register(), had: register() }, isFirst: true };
}

/** Declares the resources of `node`, runs `rest`, and disposes them in reverse order. */
export function withDisposal(
  ctx: FunctionContext,
  node: ast.VariableDeclaration,
  { rest, scope }: { readonly rest: () => void; readonly scope: Scope },
): void {
  const declareFrom = (index: number): void => {
    const d = node.declarations[index];
    if (!d) return rest();
    if (!d.init) return ctx.unsupported("using declaration without a value", d);
    const { waits } = scope, isFirst = scope.isFirst && index === 0;
    const used = { node, id: d.id, value: ctx.expression(d.init), scope: { waits, isFirst } };
    resource(ctx, used, () => declareFrom(index + 1));
  };
  declareFrom(0);
}

/** Waits if a wait is owed and there has been none. */
function settleOwed(ctx: FunctionContext, { owed, had }: Waits, node: ast.Node): void {
  const b = ctx.builder, skip = b.label();
  b.emit({ op: "jumpIf", condition: "falsy", test: owed, target: skip.id }, node);
  b.emit({ op: "jumpIf", condition: "truthy", test: had, target: skip.id }, node);
  b.emit({ op: "await", dst: b.temp(), src: ctx.constant(undefined, node) }, node);
  ctx.constant(false, node, owed);
  b.place(skip);
}

/** One resource, whose value has been evaluated. */
export function resource(
  ctx: FunctionContext,
  used: {
    readonly node: ast.VariableDeclaration;
    readonly id: ast.Pattern;
    readonly value: Register;
    readonly scope?: Scope;
  },
  body: () => void,
): void {
  const { node, id, scope: { waits, isFirst } = ALONE } = used;
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
  if (waits && !async) settleOwed(ctx, waits, node);
  const failure = b.temp();
  const disposed = b.label();
  const failed = b.guarded(failure, () => {
    const skip = b.label();
    const result = b.temp();
    ctx.constant(undefined, node, result);
    b.emit({ op: "jumpIf", condition: "undefined", test: dispose, target: skip.id }, node);
    b.emit({ op: "call", dst: result, callee: dispose, self: value, args: [], text: "dispose" }, node);
    if (waits && async) ctx.constant(true, node, waits.had);
    else b.place(skip);
    if (async) b.emit({ op: "await", dst: b.temp(), src: result }, node);
    if (!waits || !async) return;
    const done = b.label();
    b.jump(done, node);
    b.place(skip);
    ctx.constant(true, node, waits.owed);
    b.place(done);
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
  if (waits && isFirst) settleOwed(ctx, waits, node);
  ctx.resumeLeave(context, node);
}
