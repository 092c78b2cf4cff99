/**
 * Linear algebra of complex matrices. Decompositions are ops on pairs of parts; functions of matrices whose results are
 * unique are those of real matrices of twice the size, in which each number is a block [[re, −im], [im, re]]. Invariant:
 * sums, products, adjoints and triangles of the blocks are those of the numbers.
 */
import type { OpDefinition, TensorLike } from "../definition.ts";
import { hermitianOf } from "../factors/adjoint.ts";
import { choleskyOps } from "../factors/cholesky.ts";
import { eigenOps } from "../factors/eigen.ts";
import { eliminationOps } from "../factors/elimination.ts";
import { leastSquaresOps } from "../factors/least_squares.ts";
import { orthogonalOps } from "../factors/orthogonal.ts";
import { rootOps } from "../factors/roots.ts";
import { triangularOps } from "../factors/triangular.ts";
import type { OpApi } from "../generated.ts";
import { partType } from "../../base/dtype.ts";
import { linearAlgebra } from "../linalg/linear_algebra.ts";
import { singularValueOps } from "../linalg/singular_values.ts";
import type { Params } from "../params.ts";
import { overPairs, partsOf } from "./parts.ts";
import { callNamed, type ComplexRule, rule } from "./rule.ts";

/** Real matrices [..., 2·rows, 2·columns] of complex ones. */
function inBlocks<T extends TensorLike>(o: OpApi<T>, z: T): T {
  const { re, im } = partsOf(o, z);
  const blocks = o.stack([o.stack([re, im], -1), o.stack([o.neg(im), re], -1)], -1);
  return o.flatten(o.flatten(o.transpose(blocks, -3, -2), -4, -3), -2, -1);
}

/** The complex matrices of such real ones. */
const outOfBlocks = <T extends TensorLike>(o: OpApi<T>, blocks: T): T =>
  outOfRows(o, o.select(o.unflatten(blocks, -1, [-1, 2]), -1, 0));

/** Real matrices [..., 2·rows, columns] with the parts of each number one below the other: the first of its columns. */
const inRows = <T extends TensorLike>(o: OpApi<T>, z: T): T =>
  o.flatten(o.transpose(o.viewAsReal(z), -2, -1), -3, -2);

const outOfRows = <T extends TensorLike>(o: OpApi<T>, rows: T): T =>
  overPairs(o, o.transpose(o.unflatten(rows, -2, [-1, 2]), -2, -1));

/** The rule of a decomposition whose complex form is an op on pairs of parts. `complex`: which results are complex. */
function ofPairs<P extends Params & { readonly A: unknown }>(
  { name }: OpDefinition<P>,
  pairs: OpDefinition<P>,
  complex: readonly boolean[],
): ComplexRule {
  return {
    name,
    compose<T extends TensorLike>(o: OpApi<T>, { A, ...options }: { A: T }) {
      const found = callNamed(o, pairs.name, { A: o.viewAsReal(A), ...options });
      const results = "dtype" in found ? [found] : found;
      return results.map((x, k) => complex[k] ? o.viewAsComplex(x) : x);
    },
  };
}

export const decompositionRules: readonly ComplexRule[] = [
  ofPairs(choleskyOps.choleskyFactor, choleskyOps.choleskyPairs, [true, false]),
  ofPairs(eigenOps.symmetricEigen, eigenOps.hermitianPairs, [false, true]),
  ofPairs(eliminationOps.luFactorEx, eliminationOps.luFactorPairs, [true, false, false]),
  ofPairs(orthogonalOps.tallQr, orthogonalOps.tallQrPairs, [true, true]),
  ofPairs(orthogonalOps.completeQr, orthogonalOps.completeQrPairs, [true, true]),
  ofPairs(singularValueOps.singularFactors, singularValueOps.singularPairs, [true, false, true]),
  ofPairs(linearAlgebra.slogdet, linearAlgebra.slogdetPairs, [true, false]),
  rule(linearAlgebra.inv, (o, { A }) => outOfBlocks(o, o.inv(inBlocks(o, A)))),
  rule(leastSquaresOps.matrixExp, (o, { A }) => outOfBlocks(o, o.matrixExp(inBlocks(o, A)))),
  rule(rootOps.matrixSqrth, (o, { A }) => outOfBlocks(o, o.matrixSqrth(inBlocks(o, hermitianOf(o, A))))),
  // Of a matrix of less than full rank there are many isometries, and the blocks' own need not consist of blocks
  rule(rootOps.linalgPolar, (o, { A }) => {
    const [W, , Vh] = o.linalgSvd(A, false), isometry = inBlocks(o, o.matmul(W, Vh));
    return [...o.polarFactors(inBlocks(o, A), isometry)].map((x) => outOfBlocks(o, x));
  }),
  rule(leastSquaresOps.pseudoinverse, (o, { A, bound, hermitian }) => {
    const blocks = inBlocks(o, hermitian ? hermitianOf(o, A) : A);
    return outOfBlocks(o, o.pseudoinverse(blocks, bound, false));
  }),
  rule(triangularOps.backSubstitution, (o, { A, B, upper, unitriangular }) => {
    // Ones on the diagonal are blocks without an element beyond it
    const n = A.shape.at(-1) ?? 1, diagonal = o.unsqueeze(o.diagonal(A, 0, -2, -1), -1);
    const eye = o.eye(n, null, { dtype: "bool", device: A.device });
    const over = (x: typeof A) => unitriangular ? x : o.div(x, diagonal);
    const unit = inBlocks(o, o.maskedFill(over(A), eye, 1));
    return outOfRows(o, o.backSubstitution(unit, inRows(o, over(B)), upper, true));
  }),
  rule(
    eliminationOps.permutationOf,
    (o, { pivots, rows, dtype }) => o.to(o.permutationOf(pivots, rows, { dtype: partType(dtype) }), dtype),
  ),
];
