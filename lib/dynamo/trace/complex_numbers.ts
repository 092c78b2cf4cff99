/**
 * Converts complex numbers of the program, `{ re, im }`, to operands of ops. Invariant: parts are constants of the
 * program, like other numbers that do not affect the trace; values that the graph computes become complex numbers
 * only through `complex`.
 */
import type { Complex } from "../../base/complex.ts";
import { complexType, type DType, getDefaultDtype, isComplex, isDType } from "../../base/dtype.ts";
import { resultTypeOf } from "../../ops/promotion.ts";
import type { CallTarget } from "../../ops/table.ts";
import { numberTensor } from "../../tensor/complex_numbers.ts";
import { breakGraph } from "../break_reasons.ts";
import { specializeNumber } from "../variables/numbers.ts";
import { constant, type TensorValue, type Value } from "../variables/value.ts";
import { heldTensor } from "./held_tensor.ts";
import type { CallOp, Interpreter } from "./interpreter.ts";
import { enumerableKeys, isPlain, optionsIn } from "./object_keys.ts";

/** A traced complex number; null for other values. */
export function complexNumberOf(m: Interpreter, value: Value): Complex | null {
  if (value.kind !== "object" || value.exotic.kind !== "plain") return null;
  const keys = enumerableKeys(m, value);
  if (keys.length !== 2 || !keys.includes("re") || !keys.includes("im") || !isPlain(m, value)) return null;
  const part = (key: "re" | "im"): number => {
    const found = m.plainProperty(value, key);
    if (found?.kind === "number") return Number(specializeNumber(m.output, found).value);
    if (found?.kind === "constant" && typeof found.value === "number") return found.value;
    return breakGraph("tensorItem", "a part of a complex number that is not a constant");
  };
  return { re: part("re"), im: part("im") };
}

/** Calls an op that has complex numbers among its arguments; null if it has none. */
export function callWithComplexNumbers(
  m: Interpreter,
  target: CallTarget,
  args: readonly Value[],
  call: CallOp,
): Value | null {
  const numbers = args.map((value) => complexNumberOf(m, value));
  if (numbers.every((number) => number === null)) return null;
  const tensors = args.flatMap(tensorsIn), [like] = tensors;
  const device = like?.meta.device ?? "cpu";
  const made = (number: Complex, dtype: DType): TensorValue =>
    heldTensor(m, numberTensor(number, { dtype: complexType(dtype), device }));
  const fills = Object.values(target.definition.params).findIndex(({ complex }) => complex);
  const number = numbers[fills];
  if (number) {
    const asked = askedType(m, args[fills + 1]), known = asked ?? like?.meta.dtype ?? getDefaultDtype();
    if (asked && !isComplex(asked)) return breakGraph("tensorMethod", `a complex number as ${asked}`);
    const named = args[fills + 1], left = named?.kind === "object" ? optionsIn(m, named) : {};
    const options = m.options({ ...left, dtype: constant(complexType(known)) });
    const ones = call(target, [...args.slice(0, fills), constant(1), options]);
    return call({ definition: m.opNamed("mul").definition, inplace: false }, [ones, made(number, known)]);
  }
  const common = tensors.length === 0 ? getDefaultDtype() : resultTypeOf(tensors.map(({ meta }) => meta));
  return call(target, args.map((value, k) => numbers[k] ? made(numbers[k], common) : value));
}

const tensorsIn = (value: Value): TensorValue[] => value.kind === "tensor" ? [value] : [];

function askedType(m: Interpreter, options: Value | undefined): DType | null {
  const found = options?.kind === "object" ? m.plainProperty(options, "dtype") : null;
  return found?.kind === "constant" && isDType(found.value) ? found.value : null;
}
