/**
 * Truth values that differ between calls, and the numbers that they select: each call computes both before the graph.
 * Invariant: no guard depends on a condition that only selects; what needs a known value settles the condition.
 */
import { invariant } from "../../base/errors.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import { callIn, expressionSize, type HostExpression, isWholeNumber, shared } from "./host_number.ts";
import { dimOf, expressionOf, hintOfNumber, makeNumber, type Numeric } from "./numbers.ts";
import { constant, type ConstantValue, type Decision, isDecision, PassedValue, type Value } from "./value.ts";

/** Larger conditions are evaluated once. */
const LARGEST = 100;

/** The negation of a truth value. */
export function negation(test: Decision): Decision {
  return madeOf({ kind: "unary", operator: "!", operand: test.text }, !test.hint, [test]);
}

function madeOf(text: HostExpression, hint: boolean, of: readonly Decision[]): Decision {
  const once = expressionSize(text, LARGEST) < LARGEST ? null : shared(text);
  const made = new PassedValue(hint, once ?? text, (mayEnd) => {
    for (const each of of) if (isDecision(each)) each.look(mayEnd);
  });
  invariant(isDecision(made), "Expected a truth value");
  return made;
}

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

function chooseTruth(test: Decision, [a, b]: readonly [ConstantValue, ConstantValue]): Value {
  const known = [a, b].map((each) => isDecision(each) ? null : each.value === true), [yes, no] = known;
  if (yes !== null && yes === no) return a;
  if (yes === true && no === false) return test;
  if (yes === false && no === true) return negation(test);
  const textOf = (each: ConstantValue): HostExpression =>
    isDecision(each) ? each.text : { kind: "literal", value: each.value === true };
  const selected = test.hint === true ? a : b;
  const text: HostExpression = {
    kind: "choice",
    test: test.text,
    whenTrue: textOf(a),
    whenFalse: textOf(b),
    isWhole: false,
  };
  const hint = (isDecision(selected) ? selected.hint : selected.value) === true;
  return madeOf(text, hint, isDecision(selected) ? [test, selected] : [test]);
}

function chooseNumber(output: OutputGraph, test: Decision, ways: readonly [Numeric, Numeric]): Numeric {
  const [a, b] = ways, selected = test.hint === true ? a : b;
  if (a.kind === "constant" && b.kind === "constant" && Object.is(a.value, b.value)) return a;
  const settle = () => {
    if (isDecision(test)) test.look(true);
    return selected;
  };
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
      if (dim !== null) settle();
      return dim;
    },
    settle,
  });
}

function isWhole(value: Numeric): boolean {
  if (value.kind === "constant") return Number.isSafeInteger(value.value) && !Object.is(value.value, -0);
  return value.integer !== null || isWholeNumber(value.expression);
}
