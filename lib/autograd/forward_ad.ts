/**
 * Forward-mode differentiation, like `torch.autograd.forward_ad`. Invariant: a tangent is valid only as long as the
 * level at which it was set.
 */
import { refuseSurplus } from "../base/checked_input.ts";
import { DynError } from "../base/errors.ts";
import { scoped } from "../base/scoped.ts";
import { modes, type Tensor } from "../tensor/tensor.ts";
import { ForwardMode } from "./forward/mode.ts";

/** The parts of a tensor, also as a pair. */
export type UnpackedDualTensor = readonly [primal: Tensor, tangent: Tensor | null] & {
  /** The tensor without its tangent. */
  readonly primal: Tensor;
  /** Its tangent; null: zeros. */
  readonly tangent: Tensor | null;
};

let current: ForwardMode | null = null;

/**
 * Runs a body in which tensors may have tangents, like `torch.autograd.forward_ad.dual_level`. Throws DynError inside
 * another such body; `func.jvp` nests.
 */
export function dualLevel<R>(body: () => R): R {
  if (arguments.length > 1) refuseSurplus("dualLevel", 1, arguments);
  if (current !== null) throw new DynError("Nested forward mode AD is not supported at the moment");
  const level = current = new ForwardMode();
  return scoped(() => level.during(body), () => current = null);
}

/**
 * Returns a view of a tensor with a tangent of the same shape, like `torch.autograd.forward_ad.make_dual`. Throws
 * DynError outside of a level, for a tensor that has a tangent, and for incompatible types and shapes.
 */
export function makeDual(tensor: Tensor, tangent: Tensor): Tensor {
  if (arguments.length > 2) refuseSurplus("makeDual", 2, arguments);
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

/** Returns the parts of a tensor, like `torch.autograd.forward_ad.unpack_dual`; without a level the tensor alone. */
export function unpackDual(tensor: Tensor): UnpackedDualTensor {
  if (arguments.length > 1) refuseSurplus("unpackDual", 1, arguments);
  const tangent = current?.tangentOf(tensor) ?? null;
  const primal = current && tangent ? current.primal(tensor) : tensor;
  return Object.assign([primal, tangent] as const, { primal, tangent });
}
