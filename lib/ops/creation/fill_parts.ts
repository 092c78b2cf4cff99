/**
 * Definitions shared by ops that overwrite a tensor in place: how such an op is exposed, the metadata of its result,
 * and its gradient.
 */
import { type TensorMeta } from "../../graph/meta.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import { acceptedMeta } from "../pointwise.ts";

/** The op exists only as `name_`. */
export const INPLACE_ONLY = { method: false, free: false } as const;

/** The metadata of a floating tensor filled in place. Throws DynError for other types. */
export function floatFill(name: string, self: TensorMeta): TensorMeta {
  return acceptedMeta(name, self);
}

/** The former elements are overwritten, so no gradient flows to them. */
export const OVERWRITTEN = {
  kind: "rule",
  saves: [],
  rule: <T extends TensorLike>(
    o: OpApi<T>,
    { grads: [grad] }: { readonly grads: readonly (T | null)[] },
  ): { readonly self?: T } => grad ? { self: o.zero(grad) } : {},
} as const;
