/**
 * Makes the console show dyn's objects by their `toString()`, as PyTorch prints them, instead of their fields.
 * Invariant: lines after the first are indented like the enclosing value.
 */

/** The console's options that are read. */
interface Surroundings {
  readonly indentationLvl?: number;
}

/**
 * Makes the console, and `Deno.inspect`, show an object, or all objects of a prototype, as their text; `textOf`: where that
 * is not their `toString()`.
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

/** A value as the console shows it, on one line. */
export function oneLine(value: unknown): string {
  return Deno.inspect(value, { breakLength: Infinity, compact: true });
}
