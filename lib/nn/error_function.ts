/** The error function of one number. Input: a number; output: erf of it, as the operation gives it in float64. */
import { fromTypedArray } from "../tensor/creation.ts";

/** erf(x) */
export function erfOf(x: number): number {
  return Number(fromTypedArray(Float64Array.of(x), [], { device: "cpu" }).erf().item());
}
