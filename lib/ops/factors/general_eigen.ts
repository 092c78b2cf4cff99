/**
 * Eigenvalues of general square matrices, real or complex, as in torch.linalg.eig: values and vectors are complex.
 * Invariant: computed on the host in float64; vectors have length 1, and their largest element is real and positive;
 * for a real matrix, values and vectors are real or come in exactly conjugate pairs.
 */
import { complexType, isComplex, isHalf } from "../../base/dtype.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { composeOp, hostOp, type HostTensor, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize } from "../shapes.ts";
import { adjoint } from "./adjoint.ts";
import { checkSquare, LINALG } from "./checks.ts";
import {
  type Complex,
  complexMatricesOf,
  ComplexMatrix,
  conjugate,
  difference,
  normalized,
  pairsTensor,
  quotient,
  scaled,
  times,
} from "./complex_matrix.ts";
import { matricesOf } from "./matrix.ts";
import { schurOf } from "./schur.ts";

interface Eigen {
  readonly values: readonly Complex[];
  /** Vectors as columns. */
  readonly vectors: ComplexMatrix;
}

function decompose(A: ComplexMatrix): Eigen {
  const { n } = A, isReal = A.im.every((x) => x === 0);
  const unit = scaledToOne(A), weights = balance(A), { T, Q } = schurOf(A);
  const vectors = new ComplexMatrix(n), values = Array.from({ length: n }, (_, k) => T.at(k, k));
  for (const [k, value] of values.entries()) {
    const before = values[k - 1];
    if (isReal && value.im < 0 && before) {
      for (let i = 0; i < n; i++) vectors.set(i, k, conjugate(vectors.at(i, k - 1)));
      continue;
    }
    const vector = applied(Q, ofTriangle(T, k)).map((x, i) => scaled(x, weights[i] ?? 1));
    for (const [i, x] of turned(vector, isReal && value.im === 0).entries()) vectors.set(i, k, x);
  }
  return { values: values.map((value) => scaled(value, unit)), vectors };
}

/**
 * The vector of length 1 whose largest element is real and positive, of a real matrix's real eigenvalue a real one. Where
 * eigenvalues are almost equal its imaginary parts need not be small, but its real parts are an eigenvector by themselves.
 */
function turned(vector: readonly Complex[], isReal: boolean): readonly Complex[] {
  const unit = normalized(vector);
  return isReal ? normalized(unit.map(({ re }) => ({ re, im: 0 }))) : unit;
}

/** Divides by a power of two near the largest element, which it returns. */
function scaledToOne({ re, im }: ComplexMatrix): number {
  let largest = 0;
  for (const parts of [re, im]) for (const x of parts) largest = Math.max(largest, Math.abs(x));
  if (!Number.isFinite(largest)) {
    throw new DynError("Expected finite elements for eig but found NaN or infinite ones");
  }
  if (largest === 0) return 1;
  const exponent = Math.max(-1000, Math.min(1000, Math.floor(Math.log2(largest))));
  for (const parts of [re, im]) parts.forEach((x, k) => parts[k] = x * 2 ** -exponent);
  return 2 ** exponent;
}

/** Makes rows and columns about equally long by powers of two (Parlett and Reinsch 1969); returns their factors. */
function balance(A: ComplexMatrix): readonly number[] {
  const { n, re, im } = A, factors = new Array<number>(n).fill(1);
  for (let changed = true; changed;) {
    changed = false;
    for (let k = 0; k < n; k++) {
      let row = 0, column = 0;
      for (let i = 0; i < n; i++) {
        if (i === k) continue;
        row += A.size(k, i);
        column += A.size(i, k);
      }
      if (row === 0 || column === 0) continue;
      const factor = 2 ** Math.round(Math.log2(row / column) / 2);
      if (column * factor + row / factor >= 0.95 * (row + column)) continue;
      changed = true;
      factors[k] = (factors[k] ?? 1) * factor;
      for (const parts of [re, im]) {
        for (let i = 0; i < n; i++) parts[k * n + i] = (parts[k * n + i] ?? 0) / factor;
        for (let i = 0; i < n; i++) parts[i * n + k] = (parts[i * n + k] ?? 0) * factor;
      }
    }
  }
  return factors;
}

/** Vectors with larger elements are scaled down on the way. */
const LARGE = 1e100;

/** The eigenvector of a triangle for the eigenvalue at a position of its diagonal. */
function ofTriangle(T: ComplexMatrix, k: number): readonly Complex[] {
  const { n } = T, value = T.at(k, k), y: Complex[] = Array.from({ length: n }, () => ({ re: 0, im: 0 }));
  let largest = 0;
  for (let i = 0; i < n; i++) largest = Math.max(largest, T.size(i, i));
  const least = Number.EPSILON * Math.max(largest, Number.EPSILON);
  y[k] = { re: 1, im: 0 };
  for (let i = k - 1; i >= 0; i--) {
    let re = 0, im = 0;
    for (let j = i + 1; j <= k; j++) {
      const x = times(T.at(i, j), y[j] ?? { re: 0, im: 0 });
      re -= x.re;
      im -= x.im;
    }
    const gap = difference(T.at(i, i), value);
    const found = quotient({ re, im }, Math.hypot(gap.re, gap.im) < least ? { re: least, im: 0 } : gap);
    y[i] = found;
    const size = Math.hypot(found.re, found.im);
    if (size > LARGE) { for (let j = i; j <= k; j++) y[j] = scaled(y[j] ?? { re: 0, im: 0 }, 1 / size); }
  }
  return y;
}

