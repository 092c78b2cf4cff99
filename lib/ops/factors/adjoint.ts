/**
 * Adjoints: how rules for real matrices hold for complex ones as well. Invariant: for real matrices these are the plain
 * transposes, without further ops.
 */
import { isComplex } from "../../base/dtype.ts";
import type { OpApi } from "../generated.ts";
import type { TensorLike } from "../tensor_like.ts";

/** The conjugate transposes of matrices. */
export function adjoint<T extends TensorLike>(o: OpApi<T>, A: T): T {
  return isComplex(A.dtype) ? o.conj(o.mT(A)) : o.mT(A);
}

/** The Hermitian matrices of which lower triangles are given; imaginary parts of the diagonal do not count. */
export function hermitianOf<T extends TensorLike>(o: OpApi<T>, A: T): T {
  const strict = o.tril(A, -1);
  if (!isComplex(A.dtype)) return o.add(o.tril(A), o.mT(strict));
  return o.add(o.add(strict, adjoint(o, strict)), o.diagEmbed(o.real(o.diagonal(A, 0, -2, -1))));
}
