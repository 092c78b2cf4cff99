/**
 * Expands conversions of small floats into integer operations. Invariant: values keep their ids, so nothing else
 * changes.
 */
import type { Statement } from "../loops/ir.ts";
import { expandStatements } from "../loops/map_statements.ts";
import { HALF_CONVERSIONS } from "../loops/math/half.ts";
import { loadBufferOperand, Recorder, type Value, ValueIds } from "../loops/record.ts";
import { SCALAR_OPS, type ScalarOpName } from "../loops/scalar.ts";
import { allOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";

/** Replaces conversions of small floats. */
export function expandConversions(body: readonly Statement[]): readonly Statement[] {
  if (!allOf(body).some((s) => s.kind === "scalar" && isConversion(s.op))) return body;
  const ids = new ValueIds(nextId(body));
  return expandStatements(
    body,
    (s) => s.kind === "scalar" && isConversion(s.op) ? expanded(s, s.op, ids) : [s],
  );
}

type Conversion = keyof typeof HALF_CONVERSIONS;

const isConversion = (op: ScalarOpName): op is Conversion => Object.hasOwn(HALF_CONVERSIONS, op);

function expanded(s: Statement & { kind: "scalar" }, op: Conversion, ids: ValueIds): readonly Statement[] {
  const [operand] = s.args;
  if (operand === undefined) return [s];
  const recorder = new Recorder(loadBufferOperand, ids);
  const given: Value = { id: operand, dtype: SCALAR_OPS[op].operands === "single" ? "float32" : "int32" };
  const result = HALF_CONVERSIONS[op](recorder, given);
  return recorder.statements.map((made) =>
    made.kind !== "loop" && made.kind !== "store" && made.id === result.id ? { ...made, id: s.id } : made
  );
}
