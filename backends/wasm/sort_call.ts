/**
 * Calls of sorting. Input: operands in the WebAssembly memory; output: sorted rows there, on all threads of the pool.
 * Invariant: rows go along the last dimension, whatever the strides are.
 */
import { itemSize, valueType } from "../../lib/base/dtype.ts";
import { InternalError } from "../../lib/base/errors.ts";
import type { Operand, Operands, Placed, Shaped } from "./operands.ts";
import { aligned } from "./operands.ts";
import { libraryCode } from "./library_code.ts";
import { DIMENSION_WORDS, SORT_FIELDS, sortBytes, sortModule } from "./sort.ts";
import type { JobPool } from "./pool.ts";

const lengthOf = ({ inputs: [input] }: Operands<Shaped>): number => input?.shape.at(-1) ?? 1;
const countOf = ({ outputs: [values] }: Operands<Shaped>): number => values?.shape.at(-1) ?? 1;
const words = ({ inputs: [input] }: Operands<Shaped>): number =>
  SORT_FIELDS.length + DIMENSION_WORDS * Math.max(0, (input?.shape.length ?? 0) - 1);

/** Bytes behind the operands that a call needs: description, every thread's scratch memory. */
export function sortCallBytes({ threads }: JobPool, operands: Operands<Shaped>): number {
  return aligned(4 * words(operands)) + threads * aligned(sortBytes(lengthOf(operands), countOf(operands)));
}

/** Sorts. */
export function runSort(pool: JobPool, placed: Placed, descending: boolean): void {
  const { inputs: [input], outputs: [values, indices], free } = placed;
  if (!input || !values || !indices) throw new InternalError("Expected an input and two results of sort");
  const length = lengthOf(placed), count = countOf(placed), outer = input.shape.slice(0, -1);
  const step = (view: Operand, d: number) => (view.strides.at(d) ?? 0) * itemSize(view.dtype);
  const operands = [input, values, indices];
  new Int32Array(pool.memory.memory.buffer, free, words(placed)).set([
    length,
    count,
    descending ? 1 : 0,
    ...operands.map(({ address }) => address),
    ...operands.map((view) => step(view, -1)),
    outer.length,
    ...outer.flatMap((rows, d) => [rows, ...operands.map((view) => step(view, d))]),
  ]);
  const rows = outer.reduce((product, n) => product * n, 1);
  const dtype = valueType(input.dtype);
  if (dtype !== input.dtype) throw new InternalError(`Expected no ${input.dtype} to sort as they are`);
  pool.run(libraryCode(pool, `sort ${dtype}`, (memory) => sortModule(memory, dtype)), dtype, {
    description: free,
    units: rows,
    scratch: { bytes: aligned(sortBytes(length, count)), address: free + aligned(4 * words(placed)) },
    work: rows * length * 4 * Math.ceil(Math.log2(length + 1)),
  });
}
