/**
 * Norms of matrices, products of vectors and linear algebra without factorisations, as in torch.linalg. Invariant:
 * compositions, except for inversion and determinants, which run on the host by elimination with partial pivoting and
 * have gradient rules.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError, invariant, LinAlgError } from "../../base/errors.ts";
import { isComplex, isDifferentiable, isFloat } from "../../base/dtype.ts";
import { isEqual } from "../../sym/decide.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { type HostTensor, type TensorLike } from "../definition.ts";
import { adjoint } from "../factors/adjoint.ts";
import { checkSquare, LINALG } from "../factors/checks.ts";
import {
  type Complex,
  complexMatricesOf,
  type ComplexMatrix,
  pairsTensor,
  scaled,
  times,
  ZERO,
} from "../factors/complex_matrix.ts";
import { eliminateComplex } from "../factors/elimination.ts";
import { pairedOp } from "../factors/paired.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required, type Scalar } from "../params.ts";
import { hostTensor } from "../host.ts";
import { spectralNorm } from "./singular_values.ts";
import { checkCategory, t } from "../pointwise.ts";
import { resultTypeOf } from "../promotion.ts";
import { views } from "../shape/views.ts";
import {
  broadcastShapes,
  knownSize,
  normalizeDim,
  normalizeDims,
  reducedDims,
  reducedShape,
  shapeText,
} from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";

/** The maximum of numbers that are not negative along a dimension, which is kept: 0 of none. */
function greatest<T extends TensorLike>(o: OpApi<T>, x: T, dim: number): T {
  return isEqual(x.shape.at(dim) ?? 1, 0) ? o.sum(x, [dim], true) : o.amax(x, [dim], true);
}

/** The norm of matrices along two dimensions. */
export function matrixNormOf<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  at: { readonly ord: Scalar | string; readonly dims: readonly number[]; readonly keepdim: boolean },
): T {
  const { ord, dims, keepdim } = at;
  const [row = 0, column = 1] = dims;
  if (ord === "fro") return o.vectorNorm(x, 2, dims, keepdim);
  if (ord === "nuc" || ord === 2 || ord === -2) {
    const norms = spectralNorm(o, o.movedim(x, [row, column], [-2, -1]), ord);
    return keepdim ? o.reshape(norms, reducedShape(x.shape, dims, true)) : norms;
  }
  const order = Number(ord);
  if (typeof ord === "string" || (Math.abs(order) !== 1 && Math.abs(order) !== Infinity)) {
    throw new DynError(
      `Expected a matrix norm of order "fro", "nuc", 1, 2, their negatives or an infinity but found ${
        String(ord)
      }`,
    );
  }
  const [inner, outer] = Math.abs(order) === 1 ? [row, column] : [column, row];
  const sums = o.sum(o.abs(x), [inner], true);
  const extreme = order < 0 ? o.amin(sums, [outer], true) : greatest(o, sums, outer);
  return keepdim ? extreme : o.reshape(extreme, reducedShape(x.shape, dims, false));
}

function normMeta(
  x: TensorMeta,
  dims: readonly number[],
  keepdim: boolean,
  dtype: TensorMeta["dtype"] | null,
): TensorMeta {
  checkCategory("norm", dtype ?? x.dtype, ["float"]);
  return contiguousMeta(reducedShape(x.shape, dims, keepdim), dtype ?? x.dtype, x.device);
}

/** The two dimensions of matrices. Throws DynError for another number of them. */
export function matrixDims(x: TensorLike, dim: number | readonly number[]): number[] {
  const dims = normalizeDims(dim, x.shape.length);
  if (dims.length !== 2) throw new DynError(`Expected two dims of matrices but found ${dims.length}`);
  return dims;
}

const linalgDiagonal = composeWideOp({
  name: "linalgDiagonal",
  doc: "The diagonals of matrices, or of two other dimensions, as `torch.linalg.diagonal`.",
  params: {
    A: required("tensor"),
    offset: optional("size", 0, { keyword: true }),
    dim1: optional("int", -2, { keyword: true }),
    dim2: optional("int", -1, { keyword: true }),
  },
  exposure: LINALG,
  infer: ({ A, ...where }) => views.diagonal.infer({ self: A, ...where }),
  compose: (o, { A, offset, dim1, dim2 }) => o.diagonal(A, offset, dim1, dim2),
  samples: [{ args: [t(2, 3, 3)] }, { args: [t(2, 3, 4)], options: { offset: 1, dim1: 0, dim2: 1 } }],
  errors: [{ args: [t(3)], message: "Expected dim in" }],
});

