/**
 * The operands of library calls of which calls of a program keep transformed forms: weights that the caller passes in
 * and the program does not write. Each call has a record in the caller's memory, of three doubles: the address of memory
 * for the form or 0; 1 if it holds the form; and the number of bytes that the form takes, written by the routine, or 0.
 * Invariant: the form's text describes everything that it depends on besides the contents and their place.
 */
import type { BufferId, BufferView, ExternKernel, Program } from "../../../lib/loops/ir.ts";
import { usesOf } from "../../../lib/loops/uses.ts";
import { hintOf } from "../../../lib/sym/decide.ts";
import { product } from "../../../lib/sym/expr.ts";
import { RECORD } from "../frame.ts";

/** An operand of one call. */
export interface KeptOperand {
  /** Its position among the program's inputs. */
  readonly input: number;
  /** Description of the form. */
  readonly form: string;
}

/** A program whose records are inputs after its own. */
interface WithRecords {
  readonly program: Program;
  readonly keeps: readonly KeptOperand[];
  /** The records of calls. */
  readonly records: ReadonlyMap<ExternKernel, BufferId>;
}

/** Weights of fewer elements are not worth a record. */
const LEAST_ELEMENTS = 2048;

/** Adds records to a program. */
export function withRecords(program: Program): WithRecords {
  const { buffers, inputs, kernels } = program;
  const keeps: KeptOperand[] = [], records = new Map<ExternKernel, BufferId>();
  const written = new Set(kernels.flatMap((kernel) => [...usesOf(kernel).written]));
  for (const kernel of kernels) {
    if (kernel.kind !== "extern" || kernel.blocks) continue;
    const views = decisive(kernel), { buffer = -1, shape = [] } = kernel.inputs[1] ?? {};
    const input = inputs.indexOf(buffer),
      dims = views.map(({ offset, ...of }) => [[offset], of.shape, of.strides]);
    if (views.length === 0 || input < 0 || written.has(buffer)) continue;
    if (dims.flat(2).some((dim) => typeof dim !== "number") || !(hintOf(product(shape)) >= LEAST_ELEMENTS)) {
      continue;
    }
    const call = kernel.call.op === "matmul" ? "matmul" : kernel.call;
    records.set(kernel, buffers.length + keeps.length);
    keeps.push({ input, form: JSON.stringify([call, buffers[buffer]?.dtype, dims]) });
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

/** The operands whose sizes decide about the form of the second one; none if it has none. */
function decisive({ call, inputs, outputs, prologues }: ExternKernel): readonly BufferView[] {
  switch (call.op) {
    case "convForward":
    case "convBackwardInput":
      return [...inputs.slice(0, 2), ...outputs];
    case "matmul":
      return outputs[0]?.shape.length === 2 && !prologues?.some(({ input }) => input === 1)
        ? inputs.slice(1, 2)
        : [];
    default:
      return [];
  }
}
