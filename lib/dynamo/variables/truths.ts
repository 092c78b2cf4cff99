/**
 * Truth values that differ between calls: negated, selected by others, and those of numbers that are selected from few
 * constants. Invariant: a truth value that does not depend on a condition is a constant.
 */
import { invariant } from "../../base/errors.ts";
import { constant, type ConstantValue, type Decision, isDecision, PassedValue } from "./constants.ts";
import { expressionSize, type HostExpression, shared } from "./host_number.ts";
import type { NumberValue } from "./number_value.ts";

/** Larger conditions are evaluated once. */
const LARGEST = 100;
/** Of more constants, each call compares the selected one. */
const MOST_OUTCOMES = 8;

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

/** One of two truth values, by another one. */
export function chooseTruth(test: Decision, [a, b]: readonly [ConstantValue, ConstantValue]): ConstantValue {
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

/** Returns what holds for a number that conditions select from few constants, by them; null for other numbers. */
export function truthOfSelected(
  value: NumberValue | ConstantValue,
  holds: (known: number) => boolean,
): ConstantValue | null {
  if (value.kind === "constant") return typeof value.value === "number" ? constant(holds(value.value)) : null;
  const { selection } = value;
  if (!selection || selection.outcomes === null || selection.outcomes > MOST_OUTCOMES) return null;
  const [yes, no] = selection.ways.map((each) => truthOfSelected(each, holds));
  if (!yes || !no) return null;
  const { test } = selection;
  if (!test.isSettled) return chooseTruth(test, [yes, no]);
  return test.value === true ? yes : no;
}
