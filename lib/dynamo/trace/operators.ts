/**
 * Traces the operators of the language; results are passed on after conversions. Invariant: constants are computed by
 * the operator itself; a result that depends on elements of tensors stays in the graph or breaks it.
 */
import { types } from "node:util";
import { invariant } from "../../base/errors.ts";
import { applyOperator } from "../../graph/numbers.ts";
import type { BinaryOperator, JumpCondition, UnaryOperator } from "../bytecode/instruction.ts";
import { breakGraph, callBuiltin } from "../break_reasons.ts";
import { callIn, isHostBinary } from "../variables/host_number.ts";
import { numberOfTruth } from "../variables/choices.ts";
import { binaryNumbers, truthOfNumber, unaryNumber } from "../variables/numbers.ts";
import { sameNumber } from "../variables/same_values.ts";
import { negation } from "../variables/truths.ts";
import { isObject, typeOf } from "../variables/type_of.ts";
import {
  constant,
  type ConstantValue,
  type Decision,
  isCallable,
  isDecision,
  isPassed,
  ItemValue,
  type ObjectValue,
  type Primitive,
  primitive,
  type TensorValue,
  UNDEFINED,
  type Value,
} from "../variables/value.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { toKey, toPrimitive } from "./coercion.ts";
import { equalPrimitives, isTruthyText, joinedText, type PrimitiveValue, settledNumber } from "./texts.ts";
import type { Interpreter } from "./interpreter.ts";
import { findProperty } from "./objects.ts";
import { refuseOpaque } from "./contents.ts";
import { hasKey, proxyOf, targetWithout } from "./proxies.ts";
import { COMPARISONS, computeLater, drawnLater, operate, settleInteger } from "./later_values.ts";
import { callOp, comparesExactly } from "./tensor_ops.ts";
import { hasTensorProperty, prototypeOf } from "./tensor_properties.ts";

type Then = (value: Value) => void;

/** A binary operator. */
export function binary(
  m: Interpreter,
  operator: BinaryOperator,
  operands: readonly [Value, Value],
  then: Then,
): void {
  const [left, right] = operands;
  switch (operator) {
    case "===":
    case "!==":
      return then(
        openComparison(m, operator, operands) ??
          constantOrItem(m, strictlyEqual(m, left, right), operator === "!=="),
      );
    case "==":
      return looselyEqual(m, left, right, (equal) => then(constantOrItem(m, equal, false)));
    case "!=":
      return looselyEqual(m, left, right, (equal) => then(constantOrItem(m, equal, true)));
    case "in":
      if (right.kind === "tensor") {
        return toKey(m, left, (key) => then(constant(hasTensorProperty(m, right, key))));
      }
      if (right.kind !== "object") return breakGraph("throws", "the in operator");
      return toKey(m, left, (key) => hasKey(m, right, key, (present) => then(constant(present))));
    case "instanceof": {
      const test = instanceTest(m, right);
      return test
        ? m.call({
          callee: test,
          self: right,
          args: [left],
          completion: { kind: "inside", then: (answer) => then(constant(settledTruth(m, answer))) },
        })
        : then(constant(instanceOf(m, left, right)));
    }
    default: {
      const hint = operator === "+" ? "default" : "number";
      return toPrimitive(
        m,
        left,
        hint,
        (a) => toPrimitive(m, right, hint, (b) => then(arithmetic(m, operator, a, b))),
      );
    }
  }
}

/** `===` or `!==` of numbers, or of a truth value and a known one, as a truth value; null for other operands. */
function openComparison(
  m: Interpreter,
  operator: "===" | "!==",
  operands: readonly [Value, Value],
): ConstantValue | null {
  const [a, b] = operands.map((each) => isNumber(each) ? each : null);
  if (a && b && (a.kind === "number" || b.kind === "number")) {
    const result = binaryNumbers(m.output, operator, [a, b]);
    return result.kind === "constant" ? result : null;
  }
  const test = operands.find(isDecision), other = operands.find((each) => each !== test);
  if (!test || other?.kind !== "constant" || other.type !== "boolean" || isDecision(other)) return null;
  return (other.value === true) === (operator === "===") ? test : negation(test);
}

