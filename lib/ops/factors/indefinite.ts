/**
 * LDLᵀ decomposition of symmetric matrices, of which the lower triangle is read, with the pivots of Bunch and Kaufman
 * (1977), as in torch.linalg.ldl_factor and its relatives. Invariant: computed on the host in float64; pivots are
 * LAPACK's: from 1, negative for both rows of a block of two.
 */
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import { isEqual } from "../../sym/decide.ts";
import { type HostTensor, refusedGradient } from "../definition.ts";
import { hostTensor } from "../host.ts";
import { optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { broadcastShapes, knownSize, shapeText } from "../shapes.ts";
import { composeWideOp, hostWideOp } from "../wide.ts";
import { checkMatrices, checkSquare, LINALG } from "./checks.ts";
import { matricesOf, Matrix, matrixTensor } from "./matrix.ts";

interface Decomposition {
  readonly LD: Matrix;
  readonly pivots: readonly number[];
  /** The first pivot that is 0, from 1; 0: none. */
  readonly info: number;
}

/** The minimum size of a pivot relative to the largest element next to it. */
const ALPHA = (1 + Math.sqrt(17)) / 8;

/**
 * Returns the next pivot row and the size of its block (2: together with its neighbour), or undefined when the column
 * is 0.
 */
function choosePivot(A: Matrix, k: number): { readonly row: number; readonly size: 1 | 2 } | undefined {
  const n = A.rows, own = Math.abs(A.at(k, k));
  let far = k, column = 0;
  for (let i = k + 1; i < n; i++) {
    if (Math.abs(A.at(i, k)) > column) {
      far = i;
      column = Math.abs(A.at(i, k));
    }
  }
  if (Math.max(own, column) === 0) return undefined;
  if (!(own < ALPHA * column)) return { row: k, size: 1 };
  let beside = 0;
  for (let j = k; j < far; j++) beside = Math.max(beside, Math.abs(A.at(far, j)));
  for (let i = far + 1; i < n; i++) beside = Math.max(beside, Math.abs(A.at(i, far)));
  if (own >= ALPHA * column * (column / beside)) return { row: k, size: 1 };
  return { row: far, size: Math.abs(A.at(far, far)) >= ALPHA * beside ? 1 : 2 };
}

function swap(A: Matrix, [i, j]: readonly [number, number], [k, l]: readonly [number, number]): void {
  const kept = A.at(i, j);
  A.set(i, j, A.at(k, l));
  A.set(k, l, kept);
}

/** Exchanges two rows and columns of the symmetric rest, in the lower triangle; a < b. */
function exchange(A: Matrix, a: number, b: number): void {
  for (let i = b + 1; i < A.rows; i++) swap(A, [i, a], [i, b]);
  for (let i = a + 1; i < b; i++) swap(A, [i, a], [b, i]);
  swap(A, [a, a], [b, b]);
}

function eliminateOne(A: Matrix, k: number): void {
  const pivot = A.at(k, k);
  for (let j = k + 1; j < A.rows; j++) {
    const factor = A.at(j, k) / pivot;
    for (let i = j; i < A.rows; i++) A.add(i, j, -A.at(i, k) * factor);
  }
  for (let i = k + 1; i < A.rows; i++) A.set(i, k, A.at(i, k) / pivot);
}

function eliminateTwo(A: Matrix, k: number): void {
  const off = A.at(k + 1, k), first = A.at(k + 1, k + 1) / off, second = A.at(k, k) / off;
  const scale = 1 / (first * second - 1) / off;
  for (let j = k + 2; j < A.rows; j++) {
    const a = scale * (first * A.at(j, k) - A.at(j, k + 1));
    const b = scale * (second * A.at(j, k + 1) - A.at(j, k));
    for (let i = j; i < A.rows; i++) A.add(i, j, -A.at(i, k) * a - A.at(i, k + 1) * b);
    A.set(j, k, a);
    A.set(j, k + 1, b);
  }
}

function decompose(given: Matrix): Decomposition {
  const A = given.where((i, j) => i >= j), n = A.rows, pivots: number[] = [];
  let info = 0;
  for (let k = 0; k < n;) {
    const choice = choosePivot(A, k);
    if (!choice) {
      info ||= k + 1;
      pivots.push(++k);
      continue;
    }
    const { row, size } = choice, last = k + size - 1;
    if (row !== last) {
      exchange(A, last, row);
      if (size === 2) swap(A, [k + 1, k], [row, k]);
    }
    if (size === 1) eliminateOne(A, k);
    else eliminateTwo(A, k);
    pivots.push(...size === 1 ? [row + 1] : [-row - 1, -row - 1]);
    k += size;
  }
  return { LD: A, pivots, info };
}

function factorsOf(A: HostTensor): readonly HostTensor[] {
  const { lead, matrices } = matricesOf(A), n = A.shape.at(-1) ?? 0, found = matrices.map(decompose);
  return [
    matrixTensor(lead, A.dtype, { matrices: found.map(({ LD }) => LD), rows: n, columns: n }),
    hostTensor([...lead, n], "int32", found.flatMap(({ pivots }) => pivots)),
    hostTensor(lead, "int32", found.map(({ info }) => info)),
  ];
}

/** Subtracts `factor` times row `from` from row `to`. */
function takeOff(B: Matrix, { from, to, factor }: { from: number; to: number; factor: number }): void {
  for (let j = 0; j < B.columns; j++) B.add(to, j, -factor * B.at(from, j));
}

/** X with L · D · Lᵀ · X = B, in place of B. */
function solveOne(A: Matrix, pivots: readonly number[], B: Matrix): void {
  const n = A.rows, pivot = (k: number) => pivots[k] ?? 0;
  for (let k = 0; k < n;) {
    if (pivot(k) > 0) {
      B.swapRows(k, pivot(k) - 1);
      for (let i = k + 1; i < n; i++) takeOff(B, { from: k, to: i, factor: A.at(i, k) });
      for (let j = 0; j < B.columns; j++) B.set(k, j, B.at(k, j) / A.at(k, k));
      k++;
      continue;
    }
    B.swapRows(k + 1, -pivot(k) - 1);
    for (let i = k + 2; i < n; i++) {
      takeOff(B, { from: k, to: i, factor: A.at(i, k) });
      takeOff(B, { from: k + 1, to: i, factor: A.at(i, k + 1) });
    }
    const off = A.at(k + 1, k), a = A.at(k, k) / off, b = A.at(k + 1, k + 1) / off, scale = 1 / (a * b - 1);
    for (let j = 0; j < B.columns; j++) {
      const x = B.at(k, j) / off, y = B.at(k + 1, j) / off;
      B.set(k, j, (b * x - y) * scale);
      B.set(k + 1, j, (a * y - x) * scale);
    }
    k += 2;
  }
  for (let k = n - 1; k >= 0;) {
    const size = pivot(k) > 0 ? 1 : 2;
    for (let i = k + 1; i < n; i++) {
      for (let c = k; c > k - size; c--) takeOff(B, { from: i, to: c, factor: A.at(i, c) });
    }
    B.swapRows(k, Math.abs(pivot(k)) - 1);
    k -= size;
  }
}

function solutions(LD: HostTensor, pivots: HostTensor, B: HostTensor): HostTensor {
  const factors = matricesOf(LD),
    sides = matricesOf(B),
    n = LD.shape.at(-1) ?? 0,
    columns = B.shape.at(-1) ?? 0;
  const solved = sides.matrices.map((side, i) => {
    const own = Array.from({ length: n }, (_, k) => Number(pivots.data[i * n + k]));
    solveOne(factors.matrices[i] ?? new Matrix(0, 0), own, side);
    return side;
  });
  return matrixTensor(sides.lead, B.dtype, { matrices: solved, rows: n, columns });
}

function metas(name: string, A: TensorMeta): [TensorMeta, TensorMeta, TensorMeta] {
  checkSquare(name, A);
  return [
    contiguousMeta(A.shape, A.dtype, A.device),
    contiguousMeta(A.shape.slice(0, -1), "int32", A.device),
    contiguousMeta(A.shape.slice(0, -2), "int32", A.device),
  ];
}

const hermitian = optional("bool", false, { keyword: true });

const ldlFactorEx = hostWideOp({
  name: "ldlFactorEx",
  doc:
    "L and D of symmetric matrices in one, pivots and the first pivot that is 0, as `torch.linalg.ldl_factor_ex`. No " +
    "gradient. Computed on the host.",
  params: { A: required("tensor"), hermitian, checkErrors: optional("bool", false, { keyword: true }) },
  results: ["LD", "pivots", "info"],
  exposure: LINALG,
  infer: ({ A }) => metas("ldlFactorEx", A),
  compute: ({ A }) => factorsOf(A),
  gradient: refusedGradient("ldlFactor"),
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const ldlFactor = composeWideOp({
  name: "ldlFactor",
  doc:
    "L and D of symmetric matrices in one, and pivots, as `torch.linalg.ldl_factor`. No gradient. Computed on the " +
    "host.",
  params: { A: required("tensor"), hermitian },
  results: ["LD", "pivots"],
  exposure: LINALG,
  hostParts: true,
  infer: ({ A }) => metas("ldlFactor", A).slice(0, 2),
  compose(o, { A }) {
    const [LD, pivots] = o.ldlFactorEx(A);
    return [LD, pivots];
  },
  samples: [],
  errors: [{ args: [t(2, 3)], message: "square" }],
});

const ldlSolve = composeWideOp({
  name: "ldlSolve",
  doc:
    "X with A · X = B for A decomposed by ldlFactor, as `torch.linalg.ldl_solve`. No gradient. Computed on the host.",
  params: { LD: required("tensor"), pivots: required("tensor"), B: required("tensor"), hermitian },
  exposure: LINALG,
  hostParts: true,
  infer({ LD, pivots, B }) {
    const n = checkSquare("ldlSolve", LD), { rows, columns } = checkMatrices("ldlSolve", B);
    if (!isEqual(rows, n)) {
      throw new DynError(`Expected right-hand sides of ${n} rows but found ${shapeText(B.shape)}`);
    }
    if (pivots.dtype !== "int32") {
      throw new DynError(`Expected pivots of type int32 but found ${pivots.dtype}`);
    }
    const lead = broadcastShapes(LD.shape.slice(0, -2), B.shape.slice(0, -2));
    return contiguousMeta([...lead, rows, columns], LD.dtype, LD.device);
  },
  compose(o, { LD, pivots, B }) {
    const lead = broadcastShapes(LD.shape.slice(0, -2), B.shape.slice(0, -2)),
      n = knownSize(LD.shape.at(-1) ?? 1);
    return o.ldlSolutions(
      o.expand(LD, [...lead, n, n]),
      o.expand(pivots, [...lead, n]),
      o.expand(B, [...lead, ...B.shape.slice(-2)]),
    );
  },
  samples: [],
  errors: [{ args: [t(2, 3), t(2), t(2, 1)], message: "square" }],
});

const ldlSolutions = hostWideOp({
  name: "ldlSolutions",
  doc: "ldlSolve of tensors with the same leading dimensions.",
  params: { LD: required("tensor"), pivots: required("tensor"), B: required("tensor") },
  exposure: { method: false, free: false },
  infer: ({ B }) => contiguousMeta(B.shape, B.dtype, B.device),
  compute: ({ LD, pivots, B }) => [solutions(LD, pivots, B)],
  gradient: refusedGradient("ldlSolve"),
  samples: [],
});

export const indefiniteOps = { ldlFactorEx, ldlFactor, ldlSolve, ldlSolutions } as const;
