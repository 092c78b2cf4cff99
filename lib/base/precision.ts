/**
 * What programs ask of numbers before they train, as `torch.set_float32_matmul_precision` and
 * `use_deterministic_algorithms`. Invariant: both are so whatever is asked: products of float32 are computed in float32, and
 * a program gives the same bits each time.
 */
import { DynError } from "./errors.ts";

/** How exact products of float32 have to be. */
export type MatmulPrecision = "highest" | "high" | "medium";

const PRECISIONS: readonly MatmulPrecision[] = ["highest", "high", "medium"];

/** Allows products of float32 to be less exact, of which no use is made. Throws DynError for another name. */
export function setFloat32MatmulPrecision(precision: MatmulPrecision): void {
  if (!PRECISIONS.includes(precision)) {
    throw new DynError(`Expected a precision out of ${PRECISIONS.join(", ")} but found ${precision}`);
  }
}

/** How exact products of float32 are: "highest". */
export function getFloat32MatmulPrecision(): MatmulPrecision {
  return "highest";
}

/** Asks for the same results each time, which is so already; what is not asked for is so, too. */
export function useDeterministicAlgorithms(
  _mode: boolean,
  _options: { readonly warnOnly?: boolean } = {},
): void {}

/** Whether results are the same each time: they are. */
export function areDeterministicAlgorithmsEnabled(): boolean {
  return true;
}
