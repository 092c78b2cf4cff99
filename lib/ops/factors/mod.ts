/** Decompositions of matrices and what follows from them, by name. */
import { choleskyOps } from "./cholesky.ts";
import { eigenOps } from "./eigen.ts";
import { eliminationOps } from "./elimination.ts";
import { extremeEigenOps } from "./extreme_eigen.ts";
import { generalEigenOps } from "./general_eigen.ts";
import { indefiniteOps } from "./indefinite.ts";
import { leastSquaresOps } from "./least_squares.ts";
import { lowRankOps } from "./low_rank.ts";
import { orthogonalOps } from "./orthogonal.ts";
import { reflectionOps } from "./reflections.ts";
import { rootOps } from "./roots.ts";
import { triangularOps } from "./triangular.ts";

export const factorOps = {
  ...triangularOps,
  ...choleskyOps,
  ...orthogonalOps,
  ...eigenOps,
  ...generalEigenOps,
  ...extremeEigenOps,
  ...lowRankOps,
  ...eliminationOps,
  ...leastSquaresOps,
  ...reflectionOps,
  ...indefiniteOps,
  ...rootOps,
} as const;
