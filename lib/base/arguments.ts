/**
 * Trailing arguments of constructors, as those of ops: any by position, then the rest by name in one last object.
 * Input: the names in PyTorch's order and what was written; output: values by name. Invariant: what is not
 * understood is an error, never dropped.
 */
import { DynError } from "./errors.ts";
import { isPlainObject } from "./tree.ts";

/** What may be written for the arguments `K` of options `O`: each its value, or the options from there on. */
export type Trailing<O, K extends readonly (keyof O)[]> = Partial<
  { [I in keyof K]: O[K[I] & keyof O] | O | undefined }
>;

/** Names of arguments in order, and of those that may only be given by name. */
export interface ArgumentNames<O> {
  readonly positional: readonly (keyof O & string)[];
  readonly named: readonly (keyof O & string)[];
}

/**
 * The trailing arguments of `owner` by name. Throws DynError for unknown names, for a value given twice and for too
 * many values.
 */
export function trailing<O extends object>(
  owner: string,
  names: readonly (keyof O & string)[] | ArgumentNames<O>,
  given: readonly unknown[],
): Partial<O> {
  const { positional, named } = "positional" in names ? names : { positional: names, named: [] };
  const known = [...positional, ...named];
  const found: Partial<O> = {};
  const add = (name: string, value: unknown) => {
    if (!known.some((each) => each === name)) {
      throw new DynError(`Expected options of ${owner} out of ${known.join(", ")} but found ${name}`);
    }
    if (Object.hasOwn(found, name)) {
      throw new DynError(`Expected one value for ${name} of ${owner} but found two`);
    }
    if (value !== undefined) Reflect.set(found, name, value);
  };
  given.forEach((value, at) => {
    const name = positional[at];
    if (at === given.length - 1 && isPlainObject(value)) {
      for (const [each, inner] of Object.entries(value)) add(each, inner);
    } else if (name === undefined) {
      throw new DynError(
        `Expected at most ${positional.length} optional arguments of ${owner} but found ${given.length}`,
      );
    } else {
      add(name, value);
    }
  });
  return found;
}

/** One number a spatial dimension, from one for all or a list. Throws DynError where their count is another. */
export function spread(value: number | readonly number[], rank: number): readonly number[] {
  if (typeof value === "number") return new Array<number>(rank).fill(value);
  if (value.length !== rank) {
    throw new DynError(`Expected ${rank} numbers, one a spatial dimension, but found [${value}]`);
  }
  return value;
}
