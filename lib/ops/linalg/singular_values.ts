/**
 * Singular values and vectors, and ops that follow from them, as in torch.linalg. Invariant: computed on the host in
 * float64 by one-sided Jacobi rotations, which find small values to full relative precision; sorted in descending
 * order.
 */
import { isComplex } from "../../base/dtype.ts";
import { LinAlgError } from "../../base/errors.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, hostOp, type HostTensor, type TensorLike } from "../definition.ts";
import { adjoint } from "../factors/adjoint.ts";
import { checkMatrices, LINALG } from "../factors/checks.ts";
import { complexMatricesOf, pairsTensor } from "../factors/complex_matrix.ts";
import { decomposeComplex } from "../factors/complex_singular_values.ts";
import { pairedOp } from "../factors/paired.ts";
import type { OpApi } from "../generated.ts";
import { required } from "../params.ts";
import { hostTensor } from "../host.ts";
import { t } from "../pointwise.ts";
import { knownSize } from "../shapes.ts";

/** A matrix by columns. */
type Columns = Float64Array[];

const dot = (a: Float64Array, b: Float64Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
};

/** Turns two columns in their plane: (a, b) → (c·a − s·b, s·a + c·b). */
function rotate(a: Float64Array, b: Float64Array, { c, s }: { c: number; s: number }): void {
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0, y = b[i] ?? 0;
    a[i] = c * x - s * y;
    b[i] = s * x + c * y;
  }
}

/** Number of sweeps after which rotations must be caused by NaN. */
const MOST_SWEEPS = 60;

/**
 * Makes the columns of a matrix orthogonal by rotations from the right, which are applied to `v` as well (Hestenes
 * 1958): the lengths of the columns are then the singular values.
 */
function orthogonalize(columns: Columns, v: Columns): void {
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let turned = false;
    for (let p = 0; p < columns.length; p++) {
      for (let q = p + 1; q < columns.length; q++) {
        const a = columns[p], b = columns[q], va = v[p], vb = v[q];
        if (!a || !b || !va || !vb) continue;
        const alpha = dot(a, a), beta = dot(b, b), gamma = dot(a, b);
        if (Math.abs(gamma) <= 1e-15 * Math.sqrt(alpha * beta)) continue;
        turned = true;
        const zeta = (beta - alpha) / (2 * gamma);
        const tangent = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const c = 1 / Math.hypot(1, tangent), s = c * tangent;
        rotate(a, b, { c, s });
        rotate(va, vb, { c, s });
      }
    }
    if (!turned) return;
  }
}

/** Adds unit columns orthogonal to the existing ones, up to `count`. */
function complete(columns: Columns, count: number, rows: number): void {
  for (let axis = 0; columns.length < count && axis < rows; axis++) {
    const next = new Float64Array(rows);
    next[axis] = 1;
    for (let pass = 0; pass < 2; pass++) {
      for (const column of columns) {
        const along = dot(column, next);
        for (let i = 0; i < rows; i++) next[i] = (next[i] ?? 0) - along * (column[i] ?? 0);
      }
    }
    const length = Math.sqrt(dot(next, next));
    if (length < 1e-8) continue;
    columns.push(next.map((x) => x / length));
  }
}

interface Decomposition {
  readonly u: Columns;
  readonly values: readonly number[];
  readonly v: Columns;
}

/** u · diag(values) · vᵀ of a matrix with at least as many rows as columns, given by columns. */
function decomposeTall(columns: Columns, rows: number): Decomposition {
  const v = columns.map((_, i) => Float64Array.from(columns, (_c, j) => i === j ? 1 : 0));
  orthogonalize(columns, v);
  const lengths = columns.map((column) => Math.sqrt(dot(column, column)));
  const order = lengths.map((_, i) => i).sort((i, j) => (lengths[j] ?? 0) - (lengths[i] ?? 0));
  const greatest = lengths[order[0] ?? 0] ?? 0;
  const u: Columns = [];
  for (const i of order) {
    const length = lengths[i] ?? 0;
    if (length <= greatest * 1e-15 || length === 0) break;
    u.push((columns[i] ?? new Float64Array()).map((x) => x / length));
  }
  complete(u, columns.length, rows);
  return { u, values: order.map((i) => lengths[i] ?? 0), v: order.map((i) => v[i] ?? new Float64Array()) };
}

