/**
 * Printed functions as live functions.
 *
 * Input: a printed function and its free variables. Output: a function value.
 * Invariant: the text is evaluated in the global scope and reaches nothing but what it is given.
 */
import type { CodeObject } from "./code.ts";
import { freeName } from "./print_names.ts";
import type { LiveCellLike, PrintedFunction } from "./print_types.ts";
import { type Cell, type PrivateLike, runtime } from "./runtime.ts";

/** A free variable as printed code takes it: by its form a value, a cell, a live cell, or access to a private name. */
export type FreeValue = unknown | Cell | LiveCellLike | PrivateLike;

/** Any function. */
export type AnyFunction = (...args: readonly unknown[]) => unknown;

/** The text of a program whose completion is the printed function; it reads `$free`, `$rt`, `$callee` and `$home`. */
function factoryText(code: CodeObject, printed: PrintedFunction): string {
  const lines = printed.strict ? ['"use strict";'] : [];
  for (const index of printed.free.keys()) lines.push(`const ${freeName(code, index)} = $free[${index}];`);
  lines.push(`return (${printed.source});`);
  return lines.join("\n");
}

/** Makes the function. `free` is indexed as `code.free`. */
export function instantiate(
  code: CodeObject,
  printed: PrintedFunction,
  given: { readonly free: readonly FreeValue[]; readonly callee?: unknown; readonly home?: unknown },
): AnyFunction {
  const factory = new Function("$free", "$rt", "$callee", "$home", factoryText(code, printed));
  return factory(given.free, runtime, given.callee, given.home);
}
