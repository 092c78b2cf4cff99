/**
 * Lowers accumulating stores of small types for targets without atomics on them: the sum is loaded, added to, rounded
 * and stored. Invariant: loops whose iterations share an element run in order.
 */
import { isSmall, valueType } from "../base/dtype.ts";
import type { Program, Statement } from "../loops/ir.ts";
import { expandStatements } from "../loops/map_statements.ts";
import { loadBufferOperand, Recorder, ValueIds } from "../loops/record.ts";
import { accessesOf } from "../loops/uses.ts";
import { nextId } from "../loops/value_types.ts";
import { replaceKernels } from "./kernels.ts";

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
