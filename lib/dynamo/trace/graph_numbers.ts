/**
 * Numbers that the graph itself computes: elements of tensors, and numbers that the program computes from them by
 * JavaScript's operators. Each is an item whose value is that of a node. Invariant: a node applies the operator of the
 * language to the numbers themselves; a size beside it is the same integer, except that -0 equals 0 there (`signed`).
 */
import { type DType, isComplex, isFloat } from "../../base/dtype.ts";
import { config } from "../../base/config.ts";
import type { Argument, Node, NodeValue } from "../../graph/node.ts";
import type { TensorMeta } from "../../graph/meta.ts";
import { NUMBER } from "../../graph/numbers.ts";
import {
  add,
  boundsOf,
  type Dim,
  floorDiv,
  max,
  min,
  mod,
  mul,
  type Relation,
  sub,
  Sym,
} from "../../sym/expr.ts";
import { isHostMath } from "../variables/host_number.ts";
import { typeOf } from "../variables/type_of.ts";
import { constant, type ConstantValue, ItemValue, type TensorValue, type Value } from "../variables/value.ts";
import { GraphNumber, type NumberValue } from "../variables/number_value.ts";
import { breakGraph } from "../break_reasons.ts";
import { scalarMeta } from "../scalars.ts";
import type { OutputGraph } from "./output_graph.ts";

/** A primitive that may be an operand. */
type PrimitiveValue = ConstantValue | NumberValue | ItemValue;

/** Ranges of integer types within which they are numbers; an int64 beyond its range fails the call. */
const INTEGER_BOUNDS: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int8: [-128, 127],
  uint8: [0, 255],
};

/** Returns the result of a tensor's `item()`: a number of the graph if the settings keep it there. */
export function itemOf(output: OutputGraph, tensor: TensorValue): ItemValue {
  if (isComplex(tensor.meta.dtype)) breakGraph("tensorItem", "a complex element is not a number");
  const known = output.items.get(tensor);
  if (known && (known.number || !config.captureScalarOutputs)) return known;
  const item = new ItemValue(tensor, config.captureScalarOutputs ? numberOf(output, tensor) : null);
  output.items.set(tensor, item);
  output.readLater.push(item);
  return item;
}

/** An element as a number of the graph; with bounds also as a size. */
function numberOf(
  output: OutputGraph,
  tensor: TensorValue,
  bounds = INTEGER_BOUNDS[tensor.meta.dtype] ?? null,
): GraphNumber {
  const { dtype } = tensor.meta, dim = bounds && output.sizes.createUnbacked(bounds);
  const node = append(output, NUMBER.item, {
    args: [output.nodeOf(tensor)],
    value: dim === null ? { kind: "number", dtype } : { kind: "size", size: dim },
  });
  return new GraphNumber(node, { type: dtype === "bool" ? "boolean" : "number", dim });
}

/** An int64 element as a number of the graph, which fails calls in which it is too large for one. */
export function checkedNumber(output: OutputGraph, tensor: TensorValue): GraphNumber {
  return numberOf(output, tensor, null);
}

/** A size that depends on elements, as a number. */
export function itemOfSize(output: OutputGraph, dim: Sym): ItemValue {
  return new ItemValue(null, new GraphNumber(() => sizeNode(output, dim), { type: "number", dim }));
}

/** A node whose value is a size; one for each size. */
function sizeNode(output: OutputGraph, dim: Sym): Node {
  let node = output.sizeNumbers.get(dim);
  if (!node) {
    node = append(output, NUMBER.size, { args: [dim], value: { kind: "number", dtype: "int64" } });
    output.sizeNumbers.set(dim, node);
  }
  return node;
}

/** The number of an item; null if it is not a number of the graph. */
export function graphNumber(output: OutputGraph, item: ItemValue): GraphNumber | null {
  if (item.number || !item.tensor) return item.number;
  return itemOf(output, item.tensor).number;
}

/** A primitive as an argument of a number node; null if graphs have no such argument. */
function argumentOf(output: OutputGraph, value: PrimitiveValue): Argument | null {
  switch (value.kind) {
    case "constant":
      return typeof value.value === "number" || typeof value.value === "boolean" ? value.value : null;
    case "number":
      if (value.dim instanceof Sym) return sizeNode(output, value.dim);
      return append(output, NUMBER.item, {
        args: [output.scalarNode(value)],
        value: { kind: "number", dtype: "float64" },
      });
    case "item":
      return graphNumber(output, value)?.node ?? null;
    default:
      return value satisfies never;
  }
}

/** A primitive as a size; null if it is not one. */
function dimOf(output: OutputGraph, value: PrimitiveValue): Dim | null {
  switch (value.kind) {
    case "constant":
      return typeof value.value === "number" && Number.isSafeInteger(value.value) ? value.value : null;
    case "number":
      return value.dim;
    case "item":
      return graphNumber(output, value)?.dim ?? null;
    default:
      return value satisfies never;
  }
}

