/**
 * Strings of the traced program: primitives converted to strings, concatenated, and results of methods. Invariant: a
 * string that depends on one that differs between calls may change until the program inspects it.
 */
import { breakGraph } from "../break_reasons.ts";
import { hostLeafText } from "../guards/text.ts";
import { type HostText, partsOf, type TextPart } from "../variables/constants.ts";
import { callIn, type HostExpression, hostText } from "../variables/host_number.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { functionLabel } from "../variables/labels.ts";
import {
  constant,
  type ConstantValue,
  isPassed,
  type ItemValue,
  PassedValue,
  type Value,
} from "../variables/value.ts";
import { type NumberValue, settleSelection } from "../variables/number_value.ts";
import type { Interpreter } from "./interpreter.ts";
import { computeLater, drawnLater } from "./later_values.ts";

/** A value that is not an object. */
export type PrimitiveValue = ConstantValue | NumberValue | ItemValue;

/** A number as a constant of this version; breaks the graph if several versions are already specialised. */
export function settledNumber(m: Interpreter, value: NumberValue): ConstantValue {
  // Of what a condition selects, few versions are needed
  if (value.selection) {
    const selected = settleSelection(value.selection);
    return selected.kind === "constant" ? selected : settledNumber(m, selected);
  }
  return m.wrapper.changes.hasMany(value) ? breakGraph("changingText") : specializeNumber(m.output, value);
}

/** Like `settledNumber`, for a key or a length that may not be a number; numbers that each call draws are unchanged. */
export function settled(m: Interpreter, value: Value): Value {
  return value.kind === "number" && !callIn(value.expression) ? settledNumber(m, value) : value;
}

/** The text of a primitive. */
export function textOf(m: Interpreter, primitive: PrimitiveValue): string {
  switch (primitive.kind) {
    case "constant":
      if (typeof primitive.value === "symbol") {
        return breakGraph("throws", "Cannot convert a Symbol value to a string");
      }
      return String(primitive.value);
    case "number":
      return String(settledNumber(m, primitive).value);
    case "item":
      return breakGraph("tensorItem", "an element is converted to text");
    default:
      return primitive satisfies never;
  }
}

/** Longer strings are specialised in one version. */
const MOST_PARTS = 64;

/** The text of a number that differs between calls; null if generated code would have to evaluate it twice. */
function numberText({ expression }: NumberValue): HostExpression | null {
  return callIn(expression) === null ? expression : null;
}

/** A string of known pieces and of numbers that differ between calls, for those that read the numbers. */
export class JoinedText extends PassedValue {
  constructor(
    hint: string,
    text: HostText,
    settle: PassedValue["settle"],
    /** The pieces in order. */
    readonly pieces: readonly (string | NumberValue)[],
  ) {
    super(hint, text, settle);
  }
}

/** The pieces of a concatenation; null if one of them is neither known nor a number. */
function piecesOf(operands: readonly PrimitiveValue[]): readonly (string | NumberValue)[] | null {
  const all = operands.map((each): readonly (string | NumberValue)[] | null => {
    if (each instanceof JoinedText && isPassed(each)) return each.pieces;
    if (each.kind === "number") return [each];
    return each.kind === "constant" && !isPassed(each) ? [String(each.value)] : null;
  });
  const known = all.filter((each) => each !== null);
  return known.length === all.length ? known.flat() : null;
}

/** A string that may differ in other calls, composed of these parts. */
function passedText(m: Interpreter, hint: string, { text, of, pieces = null }: {
  readonly text: HostText;
  readonly of: readonly PrimitiveValue[];
  readonly pieces?: JoinedText["pieces"] | null;
}): ConstantValue {
  const settle = (mayEnd: boolean): void => {
    for (const each of of) {
      if (isPassed(each)) each.look(mayEnd);
      else if (each.kind === "number" && !mayEnd) specializeNumber(m.output, each);
      else textOf(m, each);
    }
  };
  const made = pieces ? new JoinedText(hint, text, settle, pieces) : new PassedValue(hint, text, settle);
  return partsOf(text).length > MOST_PARTS ? constant(made.value) : made;
}

