/**
 * Systems with triangular matrices, possibly in batches. Invariant: only the triangle named is read; a zero on its
 * diagonal results in infinities, as in PyTorch.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import { type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { broadcastShapes, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";
import { checkSameType } from "../promotion.ts";

/** Which triangle of a matrix is read, and how. */
interface Triangle {
  readonly upper: boolean;
  /** Whether its diagonal is taken to be ones. */
  readonly unitriangular: boolean;
}

/** X with A · X = B. */
export function substitute(A: Matrix, B: Matrix, { upper, unitriangular }: Triangle): Matrix {
  const X = B.copy(), n = A.rows;
  for (let step = 0; step < n; step++) {
    const i = upper ? n - 1 - step : step;
    for (let j = 0; j < X.columns; j++) {
      let sum = X.at(i, j);
      for (let k = upper ? i + 1 : 0; k < (upper ? n : i); k++) sum -= A.at(i, k) * X.at(k, j);
      X.set(i, j, unitriangular ? sum : sum / A.at(i, i));
    }
  }
  return X;
}

const backSubstitution = hostWideOp({
  name: "backSubstitution",
  doc: "X with A · X = B for triangular A of the same leading dimensions as B.",
  params: {
    A: required("tensor"),
    B: required("tensor"),
    upper: required("bool"),
    unitriangular: required("bool"),
  },
  exposure: { method: false, free: false },
  infer: ({ A, B }) => contiguousMeta(B.shape, A.dtype, A.device),
  compute({ A, B, upper, unitriangular }) {
    const { lead, matrices } = matricesOf(A), sides = matricesOf(B).matrices;
    const [rows = 0, columns = 0] = B.shape.slice(-2);
    const found = matrices.map((each, k) =>
      substitute(each, sides[k] ?? new Matrix(rows, columns), { upper, unitriangular })
    );
    return [matrixTensor(lead, A.dtype, { matrices: found, rows, columns })];
  },
  gradient: {
    saves: ["A", "out"],
    single(o, grad, { args: { A, upper, unitriangular }, out: [X], needs }) {
      if (!X) return {};
      // The gradient of B is the solution of the transposed system
      const side = o.backSubstitution(o.mT(A), grad, !upper, unitriangular);
      if (!needs("A")) return { B: side };
      return { A: triangleOf(o, o.neg(o.matmul(side, o.mT(X))), { upper, unitriangular }), B: side };
    },
  },
  samples: [],
});

/** The part of matrices that a triangular system reads. */
function triangleOf<T extends TensorLike>(o: OpApi<T>, A: T, { upper, unitriangular }: Triangle): T {
  const off = unitriangular ? 1 : 0;
  return upper ? o.triu(A, off) : o.tril(A, -off);
}

const solveTriangular = composeWideOp({
  name: "solveTriangular",
  doc:
    "X with A · X = B, or X · A = B where `left` is false, for triangular A, as `torch.linalg.solve_triangular`. " +
    "Computed on the host.",
  params: {
    A: required("tensor"),
    B: required("tensor"),
    upper: required("bool"),
    left: optional("bool", true, { keyword: true }),
    unitriangular: optional("bool", false, { keyword: true }),
  },
  exposure: LINALG,
  hostParts: true,
  infer({ A, B, left }) {
    const n = checkSquare("solveTriangular", A), { rows, columns } = checkMatrices("solveTriangular", B);
    checkSameType("solveTriangular", A, B);
    if (!isEqual(left ? rows : columns, n)) {
      throw new DynError(
        `Expected right-hand sides of ${n} ${left ? "rows" : "columns"} but found ${shapeText(B.shape)}`,
      );
    }
    const lead = broadcastShapes(A.shape.slice(0, -2), B.shape.slice(0, -2));
    return contiguousMeta([...lead, rows, columns], A.dtype, A.device);
  },
  compose(o, { A, B, upper, left, unitriangular }) {
    const lead = broadcastShapes(A.shape.slice(0, -2), B.shape.slice(0, -2));
    const whole = (x: typeof A) => o.expand(x, [...lead, ...x.shape.slice(-2)]);
    if (left) return o.backSubstitution(whole(A), whole(B), upper, unitriangular);
    return o.contiguous(o.mT(o.backSubstitution(whole(o.mT(A)), whole(o.mT(B)), !upper, unitriangular)));
  },
  samples: [],
  errors: [{ args: [t(2, 3), t(2, 2), true], message: "square" }],
});

const triangularSolve = composeWideOp({
  name: "triangularSolve",
  doc:
    "X with A · X = b for triangular A, and a copy of A, as `torch.triangular_solve`. Computed on the host.",
  params: {
    self: required("tensor"),
    A: required("tensor"),
    upper: optional("bool", true),
    transpose: optional("bool", false),
    unitriangular: optional("bool", false),
  },
  results: ["solution", "cloned_coefficient"],
  hostParts: true,
  infer({ self, A }) {
    const lead = broadcastShapes(A.shape.slice(0, -2), self.shape.slice(0, -2));
    const n = checkSquare("triangularSolve", A), { columns } = checkMatrices("triangularSolve", self);
    return [
      contiguousMeta([...lead, n, columns], A.dtype, A.device),
      contiguousMeta([...lead, n, n], A.dtype, A.device),
    ];
  },
  compose(o, { self, A, upper, transpose, unitriangular }) {
    const lead = broadcastShapes(A.shape.slice(0, -2), self.shape.slice(0, -2));
    const matrix = transpose ? o.mT(A) : A;
    return [
      o.solveTriangular(matrix, self, transpose ? !upper : upper, { unitriangular }),
      o.clone(o.expand(A, [...lead, ...A.shape.slice(-2)])),
    ];
  },
  samples: [],
  errors: [{ args: [t(2, 2), t(2, 3)], message: "square" }],
});

export const triangularOps = { backSubstitution, solveTriangular, triangularSolve } as const;
