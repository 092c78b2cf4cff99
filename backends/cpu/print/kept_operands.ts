/**
 * The operands of library calls of which calls of a program keep transformed forms: weights that the caller passes in
 * and the program does not write. Each call has a record in the caller's memory, of three doubles: the address of memory
 * for the form or 0; 1 if it holds the form; and the number of bytes that the form takes, written by the routine, or 0.
 * Invariant: the form's text describes everything that it depends on besides the contents and their place.
 */
import type { BufferId, BufferView, ExternKernel, Program } from "../../../lib/loops/ir.ts";
import { usesOf } from "../../../lib/loops/uses.ts";

/** Number of doubles of a record. */
export const RECORD = 3;

/** An operand of one call. */
export interface KeptOperand {
  /** Its position among the program's inputs. */
  readonly input: number;
  /** Description of the form. */
  readonly form: string;
}

/** A program whose records are inputs after its own. */
export interface WithRecords {
  readonly program: Program;
  readonly keeps: readonly KeptOperand[];
  /** The records of calls. */
  readonly records: ReadonlyMap<ExternKernel, BufferId>;
}

/** Adds records to a program. */
export function withRecords(program: Program): WithRecords {
  const { buffers, inputs, kernels } = program;
  const keeps: KeptOperand[] = [], records = new Map<ExternKernel, BufferId>();
  const written = new Set(kernels.flatMap((kernel) => [...usesOf(kernel).written]));
  for (const kernel of kernels) {
    const weight = kernel.kind === "extern" && isConvolution(kernel) ? kernel.inputs[1] : undefined;
    const input = weight ? inputs.indexOf(weight.buffer) : -1;
    if (kernel.kind !== "extern" || !weight || input < 0 || written.has(weight.buffer)) continue;
    const form = formText(kernel, buffers[weight.buffer]?.dtype ?? "");
    if (form === null) continue;
    records.set(kernel, buffers.length + keeps.length);
    keeps.push({ input, form });
  }
  const ids = [...records.values()];
  const more = ids.map((_, k) => ({
    name: `record${k}`,
    dtype: "float64" as const,
    length: RECORD,
    role: { kind: "input" as const, written: true },
  }));
  return {
    program: { ...program, buffers: [...buffers, ...more], inputs: [...inputs, ...ids] },
    keeps,
    records,
  };
}

const isConvolution = ({ call: { op } }: ExternKernel): boolean =>
  op === "convForward" || op === "convBackwardInput";

/** Everything from which a routine chooses a form; null if sizes are not known before the call. */
function formText({ call, inputs, outputs }: ExternKernel, dtype: string): string | null {
  const of = ({ offset, shape, strides }: BufferView) => [[offset], shape, strides];
  const views = [...inputs.slice(0, 2), ...outputs].map(of);
  if (views.flat(2).some((dim) => typeof dim !== "number")) return null;
  return JSON.stringify([call, dtype, views]);
}
