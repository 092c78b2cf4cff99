/**
 * One number for the metadata of all tensors that somebody relies on without looking at each of them again. Input:
 * those tensors, and changes of tensors; output: a version. Invariant: while the version stays, storage, layout, place
 * in the storage, whether gradients are wanted, history and hooks of every such tensor are what they were.
 */

const reliedOn = new WeakSet<object>();

/** Goes up whenever a tensor that is relied on changes. */
export const metadata: { version: number } = { version: 0 };

/** Counts the changes of a tensor from now on. */
export function relyOnMetadata(tensor: object): void {
  reliedOn.add(tensor);
}

/** Call where anything but the elements and the gradient of an existing tensor changes. */
export function metadataChanges(tensor: object): void {
  if (reliedOn.has(tensor)) metadata.version++;
}