/** The decomposition of one matrix given row-major. */
function decompose(
  at: (row: number, column: number) => number,
  rows: number,
  columns: number,
): Decomposition {
  if (rows >= columns) {
    return decomposeTall(
      Array.from({ length: columns }, (_, j) => Float64Array.from({ length: rows }, (_v, i) => at(i, j))),
      rows,
    );
  }
  const { u, values, v } = decomposeTall(
    Array.from({ length: rows }, (_, i) => Float64Array.from({ length: columns }, (_v, j) => at(i, j))),
    columns,
  );
  return { u: v, values, v: u };
}

/** Adds the row-major elements of a matrix given by columns, or of its transpose. */
function append(out: number[], matrix: Columns, rows: number, transposed: boolean): void {
  const [outer, inner] = transposed ? [matrix.length, rows] : [rows, matrix.length];
  for (let i = 0; i < outer; i++) {
    for (let j = 0; j < inner; j++) out.push((transposed ? matrix[i]?.[j] : matrix[j]?.[i]) ?? 0);
  }
}

function factorsOf(A: HostTensor): readonly HostTensor[] {
  const shape = A.shape.map((s) => knownSize(s)), lead = shape.slice(0, -2);
  const [rows = 0, columns = 0] = shape.slice(-2), least = Math.min(rows, columns), size = rows * columns;
  const count = lead.reduce((a, b) => a * b, 1);
  const u: number[] = [], s: number[] = [], vh: number[] = [];
  for (let b = 0; b < count; b++) {
    const at = (i: number, j: number) => Number(A.data[b * size + i * columns + j]);
    const found = decompose(at, rows, columns);
    append(u, found.u, rows, false);
    s.push(...found.values);
    append(vh, found.v, columns, true);
  }
  return [
    hostTensor([...lead, rows, least], A.dtype, u),
    hostTensor([...lead, least], A.dtype, s),
    hostTensor([...lead, least, columns], A.dtype, vh),
  ];
}

/** The shapes of U, S and Vh. */
function factorMetas(A: TensorMeta): readonly [TensorMeta, TensorMeta, TensorMeta] {
  const lead = A.shape.slice(0, -2), rows = knownSize(A.shape.at(-2) ?? 1);
  const columns = knownSize(A.shape.at(-1) ?? 1), least = Math.min(rows, columns);
  const meta = (...shape: number[]) => contiguousMeta([...lead, ...shape], A.dtype, A.device);
  return [meta(rows, least), meta(least), meta(least, columns)];
}

/** The gradient of a decomposition, as torch.linalg.svd derives it (Townsend 2016), for distinct values. */
function factorGradient<T extends TensorLike>(
  o: OpApi<T>,
  { U, S, Vh, gU, gS, gVh }: {
    readonly U: T;
    readonly S: T;
    readonly Vh: T;
    readonly gU: T | null;
    readonly gS: T | null;
    readonly gVh: T | null;
  },
): T | null {
  if (!gU && !gVh) return gS ? o.matmul(o.mul(U, o.unsqueeze(gS, -2)), Vh) : null;
  const rows = U.shape.at(-2) ?? 1, columns = Vh.shape.at(-1) ?? 1, least = S.shape.at(-1) ?? 1;
  const row = o.unsqueeze(S, -2), column = o.unsqueeze(S, -1);
  // E[i][j] = s[j]² − s[i]², with ones on the diagonal, where the dividend is 0
  const eye = o.eye(least, null, { dtype: "bool", device: S.device });
  const gaps = o.where(eye, 1, o.mul(o.sub(row, column), o.add(row, column)));
  const skew = (x: T) => o.maskedFill(o.sub(x, adjoint(o, x)), eye, 0);
  let inner: T | null = null;
  const add = (term: T) => {
    inner = inner ? o.add(inner, term) : term;
  };
  const ofU = gU && o.matmul(adjoint(o, U), gU), ofV = gVh && o.matmul(Vh, adjoint(o, gVh));
  if (ofU) add(o.mul(o.div(skew(ofU), gaps), row));
  if (ofV) add(o.mul(column, o.div(skew(ofV), gaps)));
  if (gS) add(o.diagEmbed(gS));
  if (isComplex(U.dtype)) add(phaseGradient(o, { ofU, ofV, S }));
  if (!inner) return null;
  let grad = o.matmul(o.matmul(U, inner), Vh);
  const inverse = o.reciprocal(S);
  if (gU && rows !== least) {
    const rest = o.sub(gU, o.matmul(U, o.matmul(adjoint(o, U), gU)));
    grad = o.add(grad, o.matmul(o.mul(rest, o.unsqueeze(inverse, -2)), Vh));
  }
  if (gVh && columns !== least) {
    const rest = o.sub(gVh, o.matmul(o.matmul(gVh, adjoint(o, Vh)), Vh));
    grad = o.add(grad, o.matmul(o.mul(U, o.unsqueeze(inverse, -2)), rest));
  }
  return grad;
}

