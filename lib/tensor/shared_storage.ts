/** Detects tensors that share a storage. Invariant: it visits each value once. */
import { isTensor } from "./tensor.ts";

/** Number of searches so far. */
let looks = 0;

/** Returns whether two of the values are tensors over one storage, in one pass. */
export function anyShareStorage(values: readonly unknown[]): boolean {
  const look = ++looks;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!isTensor(value)) continue;
    if (value.storage.met === look) return true;
    value.storage.met = look;
  }
  return false;
}
