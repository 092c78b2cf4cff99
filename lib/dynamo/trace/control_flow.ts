/**
 * Traces branches and loops that depend on tensors, as nodes of the graph: `cond`, `whileLoop`, `scanRows`. Invariant:
 * a node represents all paths of its functions; if their results do not match, plain JavaScript makes the call.
 */
import { sameList } from "../../base/lists.ts";
import { HIGHER_ORDER } from "../../graph/higher_order.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import type { Argument } from "../../graph/node.ts";
import { isEqual } from "../../sym/decide.ts";
import { type Dim, mul } from "../../sym/expr.ts";
import { breakGraph } from "../break_reasons.ts";
import { isUndefined, type TensorValue, UNDEFINED, type Value } from "../variables/value.ts";
import { graphNumber } from "./graph_numbers.ts";
import { type CallRequest, type CallResult, type Interpreter, PUSHED } from "./interpreter.ts";
import { allElements, newArray } from "./contents.ts";
import {
  appendRegionCall,
  argumentLike,
  type Arranged,
  attributeFor,
  putTogether,
  sameArrangement,
  takeApart,
  traceRegion,
} from "./regions.ts";

/** `cond(pred, trueFn, falseFn, operands)`. */
export function traceCond(m: Interpreter, request: CallRequest): CallResult {
  const [pred = UNDEFINED, trueFn = UNDEFINED, falseFn = UNDEFINED, operands] = request.args;
  const condition = conditionOf(m, pred);
  const args = operands && !isUndefined(operands) ? listOf(m, operands) : [];
  traceRegion(
    m,
    { callee: trueFn, args, fresh: [] },
    (whenTrue) =>
      traceRegion(m, { callee: falseFn, args, fresh: [] }, (whenFalse) => {
        const results = common(m, whenTrue.results, whenFalse.results);
        const made = appendRegionCall(m, HIGHER_ORDER.cond, {
          args: [
            condition,
            attributeFor(m, whenTrue),
            whenTrue.inputs,
            attributeFor(m, whenFalse),
            whenFalse.inputs,
          ],
          results,
          name: "cond",
        });
        m.complete(request.completion, putTogether(m, { ...whenTrue.results, tensors: made }));
      }),
  );
  return PUSHED;
}

/** `whileLoop(condFn, bodyFn, carried)`. */
export function traceWhile(m: Interpreter, request: CallRequest): CallResult {
  const [condFn = UNDEFINED, bodyFn = UNDEFINED, carried = UNDEFINED] = request.args;
  const start = tensorsOf(listOf(m, carried));
  carryAround(m, start, (requires, again) => {
    const tested = start.map(({ meta }, at) => argumentLike(m, meta, requires[at] ?? false));
    traceRegion(m, { callee: condFn, args: tested, fresh: tested, condition: true }, (test) => {
      if (test.results.tensors.length > 1) breakGraph("region", "a condition of several tensors");
      const stepped = start.map(({ meta }, at) => argumentLike(m, meta, requires[at] ?? false));
      traceRegion(m, { callee: bodyFn, args: stepped, fresh: stepped }, (step) => {
        const { tensors, arrangement } = step.results;
        if (arrangement.kind !== "array" || tensors.length !== start.length) {
          return breakGraph("region", "a body that returns another number of tensors");
        }
        keepsForm(start, tensors);
        if (again(tensors)) return;
        const made = appendRegionCall(m, HIGHER_ORDER.whileLoop, {
          args: [
            attributeFor(m, test),
            test.inputs,
            attributeFor(m, step),
            step.inputs,
            start.map((each) => m.output.nodeOf(each)),
          ],
          results: start.map(({ meta }, at) => ({ meta, requiresGrad: requires[at] ?? false })),
          name: "while_loop",
        });
        m.complete(request.completion, newArray(m, made));
      });
    });
  });
  return PUSHED;
}

/** `scanRows(combineFn, init, xs)`. */
export function traceScan(m: Interpreter, request: CallRequest): CallResult {
  const [combineFn = UNDEFINED, init = UNDEFINED, xs = UNDEFINED] = request.args;
  const start = takeApart(m, init, "a carried value"),
    over = takeApart(m, xs, "an argument that is looped over");
  const count = rowsOf(over.tensors);
  carryAround(m, start.tensors, (requires, again) => {
    const carry = start.tensors.map(({ meta }, at) => argumentLike(m, meta, requires[at] ?? false));
    const rows = over.tensors.map(({ meta, requiresGrad }) =>
      argumentLike(m, { ...meta, shape: meta.shape.slice(1) }, requiresGrad && m.gradEnabled)
    );
    const args = [
      putTogether(m, { ...start, tensors: carry }),
      putTogether(m, { ...over, tensors: rows }),
    ];
    traceRegion(m, { callee: combineFn, args, fresh: [...carry, ...rows] }, (step) => {
      const { tensors, arrangement } = step.results;
      const [next, ys] = arrangement.kind === "array" && arrangement.items.length === 2
        ? arrangement.items
        : [];
      if (!next || !ys || !sameArrangement(next, start.arrangement)) {
        return breakGraph("region", "a function that does not return a carry and a result");
      }
      const kept = tensors.slice(0, carry.length), columns = tensors.slice(carry.length);
      keepsForm(start.tensors, kept);
      if (again(kept)) return;
      const made = appendRegionCall(m, HIGHER_ORDER.scan, {
        args: [attributeFor(m, step), step.inputs, nodesOf(m, start), nodesOf(m, over)],
        results: [
          ...start.tensors.map(({ meta }, at) => ({ meta, requiresGrad: requires[at] ?? false })),
          ...columns.map(({ meta, requiresGrad }) => ({
            meta: { ...meta, shape: [count, ...meta.shape] },
            requiresGrad,
          })),
        ],
        name: "scan",
      });
      m.complete(
        request.completion,
        newArray(m, [
          putTogether(m, { ...start, tensors: made.slice(0, carry.length) }),
          putTogether(m, { arrangement: ys, tensors: made.slice(carry.length) }),
        ]),
      );
    });
  });
  return PUSHED;
}

