/**
 * Lowers small types: accumulating stores, for targets without atomics on them, and conversions of small floats, which
 * become integer operations. Invariants: loops whose iterations share an element run in order; values keep their ids.
 */
import { isSmall, valueType } from "../base/dtype.ts";
import type { Program, Statement } from "../loops/ir.ts";
import { expandStatements } from "../loops/map_statements.ts";
import { loadBufferOperand, Recorder, type Value, ValueIds } from "../loops/record.ts";
import { accessesOf, allOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { replaceKernels } from "./kernels.ts";
import { HALF_CONVERSIONS } from "../loops/math/half.ts";
import { SCALAR_OPS, type ScalarOpName } from "../loops/scalar.ts";

/** Expands the accumulating stores of small types. */
export function expandSmallSums(program: Program): Program {
  if (!program.buffers.some(({ dtype }) => isSmall(dtype))) return program;
  const adds = (body: readonly Statement[]): boolean =>
    accessesOf(body).some((s) =>
      s.kind === "store" && s.mode === "add" && isSmall(program.buffers[s.buffer]?.dtype ?? "float32")
    );
  return replaceKernels(program, (kernel) => {
    if (kernel.kind !== "loops" || !adds(kernel.body)) return [kernel];
    return [{ ...kernel, body: expanded(kernel.body, program, new ValueIds(nextId(kernel.body))) }];
  });
}

function expanded(body: readonly Statement[], program: Program, ids: ValueIds): readonly Statement[] {
  return expandStatements(body, (s) => {
    const dtype = s.kind === "store" ? program.buffers[s.buffer]?.dtype : undefined;
    if (s.kind !== "store" || s.mode === "set" || dtype === undefined || !isSmall(dtype)) return [s];
    const recorder = new Recorder(loadBufferOperand, ids);
    const before = recorder.loadBuffer(s.buffer, s.index, dtype);
    const sum = recorder.add(before, { id: s.value, dtype: valueType(dtype) });
    recorder.store({ buffer: s.buffer, dtype }, s.index, { value: sum });
    return recorder.statements;
  });
}

/** Replaces conversions of small floats. */
export function expandConversions(body: readonly Statement[]): readonly Statement[] {
  if (!allOf(body).some((s) => s.kind === "scalar" && isConversion(s.op))) return body;
  const ids = new ValueIds(nextId(body));
  return expandStatements(
    body,
    (s) => s.kind === "scalar" && isConversion(s.op) ? converted(s, s.op, ids) : [s],
  );
}

type Conversion = keyof typeof HALF_CONVERSIONS;

const isConversion = (op: ScalarOpName): op is Conversion => Object.hasOwn(HALF_CONVERSIONS, op);

function converted(s: Statement & { kind: "scalar" }, op: Conversion, ids: ValueIds): readonly Statement[] {
  const [operand] = s.args;
  if (operand === undefined) return [s];
  const recorder = new Recorder(loadBufferOperand, ids);
  const given: Value = { id: operand, dtype: SCALAR_OPS[op].operands === "single" ? "float32" : "int32" };
  const result = HALF_CONVERSIONS[op](recorder, given);
  return recorder.statements.map((made) =>
    made.kind !== "loop" && made.kind !== "store" && made.id === result.id ? { ...made, id: s.id } : made
  );
}
