/**
 * LU decomposition with partial pivoting, as in torch.linalg.lu and its relatives. Invariant: computed on the host in
 * float64; pivots count from 1, as in LAPACK.
 */
import { isInteger } from "../../base/dtype.ts";
import { DynError, LinAlgError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import type { HostTensor, TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { broadcastShapes, knownSize, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { adjoint } from "./adjoint.ts";
import { checkMatrices, checkSquare, lesser, LINALG } from "./checks.ts";
import { complexMatricesOf, type ComplexMatrix, pairsTensor, quotient, scaled } from "./complex_matrix.ts";
import { matricesOf, type Matrix, matrixTensor } from "./matrix.ts";
import { pairedOp } from "./paired.ts";

interface Elimination<M> {
  /** L below the diagonal, without its diagonal of ones, and U. */
  readonly LU: M;
  /** The row that each row was swapped with, counting from 1. */
  readonly pivots: readonly number[];
  /** The first zero on the diagonal of U, from 1; 0: none. */
  readonly info: number;
}

function eliminate(A: Matrix, pivot: boolean): Elimination<Matrix> {
  const LU = A.copy(), count = Math.min(A.rows, A.columns), pivots: number[] = [];
  let info = 0;
  for (let k = 0; k < count; k++) {
    let top = k;
    for (let i = k + 1; pivot && i < A.rows; i++) {
      if (Math.abs(LU.at(i, k)) > Math.abs(LU.at(top, k))) top = i;
    }
    pivots.push(top + 1);
    LU.swapRows(k, top);
    const value = LU.at(k, k);
    if (value === 0) {
      info ||= k + 1;
      continue;
    }
    for (let i = k + 1; i < A.rows; i++) {
      const factor = LU.at(i, k) / value;
      LU.set(i, k, factor);
      if (factor !== 0) { for (let j = k + 1; j < A.columns; j++) LU.add(i, j, -factor * LU.at(k, j)); }
    }
  }
  return { LU, pivots, info };
}

/** The same in place; as in LAPACK, pivots are largest by the sum of their absolute parts. */
export function eliminateComplex(LU: ComplexMatrix, pivot: boolean): Elimination<ComplexMatrix> {
  const { n: rows, columns } = LU, pivots: number[] = [];
  let info = 0;
  const weight = (i: number, k: number): number => {
    const { re, im } = LU.at(i, k);
    return Math.abs(re) + Math.abs(im);
  };
  for (let k = 0; k < Math.min(rows, columns); k++) {
    let top = k;
    for (let i = k + 1; pivot && i < rows; i++) if (weight(i, k) > weight(top, k)) top = i;
    pivots.push(top + 1);
    LU.swapRows(k, top);
    if (weight(k, k) === 0) {
      info ||= k + 1;
      continue;
    }
    for (let i = k + 1; i < rows; i++) {
      const factor = quotient(LU.at(i, k), LU.at(k, k));
      LU.set(i, k, factor);
      LU.addRow(i, k, scaled(factor, -1), k + 1);
    }
  }
  return { LU, pivots, info };
}

/** The first zeros on the diagonals. Throws LinAlgError for one if `checkErrors`. */
function zerosOf(
  found: readonly { readonly info: number }[],
  lead: readonly number[],
  checkErrors: boolean,
): HostTensor {
  const bad = found.findIndex(({ info }) => info > 0), info = found[bad]?.info;
  if (checkErrors && info !== undefined) {
    throw new LinAlgError(
      `Expected invertible matrices but found a zero on the diagonal of U, element ${info} of matrix ${bad}; ` +
        "luFactorEx returns such factors",
    );
  }
  return hostTensor(lead, "int32", found.map(({ info }) => info));
}

/** How matrices are factorised. */
interface Factorization {
  readonly pivot: boolean;
  readonly checkErrors: boolean;
}

function factorsOf(A: HostTensor, { pivot, checkErrors }: Factorization): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-2);
  const found = matrices.map((each) => eliminate(each, pivot)), count = Math.min(rows, columns);
  return [
    matrixTensor(lead, A.dtype, { matrices: found.map(({ LU }) => LU), rows, columns }),
    hostTensor([...lead, count], "int32", found.flatMap(({ pivots }) => pivots)),
    zerosOf(found, lead, checkErrors),
  ];
}

function metas(name: string, A: TensorMeta): [TensorMeta, TensorMeta, TensorMeta] {
  const { rows, columns } = checkMatrices(name, A), lead = A.shape.slice(0, -2);
  return [
    contiguousMeta(A.shape, A.dtype, A.device),
    contiguousMeta([...lead, lesser(rows, columns)], "int32", A.device),
    contiguousMeta(lead, "int32", A.device),
  ];
}

const luFactorEx = hostWideOp({
  name: "luFactorEx",
  doc:
    "L and U in one matrix, pivots and the first zero on the diagonal, as `torch.linalg.lu_factor_ex`. Computed on the " +
    "host.",
  params: {
    A: required("tensor"),
    pivot: optional("bool", true, { keyword: true }),
    checkErrors: optional("bool", false, { keyword: true }),
  },
  results: ["LU", "pivots", "info"],
  exposure: LINALG,
  infer: ({ A }) => metas("luFactorEx", A),
  compute: ({ A, pivot, checkErrors }) => factorsOf(A, { pivot, checkErrors }),
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [LU, pivots], grads: [grad] }) {
      return LU && pivots && grad ? { A: factorGradient(o, { LU, pivots, grad }) } : {};
    },
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const luFactorPairs = pairedOp(luFactorEx, {
  name: "luFactorPairs",
  paired: [true, false, false],
  compute({ A, pivot, checkErrors }) {
    const { lead, matrices } = complexMatricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-3);
    const found = matrices.map((each) => eliminateComplex(each, pivot));
    return [
      pairsTensor([...lead, rows, columns], A.dtype, found.map(({ LU }) => LU)),
      hostTensor([...lead, Math.min(rows, columns)], "int32", found.flatMap(({ pivots }) => pivots)),
      zerosOf(found, lead, checkErrors),
    ];
  },
});

