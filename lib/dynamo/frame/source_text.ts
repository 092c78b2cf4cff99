/**
 * Texts of functions: as V8 loaded them, and as the program may see them.
 *
 * Invariant: the replaced `Function.prototype.toString` returns for every function what it would return if its module
 * had not been rewritten, and for itself what it always returned.
 */
import { adoptBuiltin } from "../../base/original_builtins.ts";
import { apply } from "../../base/own_builtins.ts";
import { markFunction } from "../functions/marks.ts";

const native = Function.prototype.toString;

/** The text that V8 has loaded. */
export function loadedText(fn: object): string {
  return apply(native, fn, []);
}

/** Returns whether a value is a function without a text: one of the runtime, a bound one, or a proxy of any. */
export function isNative(value: unknown): value is object {
  return typeof value === "function" && /\{\s*\[native code\]\s*\}$/.test(loadedText(value));
}

/** Makes the program see texts as changed by `clean`. */
export function showClean(clean: (text: string) => string): void {
  // Methods cannot be constructed, as builtins cannot.
  const { toString } = {
    toString(this: unknown): string {
      return this === toString ? apply(native, native, []) : clean(apply(native, this, []));
    },
  };
  // The tracer treats it as a builtin: it runs outside of graphs.
  markFunction(toString, { kind: "builtin" });
  Object.defineProperty(Function.prototype, "toString", {
    value: toString,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  adoptBuiltin(Function.prototype, "toString");
}
