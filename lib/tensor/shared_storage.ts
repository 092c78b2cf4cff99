/** Tensors over one storage. Input: values; output: whether memory is shared. Invariant: a look costs one visit each. */
import { isTensor } from "./tensor.ts";

/** Looks for shared memory so far. */
let looks = 0;

/** Whether two of the values are tensors over one storage: one look at each, however many there are. */
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
