/**
 * Householder reflections in LAPACK's form: vectors below the diagonal of a matrix, whose ones are implicit, and a
 * factor tau for each; as in torch.geqrf, householder_product and ormqr. Invariant: k reflections are I − V · T · Vᵀ
 * with T = (I + diag(tau) · U)⁻¹ · diag(tau), U the part of VᵀV above its diagonal (Schreiber and Van Loan 1989), so
 * that products are differentiable.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isEqual, isLess } from "../../sym/decide.ts";
import type { Dim } from "../../sym/expr.ts";
import { type HostTensor, refusedGradient, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { sameShape, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { checkMatrices, lesser, LINALG } from "./checks.ts";
import { matricesOf, type Matrix, matrixTensor } from "./matrix.ts";
import { checkSameType } from "../promotion.ts";

/** R above the diagonal of A and the vectors below it, in place; the factors. */
function reflectColumns(A: Matrix): number[] {
  return Array.from({ length: Math.min(A.rows, A.columns) }, (_, k) => {
    let rest = 0;
    for (let i = k + 1; i < A.rows; i++) rest = Math.hypot(rest, A.at(i, k));
    if (rest === 0) return 0;
    const head = A.at(k, k), beta = head >= 0 ? -Math.hypot(head, rest) : Math.hypot(head, rest);
    const tau = (beta - head) / beta;
    for (let i = k + 1; i < A.rows; i++) A.set(i, k, A.at(i, k) / (head - beta));
    A.set(k, k, beta);
    for (let j = k + 1; j < A.columns; j++) {
      let along = A.at(k, j);
      for (let i = k + 1; i < A.rows; i++) along += A.at(i, k) * A.at(i, j);
      A.add(k, j, -tau * along);
      for (let i = k + 1; i < A.rows; i++) A.add(i, j, -tau * along * A.at(i, k));
    }
    return tau;
  });
}

function geqrfOf(A: HostTensor): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), [rows = 0, columns = 0] = A.shape.slice(-2);
  const taus = matrices.flatMap(reflectColumns);
  return [
    matrixTensor(lead, A.dtype, { matrices, rows, columns }),
    hostTensor([...lead, Math.min(rows, columns)], A.dtype, taus),
  ];
}

const geqrf = hostWideOp({
  name: "geqrf",
  doc: "R and the reflections that make Q, as `torch.geqrf`. No gradient. Computed on the host.",
  params: { self: required("tensor") },
  results: ["a", "tau"],
  infer({ self }) {
    const { rows, columns } = checkMatrices("geqrf", self);
    return [
      contiguousMeta(self.shape, self.dtype, self.device),
      contiguousMeta([...self.shape.slice(0, -2), lesser(rows, columns)], self.dtype, self.device),
    ];
  },
  compute: ({ self }) => geqrfOf(self),
  gradient: refusedGradient("geqrf (linalg.qr has one)"),
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }],
});

/** Throws unless tau has a factor for each of the first columns of A. Returns the sizes of A. */
function checkReflections(name: string, A: TensorLike, tau: TensorLike): { rows: Dim; columns: Dim } {
  const { rows, columns } = checkMatrices(name, A), count = tau.shape.at(-1);
  if (count === undefined || !sameShape(tau.shape.slice(0, -1), A.shape.slice(0, -2))) {
    throw new DynError(
      `Expected factors for matrices of ${shapeText(A.shape)} in ${name} but found ${shapeText(tau.shape)}`,
    );
  }
  checkSameType(name, A, tau);
  if (isLess(rows, count) || isLess(columns, count)) {
    throw new DynError(
      `Expected no more factors than rows and columns in ${name} but found ${shapeText(A.shape)} and ` +
        shapeText(tau.shape),
    );
  }
  return { rows, columns };
}

/** V and T of reflections. */
function blockOf<T extends TensorLike>(o: OpApi<T>, A: T, tau: T): { readonly V: T; readonly T: T } {
  const rows = A.shape.at(-2) ?? 1, count = tau.shape.at(-1) ?? 1;
  const options = { dtype: A.dtype, device: A.device };
  const V = o.add(o.tril(o.narrow(A, -1, 0, count), -1), o.eye(rows, count, options));
  const above = o.mul(o.unsqueeze(tau, -1), o.triu(o.matmul(o.mT(V), V), 1));
  const system = o.add(above, o.eye(count, null, options));
  return { V, T: o.solveTriangular(system, o.diagEmbed(tau), true, { unitriangular: true }) };
}

const householderProduct = composeWideOp({
  name: "householderProduct",
  doc:
    "The first columns of the product of Householder reflections, as `torch.linalg.householder_product`. Computed on " +
    "the host in part.",
  params: { A: required("tensor"), tau: required("tensor") },
  exposure: LINALG,
  hostParts: true,
  infer({ A, tau }) {
    const { rows, columns } = checkReflections("householderProduct", A, tau);
    if (isLess(rows, columns)) {
      throw new DynError(`Expected no more columns than rows but found ${shapeText(A.shape)}`);
    }
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compose(o, { A, tau }) {
    const [rows = 1, columns = 1] = A.shape.slice(-2), { V, T } = blockOf(o, A, tau);
    const first = o.mT(o.narrow(V, -2, 0, columns));
    const unit = o.eye(rows, columns, { dtype: A.dtype, device: A.device });
    return o.sub(unit, o.matmul(V, o.matmul(T, first)));
  },
  samples: [],
  errors: [{ args: [t(3, 2), t(3)], message: "no more factors" }],
});

const ormqr = composeWideOp({
  name: "ormqr",
  doc:
    "The product of Householder reflections, Q, or its transpose, times `other`, or from its right where `left` is " +
    "false, as `torch.ormqr`. Computed on the host in part.",
  params: {
    self: required("tensor"),
    tau: required("tensor"),
    other: required("tensor"),
    left: optional("bool", true),
    transpose: optional("bool", false),
  },
  otherNames: { input2: "tau", input3: "other" },
  hostParts: true,
  infer({ self, tau, other, left }) {
    const { rows } = checkReflections("ormqr", self, tau);
    checkMatrices("ormqr", other);
    const side = other.shape.at(left ? -2 : -1) ?? 1;
    if (!isEqual(side, rows) || !sameShape(other.shape.slice(0, -2), self.shape.slice(0, -2))) {
      throw new DynError(
        `Expected matrices that Q of ${rows} rows can be multiplied with but found ${shapeText(other.shape)}`,
      );
    }
    return contiguousMeta(other.shape, other.dtype, other.device);
  },
  compose(o, { self, tau, other, left, transpose }) {
    const { V, T } = blockOf(o, self, tau), middle = transpose ? o.mT(T) : T;
    const change = left
      ? o.matmul(V, o.matmul(middle, o.matmul(o.mT(V), other)))
      : o.matmul(o.matmul(o.matmul(other, V), middle), o.mT(V));
    return o.sub(other, change);
  },
  samples: [],
  errors: [{ args: [t(), t(), t()], message: "matrices" }],
});

export const reflectionOps = { geqrf, householderProduct, ormqr } as const;
