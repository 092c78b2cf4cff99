/**
 * Arithmetic on numbers that differ between calls. A number becomes a constant if the trace depends on its value.
 * Invariant: the exact value is JavaScript's; the size beside it exists only if integer arithmetic yields the same.
 */
import { isWhole } from "../../base/dtype.ts";
import { invariant } from "../../base/errors.ts";
import { hintOf, isAtMost, isEqual, isLess, isUnbacked, specialize } from "../../sym/decide.ts";
import { add, boundsOf, type Dim, floorDiv, max, min, mod, mul, sub } from "../../sym/expr.ts";
import { itemOfSize } from "../trace/graph_numbers.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import {
  applyBinary,
  expressionSize,
  type HostBinary,
  type HostExpression,
  type HostMath,
  isHostMath,
  isWholeNumber,
  shared,
} from "./host_number.ts";
import { constant, type ConstantValue, type Value } from "./value.ts";
import { NumberValue } from "./number_value.ts";

const EXACT = 2 ** 53;
/** Larger expressions are written once; sizes become constants. */
const LARGEST = 400;

/** A size as a value: a constant if it is known. */
export function numberOfDim(output: OutputGraph, dim: Dim): Value {
  if (typeof dim === "number") return constant(dim);
  const known = output.sizes.simplify(dim);
  if (typeof known === "number") return constant(known);
  if (isUnbacked(dim)) return itemOfSize(output, dim);
  return new NumberValue(hostOfDim(output, dim), hintOf(dim), dim);
}

/** A size as an expression over sources. */
function hostOfDim(output: OutputGraph, dim: Dim): HostExpression {
  if (typeof dim === "number") return { kind: "literal", value: dim };
  const again = (d: Dim) => hostOfDim(output, d);
  const { node } = dim;
  const binary = (operator: HostBinary, left: HostExpression, right: HostExpression): HostExpression => ({
    kind: "binary",
    operator,
    left,
    right,
  });
  const quotient = (left: Dim, right: Dim): HostExpression => ({
    kind: "math",
    name: "floor",
    args: [binary("/", again(left), again(right))],
  });
  switch (node.kind) {
    case "symbol": {
      const { source, size } = output.originOf(dim);
      switch (size.part.kind) {
        case "value":
          return { kind: "source", source };
        case "shape":
        case "stride":
          return { kind: "tensorSize", source, part: size.part.kind, dim: size.part.dim };
        case "offset":
          invariant(false, "Expected no symbolic offsets");
          break;
        default:
          return size.part satisfies never;
      }
      break;
    }
    case "sum": {
      const parts = node.terms.map(({ term, coefficient }) =>
        coefficient === 1 ? again(term) : binary("*", { kind: "literal", value: coefficient }, again(term))
      );
      if (node.constant !== 0) parts.push({ kind: "literal", value: node.constant });
      return parts.reduce((a, b) => binary("+", a, b));
    }
    case "product":
      return node.factors.map(again).reduce((a, b) => binary("*", a, b));
    case "floorDiv":
      return quotient(node.left, node.right);
    case "mod":
      return binary("-", again(node.left), binary("*", again(node.right), quotient(node.left, node.right)));
    case "min":
    case "max":
      return { kind: "math", name: node.kind, args: [again(node.left), again(node.right)] };
    default:
      return node satisfies never;
  }
}

/** Makes a number a constant of the trace, with a guard that it keeps its value. */
export function specializeNumber(output: OutputGraph, value: NumberValue): ConstantValue {
  if (value.dim !== null) return constant(specialize(value.dim));
  output.guard({ kind: "expression", expression: value.expression, expected: value.hint });
  return constant(value.hint);
}

type Numeric = NumberValue | ConstantValue;

function expressionOf(value: Numeric): HostExpression {
  if (value.kind === "number") return value.expression;
  invariant(typeof value.value === "number", "Expected a number");
  return { kind: "literal", value: value.value };
}

function hintOfNumber(value: Numeric): number {
  if (value.kind === "number") return value.hint;
  invariant(typeof value.value === "number", "Expected a number");
  return value.value;
}

function dimOf(value: Numeric): Dim | null {
  if (value.kind === "number") return value.dim;
  const { value: number } = value;
  return typeof number === "number" && Number.isSafeInteger(number) && !Object.is(number, -0) ? number : null;
}