/** Returns whether a value is a number that is known before the graph runs. */
function isNumber(value: Value): value is NumberValue | ConstantValue {
  return value.kind === "number" || (value.kind === "constant" && value.type === "number");
}

function constantOrItem(m: Interpreter, equal: boolean | ItemValue, negate: boolean): Value {
  if (typeof equal === "boolean") return constant(equal !== negate);
  if (!negate) return equal;
  return operate(m.output, "!", [equal]);
}

/** An operator on primitives. */
function arithmetic(
  m: Interpreter,
  operator: Exclude<BinaryOperator, "in" | "instanceof">,
  a: PrimitiveValue,
  b: PrimitiveValue,
): Value {
  if (COMPARISONS.has(operator)) [a, b] = [drawnLater(m.output, a), drawnLater(m.output, b)];
  if (a.kind === "item" || b.kind === "item") return itemArithmetic(m, operator, a, b);
  if (operator === "+" && [a, b].some((each) => each.kind === "constant" && each.type === "string")) {
    return joinedText(m, [a, b]);
  }
  if (a.kind === "number" || b.kind === "number" || isDecision(a) || isDecision(b)) {
    const left = numeric(m, a), right = numeric(m, b);
    if (left && right && isHostBinary(operator)) return binaryNumbers(m.output, operator, [left, right]);
    return constant(compute(operator, settled(m, a).value, settled(m, b).value));
  }
  return constant(compute(operator, a.value, b.value));
}

function numeric(m: Interpreter, value: PrimitiveValue): NumberValue | ConstantValue | null {
  if (value.kind === "number") return value;
  if (value.kind === "item") return null;
  if (isDecision(value)) return numberOfTruth(m.output, value);
  if (typeof value.value === "number") return value;
  if (typeof value.value === "boolean") return constant(Number(value.value));
  return null;
}

function settled(m: Interpreter, value: PrimitiveValue): ConstantValue {
  if (value.kind === "constant") return value;
  if (value.kind === "number") return settledNumber(m, value);
  return breakGraph("tensorItem", "an element is computed with");
}

/** Comparisons of an element with a constant stay in the graph. */
function itemArithmetic(m: Interpreter, operator: string, a: PrimitiveValue, b: PrimitiveValue): Value {
  const isSize = [a, b].some((each) => each.kind === "item" && (each.number?.dim ?? null) !== null);
  const ops: Record<string, string> = { "<": "lt", "<=": "le", ">": "gt", ">=": "ge" };
  const mirrored: Record<string, string> = { "<": "gt", "<=": "ge", ">": "lt", ">=": "le" };
  const [item, other, name] = a.kind === "item" ? [a, b, ops[operator]] : [b, a, mirrored[operator]];
  if (
    item.kind === "item" && item.tensor && !isSize && name && other.kind === "constant" &&
    typeof other.value === "number" && comparesExactly(item.tensor, other.value)
  ) {
    const result = callOp(m, m.opNamed(name), [item.tensor, other], true);
    invariant(result.kind === "tensor", "Expected a tensor from a comparison");
    return new ItemValue(result, null);
  }
  return operate(m.output, operator, [a, b]);
}

/** Applies the operator itself to known primitives. */
function compute(
  operator: Exclude<BinaryOperator, "in" | "instanceof">,
  a: Primitive,
  b: Primitive,
): Primitive {
  return callBuiltin("", () => computeBinary(operator, a, b));
}

/** The same; throws what the language throws. It runs no code of the program. */
export function computeBinary(operator: BinaryOperator, a: Primitive, b: Primitive): Primitive {
  return primitive(applyOperator(operator, [a, b])).value;
}

