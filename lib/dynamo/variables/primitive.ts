/** Primitive values as data and as text. */

/** Primitive values. */
export type Primitive = undefined | null | boolean | number | string | bigint | symbol;

/** A primitive as source text if it has one; symbols by their description. */
export function primitiveText(value: Primitive): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  return Object.is(value, -0) ? "-0" : String(value);
}
