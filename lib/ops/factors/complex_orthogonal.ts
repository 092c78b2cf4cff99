/**
 * QR decomposition of complex matrices. Invariant: computed in float64 by Householder reflections as in LAPACK, which
 * make the diagonal of R real, of the sign opposite to that of the column's real part.
 */
import type { HostTensor } from "../definition.ts";
import {
  type Complex,
  complexMatricesOf,
  ComplexMatrix,
  conjugate,
  difference,
  lengthOf,
  pairsTensor,
  quotient,
  scaled,
  sum,
  times,
  ZERO,
} from "./complex_matrix.ts";

/** I − factor · v · vᴴ */
interface Reflection {
  readonly v: readonly Complex[];
  readonly factor: Complex;
}

/** Q and R of pairs of parts: reduced, or with all columns of Q. */
export function complexFactorsOf(A: HostTensor, complete: boolean): readonly HostTensor[] {
  const { lead, matrices } = complexMatricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-3);
  const width = complete ? rows : Math.min(rows, columns);
  const found = matrices.map((each) => decompose(each, width));
  return [
    pairsTensor([...lead, rows, width], A.dtype, found.map(({ Q }) => Q)),
    pairsTensor([...lead, width, columns], A.dtype, found.map(({ R }) => R)),
  ];
}

function decompose(
  A: ComplexMatrix,
  width: number,
): { readonly Q: ComplexMatrix; readonly R: ComplexMatrix } {
  const { n: rows, columns } = A, reflections: Reflection[] = [];
  for (let k = 0; k < Math.min(rows, columns); k++) {
    const column = A.column(k), head = column[k] ?? ZERO, rest = lengthOf(column.slice(k + 1));
    // The column is already 0 below the diagonal and real on it: no reflection
    if (rest === 0 && head.im === 0) continue;
    const length = Math.hypot(rest, head.re, head.im), value = head.re >= 0 ? -length : length;
    const under = difference(head, { re: value, im: 0 });
    const v = column.map((x, i) => i < k ? ZERO : i === k ? { re: 1, im: 0 } : quotient(x, under));
    const factor = { re: (value - head.re) / value, im: -head.im / value };
    reflect(A, { v, factor: conjugate(factor) }, k);
    reflections.push({ v, factor });
  }
  const Q = ComplexMatrix.eye(rows, width), R = new ComplexMatrix(width, columns);
  for (const reflection of reflections.toReversed()) reflect(Q, reflection, 0);
  for (let i = 0; i < Math.min(width, rows); i++) {
    for (let j = i; j < columns; j++) R.set(i, j, j === i ? { re: A.at(i, j).re, im: 0 } : A.at(i, j));
  }
  return { Q, R };
}

/** Applies a reflection to the columns from one on, in place. */
function reflect(M: ComplexMatrix, { v, factor }: Reflection, from: number): void {
  for (let j = from; j < M.columns; j++) {
    let along = ZERO;
    for (const [i, x] of v.entries()) along = sum(along, times(conjugate(x), M.at(i, j)));
    const step = scaled(times(factor, along), -1);
    for (const [i, x] of v.entries()) M.set(i, j, sum(M.at(i, j), times(step, x)));
  }
}
