/**
 * Arithmetic on numbers that differ between calls. A number becomes a constant if the trace depends on its value.
 * Invariant: the exact value is JavaScript's; the size beside it exists only if integer arithmetic yields the same.
 */
import { isWhole } from "../../base/dtype.ts";
import { isSmallInteger } from "../../sym/integers.ts";
import { invariant } from "../../base/errors.ts";
import { hintOf, isAtMost, isEqual, isLess, isUnbacked, specialize } from "../../sym/decide.ts";
import {
  add,
  boundsOf,
  ceilDiv,
  type Dim,
  floorDiv,
  max,
  min,
  mod,
  mul,
  type Relation,
  sub,
} from "../../sym/expr.ts";
import { tracesExport } from "../functions/marks.ts";
import { itemOfSize, RELATIONS } from "../trace/graph_numbers.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import {
  applyBinary,
  expressionSize,
  type HostBinary,
  type HostExpression,
  type HostMath,
  isHostMath,
  isWholeNumber,
  placesIn,
  shared,
} from "./host_number.ts";
import { constant, type ConstantValue, PassedValue, type Value } from "./value.ts";
import { type NumberFacts, NumberValue, settleSelection } from "./number_value.ts";
import { truthOfSelected } from "./truths.ts";

const EXACT = 2 ** 53;
const LEAST_WORD = -(2 ** 31), GREATEST_WORD = 2 ** 31 - 1;
/** Larger expressions are written once; sizes become constants. */
const LARGEST = 400;
/** Maximum number of expressions nested in one. */
const MOST_NESTED = 32;

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

/** Makes a number a constant of the trace, with a guard that it keeps its value, or that it is selected. */
export function specializeNumber(output: OutputGraph, value: NumberValue): ConstantValue {
  if (value.selection) {
    const selected = settleSelection(value.selection);
    return selected.kind === "constant" ? selected : specializeNumber(output, selected);
  }
  if (value.integer !== null) return constant(specialize(output.integers.current(value.integer)));
  if (value.dim !== null) return constant(specialize(value.dim));
  output.guard({ kind: "expression", expression: value.expression, expected: value.hint });
  return constant(value.hint);
}

/**
 * A number as a size of an op; null if it is none in this call. What only the language computes, a rounded number or the
 * half of a difference, is a size of its own, which each call checks to be one; programs without the language have sizes
 * of their arguments only.
 */
export function sizeOf(output: OutputGraph, value: NumberValue): Dim | null {
  const { expression, hint } = value;
  if (value.dim !== null) return value.dim;
  const places = isSmallInteger(hint) && !tracesExport() ? placesIn(expression) : null;
  if (!places || places.length === 0) return null;
  return output.sizeComputedBy(expression, hint);
}

/** A number of the trace. */
export type Numeric = NumberValue | ConstantValue;

/** A number as an expression. */
export function expressionOf(value: Numeric): HostExpression {
  if (value.kind === "number") return value.expression;
  invariant(typeof value.value === "number", "Expected a number");
  return { kind: "literal", value: value.value };
}

/** The value of a number in the traced call. */
export function hintOfNumber(value: Numeric): number {
  if (value.kind === "number") return value.hint;
  invariant(typeof value.value === "number", "Expected a number");
  return value.value;
}

function constantSize({ value }: ConstantValue): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && !Object.is(value, -0) ? value : null;
}

/** A number as a size; null if it is none. */
export const dimOf = (value: Numeric): Dim | null =>
  value.kind === "number" ? value.dim : constantSize(value);
const integerOf = (value: Numeric): Dim | null =>
  value.kind === "number" ? value.integer : constantSize(value);

/** A size within which integer arithmetic is exact. */
function exact(dim: Dim): Dim | null {
  const [lower, upper] = boundsOf(dim);
  // Products and differences of sizes of existing tensors stay exact although their bounds are open.
  const isSound = (bound: number): boolean => Math.abs(bound) < EXACT || Math.abs(bound) === Infinity;
  return isSound(lower) && isSound(upper) ? dim : null;
}

/** Integer arithmetic that yields the same as that of the language, -0 included; null if it may not. */
type Combine = (operands: readonly Dim[]) => Dim | null;

const NEVER: Combine = () => null;

/** A number to be made: its value as an integer, and as a size on demand. */
interface Made extends NumberFacts {
  readonly expression: HostExpression;
  readonly hint: number;
  readonly integer: Dim | null;
  readonly dim: () => Dim | null;
}

