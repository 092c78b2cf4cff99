/**
 * A few extreme eigenvalues of large symmetric matrices, as in torch.lobpcg: optionally of a generalised problem,
 * with initial vectors and a preconditioner. Invariant: computed on the host in float64 by locally optimal steps
 * (Knyazev 2001) over orthonormal bases, so that no step is worse than the one before.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta } from "../../graph/meta.ts";
import { hostOp, type HostTensor, type TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { hostTensor } from "../host.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize, sameShape, shapeText } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkSquare } from "./checks.ts";
import { decompose } from "./eigen.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";

/** A matrix by columns. */
type Columns = readonly Float64Array[];

const columnsOf = (M: Matrix): Columns =>
  Array.from({ length: M.columns }, (_, j) => Float64Array.from({ length: M.rows }, (_x, i) => M.at(i, j)));

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

const lengthOf = (a: Float64Array): number => Math.sqrt(dot(a, a));

/** a += factor · b. */
function addTo(a: Float64Array, b: Float64Array, factor: number): void {
  for (let i = 0; i < a.length; i++) a[i] = (a[i] ?? 0) + factor * (b[i] ?? 0);
}

/** The product of a symmetric matrix, or a preconditioner, with a vector; null: the vector. */
function applied(M: Matrix | null, x: Float64Array): Float64Array {
  if (!M) return x;
  return Float64Array.from(
    { length: M.rows },
    (_, i) => dot(M.data.subarray(i * M.columns, (i + 1) * M.columns), x),
  );
}

/** Combinations of columns, by the rows of a matrix of factors from `first` on. */
function combined(columns: Columns, factors: Matrix, first: number): Columns {
  return Array.from({ length: factors.columns }, (_, j) => {
    const made = new Float64Array(columns[0]?.length ?? 0);
    for (let i = first; i < columns.length; i++) addTo(made, columns[i] ?? made, factors.at(i, j));
    return made;
  });
}

/** A remainder of a vector shorter than this part of its length counts as linearly dependent. */
const DEPENDENT = 1e-10;

/** An orthonormal basis, with the inner product of B, of the span of the columns; the first ones stay first. */
function orthonormal(columns: Columns, B: Matrix | null): Columns {
  const basis: Float64Array[] = [], images: Float64Array[] = [];
  for (const column of columns) {
    const next = column.slice(), before = lengthOf(next);
    for (let pass = 0; pass < 2; pass++) {
      for (const [k, other] of basis.entries()) addTo(next, other, -dot(next, images[k] ?? other));
    }
    const image = applied(B, next), square = dot(next, image);
    if (!(lengthOf(next) > DEPENDENT * before) || !(square > 0)) continue;
    const factor = 1 / Math.sqrt(square);
    basis.push(next.map((x) => x * factor));
    images.push(image.map((x) => x * factor));
  }
  return basis;
}

interface Problem {
  readonly A: Matrix;
  readonly B: Matrix | null;
  readonly iK: Matrix | null;
}

/** When a search ends. */
interface Limits {
  readonly niter: number;
  readonly tol: number;
  readonly largest: boolean;
}

/** Number of steps after which a search that ends by its tolerance is given up. */
const MOST_STEPS = 1000;

/** Values and vectors, and whether they are within the tolerance. */
interface Found {
  readonly values: readonly number[];
  readonly X: Columns;
  readonly basis: Columns;
  readonly factors: Matrix;
  readonly images: Columns;
}

/** The best vectors among the combinations of a basis (Rayleigh and Ritz). */
function best(basis: Columns, A: Matrix, wanted: number, largest: boolean): Found {
  if (basis.length < wanted) {
    throw new DynError(`Expected ${wanted} independent vectors in lobpcg but found ${basis.length}`);
  }
  const images = basis.map((x) => applied(A, x)), inner = new Matrix(basis.length, basis.length);
  for (const [i, x] of basis.entries()) {
    for (const [j, image] of images.entries()) if (j <= i) inner.set(i, j, dot(x, image));
  }
  const found = decompose(inner), factors = new Matrix(basis.length, wanted), values: number[] = [];
  for (let j = 0; j < wanted; j++) {
    const from = largest ? basis.length - 1 - j : j;
    values.push(found.values[from] ?? NaN);
    for (let i = 0; i < basis.length; i++) factors.set(i, j, found.vectors.at(i, from));
  }
  return { values, X: combined(basis, factors, 0), basis, factors, images };
}

