/**
 * Square roots of symmetric matrices and polar decompositions, as in torch.linalg.matrix_sqrth and polar. Invariant:
 * computed on the host from eigenvalues and singular values; gradients divide by sums of those, so that repeated
 * values cause no division by 0.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isLess } from "../../sym/decide.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { required } from "../params.ts";
import { t } from "../pointwise.ts";
import { shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";

/** Vᵀ · X · V */
const turned = <T extends TensorLike>(o: OpApi<T>, X: T, V: T): T => o.matmul(o.mT(V), o.matmul(X, V));
/** V · X · Vᵀ */
const turnedBack = <T extends TensorLike>(o: OpApi<T>, X: T, V: T): T => o.matmul(V, o.matmul(X, o.mT(V)));
/** s[i] + s[j] */
const sums = <T extends TensorLike>(o: OpApi<T>, s: T): T => o.add(o.unsqueeze(s, -1), o.unsqueeze(s, -2));

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
    saves: ["A"],
    single(o, grad, { args: { A } }) {
      const [values, vectors] = o.eigh(A), even = o.mul(o.add(grad, o.mT(grad)), 0.5);
      return { A: turnedBack(o, o.div(turned(o, even, vectors), sums(o, o.sqrt(values))), vectors) };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
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
    const [W, S, Vh] = o.linalgSvd(A, false);
    return [o.matmul(W, Vh), o.matmul(o.mul(o.mT(Vh), o.unsqueeze(S, -2)), Vh)];
  },
  // With dU = U · Ω + (I − U · Uᵀ) · dA · H⁻¹ and dH = Uᵀ · dA − Ω · H, Ω skew, in the basis of H's eigenvectors
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { out: [U, H], grads: [gU = null, gH = null] }) {
      if (!U || !H || (!gU && !gH)) return {};
      const [s, V] = o.eigh(H), along = gU && o.matmul(o.mT(U), gU);
      const Q = gH && turned(o, gH, V), P = along && turned(o, along, V);
      const scaled = Q && o.neg(o.mul(Q, o.unsqueeze(s, -2))),
        R = P && scaled ? o.add(P, scaled) : P ?? scaled;
      if (!R) return {};
      const skew = o.div(o.sub(R, o.mT(R)), sums(o, s)), inner = Q ? o.add(Q, skew) : skew;
      const inside = o.matmul(U, turnedBack(o, inner, V));
      if (!gU || !along) return { A: inside };
      const outside = o.matmul(
        o.div(o.matmul(o.sub(gU, o.matmul(U, along)), V), o.unsqueeze(s, -2)),
        o.mT(V),
      );
      return { A: o.add(inside, outside) };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "rows" }],
});

export const rootOps = { matrixSqrth, linalgPolar } as const;
