/**
 * Singular values and vectors of one complex matrix. Invariant: computed in float64 by one-sided Jacobi rotations; values
 * descend, and there are as many vectors as values, also where values are 0.
 */
import {
  type Complex,
  ComplexMatrix,
  conjugate,
  difference,
  jacobiTurn,
  lengthOf,
  scaled,
  sum,
  times,
  turnColumns,
  ZERO,
} from "./complex_matrix.ts";

/** Number of sweeps after which rotations must be caused by NaN. */
const MOST_SWEEPS = 60;

interface Factors {
  readonly U: ComplexMatrix;
  readonly values: readonly number[];
  readonly Vh: ComplexMatrix;
}

/** U · diag(values) · Vh, reduced. */
export function decomposeComplex(A: ComplexMatrix): Factors {
  if (A.n < A.columns) {
    const { U, values, Vh } = decomposeComplex(A.adjoint());
    return { U: Vh.adjoint(), values, Vh: U.adjoint() };
  }
  const M = A.adjoint().adjoint(), { n, columns } = M, V = ComplexMatrix.eye(columns);
  orthogonalize(M, V);
  const lengths = Array.from({ length: columns }, (_, k) => lengthOf(M.column(k)));
  const order = lengths.map((_, k) => k).sort((i, j) => (lengths[j] ?? 0) - (lengths[i] ?? 0));
  const greatest = lengths[order[0] ?? 0] ?? 0, left: (readonly Complex[])[] = [];
  const U = new ComplexMatrix(n, columns), turned = new ComplexMatrix(columns);
  for (const [to, from] of order.entries()) {
    const length = lengths[from] ?? 0, isZero = length <= greatest * 1e-15 || length === 0;
    const vector = isZero ? orthogonalTo(left, n) : M.column(from).map((x) => scaled(x, 1 / length));
    left.push(vector);
    U.setColumn(to, vector);
    turned.setColumn(to, V.column(from));
  }
  return { U, values: order.map((k) => lengths[k] ?? 0), Vh: turned.adjoint() };
}

/** The inner product, of which the first vector is conjugated. */
const inner = (a: readonly Complex[], b: readonly Complex[]): Complex =>
  a.reduce((total, x, k) => sum(total, times(conjugate(x), b[k] ?? ZERO)), ZERO);

/** Makes the columns orthogonal by rotations from the right, which are applied to `V` as well (Hestenes 1958). */
function orthogonalize(M: ComplexMatrix, V: ComplexMatrix): void {
  for (let sweep = 0, turned = true; turned && sweep < MOST_SWEEPS; sweep++) {
    turned = false;
    for (let p = 0; p < M.columns; p++) {
      for (let q = p + 1; q < M.columns; q++) {
        const a = M.column(p), b = M.column(q), between = inner(a, b);
        const first = lengthOf(a) ** 2, second = lengthOf(b) ** 2;
        if (Math.hypot(between.re, between.im) <= 1e-15 * Math.sqrt(first * second)) continue;
        turned = true;
        const turn = jacobiTurn(first, second, between);
        turnColumns(M, { p, q }, turn, M.n - 1);
        turnColumns(V, { p, q }, turn, V.n - 1);
      }
    }
  }
}

/** A unit vector orthogonal to others, of which there are fewer than elements: what is left of the best axis. */
function orthogonalTo(others: readonly (readonly Complex[])[], size: number): readonly Complex[] {
  for (let axis = 0; axis < size; axis++) {
    let next: readonly Complex[] = Array.from(
      { length: size },
      (_, i) => ({ re: i === axis ? 1 : 0, im: 0 }),
    );
    for (let pass = 0; pass < 2; pass++) {
      for (const other of others) {
        const along = inner(other, next);
        next = next.map((x, i) => difference(x, times(along, other[i] ?? ZERO)));
      }
    }
    const length = lengthOf(next);
    if (length > 1 / (2 * Math.sqrt(size))) return next.map((x) => scaled(x, 1 / length));
  }
  return Array.from({ length: size }, () => ({ re: NaN, im: NaN }));
}