/** A number of the trace; a large expression is written once, or its value becomes a constant. */
export function makeNumber(output: OutputGraph, { expression, hint, dim, ...facts }: Made): Numeric {
  const { integer } = facts;
  if (typeof integer === "number") return constant(hint);
  const value = new NumberValue(expression, hint, dim, facts);
  if (expressionSize(expression, LARGEST) < LARGEST) return value;
  const once = integer === null ? shared(expression) : null;
  return once ? new NumberValue(once, hint, dim, facts) : specializeNumber(output, value);
}

/** A number computed from others. */
interface Computed {
  readonly expression: HostExpression;
  readonly hint: number;
  readonly of: readonly Numeric[];
  readonly combine: Combine;
}

function compute(output: OutputGraph, { expression, hint, of, combine }: Computed): Value {
  const apply = (operands: readonly (Dim | null)[]) => {
    const known = operands.filter((each) => each !== null);
    return known.length === operands.length ? soundDim(combine(known), hint) : null;
  };
  const integer = apply(of.map(integerOf));
  const dim = () => integer === null ? apply(of.map(dimOf)) : soundDim(output.integers.asSize(integer), hint);
  return makeNumber(output, { expression, hint, integer, dim });
}

/** A size that stands for a number with this hint, or null. */
function soundDim(dim: Dim | null, hint: number): Dim | null {
  const kept = dim === null ? null : exact(dim);
  return kept !== null && hintOf(kept) === hint && !Object.is(hint, -0) ? kept : null;
}

/** The operators whose integer arithmetic has a rule. */
const COMBINE: Readonly<Partial<Record<HostBinary, Combine>>> = {
  "+": ([a = 0, b = 0]) => add(a, b),
  "-": ([a = 0, b = 0]) => sub(a, b),
  // 0 · negative is −0: only products of nonzero factors, and of others that are not negative, are sizes
  "*": ([a = 0, b = 0]) =>
    nonZero(a) && nonZero(b) || nonNegative(a) && nonNegative(b) || isCount(a) || isCount(b)
      ? mul(a, b)
      : null,
  "%": (operands) => areQuotient(operands) && nonNegative(operands[0]) ? mod(...operands) : null,
  "**": ([a = 0, b = 0]) => b === 2 && nonZero(a) ? mul(a, a) : b === 1 ? a : null,
  ">>": ([a = 0, b = 0]) => isShift(b) && isWord(a) ? floorDiv(a, 2 ** b) : null,
  "|": ([a = 0, b = 0]) => b === 0 && isWord(a) ? a : null,
  // The remainder by a power of 2, of negative numbers too
  "&": ([a = 0, b = 0]) =>
    typeof b === "number" && b >= 0 && isShift(Math.log2(b + 1)) && isWord(a) ? mod(a, b + 1) : null,
};

/** A binary operator on two numbers, at least one of which is not a constant. */
export function binaryNumbers(
  output: OutputGraph,
  operator: HostBinary,
  of: readonly [Numeric, Numeric],
): Value {
  const [left, right] = of;
  const expression: HostExpression = {
    kind: "binary",
    operator,
    left: expressionOf(left),
    right: expressionOf(right),
  };
  const hint = applyBinary(operator, hintOfNumber(left), hintOfNumber(right));
  if (typeof hint === "boolean") {
    return comparedOutcomes(operator, of) ?? compare(output, expression, { operator, hint, of });
  }
  if (operator === "/") return divide(output, { expression, hint, of });
  return compute(output, { expression, hint, of, combine: COMBINE[operator] ?? NEVER });
}

function divide(output: OutputGraph, { expression, hint, of }: Omit<Computed, "combine">): Value {
  const operands = (sizeOf: (number: Numeric) => Dim | null): readonly [Dim, Dim] | null => {
    const known = of.map(sizeOf).filter((each) => each !== null);
    return areQuotient(known) ? known : null;
  };
  const integers = operands(integerOf);
  const sizes = () => operands(dimOf);
  const isExact = integers !== null && mod(...integers) === 0;
  const integer = isExact ? soundDim(floorDiv(...integers), hint) : null;
  // Exact if the remainder is 0, which is guarded only once a size is needed: Math.floor needs none.
  const dim = () => {
    const known = Number.isInteger(hint) ? sizes() : null;
    return known && isEqual(mod(...known), 0) ? soundDim(floorDiv(...known), hint) : null;
  };
  return makeNumber(output, { expression, hint, integer, dim, quotient: { integers, sizes } });
}

const nonZero = (d: Dim): boolean => boundsOf(d)[0] > 0 || boundsOf(d)[1] < 0;
const nonNegative = (d: Dim): boolean => boundsOf(d)[0] >= 0;
const isCount = (d: Dim): boolean => typeof d === "number" && d > 0;