const matrixNorm = composeWideOp({
  name: "matrixNorm",
  doc: "The norm of matrices (fro, nuc, ±1, ±2, ±∞), as `torch.linalg.matrix_norm`.",
  params: {
    A: required("tensor"),
    ord: optional("scalarOrString", "fro"),
    dim: optional("dims", [-2, -1]),
    keepdim: optional("bool", false),
    dtype: nullable("dtype", { keyword: true }),
  },
  exposure: LINALG,
  hostParts: true,
  infer({ A, dim, keepdim, dtype }) {
    if (A.shape.length < 2) {
      throw new DynError(`Expected at least 2 dimensions but found ${shapeText(A.shape)}`);
    }
    return normMeta(A, matrixDims(A, dim), keepdim, dtype);
  },
  compose: (o, { A, ord, dim, keepdim, dtype }) =>
    matrixNormOf(o, dtype ? o.to(A, dtype) : A, { ord, dims: matrixDims(A, dim), keepdim }),
  samples: [{ args: [t(3, 4)] }, { args: [t(3, 4), 1] }, { args: [t(2, 3, 4), Infinity] }],
  errors: [{ args: [t(3)], message: "at least 2" }],
});

const linalgNorm = composeWideOp({
  name: "linalgNorm",
  doc: "The norm of vectors, or of matrices where two dims and an order are given, as `torch.linalg.norm`.",
  params: {
    A: required("tensor"),
    ord: nullable("scalarOrString"),
    dim: nullable("dims"),
    keepdim: optional("bool", false),
    dtype: nullable("dtype", { keyword: true }),
  },
  exposure: { ...LINALG, aliases: ["norm"] },
  hostParts: true,
  infer({ A, ord, dim, keepdim, dtype }) {
    if (ord !== null && dim === null && A.shape.length > 2) {
      throw new DynError(
        `Expected at most 2 dimensions for an order without dim but found ${shapeText(A.shape)}`,
      );
    }
    return normMeta(A, reducedDims(dim, A.shape.length), keepdim, dtype);
  },
  compose(o, { A, ord, dim, keepdim, dtype }) {
    const x = dtype ? o.to(A, dtype) : A, dims = reducedDims(dim, A.shape.length);
    const matrix = ord !== null &&
      (dim === null ? A.shape.length === 2 : Array.isArray(dim) && dim.length === 2);
    if (matrix) return matrixNormOf(o, x, { ord, dims, keepdim });
    if (typeof ord === "string") {
      throw new DynError(`Expected a number as the order of a vector norm but found ${ord}`);
    }
    return o.vectorNorm(x, Number(ord ?? 2), dims.length === 0 ? null : dims, keepdim);
  },
  samples: [{ args: [t(3, 4)] }, { args: [t(4), 3] }, { args: [t(3, 4), 1] }],
});

/** The dimension of three elements along which vectors are crossed. */
function crossDim(a: TensorLike, b: TensorLike, dim: number | null): number {
  const shape = broadcastShapes(a.shape, b.shape);
  const at = dim === null ? shape.findIndex((s) => isEqual(s, 3)) : normalizeDim(dim, shape.length);
  if (a.shape.length !== b.shape.length) {
    throw new DynError(
      `Expected tensors with the same number of dimensions but found ${shapeText(a.shape)} and ${
        shapeText(b.shape)
      }`,
    );
  }
  if (at < 0 || !isEqual(a.shape[at] ?? 1, 3) || !isEqual(b.shape[at] ?? 1, 3)) {
    throw new DynError(
      `Expected a dimension of 3 elements but found ${shapeText(a.shape)} and ${shapeText(b.shape)}`,
    );
  }
  return at;
}