function search({ A, B, iK }: Problem, start: Matrix, { niter, tol, largest }: Limits): Found {
  const wanted = start.columns, norm = lengthOf(A.data), normB = B ? lengthOf(B.data) : 1;
  let found = best(orthonormal(columnsOf(start), B), A, wanted, largest), P: Columns = [];
  for (let step = 0; step !== niter; step++) {
    if (step === MOST_STEPS) {
      throw new DynError(
        `Expected lobpcg to come within ${tol} but found no convergence in ${step} steps; give niter to limit them`,
      );
    }
    const residuals = combined(found.images, found.factors, 0);
    let isDone = true;
    for (const [j, x] of found.X.entries()) {
      const residual = residuals[j] ?? x, value = found.values[j] ?? NaN;
      addTo(residual, applied(B, x), -value);
      isDone &&= lengthOf(residual) <= tol * lengthOf(x) * (norm + Math.abs(value) * normB);
    }
    if (isDone) break;
    const basis = orthonormal([...found.X, ...residuals.map((r) => applied(iK, r)), ...P], B);
    // Only rounding errors are left to add
    if (basis.length === wanted) break;
    found = best(basis, A, wanted, largest);
    P = combined(found.basis, found.factors, wanted);
  }
  return found;
}

function searchesOf(
  given: {
    readonly A: HostTensor;
    readonly B: HostTensor | null;
    readonly iK: HostTensor | null;
    readonly X: HostTensor;
  },
  limits: Limits,
): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(given.A), starts = matricesOf(given.X).matrices;
  const weights = given.B && matricesOf(given.B).matrices,
    conditions = given.iK && matricesOf(given.iK).matrices;
  const found = matrices.map((A, k) =>
    search({ A, B: weights?.[k] ?? null, iK: conditions?.[k] ?? null }, starts[k] ?? A, limits)
  );
  const rows = given.X.shape.at(-2) ?? 0, columns = given.X.shape.at(-1) ?? 0;
  const vectors = found.map(({ X }) => {
    const made = new Matrix(rows, columns);
    for (const [j, x] of X.entries()) for (let i = 0; i < rows; i++) made.set(i, j, x[i] ?? 0);
    return made;
  });
  return [
    hostTensor([...lead, columns], given.A.dtype, found.flatMap(({ values }) => values)),
    matrixTensor(lead, given.A.dtype, { matrices: vectors, rows, columns }),
  ];
}

const extremePairs = hostOp({
  name: "extremePairs",
  doc: "Extreme eigenvalues and eigenvectors of symmetric matrices, searched from vectors X on.",
  params: {
    A: required("tensor"),
    X: required("tensor"),
    B: nullable("tensor"),
    iK: nullable("tensor"),
    niter: required("int"),
    tol: required("float"),
    largest: required("bool"),
  },
  results: ["E", "X"],
  exposure: { method: false, free: false },
  infer: ({ A, X }) => [
    contiguousMeta([...X.shape.slice(0, -2), X.shape.at(-1) ?? 1], A.dtype, A.device),
    contiguousMeta(X.shape, A.dtype, A.device),
  ],
  compute: ({ A, X, B, iK, niter, tol, largest }) => searchesOf({ A, X, B, iK }, { niter, tol, largest }),
  gradient: {
    kind: "rule",
    saves: ["A", "out"],
    rule(o, { args: { A, B }, out: [E, X], grads: [gE = null, gX = null] }) {
      if (!E || !X || !gE && !gX) return {};
      if (B) throw new DynError("Expected no B in the gradient of lobpcg but found one");
      const ofValues = gE && o.matmul(o.mul(X, o.unsqueeze(gE, -2)), o.mT(X));
      const ofVectors = gX && o.neg(o.matmul(o.mT(turned(o, { A, E, X, gX })), o.mT(X)));
      return { A: ofValues && ofVectors ? o.add(ofValues, ofVectors) : ofValues ?? ofVectors };
    },
  },
  samples: [],
});