/** P · the gradient of the permuted matrix: of its square part, and of the rows or columns beyond it. */
function factorGradient<T extends TensorLike>(
  o: OpApi<T>,
  { LU, pivots, grad }: { readonly LU: T; readonly pivots: T; readonly grad: T },
): T {
  const rows = knownSize(LU.shape.at(-2) ?? 1), columns = knownSize(LU.shape.at(-1) ?? 1);
  const side = Math.min(rows, columns), square = (x: T) => o.narrow(o.narrow(x, -2, 0, side), -1, 0, side);
  const lower = o.tril(square(LU), -1), U = o.triu(square(LU));
  const L = o.add(lower, o.eye(side, null, { dtype: LU.dtype, device: LU.device }));
  let gL = o.tril(square(grad), -1), gU = o.triu(square(grad));
  const solveL = (x: T) => o.solveTriangular(adjoint(o, L), x, true, { unitriangular: true });
  const solveU = (x: T) => o.solveTriangular(adjoint(o, U), x, false, { left: false });
  let rest: T | null = null;
  if (rows > side) {
    // L₂ = B₂ · U⁻¹
    const g2 = o.narrow(grad, -2, side, rows - side), L2 = o.narrow(LU, -2, side, rows - side);
    rest = solveU(g2);
    gU = o.sub(gU, o.triu(o.matmul(adjoint(o, L2), rest)));
  } else if (columns > side) {
    // U₂ = L⁻¹ · B₂
    const g2 = o.narrow(grad, -1, side, columns - side), U2 = o.narrow(LU, -1, side, columns - side);
    rest = solveL(g2);
    gL = o.sub(gL, o.tril(o.matmul(rest, adjoint(o, U2)), -1));
  }
  const inner = o.add(o.tril(o.matmul(adjoint(o, L), gL), -1), o.triu(o.matmul(gU, adjoint(o, U))));
  const first = solveU(solveL(inner)), permuted = rest ? o.cat([first, rest], rows > side ? -2 : -1) : first;
  return o.matmul(o.permutationOf(pivots, rows, { dtype: LU.dtype }), permuted);
}

/** Throws DynError for pivots that are not those of matrices. */
function checkPivots({ shape }: TensorMeta, wanted: readonly Dim[]): void {
  if (shape.length === wanted.length && wanted.every((size, d) => isEqual(size, shape[d] ?? -1))) return;
  throw new DynError(`Expected pivots of shape ${shapeText(wanted)} but found ${shapeText(shape)}`);
}

