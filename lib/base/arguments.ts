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

/**
 * The trailing arguments of `layer` by name. Arguments that may only be given by name are in `more`. Throws
 * DynError for unknown names, for a value given twice and for too many values.
 */
export function trailing<O extends object>(
  layer: string,
  names: readonly (keyof O & string)[],
  given: readonly unknown[],
  more: readonly (keyof O & string)[] = [],
): Partial<O> {
  const found: Partial<O> = {};
  given.forEach((value, at) => {
    if (value === undefined) return;
    if (at === given.length - 1 && isPlainObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        if (![...names, ...more].some((known) => known === name)) {
          throw new DynError(
            `Expected options of ${layer} out of ${[...names, ...more].join(", ")} but found ${name}`,
          );
        }
        if (Object.hasOwn(found, name)) {
          throw new DynError(`Expected one value for ${name} of ${layer} but found two`);
        }
        if (each !== undefined) Reflect.set(found, name, each);
      }
      return;
    }
    const name = names[at];
    if (name === undefined) {
      throw new DynError(
        `Expected at most ${names.length} optional arguments of ${layer} but found ${given.length}`,
      );
    }
    Reflect.set(found, name, value);
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
