/**
 * A version number for the metadata of registered tensors, which lets callers skip checking each of them again.
 * Invariant: while the version is unchanged, so are storage, layout, offset, requiresGrad, history and hooks of every
 * registered tensor.
 */

import { ownWeakSet } from "../base/collections.ts";

const reliedOn = ownWeakSet<object>();

/** Incremented whenever a registered tensor changes. */
export const metadata: { version: number } = { version: 0 };

/** Registers a tensor, whose changes are counted from now on. */
export function relyOnMetadata(tensor: object): void {
  reliedOn.add(tensor);
}

/** Must be called when anything but the elements and the gradient of an existing tensor changes. */
export function metadataChanges(tensor: object): void {
  if (reliedOn.has(tensor)) metadata.version++;
}
