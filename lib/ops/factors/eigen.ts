/**
 * Eigenvalues of symmetric and Hermitian matrices, of which one triangle is read, as in torch.linalg.eigh. Invariant:
 * computed on the host in float64 by Jacobi rotations; values ascend, and the largest element of each vector is real and
 * positive.
 */
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { HostTensor } from "../definition.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { adjoint } from "./adjoint.ts";
import { checkSquare, LINALG } from "./checks.ts";
import {
  complexMatricesOf,
  ComplexMatrix,
  jacobiTurn,
  normalized,
  pairsTensor,
  turnColumns,
  turnRows,
  ZERO,
} from "./complex_matrix.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";
import { pairedOp } from "./paired.ts";

/** Number of sweeps after which rotations must be caused by NaN. */
const MOST_SWEEPS = 60;

interface Eigen<M> {
  readonly values: readonly number[];
  /** Vectors as columns. */
  readonly vectors: M;
}

/** Cyclic rotations (Golub and Van Loan, section 8.5) of a symmetric matrix given by its lower triangle. */
export function decompose(given: Matrix): Eigen<Matrix> {
  const n = given.rows, A = new Matrix(n, n), V = Matrix.eye(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) A.set(i, j, given.at(Math.max(i, j), Math.min(i, j)));
  }
  for (let sweep = 0, turned = true; turned && sweep < MOST_SWEEPS; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const off = A.at(p, q);
        if (Math.abs(off) <= 1e-17 * Math.sqrt(Math.abs(A.at(p, p) * A.at(q, q))) || off === 0) continue;
        turned = true;
        const tau = (A.at(q, q) - A.at(p, p)) / (2 * off);
        const tangent = (tau < 0 ? -1 : 1) / (Math.abs(tau) + Math.hypot(1, tau));
        const c = 1 / Math.hypot(1, tangent), s = c * tangent;
        rotateColumns(A, { p, q, c, s });
        rotateRows(A, { p, q, c, s });
        rotateColumns(V, { p, q, c, s });
        A.set(p, q, 0);
        A.set(q, p, 0);
      }
    }
  }
  const order = Array.from({ length: n }, (_, k) => k).sort((i, j) => A.at(i, i) - A.at(j, j));
  const vectors = new Matrix(n, n);
  order.forEach((from, to) => {
    let largest = 0;
    for (let i = 0; i < n; i++) if (Math.abs(V.at(i, from)) > Math.abs(largest)) largest = V.at(i, from);
    for (let i = 0; i < n; i++) vectors.set(i, to, largest < 0 ? -V.at(i, from) : V.at(i, from));
  });
  return { values: order.map((k) => A.at(k, k)), vectors };
}

/** The same of a Hermitian matrix. */
function decomposeHermitian(given: ComplexMatrix): Eigen<ComplexMatrix> {
  const { n } = given, A = given.adjoint(), V = ComplexMatrix.eye(n);
  const order = Array.from({ length: n }, (_, k) => k);
  for (const i of order) {
    A.set(i, i, { re: A.at(i, i).re, im: 0 });
    for (let j = 0; j < i; j++) A.set(i, j, given.at(i, j));
  }
  const diagonal = (k: number) => A.at(k, k).re;
  for (let sweep = 0, turned = true; turned && sweep < MOST_SWEEPS; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const size = A.size(p, q);
        if (size <= 1e-17 * Math.sqrt(Math.abs(diagonal(p) * diagonal(q))) || size === 0) continue;
        turned = true;
        const turn = jacobiTurn(diagonal(p), diagonal(q), A.at(p, q));
        turnColumns(A, { p, q }, turn, n - 1);
        turnRows(A, { p, q }, turn, 0);
        turnColumns(V, { p, q }, turn, n - 1);
        A.set(p, q, ZERO);
        A.set(q, p, ZERO);
      }
    }
  }
  order.sort((i, j) => diagonal(i) - diagonal(j));
  const vectors = new ComplexMatrix(n);
  for (const [to, from] of order.entries()) vectors.setColumn(to, normalized(V.column(from)));
  return { values: order.map(diagonal), vectors };
}

interface Rotation {
  readonly p: number;
  readonly q: number;
  readonly c: number;
  readonly s: number;
}

