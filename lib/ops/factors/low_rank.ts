/**
 * Singular vectors of the largest singular values by products with random vectors (Halko, Martinsson and Tropp 2009),
 * as in torch.svd_lowrank and torch.pca_lowrank. Invariant: compositions of differentiable ops.
 */
import { checkAtLeast } from "../../base/checked_numbers.ts";
import { DynError } from "../../base/errors.ts";
import { contiguousMeta, type TensorMeta } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { nullable, optional, required } from "../params.ts";
import { t } from "../pointwise.ts";
import { knownSize } from "../shapes.ts";
import { composeWideOp } from "../wide.ts";
import { checkMatrices } from "./checks.ts";

/** The number of singular values requested, and of power iterations. */
interface Asked {
  readonly q: number;
  readonly niter: number;
}

const sizesOf = (A: TensorLike): readonly [number, number] => [
  knownSize(A.shape.at(-2) ?? 1),
  knownSize(A.shape.at(-1) ?? 1),
];

function metasOf(name: string, A: TensorMeta, { q, niter }: Asked): readonly TensorMeta[] {
  checkMatrices(name, A);
  checkAtLeast(`q of ${name}`, q, 0);
  checkAtLeast(`niter of ${name}`, niter, 0);
  const [rows, columns] = sizesOf(A), least = Math.min(rows, columns, q), lead = A.shape.slice(0, -2);
  const meta = (...shape: number[]) => contiguousMeta([...lead, ...shape], A.dtype, A.device);
  return [meta(rows, least), meta(least), meta(columns, least)];
}

/** U, S and V of a matrix. */
function factorsOf<T extends TensorLike>(o: OpApi<T>, A: T, { q, niter }: Asked): readonly [T, T, T] {
  const [rows, columns] = sizesOf(A);
  if (rows < columns) {
    const [U, S, V] = factorsOf(o, o.mT(A), { q, niter });
    return [V, S, U];
  }
  const basis = (x: T) => o.qr(x)[0];
  let Q = basis(o.matmul(A, o.randn([columns, q], { dtype: A.dtype, device: A.device })));
  for (let k = 0; k < niter; k++) Q = basis(o.matmul(A, basis(o.matmul(o.mT(A), Q))));
  const [U, S, Vh] = o.linalgSvd(o.matmul(o.mT(Q), A), false);
  return [o.matmul(Q, U), S, o.contiguous(o.mT(Vh))];
}

const svdLowrank = composeWideOp({
  name: "svdLowrank",
  doc:
    "U, S and V with A − M ≈ U · diag(S) · Vᵀ for the q largest singular values, found from random vectors that go " +
    "`niter` times through the matrix and back, as `torch.svd_lowrank`. Computed on the host.",
  params: {
    A: required("tensor"),
    q: optional("int", 6),
    niter: optional("int", 2),
    M: nullable("tensor"),
  },
  results: ["U", "S", "V"],
  exposure: { method: false },
  hostParts: true,
  infer: ({ A, q, niter }) => metasOf("svdLowrank", A, { q, niter }),
  compose: (o, { A, q, niter, M }) => factorsOf(o, M ? o.sub(A, o.broadcastTo(M, A.shape)) : A, { q, niter }),
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }, { args: [t(3, 3), -1], message: "to be at least 0" }],
});

/** The number of components; default: at most six. */
function componentsOf(A: TensorLike, q: number | null): number {
  const least = Math.min(...sizesOf(A));
  if (q !== null && (q < 0 || q > least)) {
    throw new DynError(`Expected a q in [0, ${least}] in pcaLowrank but found ${q}`);
  }
  return q ?? Math.min(6, least);
}

const pcaLowrank = composeWideOp({
  name: "pcaLowrank",
  doc:
    "Principal components of rows: U, S and V with A ≈ U · diag(S) · Vᵀ after, where `center` says so, the means of " +
    "columns were taken away, as `torch.pca_lowrank`. Computed on the host.",
  params: {
    A: required("tensor"),
    q: nullable("int"),
    center: optional("bool", true),
    niter: optional("int", 2),
  },
  results: ["U", "S", "V"],
  exposure: { method: false },
  hostParts: true,
  infer({ A, q, niter }) {
    checkMatrices("pcaLowrank", A);
    return metasOf("pcaLowrank", A, { q: componentsOf(A, q), niter });
  },
  compose: (o, { A, q, center, niter }) =>
    factorsOf(o, center ? o.sub(A, o.mean(A, [-2], true)) : A, { q: componentsOf(A, q), niter }),
  samples: [],
  errors: [{ args: [t(3)], message: "matrices" }, { args: [t(3, 4), 4], message: "a q in [0, 3]" }],
});

export const lowRankOps = { svdLowrank, pcaLowrank } as const;
