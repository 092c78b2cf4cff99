/**
 * Linear systems with square matrices. Invariant: solved by inverses, which elimination computes in float64; a singular
 * matrix is an error.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError, invariant } from "../../base/errors.ts";
import { isEqual } from "../../sym/decide.ts";
import { product } from "../../sym/expr.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, type TensorLike } from "../definition.ts";
import { checkSquare, LINALG } from "../factors/checks.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { broadcastShapes, sameShape, shapeText } from "../shapes.ts";
import { checkSameType } from "../promotion.ts";

/** Returns whether right-hand sides are vectors, one for each matrix, rather than matrices. */
const areVectors = (A: TensorLike, B: TensorLike): boolean =>
  B.shape.length === 1 || (A.shape.length - 1 === B.shape.length && sameShape(B.shape, A.shape.slice(0, -1)));

const solve = composeOp({
  name: "solve",
  doc: "X with A · X = B, or X · A = B where `left` is false, as `torch.linalg.solve`. Computed on the host.",
  params: { A: required("tensor"), B: required("tensor"), left: optional("bool", true, { keyword: true }) },
  exposure: LINALG,
  hostParts: true,
  infer({ A, B, left }) {
    checkSquare("solve", A);
    checkSameType("solve", A, B);
    const vectors = areVectors(A, B), n = A.shape.at(-1) ?? 1;
    if (vectors && !left) {
      throw new DynError("Expected matrices as right-hand sides for left false but found vectors");
    }
    const rows = B.shape.at(vectors ? -1 : left ? -2 : -1) ?? 1;
    if (!isEqual(rows, n)) {
      throw new DynError(`Expected right-hand sides of ${n} rows but found ${shapeText(B.shape)}`);
    }
    const own = vectors ? B.shape.slice(0, -1) : B.shape.slice(0, -2);
    const batch = broadcastShapes(A.shape.slice(0, -2), own);
    return contiguousMeta([...batch, ...B.shape.slice(vectors ? -1 : -2)], A.dtype, A.device);
  },
  compose(o, { A, B, left }) {
    const inverse = o.inv(A);
    if (areVectors(A, B)) return o.squeeze(o.matmul(inverse, o.unsqueeze(B, -1)), -1);
    return left ? o.matmul(inverse, B) : o.matmul(B, inverse);
  },
  samples: [],
  errors: [{ args: [t(2, 3), t(2)], message: "square" }],
});

const solveEx = composeOp({
  name: "solveEx",
  doc: "The result of linalg.solve and zeros, as `torch.linalg.solve_ex`; a singular matrix is an error.",
  params: {
    A: required("tensor"),
    B: required("tensor"),
    left: optional("bool", true, { keyword: true }),
    checkErrors: optional("bool", false, { keyword: true }),
  },
  results: ["result", "info"],
  exposure: LINALG,
  hostParts: true,
  infer({ A, B, left }) {
    const result = solve.infer({ A, B, left });
    invariant(isOne(result), "Expected one result of solve but found several");
    return [result, contiguousMeta(A.shape.slice(0, -2), "int32", A.device)];
  },
  compose: (o, { A, B, left }) => [
    o.solve(A, B, { left }),
    o.zeros(A.shape.slice(0, -2), { dtype: "int32", device: A.device }),
  ],
  samples: [],
  errors: [{ args: [t(2, 3), t(2)], message: "square" }],
});

const isOne = (metas: TensorMeta | readonly TensorMeta[]): metas is TensorMeta => !Array.isArray(metas);

const invEx = composeOp({
  name: "invEx",
  doc: "The inverses of square matrices and zeros, as `torch.linalg.inv_ex`; a singular one is an error.",
  params: { A: required("tensor"), checkErrors: optional("bool", false, { keyword: true }) },
  results: ["inverse", "info"],
  exposure: LINALG,
  hostParts: true,
  infer({ A }) {
    checkSquare("invEx", A);
    return [
      contiguousMeta(A.shape, A.dtype, A.device),
      contiguousMeta(A.shape.slice(0, -2), "int32", A.device),
    ];
  },
  compose: (o, { A }) => [o.inv(A), o.zeros(A.shape.slice(0, -2), { dtype: "int32", device: A.device })],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const tensorinv = composeOp({
  name: "tensorinv",
  doc: "The inverse of the map from the last dimensions to the first `ind`, as `torch.linalg.tensorinv`.",
  params: { A: required("tensor"), ind: optional("int", 2) },
  exposure: LINALG,
  hostParts: true,
  infer({ A, ind }) {
    checkAtLeast("ind of tensorinv", ind, 1);
    const first = A.shape.slice(0, ind), last = A.shape.slice(ind);
    if (!isEqual(product(first), product(last))) {
      throw new DynError(`Expected as many elements on both sides of ind but found ${shapeText(A.shape)}`);
    }
    return contiguousMeta([...last, ...first], A.dtype, A.device);
  },
  compose(o, { A, ind }) {
    const first = A.shape.slice(0, ind), last = A.shape.slice(ind), side = product(first);
    return o.reshape(o.inv(o.reshape(A, [side, side])), [...last, ...first]);
  },
  samples: [],
  errors: [{ args: [t(2, 3), 1], message: "both sides" }],
});

export const solving = { solve, solveEx, invEx, tensorinv } as const;