/** cross and linalgCross, which differ in the default dimension. */
function crossOp(name: "cross" | "linalgCross") {
  const wanted = (dim: number | null) => name === "linalgCross" ? dim ?? -1 : dim;
  return composeWideOp({
    name,
    doc: "The cross product of vectors of three elements, as `torch.cross`.",
    params: { self: required("tensor"), other: required("tensor"), dim: nullable("int") },
    exposure: name === "cross" ? {} : { ...LINALG, aliases: ["cross"] },
    infer({ self, other, dim }) {
      crossDim(self, other, wanted(dim));
      return contiguousMeta(
        broadcastShapes(self.shape, other.shape),
        resultTypeOf([self, other]),
        self.device,
      );
    },
    compose(o, { self, other, dim }) {
      const at = crossDim(self, other, wanted(dim));
      const turn = (x: typeof self, by: number) => o.roll(x, by, at);
      return o.sub(o.mul(turn(self, -1), turn(other, -2)), o.mul(turn(self, -2), turn(other, -1)));
    },
    samples: [{ args: [t(2, 3), t(2, 3)] }],
    errors: [{ args: [t(2, 4), t(2, 4)], message: "3 elements" }],
  });
}

const vecdot = composeWideOp({
  name: "vecdot",
  doc: "Sums of products along a dimension, as `torch.linalg.vecdot`.",
  params: { x: required("tensor"), y: required("tensor"), dim: optional("int", -1) },
  exposure: LINALG,
  infer({ x, y, dim }) {
    const shape = broadcastShapes(x.shape, y.shape);
    return contiguousMeta(
      reducedShape(shape, [normalizeDim(dim, shape.length)], false),
      resultTypeOf([x, y]),
      x.device,
    );
  },
  compose(o, { x, y, dim }) {
    const products = o.mul(x, y);
    return o.sum(products, dim, false, { dtype: products.dtype });
  },
  samples: [{ args: [t(3, 4), t(3, 4)] }],
});

const multiDot = composeWideOp({
  name: "multiDot",
  doc: "The product of several matrices (the first and last may be vectors), as `torch.linalg.multi_dot`.",
  params: { tensors: required("tensors") },
  exposure: LINALG,
  infer({ tensors }) {
    if (tensors.length < 2) throw new DynError(`Expected at least two tensors but found ${tensors.length}`);
    tensors.forEach((x, i) => {
      const edge = i === 0 || i === tensors.length - 1;
      if (x.shape.length !== 2 && !(edge && x.shape.length === 1)) {
        throw new DynError(`Expected matrices but found ${shapeText(x.shape)}`);
      }
      const next = tensors[i + 1];
      if (next && !isEqual(x.shape.at(-1) ?? 1, next.shape[0] ?? 1)) {
        throw new DynError(
          `Expected shapes that multiply but found ${shapeText(x.shape)} and ${shapeText(next.shape)}`,
        );
      }
    });
    const first = tensors[0], last = tensors.at(-1);
    invariant(first && last, "Expected at least two tensors but found none");
    return contiguousMeta([...first.shape.slice(0, -1), ...last.shape.slice(1)], first.dtype, first.device);
  },
  compose(o, { tensors }) {
    const [first, ...rest] = tensors;
    invariant(first, "Expected at least two tensors but found none");
    return rest.reduce((product, x) => o.matmul(product, x), first);
  },
  samples: [{ args: [[t(2, 3), t(3, 4), t(4, 2)]] }],
  errors: [{ args: [[t(2, 3)]], message: "at least two" }],
});