/** (A − eⱼ)⁺ · gⱼ of each vector, as rows: the systems have ones added along the vectors, where they are singular. */
function turned<T extends TensorLike>(
  o: OpApi<T>,
  { A, E, X, gX }: { readonly A: T; readonly E: T; readonly X: T; readonly gX: T },
): T {
  const x = o.unsqueeze(o.mT(X), -1), g = o.unsqueeze(o.mT(gX), -1), xt = o.mT(x);
  const eye = o.eye(knownSize(A.shape.at(-1) ?? 1), null, { dtype: A.dtype, device: A.device });
  const shifted = o.sub(o.unsqueeze(A, -3), o.mul(eye, o.unsqueeze(o.unsqueeze(E, -1), -1)));
  const systems = o.add(shifted, o.matmul(x, xt));
  return o.squeeze(o.solve(systems, o.sub(g, o.matmul(x, o.matmul(xt, g)))), -1);
}

/** The sizes of a search: the number of rows, and of vectors it continues with. */
function sizesOf(
  A: TensorLike,
  { k, X, n }: { readonly k: number | null; readonly X: TensorLike | null; readonly n: number | null },
): { readonly rows: number; readonly vectors: number; readonly wanted: number } {
  const rows = knownSize(checkSquare("lobpcg", A)), wanted = k ?? (X ? knownSize(X.shape.at(-1) ?? 1) : 1);
  const vectors = X ? knownSize(X.shape.at(-1) ?? 1) : n ?? wanted;
  if (wanted < 1 || vectors < wanted) {
    throw new DynError(`Expected at least ${Math.max(1, wanted)} vectors in lobpcg but found ${vectors}`);
  }
  if (rows < 3 * vectors) {
    throw new DynError(
      `Expected at least ${3 * vectors} rows for ${vectors} vectors in lobpcg but found ${rows}`,
    );
  }
  if (X && !sameShape(X.shape, [...A.shape.slice(0, -1), vectors])) {
    throw new DynError(`Expected an X of ${rows} rows in lobpcg but found ${shapeText(X.shape)}`);
  }
  return { rows, vectors, wanted };
}

/** Square roots of types' precision, at which a search ends. */
const TOLERANCE = { float32: 2 ** -11.5, float64: 2 ** -26 } as const;

const lobpcg = composeWideOp({
  name: "lobpcg",
  doc:
    "The k largest (or smallest) eigenvalues of symmetric positive definite matrices and their vectors, of the " +
    "generalised problem A · x = e · B · x where B is given, as `torch.lobpcg`. X are vectors to begin with (random ones " +
    "otherwise, n of them), iK is a preconditioner; it ends after `niter` steps, or where residuals are below `tol`. " +
    "Gradients need distinct values and no B. Computed on the host.",
  params: {
    A: required("tensor"),
    k: nullable("int"),
    B: nullable("tensor"),
    X: nullable("tensor"),
    n: nullable("int"),
    iK: nullable("tensor"),
    niter: nullable("int"),
    tol: nullable("float"),
    largest: optional("bool", true),
  },
  results: ["E", "X"],
  exposure: { method: false },
  hostParts: true,
  infer({ A, k, B, X, n, iK }) {
    const { wanted } = sizesOf(A, { k, X, n });
    for (const [name, M] of [["B", B], ["iK", iK]] as const) {
      if (M && !sameShape(M.shape, A.shape)) {
        throw new DynError(`Expected a ${name} of the shape of A in lobpcg but found ${shapeText(M.shape)}`);
      }
    }
    return [
      contiguousMeta([...A.shape.slice(0, -2), wanted], A.dtype, A.device),
      contiguousMeta([...A.shape.slice(0, -1), wanted], A.dtype, A.device),
    ];
  },
  compose(o, { A, k, B, X, n, iK, niter, tol, largest }) {
    const { vectors, wanted } = sizesOf(A, { k, X, n });
    const start = X ?? o.randn([...A.shape.slice(0, -1), vectors], { dtype: A.dtype, device: A.device });
    const within = tol ?? TOLERANCE[A.dtype === "float64" ? "float64" : "float32"];
    const [E, V] = o.extremePairs(A, o.detach(start), B, iK, niter ?? -1, within, largest);
    return [o.narrow(E, -1, 0, wanted), o.narrow(V, -1, 0, wanted)];
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }, { args: [t(4, 4), 2], message: "at least 6 rows" }],
});

export const extremeEigenOps = { extremePairs, lobpcg } as const;
