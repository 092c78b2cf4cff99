/**
 * Truth values that differ between calls, and the numbers that they select: each call computes both before the graph.
 * Invariant: no guard depends on a condition that only selects; what needs a known value settles the condition.
 */
import type { OutputGraph } from "../trace/output_graph.ts";
import { callIn, isWholeNumber } from "./host_number.ts";
import { settleSelection } from "./number_value.ts";
import { dimOf, expressionOf, hintOfNumber, makeNumber, type Numeric } from "./numbers.ts";
import { chooseTruth } from "./truths.ts";
import { constant, type ConstantValue, type Decision, type Value } from "./value.ts";

/** One of two primitives, by a truth value; null if only their numbers and truth values can be selected. */
export function chooseOnHost(
  output: OutputGraph,
  test: Decision,
  ways: readonly [Value, Value],
): Value | null {
  const [a, b] = ways;
  if (isTruth(a) && isTruth(b)) return chooseTruth(test, [a, b]);
  return isNumeric(a) && isNumeric(b) ? chooseNumber(output, test, [a, b]) : null;
}

/** A truth value as the number that arithmetic makes of it. */
export function numberOfTruth(output: OutputGraph, test: Decision): Numeric {
  return chooseNumber(output, test, [constant(1), constant(0)]);
}

function isTruth(value: Value): value is ConstantValue {
  return value.kind === "constant" && value.type === "boolean";
}

function isNumeric(value: Value): value is Numeric {
  if (value.kind === "number") return callIn(value.expression) === null;
  return value.kind === "constant" && value.type === "number";
}

function chooseNumber(output: OutputGraph, test: Decision, ways: readonly [Numeric, Numeric]): Numeric {
  const [a, b] = ways, selected = test.hint === true ? a : b;
  if (a.kind === "constant" && b.kind === "constant" && Object.is(a.value, b.value)) return a;
  const selection = { test, ways, outcomes: outcomesOf(ways) };
  return makeNumber(output, {
    expression: {
      kind: "choice",
      test: test.text,
      whenTrue: expressionOf(a),
      whenFalse: expressionOf(b),
      isWhole: ways.every(isWhole),
    },
    hint: hintOfNumber(selected),
    integer: null,
    dim: () => {
      const dim = dimOf(selected);
      if (dim !== null) settleSelection(selection);
      return dim;
    },
    selection,
  });
}

function isWhole(value: Numeric): boolean {
  if (value.kind === "constant") return Number.isSafeInteger(value.value) && !Object.is(value.value, -0);
  return value.integer !== null || isWholeNumber(value.expression);
}

/** Returns how many constants there are to select from; null if other numbers are among them. */
function outcomesOf(ways: readonly Numeric[]): number | null {
  const counts = ways.map((each) => each.kind === "constant" ? 1 : each.selection?.outcomes ?? null);
  return counts.reduce((sum, each) => sum === null || each === null ? null : sum + each, 0);
}