/** Returns whether operands have a quotient, rounded down, and a remainder; those of numbers below 0 are not the language's. */
function areQuotient(operands: readonly Dim[]): operands is readonly [Dim, Dim] {
  const [a, b] = operands;
  return a !== undefined && b !== undefined && boundsOf(b)[0] > 0;
}

/** Returns whether a number of bits is known, and fewer than those of a word with a sign. */
const isShift = (bits: Dim): bits is number =>
  typeof bits === "number" && Number.isInteger(bits) && bits >= 0 && bits < 31;

/** Returns whether bitwise operators take a number as it is; of sizes whose bounds are open it is guarded. */
function isWord(d: Dim): boolean {
  const [lower, upper] = boundsOf(d);
  return lower >= LEAST_WORD && (upper <= GREATEST_WORD || upper === Infinity && isAtMost(d, GREATEST_WORD));
}

interface Comparison {
  readonly operator: HostBinary;
  readonly hint: boolean;
  readonly of: readonly Numeric[];
}

/** A comparison: a constant if it is known, else a truth value that the program settles where it depends on it. */
function compare(
  output: OutputGraph,
  expression: HostExpression,
  { operator, hint, of }: Comparison,
): ConstantValue {
  const asked = RELATIONS[operator];
  const sides = (): readonly [Dim, Dim] | null => {
    const [a, b] = of.map(integerOf).filter((each) => each !== null).map((each) =>
      output.integers.current(each)
    );
    if (!asked || a === undefined || b === undefined) return null;
    return asked[1] ? [b, a] : [a, b];
  };
  const now = sides(), holds = asked && now ? output.sizes.known(asked[0], now) : undefined;
  if (asked && holds !== undefined) return constant(holds === asked[2]);
  const settle = () => {
    const operands = sides();
    if (asked && operands) RELATED[asked[0]](...operands);
    else output.guard({ kind: "expression", expression, expected: hint });
  };
  return new PassedValue(hint, expression, settle, of.map(hintOfNumber));
}

/** The comparison of a constant and a number that conditions select from few constants; null for other operands. */
function comparedOutcomes(operator: HostBinary, of: readonly [Numeric, Numeric]): ConstantValue | null {
  const [left, right] = of;
  if (left.kind === "constant" && typeof left.value === "number") {
    const { value } = left;
    return truthOfSelected(right, (known) => applyBinary(operator, value, known) === true);
  }
  if (right.kind === "constant" && typeof right.value === "number") {
    const { value } = right;
    return truthOfSelected(left, (known) => applyBinary(operator, known, value) === true);
  }
  return left === right
    ? truthOfSelected(left, (known) => applyBinary(operator, known, known) === true)
    : null;
}

const RELATED: Readonly<Record<Relation, (a: Dim, b: Dim) => boolean>> = {
  eq: isEqual,
  lt: isLess,
  le: isAtMost,
};

/** A unary operator. */
export function unaryNumber(output: OutputGraph, operator: "-" | "+" | "~", operand: NumberValue): Value {
  const expression: HostExpression = { kind: "unary", operator, operand: operand.expression };
  const of = [operand];
  switch (operator) {
    case "+":
      return operand;
    case "-": {
      const combine: Combine = ([a = 0]) => nonZero(a) ? mul(a, -1) : null;
      return compute(output, { expression, hint: -operand.hint, of, combine });
    }
    case "~": {
      const combine: Combine = ([a = 0]) => isWord(a) ? sub(mul(a, -1), 1) : null;
      return compute(output, { expression, hint: ~operand.hint, of, combine });
    }
    default:
      return operator satisfies never;
  }
}

/** Returns whether expressions are few enough to be nested in one. */
const isFew = (all: readonly Dim[]): boolean => all.length > 0 && all.length <= MOST_NESTED;

/** The functions of Math whose integer arithmetic has a rule. */
const COMBINE_MATH: Readonly<Partial<Record<HostMath, Combine>>> = {
  floor: ([a = 0]) => a,
  trunc: ([a = 0]) => a,
  ceil: ([a = 0]) => a,
  round: ([a = 0]) => a,
  abs: ([a = 0]) => nonNegative(a) ? a : null,
  min: (all) => isFew(all) ? all.reduce((x, y) => min(x, y)) : null,
  max: (all) => isFew(all) ? all.reduce((x, y) => max(x, y)) : null,
};

