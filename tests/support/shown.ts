/** The results of programs as data that can be compared. */
import { isTensor } from "../../mod.ts";

/** A value with its tensors as their types, shapes and elements. */
export function shown(value: unknown): unknown {
  if (isTensor(value)) return [value.dtype, value.shape, value.tolist()];
  return Array.isArray(value) ? value.map(shown) : value;
}
