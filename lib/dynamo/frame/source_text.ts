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

/** The end of the text of a function that has none; a function with a text would be a syntax error with this end. */
const NO_TEXT = "[native code] }";

/**
 * Returns whether a value is a function without a text: one of the runtime, a bound one, or a proxy of any. Checks of
 * calls ask this, so it calls no builtins, which the program may have replaced.
 */
export function isNative(value: unknown): value is object {
  if (typeof value !== "function") return false;
  const text = loadedText(value), from = text.length - NO_TEXT.length;
  for (let at = 0; at < NO_TEXT.length; at++) if (text[from + at] !== NO_TEXT[at]) return false;
  return true;
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