/** ===; objects are identical if their values are. */
export function strictlyEqual(m: Interpreter, first: Value, second: Value): boolean | ItemValue {
  const left = drawnLater(m.output, first), right = drawnLater(m.output, second);
  if (left.kind === "item" || right.kind === "item") {
    const [item, other] = left.kind === "item" ? [left, right] : [right, left];
    if (item.kind !== "item") return false;
    const known = other.kind === "constant";
    const isItsType = known && (typeof other.value === item.type ||
      (item.type === "integer" && (typeof other.value === "number" || typeof other.value === "bigint")));
    if (known && !isItsType) return false;
    const isInteger = (item.number?.dim ?? null) !== null;
    if (
      known && !isInteger && item.tensor && typeof other.value === "number" &&
      comparesExactly(item.tensor, other.value)
    ) {
      const result = callOp(m, m.opNamed("eq"), [item.tensor, other], true);
      if (result.kind === "tensor") return new ItemValue(result, null);
    }
    if (!known && other.kind !== "number" && other.kind !== "item") return false;
    const compared = operate(m.output, "===", [item, other]);
    return compared.kind === "item" ? compared : compared.value === true;
  }
  if (left.kind === "number" || right.kind === "number") {
    const a = left.kind === "number" || left.kind === "constant" ? left : null;
    const b = right.kind === "number" || right.kind === "constant" ? right : null;
    if (!a || !b) return false;
    if (
      (a.kind === "constant" && typeof a.value !== "number") ||
      (b.kind === "constant" && typeof b.value !== "number")
    ) {
      return false;
    }
    const result = binaryNumbers(m.output, "===", [a, b]);
    return result.kind === "constant" && result.value === true;
  }
  if (left.kind === "constant" && right.kind === "constant") {
    return equalPrimitives(m, left, right);
  }
  if (left === right) return true;
  if (isObject(left) && isObject(right)) {
    if (mayBeSizes(left, right) || mayBeSizes(right, left)) {
      return breakGraph("opaqueObject", "a list of sizes compared with another one");
    }
    guardDistinct(m, left, right);
  }
  return false;
}

/** Object.is; null if only the graph knows, or if a number is another one each time that it is computed. */
export function sameValue(m: Interpreter, a: Value, b: Value): ConstantValue | null {
  if (a.kind === "item" || b.kind === "item") return null;
  if (a.kind === "number" || b.kind === "number") {
    if (!isNumber(a) || !isNumber(b)) return constant(false);
    const isStable = (each: NumberValue | ConstantValue) =>
      each.kind === "constant" || callIn(each.expression) === null;
    return isStable(a) && isStable(b) ? sameNumber(m.output, a, b) : null;
  }
  if (a.kind === "constant" && b.kind === "constant" && a.type === "number" && b.type === "number") {
    return constant(Object.is(a.value, b.value));
  }
  const open = openComparison(m, "===", [a, b]);
  if (open) return open;
  const equal = strictlyEqual(m, a, b);
  return typeof equal === "boolean" ? constant(equal) : null;
}

/** Returns whether a value is the list of sizes of a tensor, and another may be the same list, which only calls know. */
function mayBeSizes(list: Value, other: Value): boolean {
  if (list.kind !== "object" || !list.tensorProperty || other.kind !== "object") return false;
  return Boolean(other.tensorProperty) || (Array.isArray(other.real) && Object.isFrozen(other.real));
}

/** Two objects that the program distinguishes must stay distinct. */
export function guardDistinct(
  m: Interpreter,
  a: ObjectValue | TensorValue,
  b: ObjectValue | TensorValue,
): void {
  if (a.source && b.source) m.output.guardDistinct([a.source, b.source]);
}

function looselyEqual(
  m: Interpreter,
  left: Value,
  right: Value,
  then: (equal: boolean | ItemValue) => void,
): void {
  const nullish = (v: Value) => v.kind === "constant" && v.isNullish;
  if (nullish(left) || nullish(right)) return then(nullish(left) && nullish(right));
  if (isObject(left) && isObject(right)) return then(strictlyEqual(m, left, right));
  const type = typeOf(left);
  if (!isObject(left) && !isObject(right) && type !== null && type === typeOf(right)) {
    return then(strictlyEqual(m, left, right));
  }
  toPrimitive(m, left, "default", (a) =>
    toPrimitive(m, right, "default", (b) => {
      [a, b] = [drawnLater(m.output, a), drawnLater(m.output, b)];
      if (a.kind === "item" || b.kind === "item") {
        return then(computeLater(m.output, { apply: "==", type: "boolean", operands: [a, b] }));
      }
      const x = settled(m, a).value, y = settled(m, b).value;
      then(compute("==", x, y) === true);
    }));
}

const OWN_TEST: unknown = Function.prototype[Symbol.hasInstance];

