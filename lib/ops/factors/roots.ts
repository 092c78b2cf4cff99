/**
 * Square roots of symmetric matrices and polar decompositions, as in torch.linalg.matrix_sqrth and polar. Invariant:
 * computed on the host from eigenvalues and singular values; gradients solve Lyapunov's equation, which has one
 * solution for repeated values too, and so have second derivatives.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isLess } from "../../sym/decide.ts";
import { required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";

const lyapunov = composeWideOp({
  name: "lyapunov",
  doc: "Y with X · Y + Y · X = C, of symmetric positive-definite X.",
  params: { X: required("tensor"), C: required("tensor") },
  exposure: { method: false, free: false },
  hostParts: true,
  infer: ({ C }) => contiguousMeta(C.shape, C.dtype, C.device),
  compose(o, { X, C }) {
    const [s, V] = o.eigh(X), Vt = o.mT(V);
    const sums = o.add(o.unsqueeze(s, -1), o.unsqueeze(s, -2));
    return o.matmul(V, o.matmul(o.div(o.matmul(Vt, o.matmul(C, V)), sums), Vt));
  },
  // X · dY + dY · X = dC − dX · Y − Y · dX
  gradient: {
    saves: ["X", "out"],
    single(o, grad, { args: { X }, out: [Y] }) {
      if (!Y) return {};
      const C = o.lyapunov(X, grad), Yt = o.mT(Y);
      return { X: o.neg(o.add(o.matmul(C, Yt), o.matmul(Yt, C))), C };
    },
  },
  samples: [],
});

const matrixSqrth = composeWideOp({
  name: "matrixSqrth",
  doc:
    "The positive square roots of symmetric positive-definite matrices, as `torch.linalg.matrix_sqrth`. Computed on the " +
    "host.",
  params: { A: required("tensor") },
  exposure: LINALG,
  hostParts: true,
  infer({ A }) {
    checkSquare("matrixSqrth", A);
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compose(o, { A }) {
    const [values, vectors] = o.eigh(A);
    return o.matmul(o.mul(vectors, o.unsqueeze(o.sqrt(values), -2)), o.mT(vectors));
  },
  // X · dX + dX · X = dA
  gradient: {
    saves: ["out"],
    single: (o, grad, { out: [X] }) => X ? { A: o.lyapunov(X, o.mul(o.add(grad, o.mT(grad)), 0.5)) } : {},
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const polarFactors = composeWideOp({
  name: "polarFactors",
  doc: "The polar factors of A whose first one is known, with their gradients; none flow to `isometry`.",
  params: { A: required("tensor"), isometry: required("tensor") },
  results: ["U", "H"],
  exposure: { method: false, free: false },
  hostParts: true,
  infer({ A, isometry }) {
    const columns = A.shape.at(-1) ?? 0, square = [...A.shape.slice(0, -2), columns, columns];
    return [contiguousMeta(isometry.shape, A.dtype, A.device), contiguousMeta(square, A.dtype, A.device)];
  },
  compose(o, { A, isometry }) {
    const H = o.matmul(o.mT(isometry), A);
    return [o.clone(isometry), o.mul(o.add(H, o.mT(H)), 0.5)];
  },
  // With dU = U · Ω + (I − U · Uᵀ) · dA · H⁻¹ and dH = Uᵀ · dA − Ω · H, where Ω · H + H · Ω = Uᵀ · dA − dAᵀ · U
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [U, H], grads: [gU = null, gH = null] }) {
      if (!U || !H || (!gU && !gH)) return {};
      const along = gU && o.matmul(o.mT(U), gU), turned = gH && o.neg(o.matmul(gH, H));
      const R = along && turned ? o.add(along, turned) : along ?? turned;
      if (!R) return {};
      const skew = o.lyapunov(H, o.sub(R, o.mT(R))), inside = o.matmul(U, gH ? o.add(gH, skew) : skew);
      if (!gU || !along) return { A: inside };
      return { A: o.add(inside, o.solve(H, o.sub(gU, o.matmul(U, along)), { left: false })) };
    },
  },
  samples: [],
});

const linalgPolar = composeWideOp({
  name: "linalgPolar",
  doc:
    "U with orthonormal columns and symmetric positive H with A = U · H, of matrices with no fewer rows than columns, as " +
    "`torch.linalg.polar`. Computed on the host.",
  params: { A: required("tensor") },
  results: ["U", "H"],
  exposure: LINALG,
  hostParts: true,
  infer({ A }) {
    const { rows, columns } = checkMatrices("polar", A), lead = A.shape.slice(0, -2);
    if (isLess(rows, columns)) {
      throw new DynError(`Expected no fewer rows than columns in polar but found ${shapeText(A.shape)}`);
    }
    return [
      contiguousMeta(A.shape, A.dtype, A.device),
      contiguousMeta([...lead, columns, columns], A.dtype, A.device),
    ];
  },
  compose(o, { A }) {
    const [W, , Vh] = o.linalgSvd(A, false);
    return [...o.polarFactors(A, o.matmul(W, Vh))];
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "rows" }],
});

export const rootOps = { lyapunov, matrixSqrth, polarFactors, linalgPolar } as const;