/**
 * Traces a loop: first with carried tensors requiring a gradient as at its start, and again if the body makes more of
 * them require one. `again` shows whether it has been restarted.
 */
function carryAround(
  m: Interpreter,
  start: readonly TensorValue[],
  trace: (requires: readonly boolean[], again: (next: readonly TensorValue[]) => boolean) => void,
): void {
  const round = (requires: readonly boolean[]): void =>
    trace(requires, (next) => {
      const now = requires.map((each, at) => each || (next[at]?.requiresGrad ?? false));
      if (sameList(now, requires)) return false;
      round(now);
      return true;
    });
  round(start.map(({ requiresGrad }) => requiresGrad && m.gradEnabled));
}

/**
 * Returns the properties common to two branches' results; a size that differs becomes known once one of them has run.
 */
function common(
  m: Interpreter,
  a: Arranged,
  b: Arranged,
): readonly { readonly meta: TensorMeta; readonly requiresGrad: boolean }[] {
  if (!sameArrangement(a.arrangement, b.arrangement)) {
    breakGraph("region", "branches that return different structures");
  }
  return a.tensors.map(({ meta, requiresGrad }, at) => {
    const other = b.tensors[at];
    const fits = other && other.meta.dtype === meta.dtype && other.meta.device === meta.device &&
      other.meta.shape.length === meta.shape.length && other.requiresGrad === requiresGrad;
    if (!fits) {
      return breakGraph("region", "branches that return tensors of different types, ranks or histories");
    }
    const shape = meta.shape.map((size, d): Dim =>
      size === other.meta.shape[d] && typeof size === "number"
        ? size
        : m.output.sizes.known("eq", [size, other.meta.shape[d] ?? 0]) === true && isFromOutside(m, size)
        ? size
        : m.output.sizes.createUnbacked([0, Infinity])
    );
    return { meta: { ...meta, shape }, requiresGrad };
  });
}

/** Returns whether a size is known before the branches run. */
function isFromOutside(m: Interpreter, size: Dim): boolean {
  const given = new Set(
    m.output.inputs.flatMap(({ node: { meta: { value } } }) =>
      value.kind === "tensor" ? [...m.output.symbolsIn(value.tensor.shape)] : []
    ),
  );
  return [...m.output.symbolsIn([size])].every((symbol) => given.has(symbol));
}

function keepsForm(before: readonly TensorValue[], after: readonly TensorValue[]): void {
  const keeps = before.every(({ meta }, at) => {
    const next = after[at]?.meta;
    return next !== undefined && next.dtype === meta.dtype && next.device === meta.device &&
      next.shape.length === meta.shape.length && next.shape.every((size, d) =>
        isEqual(size, meta.shape[d] ?? 0)
      );
  });
  if (!keeps) breakGraph("region", "a carried tensor whose type or sizes change");
}

/** The number of rows of all tensors. */
function rowsOf(tensors: readonly TensorValue[]): Dim {
  const counts = tensors.map(({ meta: { shape: [count] } }) =>
    count ?? breakGraph("throws", "a tensor without rows")
  );
  const [first] = counts;
  if (first === undefined || isEqual(first, 0)) return breakGraph("throws", "a loop over no rows");
  if (!counts.every((count) => isEqual(count, first))) {
    return breakGraph("throws", "a loop over different rows");
  }
  return mul(first, 1);
}

function conditionOf(m: Interpreter, pred: Value): Argument {
  if (pred.kind === "tensor") {
    const isOne = pred.meta.shape.every((size) => size === 1);
    return isOne ? m.output.nodeOf(pred) : breakGraph("region", "a condition of several elements");
  }
  if (pred.kind === "constant" && typeof pred.value === "boolean") return pred.value;
  if (pred.kind === "item" && pred.type === "boolean") {
    const node = pred.tensor ? m.output.nodeOf(pred.tensor) : graphNumber(m.output, pred)?.node;
    if (node) return node;
  }
  return breakGraph("region", "a condition that is not a boolean");
}

function nodesOf(m: Interpreter, { tensors }: Arranged): Argument {
  return tensors.map((tensor) => m.output.nodeOf(tensor));
}

function listOf(m: Interpreter, value: Value): readonly Value[] {
  if (value.kind === "object" && value.exotic.kind === "array") return allElements(m, value);
  return breakGraph("region", "operands that are not an array");
}

function tensorsOf(values: readonly Value[]): readonly TensorValue[] {
  return values.map((value) => value.kind === "tensor" ? value : breakGraph("region", "a carried value"));
}