const permutationOf = hostWideOp({
  name: "permutationOf",
  doc: "The matrices P with A = P · L · U, of pivots.",
  params: {
    pivots: required("tensor"),
    rows: required("int"),
    dtype: optional("dtype", "float32", { keyword: true }),
  },
  exposure: { method: false, free: false },
  infer({ pivots, rows, dtype }) {
    if (!isInteger(pivots.dtype)) throw new DynError(`Expected integers as pivots but found ${pivots.dtype}`);
    return contiguousMeta([...pivots.shape.slice(0, -1), rows, rows], dtype, pivots.device);
  },
  compute({ pivots, rows, dtype }) {
    const lead = pivots.shape.slice(0, -1), count = pivots.shape.at(-1) ?? 0;
    const batch = lead.reduce((a, b) => a * b, 1), out = new Float64Array(batch * rows * rows);
    for (let b = 0; b < batch; b++) {
      const order = Array.from({ length: rows }, (_, i) => i);
      for (let k = 0; k < count; k++) {
        const other = Number(pivots.data[b * count + k]) - 1, kept = order[k] ?? 0;
        if (other < 0 || other >= rows) {
          throw new DynError(`Expected pivots in [1, ${rows}] but found ${other + 1}`);
        }
        order[k] = order[other] ?? 0;
        order[other] = kept;
      }
      order.forEach((from, to) => out[b * rows * rows + from * rows + to] = 1);
    }
    return [hostTensor([...lead, rows, rows], dtype, out)];
  },
  gradient: { kind: "none", because: "pivots are integers" },
  samples: [],
});

const luFactor = composeWideOp({
  name: "luFactor",
  doc:
    "L and U in one matrix and pivots, as `torch.linalg.lu_factor`; a singular matrix is an error. Computed on the host.",
  params: { A: required("tensor"), pivot: optional("bool", true, { keyword: true }) },
  results: ["LU", "pivots"],
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metas("luFactor", A).slice(0, 2),
  compose(o, { A, pivot }) {
    const [LU, pivots] = o.luFactorEx(A, { pivot, checkErrors: true });
    return [LU, pivots];
  },
  samples: [],
  errors: [
    { args: [t(3)], message: "matrices" },
    { args: [{ tensor: [2, 2], range: [0, 0] }], message: "Expected invertible matrices" },
  ],
});

