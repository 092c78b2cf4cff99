/**
 * Turns printed functions into live functions.
 *
 * Invariant: the text is evaluated in the global scope and can access only its parameters.
 */
import type { CodeObject } from "./code.ts";
import { evaluatePlaced } from "./placed_code.ts";
import { freeName } from "./print_names.ts";
import type { LiveCellLike, PrintedFunction } from "./print_types.ts";
import { type Cell, type PrivateLike, runtime } from "./runtime.ts";

/** A free variable as passed to printed code: by its form a value, a cell, a live cell, or access to a private name. */
type FreeValue = unknown | Cell | LiveCellLike | PrivateLike;

/** Any function. */
export type AnyFunction = (...args: readonly unknown[]) => unknown;

/** Creates the function. `free` is indexed as `code.free`. */
export function instantiate(
  code: CodeObject,
  printed: PrintedFunction,
  given: { readonly free: readonly FreeValue[]; readonly callee?: unknown; readonly home?: unknown },
): AnyFunction {
  const used = [...printed.free.keys()];
  const parameters = ["$rt", "$callee", "$home", ...used.map((index) => freeName(code, index))];
  const make = evaluatePlaced(code, { ...printed, parameters });
  const made = make(runtime, given.callee, given.home, ...used.map((index) => given.free[index]));
  if (!isFunction(made)) throw new TypeError("Expected a function");
  return made;
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}
