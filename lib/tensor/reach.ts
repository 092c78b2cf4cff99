/**
 * Checks that views stay within their storage. Only explicit strides can leave it: other views show elements of their
 * operand. Invariant: no view reaches the memory of other tensors.
 */
import { itemSize } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import type { ViewPlace } from "./plan.ts";
import type { Storage } from "./storage.ts";

/** Throws DynError if a view would address elements beyond the storage. */
export function checkReach({ layout, offset }: ViewPlace, storage: Storage): void {
  const { shape, strides, dtype, numel, extent } = layout, has = storage.extent;
  if (has === undefined || numel === 0 || (offset + extent) * itemSize(dtype) <= has) return;
  throw new DynError(
    `Expected a view within a storage of ${has / itemSize(dtype)} elements but found sizes [${
      shape.join(", ")
    }] with strides [${strides.join(", ")}] from element ${offset}, which need ${offset + extent}`,
  );
}
