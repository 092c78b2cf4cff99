/** Arguments of the methods that list members of modules, such as `namedParameters`. */
import { type Trailing, trailing } from "../base/arguments.ts";

/** Options of listing members. */
export interface NameOptions {
  /** A prefix of each name, before a dot; default: none. */
  readonly prefix?: string | undefined;
  /** Whether to list members of submodules too; default true. */
  readonly recurse?: boolean | undefined;
  /** Whether to list shared members once, under the first name; default true. */
  readonly removeDuplicate?: boolean | undefined;
}

const ORDER = ["prefix", "recurse", "removeDuplicate"] as const;

/** All options. */
export type Names = { readonly [K in keyof NameOptions]-?: NonNullable<NameOptions[K]> };

/** The arguments, by position or by name. */
export type NameArguments = Trailing<NameOptions, ["prefix", "recurse", "removeDuplicate"]>;

const ALL: Names = { prefix: "", recurse: true, removeDuplicate: true };

/** The arguments of `owner` by name. Throws DynError for unknown ones. */
export function nameOptions(owner: string, given: readonly unknown[]): Names {
  if (given.length === 0) return ALL;
  const { prefix = "", recurse = true, removeDuplicate = true } = trailing<NameOptions>(owner, {
    positional: ORDER,
    flags: { recurse: true, removeDuplicate: true },
  }, given);
  return { prefix, recurse, removeDuplicate };
}
