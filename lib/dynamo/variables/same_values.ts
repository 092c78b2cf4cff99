/**
 * SameValue of numbers that differ between calls: NaN is the same as itself, and zeros of both signs differ. Invariant:
 * the truth value stays open until the program depends on it.
 */
import { invariant } from "../../base/errors.ts";
import type { OutputGraph } from "../trace/output_graph.ts";
import { binaryNumbers, hintOfNumber, type Numeric } from "./numbers.ts";
import { chooseTruth, truthOfSelected } from "./truths.ts";
import { constant, type ConstantValue, FALSE, isDecision, TRUE } from "./value.ts";

/** Object.is of two numbers. */
export function sameNumber(output: OutputGraph, a: Numeric, b: Numeric): ConstantValue {
  const [known, other] = a.kind === "constant" ? [a, b] : [b, a];
  const outcome = known.kind === "constant"
    ? truthOfSelected(other, (each) => Object.is(each, known.value))
    : null;
  if (outcome) return outcome;
  const compare = (operator: "===" | "!==", of: readonly [Numeric, Numeric]): ConstantValue => {
    const result = binaryNumbers(output, operator, of);
    invariant(result.kind === "constant", "Expected a truth value");
    return result;
  };
  const isEqual = compare("===", [a, b]);
  // Equal numbers have equal reciprocals, unless they are zeros of different signs
  const haveOneSign = () => compare("===", [reciprocal(output, a), reciprocal(output, b)]);
  const isSame = [a, b].every(isUnsigned) ? isEqual : both(isEqual, haveOneSign);
  const areNaN = both(compare("!==", [a, a]), () => compare("!==", [b, b]));
  return isDecision(isSame) ? chooseTruth(isSame, [TRUE, areNaN]) : isSame.value === true ? TRUE : areNaN;
}

/** Returns whether a number is nonzero in all calls or has the sign of zero that integers have. */
function isUnsigned(value: Numeric): boolean {
  return value.kind === "number" ? value.integer !== null : !Object.is(value.value, -0);
}

function reciprocal(output: OutputGraph, value: Numeric): Numeric {
  if (value.kind === "constant") return constant(1 / hintOfNumber(value));
  const result = binaryNumbers(output, "/", [constant(1), value]);
  invariant(result.kind === "number" || result.kind === "constant", "Expected a number");
  return result;
}

/** The conjunction of two truth values. */
function both(test: ConstantValue, then: () => ConstantValue): ConstantValue {
  if (isDecision(test)) return chooseTruth(test, [then(), FALSE]);
  return test.value === true ? then() : FALSE;
}
