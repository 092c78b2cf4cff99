/**
 * Forward-mode differentiation, like `torch.autograd.forward_ad`. Invariant: a tangent is valid only while the level
 * lasts at which it was set.
 */
import { DynError } from "../base/errors.ts";
import { scoped } from "../base/scoped.ts";
import { modes, type Tensor } from "../tensor/tensor.ts";
import { ForwardMode } from "./forward/mode.ts";

/** A tensor taken apart, as a pair too. */
export type UnpackedDualTensor = readonly [primal: Tensor, tangent: Tensor | null] & {
  /** The tensor without its tangent. */
  readonly primal: Tensor;
  /** Its tangent; null: zeros. */
  readonly tangent: Tensor | null;
};

let current: ForwardMode | null = null;

/**
 * Runs a body in which tensors may have tangents, as `torch.autograd.forward_ad.dual_level`. Throws DynError inside of
 * another such body; `func.jvp` nests.
 */
export function dualLevel<R>(body: () => R): R {
  if (current !== null) throw new DynError("Nested forward mode AD is not supported at the moment");
  const level = current = new ForwardMode();
  return scoped(() => level.during(body), () => current = null);
}

/**
 * A view of a tensor that has a tangent of the same shape, as `torch.autograd.forward_ad.make_dual`. Throws DynError
 * outside of a level, for a tensor that has a tangent, and for types and shapes that do not fit.
 */
export function makeDual(tensor: Tensor, tangent: Tensor): Tensor {
  if (current === null) {
    throw new DynError(
      "Expected makeDual inside of dualLevel but found no level: run it in dualLevel(() => …)",
    );
  }
  if (modes.top !== current && modes.top?.opByOp) {
    throw new DynError(
      "Expected makeDual directly in dualLevel but found it in a transform; use func.jvp there",
    );
  }
  return current.dual(tensor, tangent);
}

/** The parts of a tensor, as `torch.autograd.forward_ad.unpack_dual`; without a level the tensor alone. */
export function unpackDual(tensor: Tensor): UnpackedDualTensor {
  const tangent = current?.tangentOf(tensor) ?? null;
  const primal = current && tangent ? current.primal(tensor) : tensor;
  return Object.assign([primal, tangent] as const, { primal, tangent });
}
