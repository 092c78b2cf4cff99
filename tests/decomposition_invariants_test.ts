/**
 * Decompositions of random matrices of every type, shape and rank: factors multiply to the matrix, vectors are
 * orthonormal or of length 1, and values are in order. Uncompiled and in graphs. Some matrices, selected by a seed
 * (DYN_TEST_SEED), or all of them (DYN_TEST_ALL=1).
 */
import { assertEquals } from "@std/assert";
import {
  compile,
  complex,
  diag,
  eye,
  linalg,
  manualSeed,
  ones,
  randint,
  randn,
  type Tensor,
  tensor,
  zeros,
} from "../mod.ts";
import { isComplex, partType } from "../lib/base/dtype.ts";
import { sampleBySeed, testSeed } from "./support/sampling.ts";
import "./support/turns/models.ts";

type Floating = "float32" | "float64" | "complex64" | "complex128";

const TYPES: readonly Floating[] = ["float32", "float64", "complex64", "complex128"];

const EPSILON: Readonly<Record<Floating, number>> = {
  float32: 2 ** -23,
  complex64: 2 ** -23,
  float64: 2 ** -52,
  complex128: 2 ** -52,
};

type Shape = readonly number[];

const SHAPES: readonly Shape[] = [
  [1, 1],
  [3, 3],
  [12, 12],
  [5, 2],
  [2, 5],
  [9, 3],
  [2, 3, 3],
  [2, 2, 4, 2],
  [0, 3, 3],
  [0, 0],
  [3, 0],
  [2, 0, 3],
];

function random(shape: Shape, dtype: Floating): Tensor {
  const part = () => randn([...shape], { dtype: partType(dtype) });
  return isComplex(dtype) ? complex(part(), part()) : part();
}

/** Rectangular matrices by what is special about them. */
const KINDS: Readonly<Record<string, (shape: Shape, dtype: Floating) => Tensor>> = {
  "any": random,
  "less than full rank"(shape, dtype) {
    const [rows = 0, columns = 0] = shape.slice(-2), lead = shape.slice(0, -2);
    const rank = Math.max(0, Math.min(rows, columns) - 1);
    return random([...lead, rows, rank], dtype).matmul(random([...lead, rank, columns], dtype));
  },
  "zeros": (shape, dtype) => zeros([...shape], { dtype }),
  "repeated singular values"(shape, dtype) {
    const [rows = 0, columns = 0] = shape.slice(-2),
      lead = shape.slice(0, -2),
      count = Math.min(rows, columns);
    const side = (n: number) => linalg.qr(random([...lead, n, n], dtype))[0];
    const values = tensor(Array.from({ length: count }, (_, i) => [2, 2, 1, 1, 1][i] ?? 0), {
      dtype: "float64",
    });
    const left = side(rows).narrow(-1, 0, count).mul(values.to(dtype));
    return left.matmul(side(columns).narrow(-2, 0, count));
  },
  "small integers": (shape, dtype) => randint(-1, 2, [...shape]).to(dtype),
  "tiny": (shape, dtype) => random(shape, dtype).mul(1e-30),
  "large": (shape, dtype) => random(shape, dtype).mul(1e15),
  "transposed": (shape, dtype) => random([...shape.slice(0, -2), ...shape.slice(-2).reverse()], dtype).mT,
  "a defective block"(shape, dtype) {
    const [rows = 0, columns = 0] = shape.slice(-2);
    const block = eye(rows, columns, { dtype }).mul(2);
    const above = Math.min(rows, columns) - 1;
    if (rows === columns && above > 0) block.add_(diag(ones([above], { dtype }), 1));
    return block.expand([...shape]).contiguous();
  },
};

interface Case {
  readonly kind: string;
  readonly shape: Shape;
  readonly dtype: Floating;
}

const CASES: readonly Case[] = Object.keys(KINDS).flatMap((kind) =>
  SHAPES.flatMap((shape) => TYPES.map((dtype) => ({ kind, shape, dtype })))
);

/** Computes a result, plainly or by a graph. */
type Run = <T>(program: (x: Tensor) => T, x: Tensor) => T;

const largest = (x: Tensor): number => x.numel() === 0 ? 0 : Number(x.abs().max());

const identities = (x: Tensor, side: number): Tensor =>
  eye(side, null, { dtype: x.dtype }).expand([...x.shape.slice(0, -2), side, side]);

/** Properties that a decomposition does not have. */
class Findings {
  readonly wrong: string[] = [];

  constructor(readonly dtype: Floating) {}