function rotateColumns(M: Matrix, { p, q, c, s }: Rotation): void {
  for (let i = 0; i < M.rows; i++) {
    const x = M.at(i, p), y = M.at(i, q);
    M.set(i, p, c * x - s * y);
    M.set(i, q, s * x + c * y);
  }
}

function rotateRows(M: Matrix, { p, q, c, s }: Rotation): void {
  for (let j = 0; j < M.columns; j++) {
    const x = M.at(p, j), y = M.at(q, j);
    M.set(p, j, c * x - s * y);
    M.set(q, j, s * x + c * y);
  }
}

function eigenOf(A: HostTensor): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), found = matrices.map(decompose), n = A.shape.at(-1) ?? 0;
  return [
    hostTensor([...lead, n], A.dtype, found.flatMap(({ values }) => values)),
    matrixTensor(lead, A.dtype, { matrices: found.map(({ vectors }) => vectors), rows: n, columns: n }),
  ];
}

function metas(name: string, A: TensorMeta): [TensorMeta, TensorMeta] {
  checkSquare(name, A);
  return [
    contiguousMeta(A.shape.slice(0, -1), A.dtype, A.device),
    contiguousMeta(A.shape, A.dtype, A.device),
  ];
}

const TRIANGLES = ["L", "U"] as const;

const symmetricEigen = hostWideOp({
  name: "symmetricEigen",
  doc: "Eigenvalues and eigenvectors of symmetric matrices, by their lower triangles.",
  params: { A: required("tensor") },
  results: ["eigenvalues", "eigenvectors"],
  exposure: { method: false, free: false },
  infer: ({ A }) => metas("eigh", A),
  compute: ({ A }) => eigenOf(A),
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [L, V], grads: [gL, gV] }) {
      if (!L || !V) return {};
      const n = L.shape.at(-1) ?? 1;
      if (!gV) return gL ? { A: o.matmul(o.mul(V, o.unsqueeze(gL, -2)), adjoint(o, V)) } : {};
      // V · (diag(gL) + M / E) · Vᴴ, M the skew part of Vᴴ · gV, E[i][j] = L[j] − L[i], of distinct values
      const eye = o.eye(n, null, { dtype: "bool", device: L.device });
      const gaps = o.where(eye, 1, o.sub(o.unsqueeze(L, -2), o.unsqueeze(L, -1)));
      const turn = o.matmul(adjoint(o, V), gV), sides = o.div(o.sub(turn, adjoint(o, turn)), 2);
      const turned = o.maskedFill(o.div(sides, gaps), eye, 0);
      const inner = gL ? o.add(turned, o.diagEmbed(gL)) : turned;
      return { A: o.matmul(o.matmul(V, inner), adjoint(o, V)) };
    },
  },
  samples: [],
});

const hermitianPairs = pairedOp(symmetricEigen, {
  name: "hermitianPairs",
  paired: [false, true],
  compute({ A }) {
    const found = complexMatricesOf(A).matrices.map(decomposeHermitian), shape = A.shape.slice(0, -1);
    return [
      hostTensor(shape.slice(0, -1), A.dtype, found.flatMap(({ values }) => values)),
      pairsTensor(shape, A.dtype, found.map(({ vectors }) => vectors)),
    ];
  },
});

const eigh = composeWideOp({
  name: "eigh",
  doc:
    "Ascending eigenvalues and eigenvectors of symmetric or Hermitian matrices, as `torch.linalg.eigh`; gradients need distinct " +
    "values. Computed on the host.",
  params: { A: required("tensor"), UPLO: optional("string", "L", { oneOf: TRIANGLES }) },
  results: ["eigenvalues", "eigenvectors"],
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metas("eigh", A),
  compose: (o, { A, UPLO }) => [...o.symmetricEigen(UPLO === "U" ? adjoint(o, A) : A)],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const eigvalsh = composeWideOp({
  name: "eigvalsh",
  doc:
    "Ascending eigenvalues of symmetric or Hermitian matrices, as `torch.linalg.eigvalsh`. Computed on the host.",
  params: { A: required("tensor"), UPLO: optional("string", "L", { oneOf: TRIANGLES }) },
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metas("eigvalsh", A)[0],
  compose: (o, { A, UPLO }) => o.symmetricEigen(UPLO === "U" ? adjoint(o, A) : A)[0],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

export const eigenOps = { symmetricEigen, hermitianPairs, eigh, eigvalsh } as const;