/** The concatenation of primitives, without inspecting those that may differ in other calls. */
export function joinedText(
  m: Interpreter,
  given: readonly PrimitiveValue[],
): ConstantValue | ItemValue {
  const operands = given.map((each) => drawnLater(m.output, each));
  if (operands.some(({ kind }) => kind === "item")) {
    return computeLater(m.output, { apply: "text", type: "string", operands });
  }
  const parts: TextPart[] = [];
  let hint = "";
  for (const each of operands) {
    const number = each.kind === "number" && numberText(each);
    if (number) parts.push(number);
    else if (isPassed(each) && each.type === "string") parts.push(...partsOf(each.text));
    else parts.push(textOf(m, each));
    const last = parts.at(-1);
    hint += number && each.kind === "number" ? each.hint : isPassed(each) ? String(each.hint) : last;
  }
  return parts.every((part) => typeof part === "string")
    ? constant(hint)
    : passedText(m, hint, { text: parts, of: operands, pieces: piecesOf(operands) });
}

/**
 * The string that a builtin method computes from a changing string or number and from constants; null for other values.
 */
export function textByMethod(
  m: Interpreter,
  method: object,
  { self, args }: { readonly self: Value; readonly args: readonly Value[] },
): ConstantValue | null {
  if (typeof method !== "function" || (self.kind !== "number" && !isPassed(self))) return null;
  const text = self.kind === "number" ? numberText(self) : self.text;
  const known = args.flatMap((arg) => arg.kind === "constant" && !isPassed(arg) ? [arg] : []);
  if (text === null || known.length < args.length) return null;
  let result: unknown;
  try {
    result = Reflect.apply(method, self.hint, known.map(({ value }) => value));
  } catch {
    // The method does not accept these arguments; the caller decides what to do
    return null;
  }
  if (typeof result !== "string") return null;
  return passedText(m, result, { text: [{ kind: "method", method, self: text, args: known }], of: [self] });
}

/** Returns whether a text is not empty, or a bigint not zero. */
export function isTruthyText(m: Interpreter, value: PassedValue): boolean {
  const { text, type, hint } = value;
  if (type === "bigint") return Boolean(value.value);
  if (type === "symbol" || partsOf(text).some((part) => typeof part === "string" && part !== "")) return true;
  if (!("kind" in text) || text.kind !== "source") return value.look(false) !== "";
  m.output.guard({ kind: "ownKey", source: text.source, key: "0", present: hint !== "" });
  return hint !== "";
}

/** Returns the expression of a string in guards; null for one without a place, and for other values. */
function comparedAs(value: ConstantValue): HostExpression | null {
  if (!isPassed(value)) {
    return typeof value.value === "string" ? { kind: "literal", value: value.value } : null;
  }
  return "kind" in value.text && value.text.kind === "source" ? value.text : null;
}

/** `===` of primitives: one version serves all strings that differ from the one they are compared with. */
export function equalPrimitives(m: Interpreter, left: ConstantValue, right: ConstantValue): boolean {
  const passed = [left, right].filter(isPassed);
  if (left === right && passed.length > 0) return true;
  if (left.type !== right.type) return false;
  const [a, b] = passed.length > 0 ? [comparedAs(left), comparedAs(right)] : [];
  if (!a || !b) return left.value === right.value;
  const [first, ...others] = [left, right].map((each) => isPassed(each) ? each.hint : each.value);
  const expected = others[0] === first;
  // A string that equals a known one is known
  if (expected && passed.length === 1) return passed[0]?.value === first;
  m.output.guard({
    kind: "expression",
    expression: { kind: "binary", operator: "===", left: a, right: b },
    expected,
  });
  return expected;
}

/** Creates a version for one key, or breaks the graph. */
export function settleKey(m: Interpreter, { text, hint }: PassedValue): void {
  if (m.wrapper.changes.needsMany(`key ${computationOf(text)}`, hint)) breakGraph("changingText");
}

/** A string by the places and methods from which it is computed. */
function computationOf(text: HostText): string {
  return partsOf(text).map((part) =>
    typeof part === "string"
      ? part
      : part.kind === "method"
      ? `${functionLabel(part.method)}(${computationOf(part.self)})`
      : hostText(part, hostLeafText)
  ).join();
}