/** The program's own `Symbol.hasInstance`; null if it has none. */
function instanceTest(m: Interpreter, right: Value): ObjectValue | null {
  if (right.kind !== "object" || proxyOf(right)) return null;
  const found = findProperty(m, right, Symbol.hasInstance);
  if (found.kind === "getter") return breakGraph("opaqueObject", "a class with its own Symbol.hasInstance");
  const test = found.kind === "value" ? found.value : UNDEFINED;
  return isCallable(test) && test.real !== OWN_TEST ? test : null;
}

function settledTruth(m: Interpreter, value: Value): boolean {
  const truth = truthOf(m, value);
  return typeof truth === "boolean" ? truth : breakGraph("tensorItem", "an element decides about instanceof");
}

/** instanceof. */
function instanceOf(m: Interpreter, left: Value, right: Value): boolean {
  if (right.kind !== "object") return breakGraph("throws", "Right-hand side of instanceof");
  const proxy = proxyOf(right);
  if (proxy) return instanceOf(m, left, targetWithout(m, proxy, "get"));
  const custom = findProperty(m, right, Symbol.hasInstance);
  if (custom.kind === "absent" && !isCallable(right)) {
    return breakGraph("throws", "Right-hand side of instanceof");
  }
  if (
    !isCallable(right) || custom.kind !== "value" || custom.value.kind !== "object" ||
    custom.value.real !== OWN_TEST
  ) {
    return breakGraph("opaqueObject", "a class with its own Symbol.hasInstance");
  }
  if (right.exotic.kind === "bound") return instanceOf(m, left, right.exotic.target);
  // Primitives are never instances, whatever the right side is
  if (left.kind !== "tensor" && left.kind !== "object") return false;
  const found = findProperty(m, right, "prototype");
  if (found.kind === "getter") return breakGraph("opaqueObject", "a prototype with a getter");
  if (found.kind === "value" && found.value.kind === "tensor") {
    return breakGraph("opaqueObject", "a tensor as a prototype");
  }
  if (found.kind !== "value" || found.value.kind !== "object") return breakGraph("throws", "instanceof");
  const target = found.value;
  if (left.kind === "tensor") {
    for (let p: object | null = prototypeOf(m, left); p; p = Object.getPrototypeOf(p)) {
      if (p === target.real) return true;
    }
    return false;
  }
  if (left.exotic.kind === "thrown") refuseOpaque(left);
  if (left.exotic.kind === "opaque") {
    if (left.exotic.proxy) return instanceOf(m, targetWithout(m, left.exotic.proxy, "getPrototypeOf"), right);
    if (types.isProxy(left.real)) refuseOpaque(left);
    m.wrapper.relyOnPrototype(left);
    return target.real !== null && left.real !== null && isInChain(left.real, target.real);
  }
  return inheritsFrom(m, left, target);
}

/** Returns whether an object has another one in its prototype chain. */
export function inheritsFrom(m: Interpreter, object: ObjectValue, prototype: Value): boolean {
  for (let at: ObjectValue | null = object; at; at = at.prototype) {
    // Only a proxy itself determines its prototype.
    refuseOpaque(at);
    m.wrapper.relyOnPrototype(at);
    if (at.prototype === prototype) return true;
    if (at.prototype && prototype.kind === "object") guardDistinct(m, at.prototype, prototype);
  }
  return false;
}

function isInChain(object: object, prototype: object): boolean {
  for (let p: object | null = Object.getPrototypeOf(object); p; p = Object.getPrototypeOf(p)) {
    if (p === prototype) return true;
  }
  return false;
}