/** Comparisons as relations between sizes: of the operands in this order or swapped, that hold or do not. */
export const RELATIONS: Readonly<
  Record<string, readonly [relation: Relation, swapped: boolean, outcome: boolean] | undefined>
> = {
  "<": ["lt", false, true],
  ">": ["lt", true, true],
  "<=": ["le", false, true],
  ">=": ["le", true, true],
  "===": ["eq", false, true],
  "!==": ["eq", false, false],
};

/** An operator on numbers, at least one of which is a number of the graph; null if the graph cannot apply it. */
export function applyOperator(
  output: OutputGraph,
  operator: string,
  operands: readonly PrimitiveValue[],
): ConstantValue | ItemValue | null {
  const items = operands.filter((each) => each.kind === "item");
  if (items.some(({ later }) => later)) return null;
  if (!config.captureScalarOutputs && items.every(({ tensor }) => tensor)) return null;
  const args: Argument[] = [];
  for (const operand of operands) {
    const argument = argumentOf(output, operand);
    if (argument === null) return null;
    args.push(argument);
  }
  const dims = operands.map((operand) => dimOf(output, operand));
  const asked = operands.length === 2 ? RELATIONS[operator] : undefined;
  if (asked || (operator === "!" && operands.length === 1)) {
    const [a = null, b = null] = dims;
    const sides = asked && a !== null && b !== null ? asked[1] ? [b, a] as const : [a, b] as const : null;
    const relation = asked && sides ? { relation: asked[0], sides, outcome: asked[2] } : null;
    const known = relation ? output.sizes.known(relation.relation, relation.sides) : undefined;
    if (relation && known !== undefined) return constant(known === relation.outcome);
    const node = append(output, NUMBER.apply, {
      args: [operator, ...args],
      value: { kind: "number", dtype: "bool" },
    });
    return new ItemValue(null, new GraphNumber(node, { type: "boolean", relation }));
  }
  const result = dims.every((dim) => dim !== null) ? sizeOf(operator, dims) : null;
  const quotient = operator === "/" ? quotientOf(dims) : null;
  if (typeof result?.dim === "number" && !result.signed) return constant(result.dim);
  const { dim = null, signed = false } = result ?? {};
  const node = append(output, NUMBER.apply, {
    args: [operator, ...args],
    value: { kind: "number", dtype: "float64" },
  });
  const inherits = operands.some((each) => each.kind === "item" && each.number?.signed === true);
  return new ItemValue(
    null,
    new GraphNumber(node, { type: "number", dim, signed: signed || inherits, quotient }),
  );
}

/** Selects one of two numbers by a condition of the graph; null if they cannot be numbers of a graph. */
export function choose(output: OutputGraph, test: ItemValue, ways: readonly [Value, Value]): Value | null {
  const condition = graphNumber(output, test), [a, b] = ways;
  if (!condition || !isPrimitive(a) || !isPrimitive(b)) return null;
  const type = typeOf(a);
  if ((type !== "number" && type !== "boolean") || typeOf(b) !== type) return null;
  const args = [a, b].map((each) => argumentOf(output, each));
  const dims = [a, b].map((each) => dimOf(output, each));
  const [one, other] = args, [first = null, second = null] = dims;
  if (one === null || one === undefined || other === null || other === undefined) return null;
  const bounds = first !== null && second !== null ? [boundsOf(first), boundsOf(second)] : null;
  const dim = bounds && type === "number"
    ? output.sizes.createUnbacked([
      Math.min(...bounds.map(([lower]) => lower)),
      Math.max(...bounds.map(([, upper]) => upper)),
    ])
    : null;
  const node = append(output, NUMBER.apply, {
    args: ["?:", condition.node, one, other],
    value: dim
      ? { kind: "size", size: dim }
      : { kind: "number", dtype: type === "number" ? "float64" : "bool" },
  });
  const signed = [a, b].some((each) => each.kind === "item" && each.number?.signed === true) ||
    [a, b].some((each) => each.kind === "constant" && Object.is(each.value, -0));
  return new ItemValue(null, new GraphNumber(node, { type, dim, signed }));
}

function isPrimitive(value: Value): value is PrimitiveValue {
  return value.kind === "constant" || value.kind === "number" || value.kind === "item";
}

/** A function of Math on numbers, at least one of which is a number of the graph; null if the graph cannot apply it. */
export function applyMath(
  output: OutputGraph,
  name: string,
  operands: readonly PrimitiveValue[],
): ConstantValue | ItemValue | null {
  if (!isHostMath(name)) return null;
  const [first] = operands;
  const quotient = first?.kind === "item" && (name === "floor" || name === "trunc")
    ? first.number?.quotient
    : null;
  const found = applyOperator(output, name, operands);
  if (!quotient || found?.kind !== "item" || !found.number) return found;
  const [left, right] = quotient;
  if (name === "trunc" && boundsOf(left)[0] < 0) return found;
  return new ItemValue(
    null,
    new GraphNumber(found.number.node, { type: "number", dim: floorDiv(left, right), signed: true }),
  );
}

