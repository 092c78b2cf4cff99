/**
 * Higher-order functions over tensors: branches and loops that tensors decide, like `torch.cond` and
 * `torch._higher_order_ops`. In compiled code each is one node with subgraphs, however often it runs. Tensors may be
 * nested in arrays and objects. Invariant: results are row-major and share memory with nothing; gradients flow
 * through the branches and iterations that ran.
 */
import { checkFunction, checkKind, optionsOf, refuseSurplus, refuseValue } from "../base/checked_input.ts";
import { DynError, invariant } from "../base/errors.ts";
import { flatten, flattenLike, isPlainObject, type TreeSpec, unflatten } from "../base/tree.ts";
import { runCond, runScan, runWhile } from "../graph/higher_order.ts";
import { ops } from "./eager.ts";
import { eagerRegions } from "./regions.ts";
import { isTensor, type Tensor } from "./tensor.ts";

/** A tensor, or tensors in arrays and objects. */
export type Tensors = Tensor | readonly Tensors[] | { readonly [name: string]: Tensors };

/**
 * `trueFn` of the operands where `pred` (a boolean or a tensor of one element) is true, else `falseFn`. Both must
 * return tensors in the same structure and must not write to outside tensors. As `torch.cond`.
 */
export function cond<R extends Tensors, A extends readonly unknown[]>(
  pred: boolean | Tensor,
  trueFn: (...operands: A) => R,
  falseFn: (...operands: A) => R,
  operands: A | readonly [] = [],
): R {
  if (arguments.length > 4) refuseSurplus("cond", 4, arguments);
  for (const branch of [trueFn, falseFn]) checkFunction(branch, "as a branch of cond");
  checkKind(operands, "a list", "the operands of cond");
  const layout: { spec?: TreeSpec } = {};
  const branch = (fn: (...given: A) => R) => () => {
    const result: unknown = Reflect.apply(fn, undefined, operands);
    layout.spec ??= flattened(result).spec;
    return leavesLike(layout.spec, result, "the results of both branches of cond");
  };
  const leaves = runCond(eagerRegions, pred, [branch(trueFn), branch(falseFn)]);
  return arranged<R>(layout.spec, leaves);
}

/**
 * Applies `bodyFn` to the carried tensors while `condFn` (a boolean or a tensor of one element) is true. Types
 * and sizes stay the same. As `while_loop`.
 */
export function whileLoop<C extends readonly Tensor[]>(
  condFn: (...carried: C) => boolean | Tensor,
  bodyFn: (...carried: C) => readonly Tensor[],
  carried: C,
): C {
  if (arguments.length > 3) refuseSurplus("whileLoop", 3, arguments);
  for (const part of [condFn, bodyFn]) checkFunction(part, "as condition and body of whileLoop");
  checkKind(carried, "a list", "the carried tensors of whileLoop");
  const leaves = runWhile(eagerRegions, carried, {
    condition: (...values) => Reflect.apply(condFn, undefined, values),
    body: (...values) => {
      const next: unknown = Reflect.apply(bodyFn, undefined, values);
      if (Array.isArray(next)) return next;
      return refuseValue("a list of carried tensors from the body of a loop", next);
    },
  });
  return arranged<C>({ kind: "array", items: carried.map(() => ({ kind: "leaf" })) }, leaves);
}

/** Options of a scan. */
export interface ScanOptions {
  /** The dimension that is looped over; default 0. */
  readonly dim?: number;
  /** From the last element to the first. */
  readonly reverse?: boolean;
}

/**
 * Runs `combineFn(carry, x) → [carry, y]` over the slices x of `xs` along a dimension; returns the last carry and the
 * ys along that dimension. Type and sizes of the carry stay the same. As `scan`.
 */
export function scan<C extends Tensors, X extends Tensors, Y extends Tensors>(
  combineFn: (carry: C, x: X) => readonly [C, Y],
  init: C,
  xs: X,
  options: ScanOptions = {},
): [carry: C, ys: Y] {
  if (arguments.length > 4) refuseSurplus("scan", 4, arguments);
  const { dim = 0, reverse = false } = optionsOf("scan", options, ["dim", "reverse"]);
  const toFront = (x: Tensor) => reverse ? ops.flip(ops.movedim(x, dim, 0), [0]) : ops.movedim(x, dim, 0);
  const toPlace = (y: Tensor) => ops.movedim(reverse ? ops.flip(y, [0]) : y, 0, dim);
  const [carry, ys] = scanRows(combineFn, init, mapTensors(xs, toFront));
  return [carry, mapTensors(ys, toPlace)];
}