  /** Compares up to 40 roundings of numbers of that size. */
  near(what: string, found: Tensor, expected: Tensor, size = 1): void {
    if (`${found.shape}` !== `${expected.shape}`) {
      this.wrong.push(`${what}: [${found.shape}], not [${expected.shape}]`);
      return;
    }
    const distance = largest(found.sub(expected));
    // NaN is far from everything
    if (!(distance <= 40 * EPSILON[this.dtype] * size)) this.wrong.push(`${what}: off by ${distance}`);
  }

  holds(what: string, condition: Tensor): void {
    if (!condition.all().item()) this.wrong.push(what);
  }

  unitary(what: string, columns: Tensor): void {
    this.near(what, columns.mH.matmul(columns), identities(columns, columns.shape.at(-1) ?? 0));
  }

  /** No value is less than the one before. */
  ascending(what: string, values: Tensor): void {
    const count = values.shape.at(-1) ?? 0;
    if (count > 1) this.holds(what, values.narrow(-1, 1, count - 1).ge(values.narrow(-1, 0, count - 1)));
  }
}

const scaledColumns = (x: Tensor, values: Tensor): Tensor => x.mul(values.to(x.dtype).unsqueeze(-2));

function checkRectangular(A: Tensor, run: Run, found: Findings): void {
  const [rows = 0, columns = 0] = A.shape.slice(-2), count = Math.min(rows, columns);
  const size = largest(A) * Math.max(rows, columns);
  for (const full of [true, false]) {
    const [U, S, Vh] = run((x) => linalg.svd(x, full), A);
    const thin = scaledColumns(U.narrow(-1, 0, count), S).matmul(Vh.narrow(-2, 0, count));
    found.near("U · S · Vh", thin, A, size);
    found.unitary("U", U);
    found.unitary("V", Vh.mH);
    found.ascending("order of singular values", S.neg());
    found.holds("signs of singular values", S.ge(0));
  }
  for (const mode of ["reduced", "complete"] as const) {
    const [Q, R] = run((x) => linalg.qr(x, mode), A);
    found.near("Q · R", Q.matmul(R), A, size);
    found.unitary("Q", Q);
    found.holds("R", R.tril(-1).eq(0));
  }
  const [P, L, U] = run((x) => linalg.lu(x), A);
  found.near("P · L · U", P.matmul(L).matmul(U), A, size);
  found.holds("L", L.triu(1).eq(0));
  found.holds("U of lu", U.tril(-1).eq(0));
  if (rows < columns) return;
  const [isometry, H] = run((x) => linalg.polar(x), A);
  found.near("U · H", isometry.matmul(H), A, size);
  found.unitary("the first polar factor", isometry);
  found.near("the second polar factor", H, H.mH, size);
}

function checkSquare(A: Tensor, run: Run, found: Findings): void {
  const H = A.add(A.mH).div(2), size = largest(A) * (A.shape.at(-1) ?? 0);
  const [values, vectors] = run((x) => linalg.eigh(x), H);
  found.near("H · V", H.matmul(vectors), scaledColumns(vectors, values), size);
  found.unitary("eigenvectors of eigh", vectors);
  found.ascending("order of eigenvalues", values);
  const [l, V] = run((x) => linalg.eig(x), A);
  found.near("A · V", A.to(V.dtype).matmul(V), scaledColumns(V, l), size);
  const lengths = V.abs().square().sum(-2);
  found.near("lengths of eigenvectors", lengths, lengths.mul(0).add(1));
}

const RUNS: Readonly<Record<string, { readonly count: number; readonly run: Run }>> = {
  "uncompiled": { count: 40, run: (program, x) => program(x) },
  "in graphs": {
    count: 3,
    run: (program, x) => compile(program, { fullgraph: true, options: { tier: "wasm" } })(x),
  },
};

for (const [where, { count, run }] of Object.entries(RUNS)) {
  Deno.test(`decompositions of any matrices have their defining properties: ${where}`, () => {
    const wrong = sampleBySeed(CASES, count, where.length).flatMap(({ kind, shape, dtype }) => {
      manualSeed(testSeed());
      const A = KINDS[kind]?.(shape, dtype) ?? random(shape, dtype), found = new Findings(dtype);
      checkRectangular(A, run, found);
      if (shape.at(-1) === shape.at(-2)) checkSquare(A, run, found);
      return found.wrong.map((each) => `${kind}, ${dtype} [${shape}]: ${each}`);
    });
    assertEquals(wrong, []);
  });
}
