/** Error texts for names that are not element types. Invariant: for PyTorch's name of a type they suggest dyn's. */
import { refuseValue } from "./checked_input.ts";
import { type DType, DTYPES } from "./dtype.ts";

/** PyTorch's other names, and those that JavaScript programmers may expect. */
const OTHERS: Readonly<Record<string, DType>> = {
  float: "float32",
  double: "float64",
  half: "float16",
  long: "int64",
  int: "int32",
  short: "int16",
  char: "int8",
  byte: "uint8",
  boolean: "bool",
  cfloat: "complex64",
  cdouble: "complex128",
};

/** Throws DynError: `what` is not an element type; for PyTorch's name of one it suggests dyn's. */
export function refuseDType(what: string, found: unknown): never {
  const name = typeof found === "string" ? found.replace(/^torch\./, "") : "";
  const other = DTYPES.find((dtype) => dtype === name) ??
    (Object.hasOwn(OTHERS, name) ? OTHERS[name] : undefined);
  const hint = other === undefined ? "" : `; dyn's name for it is "${other}"`;
  refuseValue(`${what} to be one of ${DTYPES.join(", ")}`, found, hint);
}

/** Returns whether a name looks like that of a type rather than of a device. */
export function looksLikeDType(name: string): boolean {
  return Object.hasOwn(OTHERS, name) ||
    /^(torch\.|u?int|b?float|complex|cfloat|cdouble|bool|quint|qint)/.test(name);
}
