/**
 * Numbers that change between calls and only take part in the arithmetic of an op: a negative slope, a margin, a
 * probability. The graph has them as 0-d tensors of float64. Invariant: within the range that a parameter states, the op
 * neither refuses the number nor computes in another way; each call checks the range.
 */
import { isComplex, isDType, isFloat } from "../../base/dtype.ts";
import { isCreation } from "../../ops/call.ts";
import type { OpDefinition } from "../../ops/definition.ts";
import { GraphValue } from "../../ops/graph_builder.ts";
import type { NumberRange, Param } from "../../ops/params.ts";
import type { HostBinary } from "../variables/host_number.ts";
import { binaryNumbers } from "../variables/numbers.ts";
import type { NumberValue } from "../variables/number_value.ts";
import { constant, type ConstantValue, type ItemValue, type Value } from "../variables/value.ts";
import { defaultDevice } from "../../tensor/default_device.ts";
import { scalarMeta } from "../scalars.ts";
import { applyOperator, assumeTrue, graphNumber, SCALAR_META, scalarOf } from "./graph_numbers.ts";
import type { Interpreter } from "./interpreter.ts";

/** A call of an op as the program wrote it. */
interface WrittenCall {
  readonly definition: OpDefinition;
  readonly args: readonly Value[];
}

type Operand = NumberValue | ItemValue | ConstantValue;

/** The parameter of an argument by position or name; null if the call may order them differently. */
export function paramAt({ params, arrange }: OpDefinition, index: number | string | null): Param | null {
  if (typeof index !== "number") return params[index ?? ""] ?? null;
  const before = Object.values<Param>(params).slice(0, index + 1);
  return arrange || before.some(({ variadic }) => variadic) ? null : before[index] ?? null;
}

/** Returns whether an op refuses numbers out of the range of a parameter, or treats them in another way. */
export function isBounded(param: Param | null): boolean {
  return Object.keys(param?.changes ?? {}).some((each) => each !== "not");
}

/**
 * A number as a tensor of the graph; null beside other operands than floats with dimensions, and on devices without
 * float64. "outside": it has to be a constant of the graph, since it is out of its range, or a boolean.
 */
export function operandNumber(
  m: Interpreter,
  call: WrittenCall,
  { changes }: Param,
  value: NumberValue | ItemValue,
): GraphValue | "outside" | null {
  const [first] = call.args;
  if (!changes) return null;
  if (first?.kind !== "tensor") {
    return isCreation(call.definition) ? operandOfCreation(m, call, value) : null;
  }
  if (call.args.some((each) => each.kind === "tensor" && isComplex(each.meta.dtype))) return null;
  if (value.kind === "item" && graphNumber(m.output, value)?.type === "boolean") return "outside";
  if (!isWithin(m, call, changes, value)) return "outside";
  const { shape, device, dtype } = first.meta;
  if (!isFloat(dtype) || shape.length === 0 || scalarMeta(device).dtype !== SCALAR_META.dtype) return null;
  return value.kind === "number"
    ? new GraphValue(m.output.scalarNode(value), SCALAR_META)
    : new GraphValue(scalarOf(m.output, value), SCALAR_META);
}

/**
 * A number from which a new tensor is computed; null for integers, which are sizes, for a tensor of another type than
 * floats, and on devices without float64.
 */
function operandOfCreation(
  m: Interpreter,
  { args }: WrittenCall,
  value: NumberValue | ItemValue,
): GraphValue | null {
  if (value.kind !== "number" || value.integer !== null) return null;
  const options = args.at(-1);
  const given = (name: string): Value | null =>
    options?.kind === "object" ? m.plainProperty(options, name) : null;
  const named = ["dtype", "device"].map((name) => {
    const found = given(name);
    return found?.kind === "constant" ? found.value ?? null : found;
  });
  const [dtype = null, device = null] = named;
  if (
    dtype !== null && !(isDType(dtype) && isFloat(dtype)) || device !== null && typeof device !== "string"
  ) {
    return null;
  }
  return scalarMeta(device ?? defaultDevice()).dtype === SCALAR_META.dtype
    ? new GraphValue(m.output.scalarNode(value), SCALAR_META)
    : null;
}

const COMPARISONS = [
  ["above", ">"],
  ["atLeast", ">="],
  ["below", "<"],
  ["atMost", "<="],
] as const satisfies readonly (readonly [keyof NumberRange, HostBinary])[];

/** Returns whether a number is in the range, which calls check from here on. */
function isWithin(
  m: Interpreter,
  call: WrittenCall,
  range: NumberRange,
  value: NumberValue | ItemValue,
): boolean {
  const bounds = COMPARISONS.flatMap(([name, operator]): [HostBinary, Operand][] => {
    const bound = range[name];
    return bound === undefined ? [] : [[operator, constant(bound)]];
  });
  for (const each of range.not ?? []) bounds.push(["!==", constant(each)]);
  for (const [name, operator] of [[range.notAbove, "<="], [range.notBelow, ">="]] as const) {
    if (name === undefined) continue;
    const other = argumentOf(m, call, name);
    if (other === null) return false;
    bounds.push([operator, other]);
  }
  return bounds.every(([operator, bound]) => compares(m, operator, [value, bound]));
}

/** Returns whether a comparison holds, which calls check from here on. */
function compares(m: Interpreter, operator: HostBinary, [left, right]: readonly [Operand, Operand]): boolean {
  if (left.kind === "item" || right.kind === "item") {
    const found = applyOperator(m.output, operator, [left, right]);
    return found !== null && assumeTrue(m.output, found, "a number in the range of its parameter");
  }
  const found = binaryNumbers(m.output, operator, [left, right]);
  return found.kind === "constant" && found.value === true;
}

/** A number among the arguments, by the name of its parameter; null if it is something else. */
function argumentOf(m: Interpreter, { definition, args }: WrittenCall, name: string): Operand | null {
  const last = args.at(-1),
    at = Object.keys(definition.params).indexOf(name),
    param = definition.params[name];
  const options = last?.kind === "object" ? last : null;
  const positional = at < (options ? args.length - 1 : args.length) ? args[at] : null;
  const given = (options && m.plainProperty(options, name)) ?? positional ?? null;
  if (given?.kind === "number" || given?.kind === "item") return given;
  if (given?.kind === "constant" && given.value !== undefined) {
    return typeof given.value === "number" ? given : null;
  }
  return given === null || given.kind === "constant" ? constantOf(param) : null;
}

const constantOf = (param: Param | undefined): ConstantValue | null =>
  typeof param?.default === "number" ? constant(param.default) : null;