/** The functions of Math that round a quotient; null where they yield -0, or round numbers below 0 the other way. */
const ROUND: Readonly<Partial<Record<HostMath, (a: Dim, b: Dim) => Dim | null>>> = {
  floor: floorDiv,
  trunc: (a, b) => nonNegative(a) ? floorDiv(a, b) : null,
  ceil: (a, b) => nonNegative(a) ? ceilDiv(a, b) : null,
};

/** A function of Math on numbers, at least one of which is not a constant; null if it is not modelled. */
export function mathNumbers(output: OutputGraph, name: string, of: readonly Numeric[]): Value | null {
  if (!isHostMath(name)) return null;
  const fn: unknown = Reflect.get(Math, name);
  invariant(typeof fn === "function", `Expected Math.${name}`);
  const hint: unknown = Reflect.apply(fn, Math, of.map(hintOfNumber));
  invariant(typeof hint === "number", `Expected a number from Math.${name}`);
  const expression: HostExpression = { kind: "math", name, args: of.map(expressionOf) };
  const [first] = of, quotient = first?.kind === "number" ? first.quotient : null, round = ROUND[name];
  if (!round || !quotient) {
    return compute(output, { expression, hint, of, combine: COMBINE_MATH[name] ?? NEVER });
  }
  const whole = (operands: readonly [Dim, Dim] | null) => {
    const rounded = operands && round(...operands);
    return rounded === null ? null : soundDim(rounded, hint);
  };
  return makeNumber(output, {
    expression,
    hint,
    integer: whole(quotient.integers),
    dim: () => whole(quotient.sizes()),
  });
}

/** The truth of a number. */
export function truthOfNumber(output: OutputGraph, value: NumberValue): ConstantValue {
  if (value.integer !== null) {
    const differs = binaryNumbers(output, "!==", [value, constant(0)]);
    invariant(differs.kind === "constant", "Expected a truth value");
    return differs;
  }
  const outcome = truthOfSelected(value, Boolean);
  if (outcome) return outcome;
  // Not for NaN, and not for -0
  const expression: HostExpression = {
    kind: "binary",
    operator: ">",
    left: math("abs", value.expression),
    right: literal(0),
  };
  return compare(output, expression, { operator: ">", hint: Math.abs(value.hint) > 0, of: [] });
}

/** Returns whether a number is NaN, guarded. */
export function numberIsNaN(output: OutputGraph, value: NumberValue): boolean {
  const differs = binaryNumbers(output, "!==", [value, value]);
  return differs.kind === "constant" && differs.value === true;
}

/** The tests of Number that each number passes unless a difference to itself, or to the nearest integer, is not 0. */
const DIFFERENCES: Readonly<Record<string, (output: OutputGraph, value: NumberValue) => Numeric | null>> = {
  isFinite: (output, value) => asNumeric(binaryNumbers(output, "-", [value, value])),
  isInteger(output, value) {
    if (value.integer !== null) return constant(0);
    const nearest = asNumeric(mathNumbers(output, "trunc", [value]));
    return nearest && asNumeric(binaryNumbers(output, "-", [value, nearest]));
  },
  isSafeInteger(output, value) {
    if (value.integer !== null) return constant(0);
    const clamped = (["trunc", "min", "max"] as const).reduce<Numeric | null>((number, name) => {
      const bound = name === "trunc" ? [] : [constant(name === "min" ? EXACT - 1 : 1 - EXACT)];
      return number && asNumeric(mathNumbers(output, name, [number, ...bound]));
    }, value);
    return clamped && asNumeric(binaryNumbers(output, "-", [value, clamped]));
  },
};

const asNumeric = (value: Value | null): Numeric | null =>
  value?.kind === "number" || value?.kind === "constant" ? value : null;

/** The outcome of a test of Number, or of the function of that name; null if it is not modelled. */
export function testNumber(output: OutputGraph, name: string, value: NumberValue): Value | null {
  if (name === "isNaN") return binaryNumbers(output, "!==", [value, value]);
  const difference = Object.hasOwn(DIFFERENCES, name) ? DIFFERENCES[name]?.(output, value) : null;
  if (!difference) return null;
  return difference.kind === "constant"
    ? constant(difference.value === 0)
    : binaryNumbers(output, "===", [difference, constant(0)]);
}

/** A number of the trace, or a constant, as data of a tensor. */
export interface NumberLeaf {
  readonly hint: number;
  readonly expression: HostExpression;
  readonly integer?: NumberValue["integer"];
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
  for (const { expression, hint, integer = null } of decisive ? [decisive] : numbers) {
    if (integer !== null || isWholeNumber(expression) || expression.kind === "literal") continue;
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
