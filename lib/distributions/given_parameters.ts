/** Parameters of distributions, by position or by name, as their constructors receive them. */
import { type Arguments, argumentsOf } from "../base/arguments.ts";
import type { Tensor } from "../tensor/tensor.ts";
import type { Validation } from "./checked_parameters.ts";
import { broadcastAll, type Parameter } from "./distribution.ts";

/** Required parameters `N`, then optional ones `M`, then the validation; those in the last object by name. */
export type ParametersOf<N extends readonly string[], M extends readonly string[] = []> = Arguments<
  { readonly [K in N[number]]: Parameter },
  { readonly [K in M[number]]?: Parameter | undefined } & Validation,
  { readonly required: N; readonly positional: readonly [...M, "validateArgs"] }
>;

/** The name of a parameter, and its value by default if it has one. */
type Named = string | readonly [name: string, value: Parameter];

/**
 * Returns the parameters of `owner` in order, broadcast to floating tensors of one shape. Throws DynError for unknown
 * names, and for a parameter that is missing.
 */
export function parametersOf<const N extends readonly Named[]>(
  owner: string,
  names: N,
  given: readonly unknown[],
): Validation & { readonly tensors: { [K in keyof N]: Tensor } } {
  const required = names.filter((each) => typeof each === "string");
  const optional = names.filter((each) => typeof each !== "string"), places = optional.map(([name]) => name);
  const found = argumentsOf<Record<string, Parameter>, Validation>(
    owner,
    { required, positional: [...places as [], "validateArgs"] },
    given,
  );
  const values = { ...Object.fromEntries(optional), ...found };
  const tensors = broadcastAll(...[...required, ...places].map((name) => values[name] as Parameter));
  return { tensors: tensors as { [K in keyof N]: Tensor }, validateArgs: found.validateArgs };
}
