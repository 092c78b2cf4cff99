/**
 * Makes the console show dyn's objects by their `toString()`, as PyTorch prints them, instead of their fields.
 * Invariant: lines after the first are indented like the enclosing value.
 */

/** The console options that this module reads. */
interface Surroundings {
  readonly indentationLvl?: number;
}

/**
 * Makes the console, and `Deno.inspect`, show an object, or all objects of a prototype, as their text; `textOf` returns
 * it, by default their `toString()`.
 */
export function showAsText<T extends object>(shown: T, textOf: (value: T) => string = String): void {
  Object.defineProperty(shown, Symbol.for("Deno.customInspect"), {
    configurable: true,
    writable: true,
    value(this: T, _inspect: unknown, { indentationLvl = 0 }: Surroundings = {}): string {
      return textOf(this).replaceAll("\n", `\n${" ".repeat(indentationLvl)}`);
    },
  });
}

/** A name with settings after it: "StepLR(stepSize=2, gamma=0.1)". Functions among them are left out. */
export function withSettings(name: string, settings: object): string {
  const parts = Object.entries(settings).filter(([, value]) => typeof value !== "function");
  return `${name}(${parts.map(([key, value]) => `${key}=${oneLine(value)}`).join(", ")})`;
}

/** Length from which a value on one line is cut. */
const LONGEST_LINE = 200;

/** A value as the console shows it, on one line of limited length. */
export function oneLine(value: unknown): string {
  const text = Deno.inspect(value, { breakLength: Infinity, compact: true }).replace(/\s*\n\s*/g, " ");
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)} …` : text;
}

/** A setting as PyTorch prints it, with the constants of JavaScript: "(3, 3)", "(3,)", "1e-05", "true". */
function setting(value: unknown): string {
  if (Array.isArray(value)) {
    return value.length === 1 ? `(${setting(value[0])},)` : `(${value.map(setting).join(", ")})`;
  }
  if (typeof value !== "number" || value === 0 || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

/** The text between the parentheses of a layer: "4, 6, kernelSize=(3, 3)". Named settings that are undefined are left out. */
export function settings(plain: readonly unknown[], named: Readonly<Record<string, unknown>> = {}): string {
  const parts = Object.entries(named).filter(([, value]) => value !== undefined);
  return [...plain.map(setting), ...parts.map(([name, value]) => `${name}=${setting(value)}`)].join(", ");
}

/** Returns the value if it, or an entry of its list, differs from the default. */
export function unlessDefault(usual: unknown, value: unknown): unknown {
  return (Array.isArray(value) ? value : [value]).every((each) => each === usual) ? undefined : value;
}
