/**
 * Arguments of constructors, like those of ops: any by position in PyTorch's order, then the rest by name in one last
 * object. Invariant: an unknown argument is an error, never dropped.
 */
import { checkFlag, checkOptions, refuseOption, refuseTwice } from "./checked_input.ts";
import { DynError } from "./errors.ts";
import { isPlainObject } from "./tree.ts";

/** Any function or method, including ones known only by type parameters. */
export type AnyFunction = (this: never, ...args: never) => unknown;

/** The accepted forms of the arguments `K` of options `O`: each its value, or the options from there on. */
export type Trailing<O, K extends readonly (keyof O)[]> = Partial<
  { [I in keyof K]: O[K[I] & keyof O] | O | undefined }
>;

/** The arguments among `O` that are true or false. */
type FlagName<O> = { [K in keyof O]-?: [O[K]] extends [boolean | null | undefined] ? K : never }[keyof O];

/**
 * The part of a definition of arguments that declares all flags among `O`, so that other values are refused: the text
 * "false" would count as true.
 */
export type WithFlags<O> = [FlagName<O>] extends [never] ? unknown : {
  readonly flags: { readonly [K in FlagName<O>]: true };
};

/** Names of arguments in order, and of those that may only be given by name. */
interface ArgumentNames<O> {
  readonly positional: readonly (keyof O & string)[];
  readonly named?: readonly (keyof O & string)[];
  readonly flags?: object;
}

/** Required arguments, then optional ones, in PyTorch's order. */
export interface Signature<R, O> {
  readonly required: readonly (keyof R & string)[];
  readonly positional: readonly (keyof O & string)[];
  /** Arguments that can be given only by name. */
  readonly named?: readonly (keyof O & string)[];
  /** The ones that are true or false; WithFlags asks for all of them. */
  readonly flags?: object;
}

/** The accepted forms of a signature: `(3, 8, 1)`, `(3, 8, { kernelSize: 1 })`, `({ inChannels: 3, … })`. */
export type Arguments<R, O, S extends Signature<R, O>> = Leading<R, O, S["required"], S["positional"]>;

type Leading<R, O, N extends readonly unknown[], K extends readonly (keyof O)[]> = N extends
  readonly [infer First extends keyof R, ...infer Rest]
  ? [named: Pick<R, N[number] & keyof R> & O] | [value: R[First], ...Leading<R, O, Rest, K>]
  : Trailing<O, K>;

/**
 * Returns the arguments of `owner` by name. Throws DynError for unknown names, duplicate values, too many values,
 * missing required ones, and flags that are not boolean.
 */
export const argumentsOf: <R extends object, O extends object>(
  owner: string,
  signature: Signature<R, O> & WithFlags<R & O>,
  given: readonly unknown[],
) => R & Partial<O> = genericArguments;

/** Like `argumentsOf`, for types of arguments that are parameters, whose flags no type can ask for. */
export function genericArguments<R extends object, O extends object>(
  owner: string,
  { required, positional, named = [], flags = {} }: Signature<R, O>,
  given: readonly unknown[],
): R & Partial<O> {
  const found: Partial<R & O> = collect(owner, { required, optional: positional, named, flags }, given);
  if (isComplete<R, O>(found, required)) return found;
  const missing = required.filter((name) => !Object.hasOwn(found, name));
  throw new DynError(`Expected ${missing.join(" and ")} of ${owner} but found nothing`);
}

function isComplete<R extends object, O extends object>(
  found: Partial<R & O>,
  required: readonly (keyof R)[],
): found is R & Partial<R & O> {
  return required.every((name) => Object.hasOwn(found, name));
}

/**
 * Returns the trailing arguments of `owner` by name. Throws DynError for unknown names, duplicate values, too many
 * values, and flags that are not boolean.
 */
export function trailing<O extends object>(
  owner: string,
  names: (readonly (keyof O & string)[] | ArgumentNames<O>) & WithFlags<O>,
  given: readonly unknown[],
): Partial<O> {
  const { positional, named = [], flags = {} }: ArgumentNames<O> = "positional" in names
    ? names
    : { positional: names };
  return collect(owner, { required: [], optional: positional, named, flags }, given);
}

/** A boolean given by position or, as `N`, by name; by default true. */
export type Flag<N extends string> = boolean | { readonly [K in N]?: boolean | undefined };

/**
 * Returns the value of the flag `name` of `owner`. Throws DynError for other names and for values that are not boolean.
 */
export function flagOf<N extends string>(owner: string, name: N, given: Flag<N>): boolean {
  if (typeof given === "boolean") return given;
  checkOptions(owner, { [name]: ["boolean"] }, given);
  return given[name] ?? true;
}

/** A boolean that must be given, by position or, as `N`, by name. */
export type RequiredFlag<N extends string> = boolean | { readonly [K in N]: boolean };

/** Returns the value of the flag `name` of `owner`. Throws DynError unless a boolean is given. */
export function requiredFlagOf<N extends string>(owner: string, name: N, given: RequiredFlag<N>): boolean {
  if (typeof given === "object" && given !== null) checkOptions(owner, { [name]: ["boolean"] }, given);
  const value: unknown = typeof given === "object" && given !== null ? given[name] : given;
  checkFlag(`${name} of ${owner}`, value);
  return value;
}

/** Names of all arguments of a call. */
interface AllNames {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly named: readonly string[];
  readonly flags: object;
}

function collect<O extends object>(
  owner: string,
  { required, optional, named, flags }: AllNames,
  given: readonly unknown[],
): Partial<O> {
  const positional = [...required, ...optional];
  const known = [...positional, ...named];
  const found: Partial<O> = {};
  const add = (given: string, value: unknown) => {
    // PyTorch's T_max would be TMax by the rule; arguments call it tMax
    const name = known.find((each) => each === given) ??
      known.find((each) => each === `${given.charAt(0).toLowerCase()}${given.slice(1)}`);
    if (name === undefined) refuseOption(owner, known, given);
    if (Object.hasOwn(found, name)) refuseTwice(owner, name);
    // As in PyTorch, None stands for the usual value
    if (Object.hasOwn(flags, name) && (value ?? null) !== null) checkFlag(`${name} of ${owner}`, value);
    if (value !== undefined) Reflect.set(found, name, value);
  };
  given.forEach((value, at) => {
    const name = positional[at];
    if (at === given.length - 1 && isPlainObject(value)) {
      for (const [each, inner] of Object.entries(value)) add(each, inner);
    } else if (name === undefined) {
      throw new DynError(
        `Expected at most ${optional.length} optional arguments of ${owner} but found ${
          given.length - required.length
        }`,
      );
    } else {
      add(name, value);
    }
  });
  return found;
}

/** Expands one number or a list to one number per spatial dimension. Throws DynError for another count. */
export function spread(value: number | readonly number[], rank: number): readonly number[] {
  if (typeof value === "number") return new Array<number>(rank).fill(value);
  if (!Array.isArray(value) || value.length !== rank) {
    throw new DynError(`Expected ${rank} numbers, one per spatial dimension, but found [${value}]`);
  }
  return value;
}

/** Like `spread` if a rank is given; without one (null) a number stays a number. */
export function spreadOver(
  rank: number | null,
  value: number | readonly number[],
): number | readonly number[] {
  return rank === null ? value : spread(value, rank);
}
