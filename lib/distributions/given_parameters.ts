/** Parameters of distributions, by position or by name, as their constructors receive them. */
import { type Arguments, argumentsOf, genericArguments, type Signature } from "../base/arguments.ts";
import { DynError } from "../base/errors.ts";
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

/** The flag of all distributions. */
const VALIDATION = { validateArgs: true } as const;

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
    { required, positional: [...places as [], "validateArgs"], flags: VALIDATION },
    given,
  );
  const values = { ...Object.fromEntries(optional), ...found };
  const tensors = broadcastAll(...[...required, ...places].map((name) => values[name] as Parameter));
  return { tensors: tensors as { [K in keyof N]: Tensor }, validateArgs: found.validateArgs };
}

/** Required arguments `R` with the names `N` in order, then the validation, by position or by name. */
export type ValidatedArguments<R, N extends readonly (keyof R & string)[]> = Arguments<
  R,
  Validation,
  { readonly required: N; readonly positional: readonly ["validateArgs"] }
>;

/** Returns the arguments `names` of `owner`, and the validation. Throws DynError for others, and for missing ones. */
export function validatedArguments<R extends object>(
  owner: string,
  names: readonly (keyof R & string)[],
  given: readonly unknown[],
): R & Validation {
  return genericArguments<R, Validation>(owner, {
    required: names,
    positional: ["validateArgs"],
    flags: VALIDATION,
  }, given);
}

/** One parameter of type `V`, in exactly one of its forms `F`; null counts as absent. */
export type OneForm<F extends string, V> = { readonly [K in F]?: V | null | undefined };

/** The arguments of a call, with the one form that is given of a parameter that has several. */
type WithForm<A, F extends string, V> = A & { readonly form: F; readonly value: V };

/**
 * Returns the arguments of `owner`, and the one of `forms` that is given. Throws DynError for unknown names, and if
 * none of the forms or several are given.
 */
export function formOf<R extends object, O extends object, const F extends keyof O & string>(
  owner: string,
  { forms, ...signature }: Signature<R, O> & { readonly forms: readonly F[] },
  given: readonly unknown[],
): WithForm<R & Partial<O>, F, NonNullable<O[F]>> {
  const found = genericArguments<R, O>(owner, { ...signature, flags: VALIDATION }, given),
    options: Partial<O> = found;
  const present = forms.flatMap((form) => {
    const value = options[form] ?? null;
    return value === null ? [] : [{ form, value }];
  });
  const [one, other] = present;
  if (one && !other) return { ...found, ...one };
  const names = present.map(({ form }) => form).join(" and ");
  throw new DynError(
    `Expected either ${forms.slice(0, -1).join(", ")} or ${forms.at(-1)} of ${owner} but found ${
      names || "nothing"
    }`,
  );
}