/**
 * The gradient through the phases of singular vectors: a column of U and its row of Vh may both be multiplied by one
 * phase, so that only the difference of their phases is determined.
 */
function phaseGradient<T extends TensorLike>(
  o: OpApi<T>,
  { ofU, ofV, S }: { readonly ofU: T | null; readonly ofV: T | null; readonly S: T },
): T {
  const phases = (x: T) => o.imag(o.diagonal(x, 0, -2, -1));
  const turned = ofU && ofV ? o.sub(phases(ofU), phases(ofV)) : ofU ? phases(ofU) : ofV && o.neg(phases(ofV));
  if (!turned) return o.diagEmbed(o.zerosLike(S));
  return o.diagEmbed(o.complex(o.zerosLike(S), o.div(turned, o.mul(S, 2))));
}

/** Throws LinAlgError for matrices that have no singular values. */
function checkFinite({ data }: HostTensor): void {
  const odd = data.find((x) => !Number.isFinite(Number(x)));
  if (odd === undefined) return;
  throw new LinAlgError(`Expected finite elements for the singular value decomposition but found ${odd}`);
}

const singularFactors = hostOp({
  name: "singularFactors",
  doc: "U, S and Vh with A = U · diag(S) · Vh, as many columns and rows as there are values.",
  params: { A: required("tensor") },
  results: ["U", "S", "Vh"],
  exposure: { method: false, free: false },
  infer({ A }) {
    checkMatrices("svd", A);
    return factorMetas(A);
  },
  compute({ A }) {
    checkFinite(A);
    return factorsOf(A);
  },
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [U, S, Vh], grads: [gU = null, gS = null, gVh = null] }) {
      return U && S && Vh ? { A: factorGradient(o, { U, S, Vh, gU, gS, gVh }) } : {};
    },
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const singularPairs = pairedOp(singularFactors, {
  name: "singularPairs",
  paired: [true, false, true],
  compute({ A }) {
    checkFinite(A);
    const { lead, matrices } = complexMatricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-3);
    const least = Math.min(rows, columns), found = matrices.map(decomposeComplex);
    return [
      pairsTensor([...lead, rows, least], A.dtype, found.map(({ U }) => U)),
      hostTensor([...lead, least], A.dtype, found.flatMap(({ values }) => values)),
      pairsTensor([...lead, least, columns], A.dtype, found.map(({ Vh }) => Vh)),
    ];
  },
});

const svdvals = composeOp({
  name: "svdvals",
  doc: "Singular values in descending order, as `torch.linalg.svdvals`. Computed on the host.",
  params: { A: required("tensor") },
  exposure: LINALG,
  hostParts: true,
  infer({ A }) {
    checkMatrices("svdvals", A);
    return factorMetas(A)[1];
  },
  compose: (o, { A }) => o.singularFactors(A)[1],
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

/**
 * The norms of matrices (in the last two dimensions) that need their singular values: the largest for 2, the
 * smallest for −2, their sum for "nuc".
 */
export function spectralNorm<T extends TensorLike>(o: OpApi<T>, x: T, ord: 2 | -2 | "nuc"): T {
  const values = o.svdvals(x);
  // The greatest of no values is 0
  const isSum = ord === "nuc" || (ord === 2 && isEqual(values.shape.at(-1) ?? 1, 0));
  if (isSum) return o.sum(values, -1);
  return ord === 2 ? o.amax(values, [-1]) : o.amin(values, [-1]);
}

export const singularValueOps = { singularFactors, singularPairs, svdvals } as const;