/** Gauss-Jordan elimination with partial pivoting: determinants, and inverses where they exist. */
function eliminate(A: HostTensor): { inverse: number[] | null; sign: number[]; logabs: number[] } {
  const n = knownSize(A.shape.at(-1) ?? 1), size = n * n;
  const batch = size === 0
    ? A.shape.slice(0, -2).reduce<number>((c, s) => c * knownSize(s), 1)
    : A.data.length / size;
  const inverse: number[] = [], sign: number[] = [], logabs: number[] = [];
  let singular = false;
  for (let b = 0; b < batch; b++) {
    const rows = Array.from(
      { length: n },
      (_, i) =>
        Array.from(
          { length: 2 * n },
          (_, j) => j < n ? Number(A.data[b * size + i * n + j]) : j - n === i ? 1 : 0,
        ),
    );
    let s = 1, log = 0;
    for (let c = 0; c < n; c++) {
      let pivot = c;
      for (let r = c + 1; r < n; r++) {
        if (Math.abs(rows[r]?.[c] ?? 0) > Math.abs(rows[pivot]?.[c] ?? 0)) pivot = r;
      }
      const top = rows[pivot] ?? [], value = top[c] ?? 0;
      if (pivot !== c) {
        rows[pivot] = rows[c] ?? [];
        rows[c] = top;
        s = -s;
      }
      s *= Math.sign(value);
      log += Math.log(Math.abs(value));
      if (value === 0) {
        singular = true;
        continue;
      }
      for (let j = 0; j < 2 * n; j++) top[j] = (top[j] ?? 0) / value;
      rows.forEach((row, r) => {
        const factor = row[c] ?? 0;
        if (r !== c && factor !== 0) row.forEach((v, j) => row[j] = v - factor * (top[j] ?? 0));
      });
    }
    sign.push(s);
    logabs.push(log);
    for (const row of rows) inverse.push(...row.slice(n));
  }
  return { inverse: singular ? null : inverse, sign, logabs };
}