/** The same over rows, first to last. */
export function scanRows<C extends Tensors, X extends Tensors, Y extends Tensors>(
  combineFn: (carry: C, x: X) => readonly [C, Y],
  init: C,
  xs: X,
): [carry: C, ys: Y] {
  if (arguments.length > 3) refuseSurplus("scanRows", 3, arguments);
  checkFunction(combineFn, "that combines the carry with a row");
  const start = flattened(init), over = flattened(xs);
  const layout: { spec?: TreeSpec } = {};
  const leaves = runScan(eagerRegions, { carried: start.leaves, over: over.leaves }, (...values) => {
    const carry = arranged<C>(start.spec, values.slice(0, start.leaves.length));
    const x = arranged<X>(over.spec, values.slice(start.leaves.length));
    const result: unknown = combineFn(carry, x);
    if (!Array.isArray(result) || result.length !== 2) {
      return refuseValue("a carry and a result from the function of a scan", result);
    }
    const next = flattened(result[0]).leaves.length;
    if (next !== start.leaves.length) {
      throw new DynError(`Expected ${start.leaves.length} carried tensors but found ${next}`);
    }
    layout.spec ??= flattened(result[1]).spec;
    return [
      ...leavesLike(start.spec, result[0], "the carry of a scan"),
      ...leavesLike(layout.spec, result[1], "the results of all steps of a scan"),
    ];
  });
  const carry = arranged<C>(start.spec, leaves.slice(0, start.leaves.length));
  return [carry, arranged<Y>(layout.spec, leaves.slice(start.leaves.length))];
}

/**
 * Each slice of `xs` along `dim` combined with all before it (after it, with `reverse`) by an associative function. As
 * `associative_scan`.
 */
export function associativeScan<X extends Tensors>(
  combineFn: (a: X, b: X) => X,
  xs: X,
  dim: number,
  options: { readonly reverse?: boolean } = {},
): X {
  if (arguments.length > 4) refuseSurplus("associativeScan", 4, arguments);
  checkFunction(combineFn, "that combines two rows");
  const { reverse = false } = optionsOf("associativeScan", options, ["reverse"]);
  const toFront = (x: Tensor) => reverse ? ops.flip(ops.movedim(x, dim, 0), [0]) : ops.movedim(x, dim, 0);
  const rows = mapTensors(xs, toFront), first = mapTensors(rows, (x) => ops.select(x, 0, 0));
  if (firstTensor(rows).shape[0] === 1) return mapTensors(xs, (x) => ops.clone(x));
  const rest = mapTensors(rows, (x) => ops.slice(x, 0, 1));
  const [, ys] = scanRows(
    (carry: X, x: X) => {
      const combined = combineFn(carry, x);
      return [combined, combined];
    },
    first,
    rest,
  );
  const all = zipTensors(first, ys, (head, tail) => {
    const joined = ops.cat([ops.unsqueeze(head, 0), tail], 0);
    return ops.movedim(reverse ? ops.flip(joined, [0]) : joined, 0, dim);
  });
  return all;
}

/** `f(x, …args)` of every row x of `xs`, stacked. As `map`. */
export function map<X extends Tensors, Y extends Tensors, A extends readonly unknown[]>(
  f: (x: X, ...args: A) => Y,
  xs: X,
  ...args: A
): Y {
  checkFunction(f, "of rows");
  const [, ys] = scanRows((carry: readonly Tensor[], x: X) => [carry, f(x, ...args)], [], xs);
  return ys;
}

/** The leaves of a value in the order of a structure. Throws DynError if it has another one. */
function leavesLike(spec: TreeSpec, value: unknown, what: string): readonly unknown[] {
  return flattenLike(spec, value, { what, isLeaf: isTensor });
}

function flattened(value: unknown): { readonly leaves: readonly unknown[]; readonly spec: TreeSpec } {
  return flatten(value, isTensor);
}

/** Rebuilds the structure of a caller's values from leaves. */
function arranged<T>(spec: TreeSpec | undefined, leaves: readonly unknown[]): T {
  invariant(spec, "Expected a function that was called");
  return unflatten(spec, leaves) as T;
}

/** The same structure with each tensor changed. */
function mapTensors<T extends Tensors>(value: T, change: (tensor: Tensor) => Tensor): T {
  return zipTensors(value, value, change);
}

/** Combines tensors at the same positions of two structures. */
function zipTensors<T extends Tensors>(a: T, b: T, change: (x: Tensor, y: Tensor) => Tensor): T {
  const both = (x: unknown, y: unknown): unknown => {
    if (isTensor(x) && isTensor(y)) return change(x, y);
    if (Array.isArray(x) && Array.isArray(y)) return x.map((each, at) => both(each, y[at]));
    if (isPlainObject(x) && isPlainObject(y)) {
      return Object.fromEntries(Object.keys(x).map((key) => [key, both(x[key], y[key])]));
    }
    throw new DynError(`Expected tensors in the same structure but found ${typeof x} and ${typeof y}`);
  };
  return both(a, b) as T;
}

function firstTensor(value: Tensors): Tensor {
  const [first] = flattened(value).leaves;
  if (isTensor(first)) return first;
  throw new DynError("Expected a tensor to scan but found none");
}
