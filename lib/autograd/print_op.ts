/** An op that prints: in a compiled graph it is a node, which prints whenever the graph runs. */
import { DynError } from "../base/errors.ts";
import { refuseValue } from "../base/checked_input.ts";
import { isPlainObject } from "../base/tree.ts";
import { isTensor, type Tensor } from "../tensor/tensor.ts";
import { customOp } from "./custom_op.ts";

/** A value that `print` shows: of a tensor its elements, of one element the element alone. */
export type Printable = Tensor | number | string | boolean;

/** A field of a format, `{}`, `{1}` or `{name}`, or a doubled brace. */
const FIELD = /\{\{|\}\}|\{(\w*)\}/g;

/**
 * Prints a text to the console in which `{name}` stands for a value by name, `{0}` for one by position and `{}` for the
 * next one; `{{` and `}}` are braces. Unlike `console.log` it does not break the graph of a compiled function: the graph
 * prints, in the order of the program, when the values have been computed. As `torch._higher_order_ops.print`. Throws
 * DynError for a field without a value.
 *
 * `print("loss {loss} after {steps} steps", { loss, steps })`
 */
export const print: (
  format: string,
  values?: readonly Printable[] | Readonly<Record<string, Printable>>,
) => void = customOp(
  "dyn::print",
  (format: string, values: readonly Printable[] | Readonly<Record<string, Printable>> = []): void =>
    console.log(formatted(format, values)),
  { isDisplay: true },
);

function formatted(format: unknown, values: unknown): string {
  if (typeof format !== "string") refuseValue("a text to print", format);
  if (!Array.isArray(values) && !isPlainObject(values)) {
    refuseValue("a list or an object of values to print", values);
  }
  const known = new Map(Object.entries(values));
  let next = 0;
  return format.replaceAll(FIELD, (field, name?: string) => {
    if (name === undefined) return field.slice(1);
    const key = name === "" ? String(next++) : name;
    if (known.has(key)) return textOf(known.get(key));
    throw new DynError(
      `Expected a value for {${key}} in ${JSON.stringify(format)} but found [${[...known.keys()]}]`,
    );
  });
}

function textOf(value: unknown): string {
  return isTensor(value) && value.ndim === 0 ? String(value.item()) : String(value);
}
