/**
 * Cholesky factors of symmetric positive definite matrices, of which only the lower triangle is read, as in
 * torch.linalg. Invariant: computed on the host in float64; a matrix that is not positive definite is an error, or is
 * reported as the order of the first leading minor that is not.
 */
import { LinAlgError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { HostTensor } from "../definition.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { reduceTo, t } from "../pointwise.ts";
import { broadcastShapes } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { adjoint, hermitianOf } from "./adjoint.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";
import {
  complexMatricesOf,
  ComplexMatrix,
  conjugate,
  difference,
  pairsTensor,
  scaled,
  times,
} from "./complex_matrix.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";
import { pairedOp } from "./paired.ts";

/** L with A = L · Lᵀ, and the order of the first leading minor that is not positive; 0 if all are. */
function factorize(A: Matrix): { readonly L: Matrix; readonly info: number } {
  const n = A.rows, L = new Matrix(n, n);
  for (let j = 0; j < n; j++) {
    let square = A.at(j, j);
    for (let k = 0; k < j; k++) square -= L.at(j, k) ** 2;
    if (!(square > 0)) return { L, info: j + 1 };
    const diagonal = Math.sqrt(square);
    L.set(j, j, diagonal);
    for (let i = j + 1; i < n; i++) {
      let sum = A.at(i, j);
      for (let k = 0; k < j; k++) sum -= L.at(i, k) * L.at(j, k);
      L.set(i, j, sum / diagonal);
    }
  }
  return { L, info: 0 };
}

function factorsOf(A: HostTensor, checkErrors: boolean): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), found = matrices.map(factorize);
  const [rows = 0, columns = 0] = A.shape.slice(-2);
  return [
    matrixTensor(lead, A.dtype, { matrices: found.map(({ L }) => L), rows, columns }),
    minorsOf(found, lead, checkErrors),
  ];
}

/** The orders of the first leading minors that are not positive. */
function minorsOf(
  found: readonly { readonly info: number }[],
  lead: readonly number[],
  checkErrors: boolean,
): HostTensor {
  const bad = found.findIndex(({ info }) => info > 0);
  if (checkErrors && bad >= 0) {
    throw new LinAlgError(
      "Expected positive definite matrices but found the leading minor of order " +
        `${found[bad]?.info} of matrix ${bad} not positive`,
    );
  }
  return hostTensor(lead, "int32", found.map(({ info }) => info));
}

/** The same of a Hermitian matrix: A = L · Lᴴ. */
function factorizeComplex(A: ComplexMatrix): { readonly L: ComplexMatrix; readonly info: number } {
  const { n } = A, L = new ComplexMatrix(n);
  for (let j = 0; j < n; j++) {
    let square = A.at(j, j).re;
    for (let k = 0; k < j; k++) square -= L.size(j, k) ** 2;
    if (!(square > 0)) return { L, info: j + 1 };
    const diagonal = Math.sqrt(square);
    L.set(j, j, { re: diagonal, im: 0 });
    for (let i = j + 1; i < n; i++) {
      let left = A.at(i, j);
      for (let k = 0; k < j; k++) left = difference(left, times(L.at(i, k), conjugate(L.at(j, k))));
      L.set(i, j, scaled(left, 1 / diagonal));
    }
  }
  return { L, info: 0 };
}

function metas(name: string, A: TensorMeta): TensorMeta[] {
  checkSquare(name, A);
  return [
    contiguousMeta(A.shape, A.dtype, A.device),
    contiguousMeta(A.shape.slice(0, -2), "int32", A.device),
  ];
}

const choleskyFactor = hostWideOp({
  name: "choleskyFactor",
  doc: "Lower Cholesky factors, and the orders of the first leading minors that are not positive.",
  params: { A: required("tensor"), checkErrors: required("bool") },
  results: ["L", "info"],
  exposure: { method: false, free: false },
  infer: ({ A }) => metas("cholesky", A),
  compute: ({ A, checkErrors }) => factorsOf(A, checkErrors),
  gradient: {
    saves: ["out"],
    single(o, grad, { out: [L] }) {
      if (!L) return {};
      // Murray 2016: ½ · L⁻ᴴ · (P + Pᴴ) · L⁻¹, P the lower triangle of Lᴴ · gL with half of its diagonal
      const Lh = adjoint(o, L), left = o.solveTriangular(Lh, hermitianOf(o, o.matmul(Lh, grad)), true);
      return { A: o.mul(o.solveTriangular(L, left, false, { left: false }), 0.5) };
    },
  },
  samples: [],
});