/** A unary operator. */
export function unary(m: Interpreter, operator: UnaryOperator, value: Value, then: Then): void {
  switch (operator) {
    case "typeof":
      if (value.kind === "item") settleInteger(m.output, value);
      return then(constant(typeOf(value) ?? breakGraph("coercion")));
    case "void":
      return then(constant(undefined));
    case "!": {
      const open = openTruth(m, value);
      if (open) return then(negation(open));
      const truth = truthOf(m, drawnLater(m.output, value));
      if (typeof truth === "boolean") return then(constant(!truth));
      if (truth.type === "boolean") {
        if (truth.tensor) {
          const flipped = callOp(m, m.opNamed("logicalNot"), [truth.tensor], true);
          if (flipped.kind === "tensor") return then(new ItemValue(flipped, null));
        }
      }
      return then(operate(m.output, "!", [truth]));
    }
    case "-":
    case "+":
    case "~":
      return toPrimitive(m, value, "number", (primitive) => {
        if (primitive.kind === "item") {
          if (operator === "+" && primitive.type === "number") return then(primitive);
          return then(operate(m.output, operator, [primitive]));
        }
        const number = isDecision(primitive) ? numberOfTruth(m.output, primitive) : primitive;
        if (number.kind === "number") return then(unaryNumber(m.output, operator, number));
        then(constant(computeUnary(operator, number.value)));
      });
    default:
      return operator satisfies never;
  }
}

/** Applies `-`, `+` or `~` to a known primitive. */
export function computeUnary(operator: "-" | "+" | "~", value: Primitive): Primitive {
  if (typeof value === "symbol") return breakGraph("throws", "Cannot convert a Symbol value to a number");
  if (typeof value === "bigint") {
    return operator === "-"
      ? -value
      : operator === "~"
      ? ~value
      : breakGraph("throws", "Cannot convert a BigInt value to a number");
  }
  const number = Number(value);
  return operator === "-" ? -number : operator === "~" ? ~number : number;
}

/** The truth of a value if the program has not settled it; null if it is known, or only the graph knows it. */
export function openTruth(m: Interpreter, value: Value): Decision | null {
  if (isDecision(value)) return value;
  if (value.kind !== "number" || callIn(value.expression)) return null;
  const truth = truthOfNumber(m.output, value);
  return isDecision(truth) ? truth : null;
}

/** Returns whether a value is truthy; an element of a tensor if only the graph knows. */
export function truthOf(m: Interpreter, value: Value): boolean | ItemValue {
  switch (value.kind) {
    case "constant":
      return isPassed(value) && value.type !== "boolean" ? isTruthyText(m, value) : Boolean(value.value);
    case "number":
      return truthOfNumber(m.output, value).value === true;
    case "item":
      return value;
    case "tensor":
    case "object":
      return true;
    case "uninitialized":
    case "cell":
    case "enumerator":
      return breakGraph("coercion");
    default:
      return value satisfies never;
  }
}

/** Returns whether a jump is taken; if only the graph knows, an element of a tensor with the value for which it is. */
export function jumps(m: Interpreter, condition: JumpCondition, value: Value): boolean | ItemValue {
  const isNullish = value.kind === "constant" && value.isNullish;
  const isUndefined = value.kind === "constant" && value.type === "undefined";
  switch (condition) {
    case "truthy":
      return truthOf(m, value);
    case "falsy": {
      const truth = truthOf(m, value);
      return typeof truth === "boolean" ? !truth : truth;
    }
    case "nullish":
      return isNullish;
    case "notNullish":
      return !isNullish;
    case "undefined":
      return isUndefined;
    case "notUndefined":
      return !isUndefined;
    default:
      return condition satisfies never;
  }
}

/** ToNumeric, and the increment that follows it. */
export function increment(m: Interpreter, value: Value, by: 1 | -1): Value {
  if (value.kind === "constant") {
    if (typeof value.value === "bigint") return constant(value.value + BigInt(by));
    return constant(Number(value.value) + by);
  }
  if (value.kind === "number") return binaryNumbers(m.output, "+", [value, constant(by)]);
  if (value.kind === "item") return operate(m.output, "+", [value, constant(by)]);
  return breakGraph("coercion");
}

/** ToNumeric. */
export function toNumeric(m: Interpreter, value: Value, then: Then): void {
  toPrimitive(m, value, "number", (primitive) => {
    if (primitive.kind === "item" && typeOf(primitive) !== "number") {
      return then(operate(m.output, "+", [primitive]));
    }
    if (isDecision(primitive)) return then(numberOfTruth(m.output, primitive));
    if (primitive.kind !== "constant") return then(primitive);
    if (typeof primitive.value === "bigint") return then(primitive);
    if (typeof primitive.value === "symbol") {
      return breakGraph("throws", "Cannot convert a Symbol value to a number");
    }
    then(constant(Number(primitive.value)));
  });
}
