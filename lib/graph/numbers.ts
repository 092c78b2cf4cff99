/**
 * Nodes whose values are JavaScript numbers: elements of tensors, arithmetic on them with the operators of the
 * language, sizes, and checks of assumptions. Invariant: these nodes run on the host, between the parts of a graph
 * that are compiled.
 */
import { DynError, InternalError } from "../base/errors.ts";
import type { Node } from "./node.ts";

/** The targets of such nodes. */
export const NUMBER = {
  /** The only element of a tensor. An integer too large for a number is an error. */
  item: "number.item",
  /** A size. */
  size: "number.size",
  /** An operator or a function of Math on numbers: its name, then the operands. */
  apply: "number.apply",
  /** A number as a 0-d tensor of float64. */
  tensor: "number.tensor",
  /** A relation between two sizes, or a condition; fails if it does not hold. */
  check: "number.check",
} as const;

type NumberTarget = (typeof NUMBER)[keyof typeof NUMBER];

const TARGETS: ReadonlySet<string> = new Set(Object.values(NUMBER));

/** Thrown when an assumption of operations about data-dependent sizes does not hold in this call. */
export class AssumptionFailed extends DynError {
  override readonly name = "AssumptionFailed";
}

/** Returns whether a node has a JavaScript number as its value, or checks one. */
export function isNumberNode({ op, target }: Node): boolean {
  return op === "call_function" && TARGETS.has(target);
}

/** Returns whether a node checks an assumption. */
export function isCheck({ op, target }: Node): boolean {
  return op === "call_function" && target === NUMBER.check;
}

/** Access to tensors for number nodes. */
export interface ElementAccess {
  /** Returns the only elements of tensors, which are read together. */
  items(tensors: readonly unknown[]): readonly unknown[];
  /** Returns a 0-d tensor of float64 in host memory. */
  scalar(value: number): unknown;
}

/**
 * Computes the value of a number node; the argument of one that reads an element is the element itself. Throws
 * AssumptionFailed if an assumption does not hold, or DynError if the program asserted it.
 */
export function numberOf(target: string, args: readonly unknown[], elements: ElementAccess): unknown {
  if (!isTarget(target)) throw new InternalError(`Expected a node of a number but found ${target}`);
  const [first, ...rest] = args;
  switch (target) {
    case "number.item":
      if (typeof first !== "bigint") return first;
      throw new DynError(`Expected an integer within ±(2^53 - 1) but found ${first}`);
    case "number.size":
      return first;
    case "number.apply":
      return applyOperator(String(first), rest);
    case "number.tensor":
      return elements.scalar(Number(first));
    case "number.check": {
      if (holds(String(first), rest)) return undefined;
      const message = `Expected ${String(rest.at(-1))}`;
      throw first === "true" ? new DynError(message) : new AssumptionFailed(message);
    }
    default:
      return target satisfies never;
  }
}

function isTarget(target: string): target is NumberTarget {
  return TARGETS.has(target);
}

function holds(relation: string, [left, right]: readonly unknown[]): boolean {
  switch (relation) {
    case "true":
      return left === true;
    case "eq":
      return left === right;
    case "ne":
      return left !== right;
    case "le":
      return Number(left) <= Number(right);
    default:
      throw new InternalError(`Expected a relation but found ${relation}`);
  }
}

/** Functions of Math as they were when dyn was loaded. */
const functions = new Map<string, (...operands: readonly unknown[]) => unknown>();
/** Operators, created at first use, by number of operands: there are two of - and +. */
const operators = new Map<string, (...operands: readonly unknown[]) => unknown>();

for (const name of Object.getOwnPropertyNames(Math)) {
  const fn: unknown = Reflect.get(Math, name);
  if (typeof fn === "function") functions.set(name, (...given) => Reflect.apply(fn, undefined, given));
}

/** Applies an operator, or a function of Math by its name, to primitives. */
export function applyOperator(operator: string, operands: readonly unknown[]): unknown {
  const key = `${operands.length}${operator}`;
  let operation = functions.get(operator) ?? operators.get(key);
  if (!operation) {
    const made = operator === "?:"
      ? new Function("a", "b", "c", "return a ? b : c")
      : operands.length === 1
      ? new Function("a", `return ${operator} a`)
      : new Function("a", "b", `return a ${operator} b`);
    operation = (...given) => Reflect.apply(made, undefined, given);
    operators.set(key, operation);
  }
  return operation(...operands);
}