const choleskyPairs = pairedOp(choleskyFactor, {
  name: "choleskyPairs",
  paired: [true, false],
  compute({ A, checkErrors }) {
    const { lead, matrices } = complexMatricesOf(A), found = matrices.map(factorizeComplex);
    return [
      pairsTensor(A.shape.slice(0, -1), A.dtype, found.map(({ L }) => L)),
      minorsOf(found, lead, checkErrors),
    ];
  },
});

const choleskyEx = composeWideOp({
  name: "choleskyEx",
  doc:
    "Cholesky factors, and the order of the first leading minor that is not positive, 0 for none, as `torch.linalg.cholesky_ex`. Computed on the host.",
  params: {
    A: required("tensor"),
    upper: optional("bool", false, { keyword: true }),
    checkErrors: optional("bool", false, { keyword: true }),
  },
  results: ["L", "info"],
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metas("choleskyEx", A),
  compose(o, { A, upper, checkErrors }) {
    const [L, info] = o.choleskyFactor(upper ? adjoint(o, A) : A, checkErrors);
    return [upper ? o.contiguous(adjoint(o, L)) : L, info];
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const cholesky = composeWideOp({
  name: "cholesky",
  doc:
    "L with A = L · Lᵀ, or U with A = Uᵀ · U where `upper` is true, as `torch.linalg.cholesky`. Computed on the host.",
  params: { A: required("tensor"), upper: optional("bool", false) },
  exposure: { namespaces: ["linalg"] },
  hostParts: true,
  infer({ A }) {
    checkSquare("cholesky", A);
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compose: (o, { A, upper }) => o.choleskyEx(A, { upper, checkErrors: true })[0],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const choleskyInverse = composeWideOp({
  name: "choleskyInverse",
  doc:
    "The inverses of matrices with given Cholesky factors, as `torch.cholesky_inverse`. Computed on the host.",
  params: { L: required("tensor"), upper: optional("bool", false) },
  hostParts: true,
  infer({ L }) {
    checkSquare("choleskyInverse", L);
    return contiguousMeta(L.shape, L.dtype, L.device);
  },
  compose(o, { L, upper }) {
    const n = L.shape.at(-1) ?? 1, eye = o.eye(n, null, { dtype: L.dtype, device: L.device });
    const inverse = o.solveTriangular(L, eye, upper);
    const other = adjoint(o, inverse);
    return upper ? o.matmul(inverse, other) : o.matmul(other, inverse);
  },
  gradient: {
    saves: ["L", "out"],
    single(o, grad, { args: { L, upper }, out: [inverse] }) {
      if (!inverse) return {};
      const common = o.matmul(o.matmul(inverse, o.add(grad, adjoint(o, grad))), inverse);
      return { L: o.neg(upper ? o.matmul(L, common) : o.matmul(common, L)) };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const choleskySolve = composeWideOp({
  name: "choleskySolve",
  doc:
    "X with A · X = self, where A is given by its Cholesky factor L, as `torch.cholesky_solve`. Computed on the host.",
  params: { self: required("tensor"), L: required("tensor"), upper: optional("bool", false) },
  otherNames: { B: "self", input2: "L" },
  hostParts: true,
  infer({ self, L }) {
    const n = checkSquare("choleskySolve", L), { columns } = checkMatrices("choleskySolve", self);
    const lead = broadcastShapes(L.shape.slice(0, -2), self.shape.slice(0, -2));
    return contiguousMeta([...lead, n, columns], L.dtype, L.device);
  },
  compose(o, { self, L, upper }) {
    const [first, second] = upper ? [adjoint(o, L), L] : [L, adjoint(o, L)];
    return o.solveTriangular(second, o.solveTriangular(first, self, false), true);
  },
  // As in PyTorch: the gradient of all of L, not only of the triangle that is read
  gradient: {
    saves: ["self", "L", "out"],
    single(o, grad, { args: { self, L, upper }, out: [X] }) {
      if (!X) return {};
      const side = o.choleskySolve(grad, L, upper), outer = o.matmul(side, adjoint(o, X));
      const common = o.add(outer, adjoint(o, outer));
      return {
        self: reduceTo(o, side, self),
        L: reduceTo(o, o.neg(upper ? o.matmul(L, common) : o.matmul(common, L)), L),
      };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 2), t(2, 3)], message: "square" }],
});

export const choleskyOps = {
  choleskyFactor,
  choleskyPairs,
  choleskyEx,
  cholesky,
  choleskyInverse,
  choleskySolve,
} as const;
