/** The error function of one number, as the op computes it in float64. */
import { fromTypedArray } from "../tensor/creation.ts";

/** erf(x) */
export function erfOf(x: number): number {
  return Number(fromTypedArray(Float64Array.of(x), [], { device: "cpu" }).erf().item());
}
