/**
 * QR decomposition, as in torch.linalg.qr. Invariant: computed on the host in float64 by Householder reflections,
 * with LAPACK's signs: a column is reflected away from itself.
 */
import { contiguousMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { type HostTensor, refusedGradient, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { adjoint, hermitianOf } from "./adjoint.ts";
import { checkMatrices, lesser, LINALG } from "./checks.ts";
import { complexFactorsOf } from "./complex_orthogonal.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";
import { pairedOp } from "./paired.ts";

/** Q with `width` orthonormal columns, and R with as many rows, of one matrix. */
function decompose(A: Matrix, width: number): { readonly Q: Matrix; readonly R: Matrix } {
  const { rows, columns } = A, R = A.copy(), count = Math.min(rows, columns);
  const reflections: Float64Array[] = [];
  for (let k = 0; k < count; k++) {
    const v = new Float64Array(rows);
    let norm = 0;
    for (let i = k; i < rows; i++) {
      v[i] = R.at(i, k);
      norm = Math.hypot(norm, R.at(i, k));
    }
    let rest = 0;
    for (let i = k + 1; i < rows; i++) rest = Math.max(rest, Math.abs(R.at(i, k)));
    // The column is already 0 below the diagonal: no reflection
    if (rest === 0) v.fill(0);
    else {
      v[k] = R.at(k, k) + (R.at(k, k) >= 0 ? norm : -norm);
      reflect(R, v, k);
    }
    reflections.push(v);
  }
  const Q = Matrix.eye(rows, width);
  for (let k = count - 1; k >= 0; k--) reflect(Q, reflections[k] ?? new Float64Array(rows), k);
  const triangle = new Matrix(Math.min(width, rows), columns);
  for (let i = 0; i < triangle.rows; i++) for (let j = i; j < columns; j++) triangle.set(i, j, R.at(i, j));
  return { Q, R: triangle };
}

/** M ← M − 2·v·(vᵀ·M) / (vᵀ·v), in place; v is 0 before `from`. */
function reflect(M: Matrix, v: Float64Array, from: number): void {
  let square = 0;
  for (let i = from; i < M.rows; i++) square += (v[i] ?? 0) ** 2;
  if (square === 0) return;
  for (let j = 0; j < M.columns; j++) {
    let along = 0;
    for (let i = from; i < M.rows; i++) along += (v[i] ?? 0) * M.at(i, j);
    const factor = 2 * along / square;
    for (let i = from; i < M.rows; i++) M.add(i, j, -factor * (v[i] ?? 0));
  }
}

function factorsOf(A: HostTensor, complete: boolean): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-2);
  const width = complete ? rows : Math.min(rows, columns),
    found = matrices.map((each) => decompose(each, width));
  return [
    matrixTensor(lead, A.dtype, { matrices: found.map(({ Q }) => Q), rows, columns: width }),
    matrixTensor(lead, A.dtype, { matrices: found.map(({ R }) => R), rows: width, columns }),
  ];
}

const tallQr = hostWideOp({
  name: "tallQr",
  doc: "Q and R of matrices with at least as many rows as columns, reduced.",
  params: { A: required("tensor") },
  results: ["Q", "R"],
  exposure: { method: false, free: false },
  infer({ A }) {
    const { columns } = checkMatrices("qr", A);
    return [
      contiguousMeta(A.shape, A.dtype, A.device),
      contiguousMeta([...A.shape.slice(0, -2), columns, columns], A.dtype, A.device),
    ];
  },
  compute: ({ A }) => factorsOf(A, false),
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [Q, R], grads: [gQ = null, gR = null] }) {
      return Q && R ? { A: tallGradient(o, { Q, R, gQ, gR }) } : {};
    },
  },
  samples: [],
});

