/**
 * Settings for precision and determinism, like `torch.set_float32_matmul_precision` and
 * `use_deterministic_algorithms`. Invariant: matrix products of float32 are computed in float32, whatever the settings;
 * only convolutions of compiled functions may be less exact.
 */
import { type RequiredFlag, requiredFlagOf } from "./arguments.ts";
import { checkOneOf, optionsOf, refuseSurplus } from "./checked_input.ts";
import { config } from "./config.ts";

/** The precision of float32 products. */
export type MatmulPrecision = "highest" | "high" | "medium";

const PRECISIONS: readonly MatmulPrecision[] = ["highest", "high", "medium"];

let asked: MatmulPrecision = "highest";

/**
 * Allows products of float32 to be less exact. "high" and "medium" let compiled convolutions use the faster algorithms,
 * as `config.inductor.convolutionPrecision = "high"` does; matrix products and functions that are already compiled do
 * not change. Throws DynError for another name.
 */
export function setFloat32MatmulPrecision(precision: MatmulPrecision): void {
  if (arguments.length > 1) refuseSurplus("setFloat32MatmulPrecision", 1, arguments);
  checkOneOf("the precision of float32 products", precision, PRECISIONS);
  asked = precision;
  config.inductor.convolutionPrecision = precision === "highest" ? "highest" : "high";
}

/** Returns the requested precision of float32 products; default "highest". */
export function getFloat32MatmulPrecision(): MatmulPrecision {
  if (arguments.length > 0) refuseSurplus("getFloat32MatmulPrecision", 0, arguments);
  return asked;
}

let isDeterministic = false;

/**
 * Makes results deterministic from now on: compiled graphs wait for the C++ compiler, and products and convolutions of
 * eager tensors do not change from WebAssembly to native code, which rounds them in another order.
 */
export function useDeterministicAlgorithms(
  mode: RequiredFlag<"mode">,
  options: { readonly warnOnly?: boolean } = {},
): void {
  if (arguments.length > 2) refuseSurplus("useDeterministicAlgorithms", 2, arguments);
  optionsOf("useDeterministicAlgorithms", options, ["warnOnly"]);
  isDeterministic = requiredFlagOf("useDeterministicAlgorithms", "mode", mode);
}

/** Returns whether deterministic results were requested. */
export function areDeterministicAlgorithmsEnabled(): boolean {
  if (arguments.length > 0) refuseSurplus("areDeterministicAlgorithmsEnabled", 0, arguments);
  return isDeterministic;
}