const linalgLu = composeWideOp({
  name: "linalgLu",
  doc:
    "P, L and U with A = P · L · U, as `torch.linalg.lu`; without `pivot` P is empty. Computed on the host.",
  params: { A: required("tensor"), pivot: optional("bool", true, { keyword: true }) },
  results: ["P", "L", "U"],
  exposure: LINALG,
  hostParts: true,
  infer({ A, pivot }) {
    const { rows, columns } = checkMatrices("lu", A),
      lead = A.shape.slice(0, -2),
      side = lesser(rows, columns);
    return [
      contiguousMeta(pivot ? [...lead, rows, rows] : [0], A.dtype, A.device),
      contiguousMeta([...lead, rows, side], A.dtype, A.device),
      contiguousMeta([...lead, side, columns], A.dtype, A.device),
    ];
  },
  compose(o, { A, pivot }) {
    const [LU, pivots] = o.luFactorEx(A, { pivot });
    return [...o.luUnpack(LU, pivots, true, pivot)];
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const luUnpack = composeWideOp({
  name: "luUnpack",
  doc:
    "P, L and U of matrices decomposed by luFactor, as `torch.lu_unpack`; those that are not requested are empty. P is " +
    "made on the host.",
  params: {
    LUData: required("tensor"),
    LUPivots: required("tensor"),
    unpackData: optional("bool", true),
    unpackPivots: optional("bool", true),
  },
  results: ["P", "L", "U"],
  exposure: { method: false },
  hostParts: true,
  infer({ LUData, LUPivots, unpackData, unpackPivots }) {
    if (unpackPivots && LUPivots.dtype !== "int32") {
      throw new DynError(`Expected pivots of type int32 but found ${LUPivots.dtype}`);
    }
    const { rows, columns } = checkMatrices("luUnpack", LUData), side = lesser(rows, columns);
    const lead = LUData.shape.slice(0, -2);
    if (unpackPivots) checkPivots(LUPivots, [...lead, side]);
    const meta = (...sizes: readonly Dim[]) => contiguousMeta(sizes, LUData.dtype, LUData.device);
    return [
      unpackPivots ? meta(...lead, rows, rows) : meta(0),
      unpackData ? meta(...lead, rows, side) : meta(0),
      unpackData ? meta(...lead, side, columns) : meta(0),
    ];
  },
  compose(o, { LUData, LUPivots, unpackData, unpackPivots }) {
    const { dtype, device } = LUData, nothing = () => o.zeros([0], { dtype, device });
    const rows = knownSize(LUData.shape.at(-2) ?? 1),
      side = Math.min(rows, knownSize(LUData.shape.at(-1) ?? 1));
    const P = unpackPivots ? o.permutationOf(LUPivots, rows, { dtype }) : nothing();
    if (!unpackData) return [P, nothing(), nothing()];
    const lower = o.tril(o.narrow(LUData, -1, 0, side), -1);
    const L = o.add(lower, o.eye(rows, side, { dtype, device }));
    return [P, L, o.triu(o.narrow(LUData, -2, 0, side))];
  },
  samples: [],
  errors: [{ args: [t(3, 3), t(3)], message: "int32" }],
});

const lu = composeWideOp({
  name: "lu",
  doc:
    "L and U in one matrix and pivots, with getInfos also the first zero on the diagonal, as `torch.lu`. Computed on the " +
    "host.",
  params: { self: required("tensor"), pivot: optional("bool", true), getInfos: optional("bool", false) },
  results: ["LU", "pivots", "infos"],
  hostParts: true,
  infer: ({ self, getInfos }) => metas("lu", self).slice(0, getInfos ? 3 : 2),
  compose(o, { self, pivot, getInfos }) {
    const [LU, pivots, infos] = o.luFactorEx(self, { pivot, checkErrors: !getInfos });
    return getInfos ? [LU, pivots, infos] : [LU, pivots];
  },
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

const luSolve = composeWideOp({
  name: "luSolve",
  doc: "X with A · X = self for A decomposed by lu, as `torch.lu_solve`. Computed on the host.",
  params: { self: required("tensor"), LUData: required("tensor"), LUPivots: required("tensor") },
  otherNames: { b: "self" },
  hostParts: true,
  infer: ({ self, LUData, LUPivots }) => solutionMeta(LUData, LUPivots, self),
  compose: (o, { self, LUData, LUPivots }) => o.linalgLuSolve(LUData, LUPivots, self),
  samples: [],
  errors: [{ args: [t(2, 1), t(2, 3), t(2)], message: "square" }],
});

function solutionMeta(LU: TensorMeta, pivots: TensorMeta, B: TensorMeta): TensorMeta {
  checkSquare("luSolve", LU);
  checkPivots(pivots, LU.shape.slice(0, -1));
  checkMatrices("luSolve", B);
  const lead = broadcastShapes(LU.shape.slice(0, -2), B.shape.slice(0, -2));
  return contiguousMeta([...lead, ...B.shape.slice(-2)], LU.dtype, LU.device);
}

/** Solves systems of decomposed matrices. */
const linalgLuSolve = composeWideOp({
  name: "linalgLuSolve",
  doc:
    "X with A · X = B, X · A = B where `left` is false, or of Aᴴ where `adjoint` is true, for A decomposed by luFactor, " +
    "as `torch.linalg.lu_solve`. Computed on the host.",
  params: {
    LU: required("tensor"),
    pivots: required("tensor"),
    B: required("tensor"),
    left: optional("bool", true, { keyword: true }),
    adjoint: optional("bool", false, { keyword: true }),
  },
  exposure: LINALG,
  hostParts: true,
  infer: ({ LU, pivots, B }) => solutionMeta(LU, pivots, B),
  compose(o, { LU, pivots, B, left, adjoint: transposed }) {
    const rows = knownSize(LU.shape.at(-1) ?? 1), P = o.permutationOf(pivots, rows, { dtype: LU.dtype });
    const unit = { unitriangular: true };
    // X · A = B is Aᴴ · Xᴴ = Bᴴ
    const side = left ? B : adjoint(o, B), turned = adjoint(o, LU);
    const found = left === transposed
      ? o.matmul(P, o.solveTriangular(turned, o.solveTriangular(turned, side, false), true, unit))
      : o.solveTriangular(LU, o.solveTriangular(LU, o.matmul(o.mT(P), side), false, unit), true);
    return left ? found : o.contiguous(adjoint(o, found));
  },
  samples: [],
  errors: [{ args: [t(2, 3), t(2), t(2, 1)], message: "square" }],
});

export const eliminationOps = {
  luFactorEx,
  luFactorPairs,
  permutationOf,
  luFactor,
  luUnpack,
  linalgLu,
  lu,
  linalgLuSolve,
  luSolve,
} as const;
