/** Arguments of the lists of what modules hold: `namedParameters` and its like. */
import { type Trailing, trailing } from "../base/arguments.ts";

/** Options of a list of members. */
export interface NameOptions {
  /** The beginning of each name, before a dot; default: none. */
  readonly prefix?: string | undefined;
  /** Whether what submodules hold is listed too; default true. */
  readonly recurse?: boolean | undefined;
  /** Whether what has several names is listed under the first alone; default true. */
  readonly removeDuplicate?: boolean | undefined;
}

const ORDER = ["prefix", "recurse", "removeDuplicate"] as const;

/** All options. */
export type Names = { readonly [K in keyof NameOptions]-?: NonNullable<NameOptions[K]> };

/** The arguments by position, or from one on by name. */
export type NameArguments = Trailing<NameOptions, ["prefix", "recurse", "removeDuplicate"]>;

const ALL: Names = { prefix: "", recurse: true, removeDuplicate: true };

/** The arguments of `owner` by name. Throws DynError for unknown ones. */
export function nameOptions(owner: string, given: readonly unknown[]): Names {
  if (given.length === 0) return ALL;
  const { prefix = "", recurse = true, removeDuplicate = true } = trailing<NameOptions>(owner, ORDER, given);
  return { prefix, recurse, removeDuplicate };
}
