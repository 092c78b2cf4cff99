/**
 * Checks of values from untyped programs: functions, and options by name. Errors say what was expected and what was
 * found. Invariant: an unknown option is an error, never ignored.
 */
import { DynError } from "./errors.ts";

/** The type of a value, in `typeof`'s words. */
export type ValueType = "string" | "number" | "boolean" | "function" | "object";

/** Throws DynError unless `value` is a function; `purpose` says what for, as in "to compile". */
export function checkFunction(value: unknown, purpose: string): void {
  if (typeof value !== "function") {
    throw new DynError(`Expected a function ${purpose} but found ${Deno.inspect(value)}`);
  }
}

/**
 * Throws DynError unless `options` is an object with these names alone, each of one of its types or undefined. `owner`
 * is whose options they are.
 */
export function checkOptions(
  owner: string,
  types: Readonly<Record<string, readonly ValueType[]>>,
  options: unknown,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new DynError(`Expected options of ${owner} but found ${Deno.inspect(options)}`);
  }
  for (const [name, value] of Object.entries(options)) {
    const allowed = Object.hasOwn(types, name) ? types[name] : undefined;
    if (!allowed) {
      throw new DynError(
        `Expected an option of ${owner} out of ${Object.keys(types).join(", ")} but found ${name}`,
      );
    }
    if (value === undefined || allowed.some((type) => type === typeof value && !Array.isArray(value))) {
      continue;
    }
    const wanted = allowed.map((type) => type === "object" ? "an object" : `a ${type}`).join(" or ");
    throw new DynError(`Expected ${name} to be ${wanted} but found ${Deno.inspect(value)}`);
  }
}
