/**
 * Control flow that depends on tensors: a choice of two functions, a loop while a condition holds, a loop over the
 * first dimension. Eager calls and nodes of graphs run the same code. Invariant: results are row-major and share
 * memory with nothing.
 */
import { DynError, InternalError } from "../base/errors.ts";
import type { Node } from "./node.ts";

/** The targets of such nodes. A function is the name of an attribute, followed by the list of its further inputs. */
export const HIGHER_ORDER = {
  /** condition, function, inputs, function, inputs */
  cond: "higher_order.cond",
  /** condition, inputs, body, inputs, carried values */
  whileLoop: "higher_order.while_loop",
  /** function, inputs, carried values, tensors that are iterated over */
  scan: "higher_order.scan",
} as const;

type HigherOrderTarget = (typeof HIGHER_ORDER)[keyof typeof HIGHER_ORDER];

const TARGETS: ReadonlySet<string> = new Set(Object.values(HIGHER_ORDER));

/** Returns whether a node is control flow that depends on tensors. */
export function isHigherOrder({ op, target }: Node): boolean {
  return op === "call_function" && TARGETS.has(target);
}

type Values = readonly unknown[];

/** A function over lists of values. */
type ListFunction = (...values: Values) => Values;

/** Access to tensors for control flow. */
export interface RegionAccess {
  /** Returns the only element of a tensor, or a number itself, as a condition. */
  isTrue(value: unknown): boolean;
  /** Runs a function and returns its results, each row-major with memory of its own. */
  own(run: () => Values): Values;
  /** Returns the number of rows of a tensor. */
  rows(value: unknown): number;
  /** Returns a copy of one row. */
  row(value: unknown, index: number): unknown;
  /** Stacks rows into one tensor. */
  stack(rows: Values): unknown;
  /** Returns the type and the sizes of a tensor, for comparison and messages. */
  form(value: unknown): string;
}

/** Runs one of two functions. */
export function runCond(
  access: RegionAccess,
  condition: unknown,
  [whenTrue, whenFalse]: readonly [() => Values, () => Values],
): Values {
  return access.own(access.isTrue(condition) ? whenTrue : whenFalse);
}

/** Runs a loop that carries values while a condition on them holds. */
export function runWhile(
  access: RegionAccess,
  carried: Values,
  { condition, body }: { readonly condition: (...values: Values) => unknown; readonly body: ListFunction },
): Values {
  let values = access.own(() => carried);
  while (access.isTrue(condition(...values))) {
    const now = values;
    values = access.own(() => body(...now));
    keepsForm(access, now, values);
  }
  return values;
}

/** Runs a loop over rows that carries values; the body returns the carried values, then its results for this row. */
export function runScan(
  access: RegionAccess,
  { carried, over }: { readonly carried: Values; readonly over: Values },
  body: ListFunction,
): Values {
  const counts = over.map((value) => access.rows(value)), [count = 0] = counts;
  if (counts.some((each) => each !== count)) {
    throw new DynError(`Expected all tensors to have the same number of rows but found ${counts.join(", ")}`);
  }
  if (count === 0) throw new DynError("Expected at least one row to loop over but found none");
  let values = access.own(() => carried);
  const columns: unknown[][] = [];
  for (let index = 0; index < count; index++) {
    const now = values, given = over.map((value) => access.row(value, index));
    const results = access.own(() => body(...now, ...given));
    values = results.slice(0, now.length);
    keepsForm(access, now, values);
    results.slice(now.length).forEach((value, at) => (columns[at] ??= []).push(value));
  }
  return [...values, ...columns.map((rows) => access.stack(rows))];
}

function keepsForm(access: RegionAccess, before: Values, after: Values): void {
  if (before.length !== after.length) {
    throw new DynError(`Expected ${before.length} carried values but found ${after.length}`);
  }
  before.forEach((value, at) => {
    const [was, is] = [value, after[at]].map((each) => access.form(each));
    if (was !== is) throw new DynError(`Expected a carried value to stay ${was} but found ${is}`);
  });
}

/** Runs a node, given the values of its arguments and the functions that it names. */
export function runHigherOrder(
  target: string,
  args: Values,
  { access, functionNamed }: {
    readonly access: RegionAccess;
    readonly functionNamed: (name: string) => ListFunction;
  },
): Values {
  if (!isTarget(target)) throw new InternalError(`Expected a node with functions but found ${target}`);
  const bound = (name: unknown, inputs: unknown): ListFunction => {
    const fn = functionNamed(String(name)), more = listOf(inputs);
    return (...values) => fn(...values, ...more);
  };
  switch (target) {
    case "higher_order.cond": {
      const [condition, whenTrue, trueInputs, whenFalse, falseInputs] = args;
      const branches = [bound(whenTrue, trueInputs), bound(whenFalse, falseInputs)] as const;
      return runCond(access, condition, [() => branches[0](), () => branches[1]()]);
    }
    case "higher_order.while_loop": {
      const [test, testInputs, step, stepInputs, carried] = args;
      const condition = bound(test, testInputs);
      return runWhile(access, listOf(carried), {
        condition: (...values) => condition(...values)[0],
        body: bound(step, stepInputs),
      });
    }
    case "higher_order.scan": {
      const [step, inputs, carried, over] = args;
      return runScan(access, { carried: listOf(carried), over: listOf(over) }, bound(step, inputs));
    }
    default:
      return target satisfies never;
  }
}

function isTarget(target: string): target is HigherOrderTarget {
  return TARGETS.has(target);
}

function listOf(value: unknown): Values {
  if (Array.isArray(value)) return value;
  throw new InternalError(`Expected a list but found ${typeof value}`);
}