/** The size that an operator yields, and whether the number may be -0 where the size is 0. */
function sizeOf(
  operator: string,
  dims: readonly Dim[],
): { readonly dim: Dim; readonly signed: boolean } | null {
  const [a, b] = dims;
  if (a === undefined) return null;
  const exact = (dim: Dim) => ({ dim, signed: false }), maybe = (dim: Dim) => ({ dim, signed: true });
  switch (operator) {
    case "+":
      return b === undefined ? exact(a) : exact(add(a, b));
    case "-":
      return b === undefined ? maybe(mul(a, -1)) : exact(sub(a, b));
    case "*":
      if (b === undefined) return null;
      return isNonNegative(a) && isNonNegative(b) ? exact(mul(a, b)) : maybe(mul(a, b));
    case "%":
      return b !== undefined && isNonNegative(a) && boundsOf(b)[0] > 0 ? exact(mod(a, b)) : null;
    case "floor":
    case "ceil":
    case "trunc":
    case "round":
      return exact(a);
    case "abs":
      return isNonNegative(a) ? exact(a) : exact(max(a, mul(a, -1)));
    case "min":
      return exact(dims.reduce((x, y) => min(x, y)));
    case "max":
      return exact(dims.reduce((x, y) => max(x, y)));
    default:
      return null;
  }
}

function quotientOf([a, b]: readonly (Dim | null)[]): readonly [Dim, Dim] | null {
  return a !== null && a !== undefined && typeof b === "number" && b > 0 ? [a, b] : null;
}

const isNonNegative = (d: Dim): boolean => boundsOf(d)[0] >= 0;

/** Metadata of the tensor that passes a number to an op. */
export const SCALAR_META: TensorMeta = scalarMeta("cpu");

/** A number of the graph as an operand of an op: a 0-d tensor. */
export function scalarOf(output: OutputGraph, item: ItemValue): Node {
  const number = graphNumber(output, item);
  if (!number) return breakGraph("tensorItem", "an element is an operand");
  const node = append(output, NUMBER.tensor, {
    args: [number.node],
    value: { kind: "tensor", tensor: SCALAR_META, requiresGrad: false },
  });
  output.scalars.add(node);
  return node;
}

/** Returns whether an element of this type, as a 0-d tensor, behaves like a number. */
export function standsForNumber(dtype: DType): boolean {
  return isFloat(dtype) || dtype === "bool";
}

/** Relies on a condition: each call checks it, and it is known from here on. */
export function relyOn(output: OutputGraph, condition: ItemValue, message: string): void {
  const number = graphNumber(output, condition);
  if (!number) return breakGraph("tensorItem", "a condition is checked");
  if (number.relation) {
    const { relation, sides, outcome } = number.relation;
    if (output.sizes.known(relation, sides) === undefined) output.sizes.assume(relation, sides, outcome);
  }
  append(output, NUMBER.check, { args: ["true", number.node, message], value: { kind: "unknown" } });
}

/**
 * Relies on a number not being an integer, as types of new tensors do: 2.0 is 2 in JavaScript. A call in which it is an
 * integer runs uncompiled. Returns false if that has happened, or if the number is always an integer.
 */
export function assumeFraction(output: OutputGraph, item: ItemValue): boolean {
  const number = graphNumber(output, item);
  if (number?.type !== "number" || number.dim !== null || !output.sizes.mayAssume) return false;
  const whole = append(output, NUMBER.apply, {
    args: ["trunc", number.node],
    value: { kind: "number", dtype: "float64" },
  });
  append(output, NUMBER.check, {
    args: [
      "ne",
      number.node,
      whole,
      "a number that is not an integer, as the type of a new tensor follows from it",
    ],
    value: { kind: "unknown" },
  });
  return true;
}

/**
 * Relies on a condition: a call in which it does not hold runs uncompiled. Returns false if that has happened, or if the
 * condition never holds.
 */
export function assumeTrue(
  output: OutputGraph,
  condition: ConstantValue | ItemValue,
  expected: string,
): boolean {
  if (condition.kind === "constant") return condition.value === true;
  const number = graphNumber(output, condition);
  if (!number || !output.sizes.mayAssume) return false;
  append(output, NUMBER.check, { args: ["eq", number.node, true, expected], value: { kind: "unknown" } });
  return true;
}

function append(
  output: OutputGraph,
  target: string,
  { args, value }: { readonly args: readonly Argument[]; readonly value: NodeValue },
): Node {
  const node = output.graph.create("call_function", target, {
    args,
    name: target.replace("number.", ""),
    meta: { stack: output.whereabouts.stack(), value, onHost: true },
  });
  output.noteOperation(node);
  return node;
}
