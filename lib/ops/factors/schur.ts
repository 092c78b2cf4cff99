/**
 * Schur forms of square matrices: A = Q · T · Qᴴ with T upper triangular and Q unitary. Invariant: for a real matrix,
 * eigenvalues on T's diagonal are exactly real or in exactly conjugate pairs, the one with the positive imaginary part
 * first (Golub and Van Loan, sections 7.4 and 7.5).
 */
import { LinAlgError } from "../../base/errors.ts";
import {
  type Complex,
  ComplexMatrix,
  difference,
  quotient,
  squareRoot,
  sum,
  times,
  turnColumns,
  turnOf,
  turnRows,
} from "./complex_matrix.ts";

/** A Schur form. */
interface Schur {
  readonly T: ComplexMatrix;
  readonly Q: ComplexMatrix;
}

/** Number of steps for one eigenvalue after which the search fails. */
const MOST_STEPS = 60;

/** Smaller than any rounding error of elements around 1, but with a square that is not 0. */
const TINY = 1e-150;

/** The Schur form of a matrix of finite elements, the largest of which is around 1. Overwrites the matrix. */
export function schurOf(A: ComplexMatrix): Schur {
  const Q = ComplexMatrix.eye(A.n);
  toHessenberg(A, Q);
  if (A.im.every((x) => x === 0)) {
    toBlocks(A, Q);
    for (let k = 0; k < A.n - 1; k++) if (A.re[(k + 1) * A.n + k] !== 0) openBlock({ T: A, Q }, k);
  } else toTriangle(A, Q);
  return { T: A, Q };
}

/** Makes elements below the first subdiagonal 0 by reflections, which are also applied to Q. */
function toHessenberg(H: ComplexMatrix, Q: ComplexMatrix): void {
  const { n } = H;
  for (let k = 0; k < n - 2; k++) {
    let rest = 0;
    for (let i = k + 2; i < n; i++) rest = Math.hypot(rest, H.size(i, k));
    if (rest < TINY) {
      for (let i = k + 2; i < n; i++) H.set(i, k, { re: 0, im: 0 });
      continue;
    }
    const head = H.at(k + 1, k), size = Math.hypot(head.re, head.im), length = Math.hypot(size, rest);
    // The sign of the mirror image is opposite to the first element, so that nothing cancels
    const phase = size === 0 ? { re: 1, im: 0 } : { re: head.re / size, im: head.im / size };
    const v = Array.from({ length: n - k - 1 }, (_, i) => H.at(k + 1 + i, k));
    v[0] = { re: head.re + phase.re * length, im: head.im + phase.im * length };
    const factor = 2 / v.reduce((total, { re, im }) => total + re * re + im * im, 0);
    reflectRows(H, { v, factor, first: k + 1 }, k);
    reflectColumns(H, { v, factor, first: k + 1 }, n);
    reflectColumns(Q, { v, factor, first: k + 1 }, n);
    for (let i = k + 2; i < n; i++) H.set(i, k, { re: 0, im: 0 });
  }
}

/** I − factor · v · vᴴ in the dimensions from `first` on. */
interface Reflection {
  readonly v: readonly Complex[];
  readonly factor: number;
  readonly first: number;
}

function reflectRows({ n, re, im }: ComplexMatrix, { v, factor, first }: Reflection, from: number): void {
  for (let j = from; j < n; j++) {
    let sr = 0, si = 0;
    for (const [i, { re: vr, im: vi }] of v.entries()) {
      const k = (first + i) * n + j, xr = re[k] ?? 0, xi = im[k] ?? 0;
      sr += vr * xr + vi * xi;
      si += vr * xi - vi * xr;
    }
    sr *= factor;
    si *= factor;
    for (const [i, { re: vr, im: vi }] of v.entries()) {
      const k = (first + i) * n + j;
      re[k] = (re[k] ?? 0) - (vr * sr - vi * si);
      im[k] = (im[k] ?? 0) - (vr * si + vi * sr);
    }
  }
}

function reflectColumns({ n, re, im }: ComplexMatrix, { v, factor, first }: Reflection, rows: number): void {
  for (let row = 0; row < rows; row++) {
    let sr = 0, si = 0;
    for (const [j, { re: vr, im: vi }] of v.entries()) {
      const k = row * n + first + j, xr = re[k] ?? 0, xi = im[k] ?? 0;
      sr += xr * vr - xi * vi;
      si += xr * vi + xi * vr;
    }
    sr *= factor;
    si *= factor;
    for (const [j, { re: vr, im: vi }] of v.entries()) {
      const k = row * n + first + j;
      re[k] = (re[k] ?? 0) - (sr * vr + si * vi);
      im[k] = (im[k] ?? 0) - (si * vr - sr * vi);
    }
  }
}

/**
 * Returns whether an element below the diagonal is negligible compared to its neighbours; it is then set to 0.
 */
function vanishes(H: ComplexMatrix, row: number): boolean {
  const around = H.size(row - 1, row - 1) + H.size(row, row), size = H.size(row, row - 1);
  if (size > Number.EPSILON * around && size !== 0) return false;
  H.set(row, row - 1, { re: 0, im: 0 });
  return true;
}

/** The first row of the block that ends at a row, in which no element below the diagonal vanishes. */
function startOfBlock(H: ComplexMatrix, last: number): number {
  let first = last;
  while (first > 0 && !vanishes(H, first)) first--;
  return first;
}

