/**
 * Scalar functions as loop IR: the definition, on every target, of operations that are not primitive, as
 * straight-line statements over primitive operations and other functions. Invariant: functions use each other without
 * cycles, so a printer may emit them as separate functions.
 */
import type { ValueType } from "../../base/dtype.ts";
import { InternalError } from "../../base/errors.ts";
import type { Statement, ValueId } from "../ir.ts";
import { loadBufferOperand, Recorder, type Value, ValueIds } from "../record.ts";
import { resultType, SCALAR_OPS, type ScalarOpName } from "../scalar.ts";
import { valuesOf } from "../uses.ts";
import type { Arithmetic, MathBody } from "./body.ts";
import { fusedF32, fusedF64 } from "./fused.ts";
import { definitionOf, type Formula } from "./table.ts";

/** A scalar operation as a function. */
export interface ScalarFunction {
  /** A name of its own: operation and type, as in "sin_f32". */
  readonly name: string;
  readonly op: ScalarOpName;
  /** Type of the operands. */
  readonly dtype: ValueType;
  /** In order; all of type `dtype`. */
  readonly parameters: readonly Value[];
  /** Statements that are constants, scalar operations, casts, selects and masks. */
  readonly body: readonly Statement[];
  readonly result: Value;
  /** Primitive operations on the usual path, with what called functions cost, and without masked parts. */
  readonly weight: number;
}

const SUFFIX: Readonly<Record<ValueType, string>> = {
  float32: "f32",
  float64: "f64",
  int64: "i64",
  int32: "i32",
  bool: "bool",
};

const known = new Map<string, ScalarFunction>();

/** Returns whether targets implement the operation on this type directly. */
export function isPrimitive(
  op: ScalarOpName,
  dtype: ValueType,
  arithmetic: Arithmetic = "exact",
): boolean {
  return definitionOf(op, dtype, arithmetic) === undefined;
}

/** The function of an operation that is not primitive, for operands of this type. */
export function functionOf(
  op: ScalarOpName,
  dtype: ValueType,
  arithmetic: Arithmetic = "exact",
): ScalarFunction {
  const key = `${op} ${dtype} ${arithmetic}`, found = known.get(key);
  if (found) return found;
  const definition = definitionOf(op, dtype, arithmetic);
  if (!definition) throw new InternalError(`Expected a function but found the primitive ${op} of ${dtype}`);
  const made = record(op, dtype, { body: definition.body, arithmetic });
  known.set(key, made);
  return made;
}

/** The function of a·b + c for targets that cannot round it once. */
export function fusedFunction(dtype: ValueType): ScalarFunction {
  return record("fma", dtype, { body: dtype === "float32" ? fusedF32 : fusedF64, arithmetic: "exact" });
}

/** Records bodies for one arithmetic. */
class FunctionRecorder extends Recorder implements MathBody<Value> {
  constructor(readonly arithmetic: Arithmetic, ids: ValueIds) {
    super(loadBufferOperand, ids);
  }
}

function record(
  op: ScalarOpName,
  dtype: ValueType,
  { body: formula, arithmetic }: { readonly body: Formula; readonly arithmetic: Arithmetic },
): ScalarFunction {
  const name = `${op}_${SUFFIX[dtype]}`;
  const ids = new ValueIds();
  const parameters = Array.from({ length: SCALAR_OPS[op].arity }, (): Value => ({ id: ids.next(), dtype }));
  const recorder = new FunctionRecorder(arithmetic, ids);
  const [a, b = a, c = a] = parameters;
  if (a === undefined || b === undefined || c === undefined) {
    throw new InternalError(`Expected operands of ${op} but found none`);
  }
  const result = formula(recorder, a, b, c);
  if (result.dtype !== resultType(op, dtype)) {
    throw new InternalError(`Expected ${name} to give ${resultType(op, dtype)} but found ${result.dtype}`);
  }
  const types = new Map(parameters.map((p) => [p.id, p.dtype]));
  const body = withoutUnused(recorder.statements, new Set([result.id]));
  return { name, op, dtype, parameters, body, result, weight: weigh(body, types, arithmetic) };
}

/** Returns the statements on which the values in `used` depend, and adds their operands to it. */
function withoutUnused(statements: readonly Statement[], used: Set<ValueId>): readonly Statement[] {
  return statements.toReversed().flatMap((s): Statement[] => {
    if (s.kind === "store" || s.kind === "loop" || !used.has(s.id)) return [];
    for (const id of valuesOf(s)) used.add(id);
    return [s.kind === "masked" ? { ...s, body: withoutUnused(s.body, used) } : s];
  }).toReversed();
}

/** Returns the weight of straight-line statements, including called functions. */
function weigh(
  statements: readonly Statement[],
  types: Map<ValueId, ValueType>,
  arithmetic: Arithmetic,
): number {
  let weight = 0;
  for (const s of statements) {
    switch (s.kind) {
      case "scalar": {
        const operand = types.get(s.args[0] ?? s.id) ?? s.dtype;
        weight += isPrimitive(s.op, operand, arithmetic)
          ? SCALAR_OPS[s.op].weight
          : functionOf(s.op, operand, arithmetic).weight;
        break;
      }
      case "cast":
      case "select":
      case "masked":
        weight++;
        break;
      case "constant":
        break;
      case "index":
      case "load":
      case "store":
      case "loop":
        throw new InternalError(`Expected straight-line statements but found a ${s.kind}`);
      default:
        return s satisfies never;
    }
    types.set(s.id, s.dtype);
  }
  return weight;
}