/** (gQ + Q · (M + Mᴴ with one diagonal)) · R⁻ᴴ, M the upper triangle of gR · Rᴴ − Qᴴ · gQ (Walter and Lehmann 2013). */
function tallGradient<T extends TensorLike>(
  o: OpApi<T>,
  { Q, R, gQ, gR }: { readonly Q: T; readonly R: T; readonly gQ: T | null; readonly gR: T | null },
): T | null {
  const Rh = adjoint(o, R), fromR = gR && o.matmul(gR, Rh), fromQ = gQ && o.matmul(adjoint(o, Q), gQ);
  const inner = fromR && fromQ ? o.sub(fromR, fromQ) : fromR ?? (fromQ && o.neg(fromQ));
  if (!inner) return null;
  const along = o.matmul(Q, hermitianOf(o, adjoint(o, inner)));
  return o.solveTriangular(Rh, gQ ? o.add(gQ, along) : along, false, { left: false });
}

const completeQr = hostWideOp({
  name: "completeQr",
  doc: "Q with as many columns as rows, and R, of matrices with more rows than columns.",
  params: { A: required("tensor") },
  results: ["Q", "R"],
  exposure: { method: false, free: false },
  infer({ A }) {
    const { rows, columns } = checkMatrices("qr", A), lead = A.shape.slice(0, -2);
    return [
      contiguousMeta([...lead, rows, rows], A.dtype, A.device),
      contiguousMeta([...lead, rows, columns], A.dtype, A.device),
    ];
  },
  compute: ({ A }) => factorsOf(A, true),
  // The columns of Q beyond those of A may be any that are orthogonal to them
  gradient: refusedGradient("a complete qr of more rows than columns"),
  samples: [],
});

const tallQrPairs = pairedOp(tallQr, {
  name: "tallQrPairs",
  paired: [true, true],
  compute: ({ A }) => complexFactorsOf(A, false),
});

const completeQrPairs = pairedOp(completeQr, {
  name: "completeQrPairs",
  paired: [true, true],
  compute: ({ A }) => complexFactorsOf(A, true),
});

const MODES = ["reduced", "complete", "r"] as const;

function shapesOf(
  rows: Dim,
  columns: Dim,
  mode: string,
): { readonly Q: readonly Dim[]; readonly R: readonly Dim[] } {
  const width = mode === "complete" ? rows : lesser(rows, columns);
  return { Q: mode === "r" ? [0] : [rows, width], R: [width, columns] };
}

const qr = composeWideOp({
  name: "qr",
  doc:
    'Q with orthonormal columns and upper triangular R with A = Q · R, as `torch.linalg.qr`; mode "complete" gives all ' +
    'columns of Q, "r" none. Computed on the host.',
  params: { A: required("tensor"), mode: optional("string", "reduced", { oneOf: MODES }) },
  results: ["Q", "R"],
  exposure: LINALG,
  hostParts: true,
  infer({ A, mode }) {
    const { rows, columns } = checkMatrices("qr", A), lead = A.shape.slice(0, -2);
    const { Q, R } = shapesOf(rows, columns, mode);
    return [
      contiguousMeta(mode === "r" ? [0] : [...lead, ...Q], A.dtype, A.device),
      contiguousMeta([...lead, ...R], A.dtype, A.device),
    ];
  },
  compose(o, { A, mode }) {
    const [rows = 1, columns = 1] = A.shape.slice(-2), width = lesser(rows, columns);
    if (mode === "r") {
      return [o.zeros([0], { dtype: A.dtype, device: A.device }), o.detach(wideOrTall(o, A)[1])];
    }
    if (mode === "complete" && !isEqual(width, rows)) return [...o.completeQr(A)];
    return [...wideOrTall(o, A)];
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

/** Reduced Q and R; those of wide matrices follow from their first columns, which determine Q. */
function wideOrTall<T extends TensorLike>(o: OpApi<T>, A: T): readonly [T, T] {
  const [rows = 1, columns = 1] = A.shape.slice(-2);
  if (isEqual(lesser(rows, columns), columns)) {
    const [Q, R] = o.tallQr(A);
    return [Q, R];
  }
  const count = knownSize(rows), wide = knownSize(columns);
  const [Q, first] = o.tallQr(o.narrow(A, -1, 0, count));
  return [Q, o.cat([first, o.matmul(adjoint(o, Q), o.narrow(A, -1, count, wide - count))], -1)];
}

export const orthogonalOps = { tallQr, tallQrPairs, completeQr, completeQrPairs, qr } as const;