function applied(Q: ComplexMatrix, y: readonly Complex[]): Complex[] {
  return y.map((_, i) => {
    let re = 0, im = 0;
    for (const [j, each] of y.entries()) {
      const x = times(Q.at(i, j), each);
      re += x.re;
      im += x.im;
    }
    return { re, im };
  });
}

/** Values [..., n, 2] and vectors [..., n, n, 2] of real matrices, or of pairs. */
function pairsOf(A: HostTensor, paired: boolean): readonly HostTensor[] {
  const complex = paired ? complexMatricesOf(A) : matricesOf(A), { lead } = complex;
  const n = A.shape.at(paired ? -2 : -1) ?? 0;
  const found = complex.matrices.map((each) =>
    decompose(each instanceof ComplexMatrix ? each : new ComplexMatrix(n, n, each.data))
  );
  const values = found.map(({ values }) => ({
    re: values.map(({ re }) => re),
    im: values.map(({ im }) => im),
  }));
  return [
    pairsTensor([...lead, n], A.dtype, values),
    pairsTensor([...lead, n, n], A.dtype, found.map(({ vectors }) => vectors)),
  ];
}

const eigenPairs = hostOp({
  name: "eigenPairs",
  doc: "Eigenvalues and eigenvectors as pairs of parts, of real matrices or, where `paired`, of such pairs.",
  params: { A: required("tensor"), paired: optional("bool", false) },
  results: ["eigenvalues", "eigenvectors"],
  exposure: { method: false, free: false },
  infer({ A, paired }) {
    const shape = paired ? A.shape.slice(0, -1) : A.shape;
    return [
      contiguousMeta([...shape.slice(0, -1), 2], A.dtype, A.device),
      contiguousMeta([...shape, 2], A.dtype, A.device),
    ];
  },
  compute: ({ A, paired }) => pairsOf(A, paired),
  gradient: {
    kind: "rule",
    saves: ["out"],
    rule(o, { args: { paired }, out: [L, V], grads: [gL = null, gV = null] }) {
      if (!L || !V || !gL && !gV) return {};
      const grad = o.viewAsReal(matrixGradient(o, { L, V, gL, gV }));
      return { A: paired ? grad : o.select(grad, -1, 0) };
    },
  },
  samples: [],
});

/** V⁻ᴴ · (diag(gL) + (Vᴴ·gV − Vᴴ·V·diag(Re(Vᴴ·gV))) / Ē) · Vᴴ with E[i][j] = L[j] − L[i] (Giles 2008). */
function matrixGradient<T extends TensorLike>(
  o: OpApi<T>,
  pairs: { readonly L: T; readonly V: T; readonly gL: T | null; readonly gV: T | null },
): T {
  const complex = (x: T) => o.viewAsComplex(o.contiguous(x)), L = complex(pairs.L), V = complex(pairs.V);
  const n = knownSize(L.shape.at(-1) ?? 1), Vh = adjoint(o, V);
  let inner = pairs.gL ? o.diagEmbed(complex(pairs.gL)) : null;
  if (pairs.gV) {
    const turned = o.matmul(Vh, complex(pairs.gV));
    const lengths = o.real(o.diagonal(turned, 0, -2, -1));
    const tangent = o.sub(turned, o.mul(o.matmul(Vh, V), o.unsqueeze(lengths, -2)));
    const eye = o.eye(n, null, { dtype: "bool", device: V.device });
    const gaps = o.add(o.conj(o.sub(o.unsqueeze(L, -2), o.unsqueeze(L, -1))), o.to(eye, L.dtype));
    const between = o.maskedFill(o.div(tangent, gaps), eye, 0);
    inner = inner ? o.add(inner, between) : between;
  }
  if (!inner) return o.zerosLike(V);
  return o.solve(Vh, o.matmul(inner, Vh));
}

function metasOf(name: string, A: TensorMeta): readonly [TensorMeta, TensorMeta] {
  if (isHalf(A.dtype)) throw new DynError(`Expected float32 or float64 for ${name} but found ${A.dtype}`);
  checkSquare(name, A);
  const dtype = complexType(A.dtype);
  return [contiguousMeta(A.shape.slice(0, -1), dtype, A.device), contiguousMeta(A.shape, dtype, A.device)];
}

function composed<T extends TensorLike>(o: OpApi<T>, A: T): readonly [T, T] {
  const paired = isComplex(A.dtype);
  const [L, V] = o.eigenPairs(paired ? o.viewAsReal(A) : A, paired);
  return [o.viewAsComplex(L), o.viewAsComplex(V)];
}

const eig = composeOp({
  name: "eig",
  doc:
    "Complex eigenvalues and eigenvectors of square matrices, as `torch.linalg.eig`. Vectors have length 1, and their " +
    "largest element is real and positive. Gradients need distinct values, and a loss that does not depend on " +
    "the phase of vectors. Computed on the host.",
  params: { A: required("tensor") },
  results: ["eigenvalues", "eigenvectors"],
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metasOf("eig", A),
  compose: (o, { A }) => [...composed(o, A)],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const eigvals = composeOp({
  name: "eigvals",
  doc:
    "Complex eigenvalues of square matrices, as `torch.linalg.eigvals`. Gradients need distinct values. Computed on the " +
    "host.",
  params: { A: required("tensor") },
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metasOf("eigvals", A)[0],
  compose: (o, { A }) => composed(o, A)[0],
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

export const generalEigenOps = { eigenPairs, eig, eigvals } as const;
