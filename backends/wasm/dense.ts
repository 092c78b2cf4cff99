/**
 * Copies strided operands for library functions that need dense ones into given memory, and copies results back.
 * Invariant: elements between those of a result are not changed.
 */
import type { FunctionBody } from "./function_body.ts";
import {
  aligned,
  count,
  denseStrides,
  isDense,
  type Operand,
  type Operands,
  type Shaped,
} from "./operands.ts";
import { add, each, int, keep, mul, ref, type Term, withParams, word } from "./terms.ts";
import { type Code, JOB_PARAMS, type JobPool } from "./pool.ts";

/** Dimensions of an image or of weights. */
const RANK = 4;
/** The words of a copy: addresses, then sizes, and bytes from element to element on either side. */
const WORDS = 2 + 3 * RANK;

/** Copies words of a view to another one. Units are elements of the outermost dimension. */
export function copyFunction(): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const words = Array.from({ length: WORDS }, (_, n) => ref(keep(body, word(at("description"), 4 * n))));
  const at4 = (n: number): Term => words[n] ?? int(0);
  const nest = (d: number, from: Term, to: Term): void => {
    const range = d === 0 ? { from: at("from"), to: at("to") } : { to: at4(2 + d) };
    each(body, range, (index) => {
      const source = keep(body, add(from, mul(index, at4(2 + RANK + d))));
      const target = keep(body, add(to, mul(index, at4(2 + 2 * RANK + d))));
      if (d < RANK - 1) nest(d + 1, ref(source), ref(target));
      else body.get(target).get(source).memory("i32Load").memory("i32Store");
    });
  };
  nest(0, at4(0), at4(1));
  return body;
}

/** Bytes that making operands dense takes. */
export function denseBytes({ inputs, outputs }: Operands<Shaped>): number {
  const sparse = [...inputs, ...outputs].filter((view) => !isDense(view));
  return sparse.length === 0
    ? 0
    : sparse.reduce((sum, { shape }) => sum + aligned(4 * count(shape)), aligned(4 * WORDS));
}

/** Runs `work` on dense operands, whose memory begins at `free`. */
export function withDense(
  { pool, code, free }: { readonly pool: JobPool; readonly code: Code; readonly free: number },
  { inputs, outputs }: Operands<Operand>,
  work: (dense: Operands<Operand>) => void,
): void {
  let next = free + aligned(4 * WORDS);
  const place = (view: Operand): Operand => {
    if (isDense(view)) return view;
    const address = next;
    next += aligned(4 * count(view.shape));
    return { ...view, strides: denseStrides(view.shape), address };
  };
  const copy = (from: Operand, to: Operand): void => {
    if (from === to) return;
    const lead = new Array<number>(RANK - from.shape.length).fill(1);
    const strides = (view: Operand) => [...lead, ...view.strides].map((stride) => 4 * stride);
    const shape = [...lead, ...from.shape];
    new Int32Array(pool.memory.memory.buffer, free, WORDS)
      .set([from.address, to.address, ...shape, ...strides(from), ...strides(to)]);
    pool.run(code, "copy", { description: free, units: shape[0] ?? 1, work: count(shape) });
  };
  const dense = { inputs: inputs.map(place), outputs: outputs.map(place) };
  inputs.forEach((view, n) => copy(view, dense.inputs[n] ?? view));
  work(dense);
  outputs.forEach((view, n) => copy(dense.outputs[n] ?? view, view));
}