const inv = hostWideOp({
  name: "inv",
  doc: "The inverses of square matrices, as `torch.linalg.inv`. Computed on the host.",
  params: { A: required("tensor") },
  exposure: { namespaces: ["linalg"], aliases: ["inverse"] },
  infer({ A }) {
    checkSquare("inv", A);
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compute({ A }) {
    const { inverse } = eliminate(A);
    if (!inverse) throw new LinAlgError("Expected invertible matrices but found a singular one");
    return [hostTensor(A.shape.map((s) => knownSize(s)), A.dtype, inverse)];
  },
  gradient: {
    saves: ["out"],
    single(o, grad, { out: [out] }) {
      if (!out) return {};
      const turned = adjoint(o, out);
      return { A: o.neg(o.matmul(o.matmul(turned, grad), turned)) };
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const slogdet = hostWideOp({
  name: "slogdet",
  doc: "Signs and logarithms of determinants, as `torch.linalg.slogdet`. Computed on the host.",
  params: { A: required("tensor") },
  results: ["sign", "logabsdet"],
  exposure: { namespaces: ["linalg"] },
  infer({ A }) {
    checkSquare("slogdet", A);
    const meta = contiguousMeta(A.shape.slice(0, -2), A.dtype, A.device);
    return [meta, meta];
  },
  compute({ A }) {
    const { sign, logabs } = eliminate(A);
    const shape = A.shape.slice(0, -2).map((s) => knownSize(s));
    return [hostTensor(shape, A.dtype, sign), hostTensor(shape, A.dtype, logabs)];
  },
  gradient: {
    kind: "rule",
    saves: ["A", "out"],
    rule(o, { args: { A }, out: [sign], grads: [ofSign = null, ofLog = null] }) {
      const grad = ofSign && sign && isComplex(A.dtype) ? withPhase(o, { sign, ofSign, ofLog }) : ofLog;
      return grad ? { A: o.mul(o.unsqueeze(o.unsqueeze(grad, -1), -1), adjoint(o, o.inv(A))) } : {};
    },
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

/** The gradient of log det, whose imaginary part is the phase of the sign. */
function withPhase<T extends TensorLike>(
  o: OpApi<T>,
  { sign, ofSign, ofLog }: { readonly sign: T; readonly ofSign: T; readonly ofLog: T | null },
): T {
  const phase = o.contiguous(o.imag(o.mul(ofSign, o.conj(sign))));
  return o.complex(ofLog ?? o.zerosLike(phase), phase);
}

const slogdetPairs = pairedOp(slogdet, {
  name: "slogdetPairs",
  paired: [true, false],
  compute({ A }) {
    const found = complexMatricesOf(A).matrices.map(signAndLog), lead = A.shape.slice(0, -3);
    const signs = found.map(({ sign: { re, im } }) => ({ re: [re], im: [im] }));
    return [
      pairsTensor(lead.map((s) => knownSize(s)), A.dtype, signs),
      hostTensor(lead, A.dtype, found.map(({ log }) => log)),
    ];
  },
});

/** The determinant of one complex matrix: a number of magnitude 1, or 0, and the logarithm of its own. */
function signAndLog(A: ComplexMatrix): { readonly sign: Complex; readonly log: number } {
  const { LU, pivots } = eliminateComplex(A, true);
  let sign: Complex = { re: 1, im: 0 }, log = 0;
  for (const [k, pivot] of pivots.entries()) {
    const size = LU.size(k, k);
    log += Math.log(size);
    const unit = size === 0 ? ZERO : scaled(LU.at(k, k), (pivot === k + 1 ? 1 : -1) / size);
    sign = times(sign, unit);
  }
  return { sign, log };
}

/** det and logdet. */
function determinant(name: "det" | "logdet") {
  return composeWideOp({
    name,
    doc: `${
      name === "det" ? "Determinants" : "Logarithms of determinants"
    } of square matrices, as \`torch.${name}\`.`,
    params: { A: required("tensor") },
    exposure: name === "det" ? { namespaces: ["linalg"] } : {},
    hostParts: true,
    infer({ A }) {
      checkSquare(name, A);
      return contiguousMeta(A.shape.slice(0, -2), A.dtype, A.device);
    },
    compose(o, { A }) {
      const [sign, logabs] = o.slogdet(A);
      if (name === "det") return o.mul(sign, o.exp(logabs));
      if (isComplex(A.dtype)) return o.add(o.log(sign), logabs);
      return o.where(o.eq(sign, -1), NaN, logabs);
    },
    samples: [],
    errors: [{ args: [t(2, 3)], message: "square" }],
  });
}

const matrixPower = composeWideOp({
  name: "matrixPower",
  doc: "Square matrices to an integer power, as `torch.linalg.matrix_power`.",
  params: { A: required("tensor"), n: required("int") },
  exposure: { namespaces: ["linalg"] },
  hostParts: true,
  infer({ A }) {
    checkSquare("matrixPower", A);
    return contiguousMeta(A.shape, A.dtype, A.device);
  },
  compose(o, { A, n }) {
    const side = A.shape.at(-1) ?? 1;
    if (n === 0) {
      // Depends on A except for its elements, so that its gradient is 0
      const eye = o.eye(side, null, { dtype: A.dtype, device: A.device });
      return o.where(o.onesLike(A, { dtype: "bool" }), eye, A);
    }
    let base = n < 0 ? o.inv(A) : A, left = Math.abs(n);
    let result: typeof A | null = null;
    while (left > 0) {
      if (left % 2 === 1) result = result ? o.matmul(result, base) : base;
      left = Math.floor(left / 2);
      if (left > 0) base = o.matmul(base, base);
    }
    return n === 1 ? o.clone(A) : result ?? base;
  },
  samples: [{ args: [t(3, 3), 3] }, { args: [t(2, 3, 3), 2] }],
  errors: [{ args: [t(2, 3), 2], message: "square" }],
});

const vander = composeWideOp({
  name: "vander",
  doc: "Powers 0 … N − 1 of each element in a new last dimension, as `torch.linalg.vander`.",
  params: { x: required("tensor"), N: nullable("int") },
  exposure: LINALG,
  infer({ x, N }) {
    const shape = x.shape.length === 0 ? [1] : x.shape, count = N ?? knownSize(shape.at(-1) ?? 1);
    checkAtLeast("N of vander", count, 2);
    return contiguousMeta([...shape, count], isFloat(x.dtype) ? x.dtype : "int64", x.device);
  },
  compose(o, { x, N }) {
    const wide = o.atleast1d(x), count = N ?? knownSize(wide.shape.at(-1) ?? 1);
    const numbers = isDifferentiable(wide.dtype) ? wide : o.to(wide, "int64");
    const column = o.unsqueeze(numbers, -1);
    const repeated = o.expand(column, [...numbers.shape, count - 1]);
    return o.cat([o.onesLike(column), o.cumprod(repeated, -1)], -1);
  },
  samples: [{ args: [t(4)] }, { args: [t(3), 2] }],
});

export const linearAlgebra = {
  matrixNorm,
  linalgNorm,
  linalgDiagonal,
  cross: crossOp("cross"),
  linalgCross: crossOp("linalgCross"),
  vecdot,
  multiDot,
  inv,
  slogdet,
  slogdetPairs,
  det: determinant("det"),
  logdet: determinant("logdet"),
  matrixPower,
  vander,
} as const;