/** Repeats steps from the last row up, until the remaining blocks have at most `size` rows. */
function deflate(
  H: ComplexMatrix,
  size: 1 | 2,
  step: (first: number, last: number, count: number) => void,
): void {
  let last = H.n - 1, count = 0;
  while (last > 0) {
    const first = startOfBlock(H, last);
    if (last - first < size) {
      last = first - 1;
      count = 0;
    } else if (count === MOST_STEPS) {
      throw new LinAlgError("Expected eigenvalues to be found but found no convergence");
    } else step(first, last, ++count);
  }
}

/** Returns whether to use an exceptional shift, which breaks cycles. */
const isStuck = (count: number): boolean => count % 10 === 0;

/** Blocks of at most two rows on the diagonal of a real matrix, by double steps (Francis 1961). */
function toBlocks(H: ComplexMatrix, Q: ComplexMatrix): void {
  const { n } = H, at = (i: number, j: number) => H.re[i * n + j] ?? 0;
  deflate(H, 2, (first, last, count) => {
    let trace = at(last - 1, last - 1) + at(last, last);
    let determinant = at(last - 1, last - 1) * at(last, last) - at(last - 1, last) * at(last, last - 1);
    if (isStuck(count)) {
      const other = Math.abs(at(last, last - 1)) + Math.abs(at(last - 1, last - 2));
      trace = 1.5 * other;
      determinant = other * other;
    }
    // The first column of (H − a)(H − b), where a and b have this trace and determinant
    const corner = at(first, first), below = at(first + 1, first);
    let column = [
      corner * corner + at(first, first + 1) * below - trace * corner + determinant,
      below * (corner + at(first + 1, first + 1) - trace),
      below * at(first + 2, first + 1),
    ];
    for (let k = first; k < last; k++) {
      const reflection = mirror(column, k);
      if (reflection) {
        reflectRows(H, reflection, Math.max(k - 1, first));
        reflectColumns(H, reflection, Math.min(k + 4, last + 1));
        reflectColumns(Q, reflection, n);
      }
      for (let i = k + 1; k > first && i <= Math.min(k + 2, last); i++) H.re[i * n + k - 1] = 0;
      column = Array.from({ length: Math.min(3, last - k) }, (_, i) => at(k + 1 + i, k));
    }
  });
}

/** The reflection that leaves only the first element of a real column; null if the others are 0 already. */
function mirror(column: readonly number[], first: number): Reflection | null {
  const [head = 0, ...rest] = column, behind = Math.hypot(...rest);
  if (behind < TINY) return null;
  const length = Math.hypot(head, behind);
  const v = [head < 0 ? head - length : head + length, ...rest].map((re) => ({ re, im: 0 }));
  return { v, factor: 2 / v.reduce((total, { re }) => total + re * re, 0), first };
}

/** Computes the two real or conjugate eigenvalues of a block of a real matrix, and makes the block triangular. */
function openBlock({ T, Q }: Schur, k: number): void {
  const { n } = T,
    [a, b, c, d] = [[k, k], [k, k + 1], [k + 1, k], [k + 1, k + 1]].map(([i = 0, j = 0]) => T.at(i, j).re);
  const half = ((a ?? 0) - (d ?? 0)) / 2, product = (b ?? 0) * (c ?? 0), square = half * half + product;
  const root = Math.sqrt(Math.abs(square)), farther = half + (half < 0 ? -root : root);
  const [one, two] = square >= 0
    ? [{ re: (d ?? 0) + farther, im: 0 }, { re: (d ?? 0) - (farther === 0 ? 0 : product / farther), im: 0 }]
    : [{ re: (d ?? 0) + half, im: root }, { re: (d ?? 0) + half, im: -root }];
  const turn = turnOf(difference(one, { re: d ?? 0, im: 0 }), { re: c ?? 0, im: 0 });
  turnRows(T, { p: k, q: k + 1 }, turn, k);
  turnColumns(T, { p: k, q: k + 1 }, turn, k + 1);
  turnColumns(Q, { p: k, q: k + 1 }, turn, n - 1);
  T.set(k, k, one);
  T.set(k + 1, k + 1, two);
  T.set(k + 1, k, { re: 0, im: 0 });
}

/** Makes a matrix triangular, by steps with one shift each. */
function toTriangle(H: ComplexMatrix, Q: ComplexMatrix): void {
  deflate(H, 1, (first, last, count) => {
    const shift = isStuck(count) ? { re: H.size(last, last - 1), im: H.size(last, last) } : nearest(H, last);
    for (let i = first; i <= last; i++) H.set(i, i, difference(H.at(i, i), shift));
    const turns = [];
    for (let k = first; k < last; k++) {
      const turn = turnOf(H.at(k, k), H.at(k + 1, k));
      turnRows(H, { p: k, q: k + 1 }, turn, k);
      turns.push(turn);
    }
    for (const [i, turn] of turns.entries()) {
      const p = first + i, q = p + 1;
      turnColumns(H, { p, q }, turn, q);
      turnColumns(Q, { p, q }, turn, H.n - 1);
    }
    for (let i = first; i <= last; i++) H.set(i, i, sum(H.at(i, i), shift));
  });
}

/** Wilkinson's shift: of the eigenvalues of the last two rows, the one nearer to the last element. */
function nearest(H: ComplexMatrix, last: number): Complex {
  const corner = H.at(last, last), across = times(H.at(last - 1, last), H.at(last, last - 1));
  const apart = difference(H.at(last - 1, last - 1), corner), half = { re: apart.re / 2, im: apart.im / 2 };
  const root = squareRoot(sum(times(half, half), across));
  const [more, less] = [sum(half, root), difference(half, root)];
  const farther = Math.hypot(more.re, more.im) >= Math.hypot(less.re, less.im) ? more : less;
  if (farther.re === 0 && farther.im === 0) return corner;
  return difference(corner, quotient(across, farther));
}