/** A size within which integer arithmetic is exact. */
function exact(dim: Dim): Dim | null {
  const [lower, upper] = boundsOf(dim);
  if (lower > -EXACT && upper < EXACT) return dim;
  // Products of sizes of existing tensors stay exact although their bounds are open.
  return upper === Infinity && lower >= 0 ? dim : null;
}

function make(
  output: OutputGraph,
  expression: HostExpression,
  hint: number,
  dim: Dim | null,
  quotient: readonly [Dim, Dim] | null = null,
): Value {
  const sound = soundDim(dim, hint);
  if (typeof sound === "number") return constant(hint);
  const value = new NumberValue(expression, hint, sound, quotient);
  if (expressionSize(expression, LARGEST) < LARGEST) return value;
  const once = sound === null ? shared(expression) : null;
  return once ? new NumberValue(once, hint, null, quotient) : specializeNumber(output, value);
}

/** A size that stands for a number with this hint, or null. */
function soundDim(dim: Dim | null, hint: number): Dim | null {
  const kept = dim === null ? null : exact(dim);
  return kept !== null && hintOf(kept) === hint && !Object.is(hint, -0) ? kept : null;
}

/** A binary operator on two numbers, at least one of which is not a constant. */
export function binaryNumbers(
  output: OutputGraph,
  operator: HostBinary,
  [left, right]: readonly [Numeric, Numeric],
): Value {
  const a = hintOfNumber(left), b = hintOfNumber(right);
  const expression: HostExpression = {
    kind: "binary",
    operator,
    left: expressionOf(left),
    right: expressionOf(right),
  };
  const da = dimOf(left), db = dimOf(right);
  const hint = applyBinary(operator, a, b);
  if (typeof hint === "boolean") return compare(output, expression, { operator, hint, da, db });
  switch (operator) {
    case "+":
      return make(output, expression, hint, da !== null && db !== null ? add(da, db) : null);
    case "-":
      return make(output, expression, hint, da !== null && db !== null ? sub(da, db) : null);
    case "*": {
      // 0 · negative is −0: only products of nonzero factors are sizes
      const safe = da !== null && db !== null &&
        (nonZero(da) && nonZero(db) || nonNegative(da) && nonNegative(db));
      return make(output, expression, hint, safe ? mul(da, db) : null);
    }
    case "/": {
      const quotient = da !== null && db !== null && nonNegative(da) && positive(db)
        ? [da, db] as const
        : null;
      if (!quotient || !Number.isInteger(hint)) return make(output, expression, hint, null, quotient);
      const whole = floorDiv(quotient[0], quotient[1]), rest = mod(quotient[0], quotient[1]);
      if (rest === 0) return make(output, expression, hint, whole, quotient);
      // Exact if the remainder is 0, which is guarded only once a size is needed: Math.floor needs none.
      const value = make(output, expression, hint, null, quotient);
      if (value.kind !== "number") return value;
      const found = () => isEqual(rest, 0) ? soundDim(whole, hint) : null;
      return new NumberValue(value.expression, hint, found, quotient);
    }
    case "%":
      return make(
        output,
        expression,
        hint,
        da !== null && db !== null && nonNegative(da) && positive(db) ? mod(da, db) : null,
      );
    case "**": {
      const power = db === 2 && da !== null && nonZero(da) ? mul(da, da) : db === 1 ? da : null;
      return make(output, expression, hint, power);
    }
    default:
      return make(output, expression, hint, null);
  }
}

const nonZero = (d: Dim): boolean => boundsOf(d)[0] > 0 || boundsOf(d)[1] < 0;
const positive = (d: Dim): boolean => boundsOf(d)[0] > 0;
const nonNegative = (d: Dim): boolean => boundsOf(d)[0] >= 0;

interface Comparison {
  readonly operator: HostBinary;
  readonly hint: boolean;
  readonly da: Dim | null;
  readonly db: Dim | null;
}

/** Decides a comparison and guards that the outcome stays the same. */
function compare(
  output: OutputGraph,
  expression: HostExpression,
  { operator, hint, da, db }: Comparison,
): Value {
  if (da !== null && db !== null) {
    switch (operator) {
      case "===":
        return constant(isEqual(da, db));
      case "!==":
        return constant(!isEqual(da, db));
      case "<":
        return constant(isLess(da, db));
      case ">":
        return constant(isLess(db, da));
      case "<=":
        return constant(isAtMost(da, db));
      case ">=":
        return constant(isAtMost(db, da));
      default:
    }
  }
  output.guard({ kind: "expression", expression, expected: hint });
  return constant(hint);
}

