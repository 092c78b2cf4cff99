/**
 * Texts that create typed arrays, DataViews and buffers: views of existing memory, or memory of their own with the numbers
 * that the trace has written there.
 */
import { BYTES_CLASSES, type NumberForm } from "../guards/bytes.ts";
import type { BytesExotic, Value } from "../variables/value.ts";

/** The texts of the parts. */
interface Parts {
  readonly value: (value: Value) => string;
  readonly form: (form: NumberForm) => string;
  readonly helper: (name: "viewFrom" | "copiedElements" | "newElements" | "newBuffer") => string;
}

/** An expression that creates an object that accesses memory. */
export function memoryText(
  { type, memory: { cells, from }, start, size, root }: BytesExotic,
  { value, form, helper }: Parts,
): string {
  const length = size ? value(size) : "undefined", name = JSON.stringify(type);
  if (root) {
    const parts = `{ at: ${start - root.exotic.start}, length: ${length} }`;
    return `${helper("viewFrom")}(${value(root)}, ${name}, ${parts})`;
  }
  if (type === "ArrayBuffer") {
    const written = [...cells].map(([at, { form: own, given }]) =>
      `{ form: ${form(own)}, at: ${at} }, ${value(given)}`
    );
    return `${helper("newBuffer")}(${length}, [${written.join(", ")}])`;
  }
  const { step } = BYTES_CLASSES[type];
  const written = [...cells].map(([at, { given }]) => `${at / step}, ${value(given)}`).join(", ");
  if (!from) return `${helper("newElements")}(${name}, ${length}, [${written}])`;
  const parts = `{ at: ${-from.first}, length: ${length}, written: [${written}] }`;
  return `${helper("copiedElements")}(${value(from.root)}, ${name}, ${parts})`;
}
