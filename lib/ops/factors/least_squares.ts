/**
 * Pseudoinverses, least squares and other results that follow from singular values, as in torch.linalg. Invariant:
 * singular values of at most `rtol` times the largest, or `atol`, count as 0.
 */
import { DynError } from "../../base/errors.ts";
import { type DType, EPSILON, isComplex, partType } from "../../base/dtype.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import { product } from "../../sym/expr.ts";
import type { HostTensor, TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { Operand } from "../generated_options.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { adjoint, hermitianOf } from "./adjoint.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";

/** Thresholds below which a singular value counts as 0. */
interface Tolerance<T> {
  readonly atol: Operand<T> | null;
  readonly rtol: Operand<T> | null;
}

/** The bound below which singular values, or absolute eigenvalues, count as 0. */
function boundOf<T extends TensorLike>(
  o: OpApi<T>,
  values: T,
  { atol, rtol, A }: Tolerance<T> & { readonly A: T },
): T {
  const longest = Math.max(knownSize(A.shape.at(-1) ?? 1), knownSize(A.shape.at(-2) ?? 1));
  const usual = atol === null ? (EPSILON[partType(A.dtype)] ?? 2 ** -23) * longest : 0;
  const least = longest === 0 || isEqual(values.shape.at(-1) ?? 1, 0);
  const largest = least
    ? o.zeros(values.shape.slice(0, -1), { dtype: values.dtype, device: values.device })
    : o.amax(values, [-1]);
  const relative = o.mul(largest, rtol ?? usual);
  return o.unsqueeze(atol === null ? relative : o.maximum(relative, o.add(o.zerosLike(relative), atol)), -1);
}

const linalgSvd = composeWideOp({
  name: "linalgSvd",
  doc:
    "U, S and Vh with A = U · diag(S) · Vh, values descending, as `torch.linalg.svd`; without `fullMatrices` as many " +
    "columns and rows as there are values. Gradients need distinct values, and none reaches the rest of full matrices. " +
    "Computed on the host.",
  params: { A: required("tensor"), fullMatrices: optional("bool", true) },
  results: ["U", "S", "Vh"],
  exposure: { ...LINALG, aliases: ["svd"] },
  hostParts: true,
  infer({ A, fullMatrices }) {
    const { rows, columns } = checkMatrices("svd", A), lead = A.shape.slice(0, -2);
    const least = Math.min(knownSize(rows), knownSize(columns));
    const meta = (...shape: (typeof rows)[]) => contiguousMeta([...lead, ...shape], A.dtype, A.device);
    return fullMatrices
      ? [meta(rows, rows), meta(least), meta(columns, columns)]
      : [meta(rows, least), meta(least), meta(least, columns)];
  },
  compose(o, { A, fullMatrices }) {
    const [U, S, Vh] = o.singularFactors(A);
    return fullMatrices
      ? [completed(o, U), S, o.contiguous(adjoint(o, completed(o, adjoint(o, Vh))))]
      : [U, S, Vh];
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

/** Orthonormal columns, completed to a basis. */
function completed<T extends TensorLike>(o: OpApi<T>, U: T): T {
  const rows = knownSize(U.shape.at(-2) ?? 1), columns = knownSize(U.shape.at(-1) ?? 1);
  if (rows === columns) return U;
  return o.cat([U, o.narrow(o.completeQr(o.detach(U))[0], -1, columns, rows - columns)], -1);
}

const svd = composeWideOp({
  name: "svd",
  doc:
    "U, S and V with A = U · diag(S) · Vᴴ, values descending, as `torch.svd`: without `some` full matrices, without " +
    "`computeUv` zeros for them. Computed on the host.",
  params: { self: required("tensor"), some: optional("bool", true), computeUv: optional("bool", true) },
  results: ["U", "S", "V"],
  hostParts: true,
  infer({ self, some, computeUv }) {
    const metas = linalgSvd.infer({ A: self, fullMatrices: !some || !computeUv });
    const [U, S, Vh] = Array.isArray(metas) ? metas : [metas, metas, metas];
    const V = contiguousMeta(
      [...Vh.shape.slice(0, -2), ...Vh.shape.slice(-2).toReversed()],
      self.dtype,
      self.device,
    );
    return [U, S, V];
  },
  compose(o, { self, some, computeUv }) {
    const [U, S, Vh] = o.linalgSvd(self, !some || !computeUv);
    return computeUv
      ? [U, S, o.contiguous(adjoint(o, Vh))]
      : [o.zerosLike(o.detach(U)), S, o.zerosLike(o.detach(Vh))];
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const pseudoinverse = composeWideOp({
  name: "pseudoinverse",
  doc: "Pseudoinverses of matrices of which singular values below a bound count as 0.",
  params: { A: required("tensor"), bound: required("tensor"), hermitian: required("bool") },
  exposure: { method: false, free: false },
  hostParts: true,
  infer({ A }) {
    const { rows, columns } = checkMatrices("pinv", A);
    return contiguousMeta([...A.shape.slice(0, -2), columns, rows], A.dtype, A.device);
  },
  compose(o, { A, bound, hermitian }) {
    const [U, S, Vh] = o.singularFactors(hermitian ? hermitianOf(o, A) : A);
    const inverse = o.where(o.gt(S, bound), o.reciprocal(S), 0);
    return o.matmul(o.mul(o.mT(Vh), o.unsqueeze(inverse, -2)), o.mT(U));
  },
  gradient: {
    saves: ["A", "out"],
    single(o, grad, { args: { A }, out: [P] }) {
      if (!P) return {};
      // Golub and Pereyra 1973: −Pᵀ·G·Pᵀ + (I − A·P)·Gᵀ·P·Pᵀ + Pᵀ·P·Gᵀ·(I − P·A)
      const Pt = o.mT(P),
        Gt = o.mT(grad),
        PPt = o.matmul(Gt, o.matmul(P, Pt)),
        PtP = o.matmul(o.matmul(Pt, P), Gt);
      const rows = o.sub(PPt, o.matmul(A, o.matmul(P, PPt))),
        columns = o.sub(PtP, o.matmul(o.matmul(PtP, P), A));
      return { A: o.add(o.sub(rows, o.matmul(o.matmul(Pt, grad), Pt)), columns) };
    },
  },
  samples: [],
});

const TOLERANCE = {
  atol: nullable("operand", { keyword: true }),
  rtol: nullable("operand", { keyword: true }),
  hermitian: optional("bool", false, { keyword: true }),
} as const;

const pinv = composeWideOp({
  name: "pinv",
  doc:
    "Pseudoinverses, as `torch.linalg.pinv`; rtol is by default the larger size times the type's epsilon. Computed on " +
    "the host.",
  params: { A: required("tensor"), rcond: nullable("operand"), ...TOLERANCE },
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => pseudoinverse.infer({ A, bound: A, hermitian: false }),
  compose(o, { A, rcond, atol, rtol, hermitian }) {
    const values = o.svdvals(o.detach(hermitian ? hermitianOf(o, A) : A));
    return o.pseudoinverse(A, boundOf(o, values, { atol, rtol: rtol ?? rcond, A }), hermitian);
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const pinverse = composeWideOp({
  name: "pinverse",
  doc: "Pseudoinverses, as `torch.pinverse`. Computed on the host.",
  params: { A: required("tensor"), rcond: optional("float", 1e-15) },
  hostParts: true,
  infer: ({ A, rcond }) => pinv.infer({ A, rcond, atol: null, rtol: null, hermitian: false }),
  compose: (o, { A, rcond }) => o.pinv(A, rcond),
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const matrixRank = composeWideOp({
  name: "matrixRank",
  doc: "The number of singular values that are not 0, as `torch.linalg.matrix_rank`. Computed on the host.",
  params: { A: required("tensor"), tol: nullable("operand"), ...TOLERANCE },
  exposure: LINALG,
  hostParts: true,
  infer({ A }) {
    checkMatrices("matrixRank", A);
    return contiguousMeta(A.shape.slice(0, -2), "int64", A.device);
  },
  compose(o, { A, tol, atol, rtol, hermitian }) {
    const values = o.svdvals(hermitian ? hermitianOf(o, A) : A);
    return o.sum(o.gt(values, boundOf(o, values, { atol: atol ?? tol, rtol, A })), -1);
  },
  gradient: { kind: "none", because: "a rank is an integer" },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const cond = composeWideOp({
  name: "cond",
  doc:
    "Condition numbers by a norm, by default by singular values, as `torch.linalg.cond`. Computed on the host.",
  params: { A: required("tensor"), p: nullable("scalarOrString") },
  exposure: LINALG,
  hostParts: true,
  infer({ A, p }) {
    if (p === null || p === 2 || p === -2) checkMatrices("cond", A);
    else checkSquare("cond", A);
    return contiguousMeta(A.shape.slice(0, -2), A.dtype, A.device);
  },
  compose(o, { A, p }) {
    if (A.shape.slice(-2).some((size) => isEqual(size, 0))) return o.sum(o.abs(A), [-2, -1]);
    if (p !== null && p !== 2 && p !== -2) return o.mul(o.matrixNorm(A, p), o.matrixNorm(o.inv(A), p));
    const values = o.svdvals(A), least = o.select(values, -1, -1), largest = o.select(values, -1, 0);
    return p === -2 ? o.div(least, largest) : o.div(largest, least);
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const DRIVERS = ["gels", "gelsy", "gelsd", "gelss"] as const;

const lstsq = composeWideOp({
  name: "lstsq",
  doc:
    "X that minimises |A · X − B|, residuals, ranks and singular values, as `torch.linalg.lstsq`; empty where PyTorch's " +
    "driver does not compute them. Computed on the host.",
  params: {
    A: required("tensor"),
    B: required("tensor"),
    rcond: nullable("float"),
    driver: nullable("string", { keyword: true, oneOf: DRIVERS }),
  },
  results: ["solution", "residuals", "rank", "singular_values"],
  exposure: LINALG,
  hostParts: true,
  infer({ A, B, driver }) {
    const { rows, columns } = checkMatrices("lstsq", A), lead = A.shape.slice(0, -2);
    const isVector = B.shape.length === A.shape.length - 1;
    const right = isVector ? [] : B.shape.slice(-1);
    if (!isEqual(B.shape.at(isVector ? -1 : -2) ?? 1, rows)) {
      throw new DynError(
        `Expected right-hand sides of ${rows} rows in lstsq but found ${shapeText(B.shape)}`,
      );
    }
    const m = knownSize(rows), n = knownSize(columns), given = driver ?? "gelsy";
    const hasResiduals = m > n && given !== "gelsy";
    const meta = (shape: readonly (typeof rows)[], dtype: DType = A.dtype) =>
      contiguousMeta(shape, dtype, A.device);
    return [
      meta([...lead, columns, ...right]),
      meta(hasResiduals ? [...lead, ...right] : [0]),
      meta(given === "gels" ? [0] : lead, "int64"),
      meta(given === "gelsd" || given === "gelss" ? [...lead, Math.min(m, n)] : [0]),
    ];
  },
  compose(o, { A, B, rcond, driver }) {
    const rows = knownSize(A.shape.at(-2) ?? 1), columns = knownSize(A.shape.at(-1) ?? 1);
    const given = driver ?? "gelsy", options = { dtype: partType(A.dtype), device: A.device };
    const isVector = B.shape.length === A.shape.length - 1, sides = isVector ? o.unsqueeze(B, -1) : B;
    const values = o.svdvals(o.detach(A)), bound = boundOf(o, values, { atol: null, rtol: rcond, A });
    const solution = o.matmul(o.pseudoinverse(A, bound, false), sides);
    const residuals = o.sub(o.matmul(A, solution), sides);
    const squares = o.sum(o.square(isComplex(A.dtype) ? o.abs(residuals) : residuals), -2);
    const narrow = (x: typeof A, dim: number) => isVector ? o.squeeze(x, dim) : x;
    return [
      narrow(solution, -1),
      rows > columns && given !== "gelsy" ? narrow(squares, -1) : o.zeros([0], options),
      given === "gels" ? o.zeros([0], { dtype: "int64", device: A.device }) : o.sum(o.gt(values, bound), -1),
      given === "gelsd" || given === "gelss" ? values : o.zeros([0], options),
    ];
  },
  samples: [],
  errors: [{ args: [t(3), t(3)], message: "matrices" }],
});

const tensorsolve = composeWideOp({
  name: "tensorsolve",
  doc:
    "X with tensordot(A, X, X.ndim) = B, after `dims` of A are moved to its end, as `torch.linalg.tensorsolve`.",
  params: { A: required("tensor"), B: required("tensor"), dims: nullable("ints") },
  exposure: LINALG,
  hostParts: true,
  infer({ A, B, dims }) {
    const moved = movedShape(A.shape, dims), inner = moved.slice(B.shape.length);
    if (!isEqual(product(moved.slice(0, B.shape.length)), product(inner))) {
      throw new DynError(
        `Expected as many unknowns as equations in tensorsolve but found ${shapeText(A.shape)}`,
      );
    }
    return contiguousMeta(inner, A.dtype, A.device);
  },
  compose(o, { A, B, dims }) {
    const last = (dims ?? []).map((_, k) => k - (dims ?? []).length);
    const moved = dims ? o.movedim(A, dims, last) : A, inner = moved.shape.slice(B.shape.length);
    const side = product(inner);
    return o.reshape(o.solve(o.reshape(moved, [side, side]), o.reshape(B, [side])), inner);
  },
  samples: [],
  errors: [{ args: [t(2, 3), t(2)], message: "as many unknowns" }],
});

function movedShape<D>(shape: readonly D[], dims: readonly number[] | null): readonly D[] {
  const moved = new Set((dims ?? []).map((d) => d < 0 ? d + shape.length : d));
  return [...shape.filter((_, d) => !moved.has(d)), ...shape.filter((_, d) => moved.has(d))];
}

/** The largest norm for which the series is summed without scaling, and its number of terms. */
const SUMMED = 0.5, TERMS = 18;

/** e^A by scaling, a Taylor series and squaring. */
function exponential(A: Matrix): Matrix {
  let norm = 0;
  for (let j = 0; j < A.columns; j++) {
    let sum = 0;
    for (let i = 0; i < A.rows; i++) sum += Math.abs(A.at(i, j));
    norm = Math.max(norm, sum);
  }
  const squarings = norm > SUMMED && Number.isFinite(norm) ? Math.ceil(Math.log2(norm / SUMMED)) : 0;
  const scaled = A.scaled(2 ** -squarings);
  let sum = Matrix.eye(A.rows), term = sum;
  for (let k = 1; k <= TERMS; k++) {
    term = term.times(scaled).scaled(1 / k);
    sum = sum.plus(term);
  }
  for (let k = 0; k < squarings; k++) sum = sum.times(sum);
  return sum;
}

function exponentialsOf(A: HostTensor): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-2);
  return [matrixTensor(lead, A.dtype, { matrices: matrices.map(exponential), rows, columns })];
}

const matrixExp = hostWideOp({
  name: "matrixExp",
  doc: "e to the power of square matrices, as `torch.linalg.matrix_exp`. Computed on the host.",
  params: { A: required("tensor") },
  exposure: { namespaces: ["linalg"] },
  infer({ A }) {
    checkSquare("matrixExp", A);
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compute: ({ A }) => exponentialsOf(A),
  gradient: {
    saves: ["A"],
    single(o, grad, { args: { A } }) {
      // The upper right of e^[[Aᵀ, G], [0, Aᵀ]] (Higham 2008, section 3.2)
      const n = knownSize(A.shape.at(-1) ?? 1), At = o.mT(A);
      const upper = o.cat([At, grad], -1), lower = o.cat([o.zerosLike(At), At], -1);
      return { A: o.narrow(o.narrow(o.matrixExp(o.cat([upper, lower], -2)), -2, 0, n), -1, n, n) };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

export const leastSquaresOps = {
  linalgSvd,
  svd,
  pseudoinverse,
  pinv,
  pinverse,
  matrixRank,
  cond,
  lstsq,
  tensorsolve,
  matrixExp,
} as const;