/** A unary operator. */
export function unaryNumber(output: OutputGraph, operator: "-" | "+" | "~", operand: NumberValue): Value {
  const expression: HostExpression = { kind: "unary", operator, operand: operand.expression };
  switch (operator) {
    case "+":
      return operand;
    case "-":
      return make(
        output,
        expression,
        -operand.hint,
        operand.dim !== null && nonZero(operand.dim) ? mul(operand.dim, -1) : null,
      );
    case "~":
      return make(output, expression, ~operand.hint, null);
    default:
      return operator satisfies never;
  }
}

/** A function of Math on numbers, at least one of which is not a constant; null if it is not modelled. */
export function mathNumbers(output: OutputGraph, name: string, args: readonly Numeric[]): Value | null {
  if (!isHostMath(name)) return null;
  const fn: unknown = Reflect.get(Math, name);
  invariant(typeof fn === "function", `Expected Math.${name}`);
  const hint: unknown = Reflect.apply(fn, Math, args.map(hintOfNumber));
  invariant(typeof hint === "number", `Expected a number from Math.${name}`);
  const expression: HostExpression = { kind: "math", name, args: args.map(expressionOf) };
  const [first] = args;
  if ((name === "floor" || name === "trunc") && first?.kind === "number" && first.quotient) {
    return make(output, expression, hint, floorDiv(first.quotient[0], first.quotient[1]));
  }
  const dims = args.map(dimOf);
  switch (name) {
    case "floor":
    case "trunc":
      return make(output, expression, hint, dims[0] ?? null);
    case "ceil":
    case "round":
      return make(output, expression, hint, dims[0] ?? null);
    case "abs":
      return make(
        output,
        expression,
        hint,
        dims[0] !== null && dims[0] !== undefined && nonNegative(dims[0]) ? dims[0] : null,
      );
    case "min":
    case "max": {
      const all = dims.filter((d) => d !== null);
      const combine = name === "min" ? min : max;
      const dim = all.length === dims.length && all.length > 0 ? all.reduce((x, y) => combine(x, y)) : null;
      return make(output, expression, hint, dim);
    }
    default:
      return make(output, expression, hint, null);
  }
}

/** Returns whether a number is truthy, guarded. */
export function numberIsTruthy(output: OutputGraph, value: NumberValue): boolean {
  if (value.dim !== null) return !isEqual(value.dim, 0);
  const truthy = value.hint !== 0 && !Number.isNaN(value.hint);
  const nonZeroTest: HostExpression = {
    kind: "binary",
    operator: "!==",
    left: value.expression,
    right: { kind: "literal", value: 0 },
  };
  const isNumberTest: HostExpression = {
    kind: "binary",
    operator: "===",
    left: value.expression,
    right: value.expression,
  };
  output.guard({ kind: "expression", expression: nonZeroTest, expected: value.hint !== 0 });
  output.guard({ kind: "expression", expression: isNumberTest, expected: !Number.isNaN(value.hint) });
  return truthy;
}

/** A number of the trace, or a constant, as data of a tensor. */
export interface NumberLeaf {
  readonly hint: number;
  readonly expression: HostExpression;
  readonly dim?: NumberValue["dim"];
}

const math = (name: HostMath, ...args: HostExpression[]): HostExpression => ({ kind: "math", name, args });
const literal = (value: number): HostExpression => ({ kind: "literal", value });
/** The integers of int64 as numbers lie between these. */
const LEAST = literal(-(2 ** 63)), GREATEST = literal(2 ** 63 - 1024);

/** Relies on whether all numbers are integers of int64, which decides on a type: a single one that is not suffices. */
export function relyOnWholeness(
  output: OutputGraph,
  numbers: readonly NumberLeaf[],
): void {
  const isFraction = ({ hint }: NumberLeaf) => !isWhole(hint);
  if (numbers.some((each) => each.expression.kind === "literal" && isFraction(each))) return;
  const decisive = numbers.find(isFraction);
  for (const { expression, hint, dim } of decisive ? [decisive] : numbers) {
    if (dim || isWholeNumber(expression) || expression.kind === "literal") continue;
    const nearest = math("max", LEAST, math("min", GREATEST, math("trunc", expression)));
    // Subtracting the nearest integer of int64 yields 0 for these alone, and NaN for NaN
    const rest: HostExpression = { kind: "binary", operator: "-", left: expression, right: nearest };
    output.guard({
      kind: "expression",
      expression: { kind: "binary", operator: "===", left: rest, right: literal(0) },
      expected: isWhole(hint),
    });
  }
}
