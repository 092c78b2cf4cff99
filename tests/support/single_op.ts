/**
 * Programs of one lowering, for tests of printers: inputs are the operands in order, outputs the results.
 */
import type { DType } from "../../lib/base/dtype.ts";
import type { Lowered, Operand } from "../../lib/loops/body.ts";
import type { BufferDecl, ExternOp, Program, Statement } from "../../lib/loops/ir.ts";
import { recordLowered } from "../../lib/loops/nest.ts";
import type { BufferOperand } from "../../lib/loops/record.ts";
import { contiguousStrides } from "../../lib/graph/meta.ts";

/** A tensor as a test describes it. Strides default to row-major. */
export interface TestOperand {
  readonly shape: readonly number[];
  readonly dtype: DType;
  readonly strides?: readonly number[];
}

const count = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

/** The program of what `lower` gives for these operands, writing results of the given types. */
export function singleOp(
  operands: readonly TestOperand[],
  results: readonly TestOperand[],
  lower: (...operands: readonly Operand[]) => Lowered,
): Program {
  const buffers: BufferDecl[] = [];
  const view = (t: TestOperand, role: BufferDecl["role"]): BufferOperand => {
    const strides = t.strides ?? contiguousStrides(t.shape).map(Number);
    const extent = count(t.shape) === 0
      ? 0
      : 1 + t.shape.reduce((sum, n, d) => sum + (n - 1) * (strides[d] ?? 0), 0);
    buffers.push({ name: `t${buffers.length}`, dtype: t.dtype, length: extent, role });
    return { buffer: buffers.length - 1, offset: 0, shape: t.shape, strides, dtype: t.dtype };
  };
  const inputs = operands.map((t) => view(t, { kind: "input", written: false }));
  const outputs = results.map((t) => view(t, { kind: "output" }));
  return {
    name: "single",
    buffers,
    inputs: inputs.map((v) => v.buffer),
    outputs: outputs.map((v) => v.buffer),
    sizes: [],
    arenaBytes: 0,
    kernels: [recordLowered(lower(...inputs), outputs, { name: "op" })],
  };
}

/** The program of one library call. */
export function libraryCall(
  call: ExternOp,
  operands: readonly TestOperand[],
  results: readonly TestOperand[],
): Program {
  return singleOp(operands, results, (...inputs) => ({ kind: "extern", call, inputs, outputs: results }));
}

/** The same program with the outermost or the innermost loop of every nest marked to run in lanes. */
export function vectorised(program: Program, which: "outermost" | "innermost"): Program {
  const mark = (s: Statement): Statement => {
    if (s.kind !== "loop") return s;
    const inner = s.body.some((x) => x.kind === "loop");
    if (which === "outermost" || !inner) return { ...s, vector: s.order !== "sequential" };
    return { ...s, body: s.body.map(mark) };
  };
  return {
    ...program,
    kernels: program.kernels.map((k) => k.kind === "loops" ? { ...k, body: k.body.map(mark) } : k),
  };
}
