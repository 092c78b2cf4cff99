/**
 * Lists of numbers that each call sorts before the graph, by comparators that only compute: neither the order nor a
 * comparison is guarded. Invariant: the numbers come in the order of the comparisons that a traced sort makes.
 */
import { BreakSignal } from "../break_reasons.ts";
import { type HostExpression, isWholeNumber, operandsOf, ranking } from "../variables/host_number.ts";
import { numberOfTruth } from "../variables/choices.ts";
import { dimOf, expressionOf, hintOfNumber, makeNumber, type Numeric } from "../variables/numbers.ts";
import { NumberValue } from "../variables/number_value.ts";
import { constant, HOLE, isDecision, isPassed, type ObjectValue, type Value } from "../variables/value.ts";
import { LONGEST_SORTED, sortedPlaces } from "../functions/sorting_polyfills.ts";
import { elementAt, elementsOf } from "./contents.ts";
import type { Interpreter } from "./interpreter.ts";
import { NotPure, PurePaths } from "./pure_paths.ts";

/** The numbers of a list in the order of a comparator; null if it has to be traced. */
export function sortedOnHost(m: Interpreter, list: ObjectValue, comparator: ObjectValue): Value[] | null {
  const numbers = numbersOf(m, list);
  if (!numbers || numbers.length < 2) return null;
  try {
    return sorted(m, numbers, comparator);
  } catch (signal) {
    if (signal instanceof BreakSignal || signal instanceof NotPure) return null;
    throw signal;
  }
}

/** The elements of a list without holes; null if one of them is not a number. */
function numbersOf(m: Interpreter, list: ObjectValue): Numeric[] | null {
  const elements = elementsOf(m, list), numbers: Numeric[] = [];
  if (elements.length > LONGEST_SORTED) return null;
  for (let i = 0; i < elements.length; i++) {
    const number = elements[i] === HOLE ? null : numeric(elementAt(m, list, i));
    if (!number) return null;
    numbers.push(number);
  }
  return numbers;
}

function numeric(value: Value): Numeric | null {
  if (value.kind === "number") return value;
  return value.kind === "constant" && value.type === "number" ? value : null;
}

function sorted(m: Interpreter, numbers: readonly Numeric[], comparator: ObjectValue): Value[] | null {
  const columns = [numbers],
    read: { readonly from: ObjectValue; readonly at: number; readonly column: number }[] = [];
  const rowOf = (side: 0 | 1, column = 0): NumberValue =>
    new NumberValue(
      { kind: "compared", side, column },
      hintOfNumber(columns[column]?.[side] ?? constant(NaN)),
      null,
    );
  // An element of another list at what is compared, as where indices are sorted, is a further column
  const elementOf = (other: ObjectValue, { expression }: NumberValue): NumberValue | null => {
    const indices = expression.kind === "compared" ? columns[expression.column] : undefined;
    if (expression.kind !== "compared" || !indices || other.exotic.kind !== "array") return null;
    const known = read.find(({ from, at }) => from === other && at === expression.column);
    if (known) return rowOf(expression.side, known.column);
    const elements = elementsOf(m, other);
    const column = indices.map((index) => {
      const at = index.kind === "constant" ? Number(index.value) : -1, found = elements[at];
      return found === undefined || found === HOLE ? null : numeric(elementAt(m, other, at));
    }).filter((each) => each !== null);
    if (column.length < indices.length) return null;
    read.push({ from: other, at: expression.column, column: columns.push(column) - 1 });
    return rowOf(expression.side, columns.length - 1);
  };
  const order = orderOf(m, new PurePaths(m, elementOf).result(comparator, [rowOf(0), rowOf(1)]));
  const expressions = columns.map((column) => column.map(expressionOf));
  const known = order && ranking(expressions, expressionOf(order));
  if (!known) return null;
  const places = sortedPlaces(numbers.length, (i, j) => {
    const pair = [i, j].map((at) => constant(hintOfNumber(numbers[at] ?? constant(NaN))));
    const compared = orderOf(m, new PurePaths(m).result(comparator, pair));
    if (!compared) throw new NotPure();
    return hintOfNumber(compared);
  });
  const isFixed = expressions.flat().every((each) => each.kind === "literal") && isComparison(known.order);
  const isWhole = expressions[0]?.every((each) => isWholeNumber(each)) ?? false;
  return places.map((place, at) => {
    const number = numbers[place] ?? constant(NaN);
    if (isFixed) return number;
    const ranked = { kind: "ranked", ranking: known, at } as const;
    // A size is one of those that were sorted, as long as it comes from the same place
    const dim = () => {
      const found = dimOf(number), expression = { ...ranked, part: "place", isWhole: true } as const;
      if (found !== null) m.output.guard({ kind: "expression", expression, expected: place });
      return found;
    };
    const expression: HostExpression = { ...ranked, part: "number", isWhole };
    return makeNumber(m.output, { expression, hint: hintOfNumber(number), integer: null, dim });
  });
}

/** The result of a comparator as a number; null if it is none. */
function orderOf(m: Interpreter, result: Value): Numeric | null {
  if (isDecision(result)) return numberOfTruth(m.output, result);
  if (result.kind === "constant" && result.type === "boolean" && !isPassed(result)) {
    return constant(Number(result.value));
  }
  return numeric(result);
}

/** Returns whether an order depends on nothing but what is compared. */
function isComparison(order: HostExpression): boolean {
  if (order.kind === "compared" || order.kind === "literal") return true;
  const operands = operandsOf(order);
  return operands.length > 0 && operands.every(isComparison);
}
