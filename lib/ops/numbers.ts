/**
 * Arithmetic on the numbers of a call. In a graph in which a number changes between calls it is a 0-d tensor of float64.
 * Invariant: results have the bits that the language gives, since formulas use only operators that IEEE 754 defines.
 */
import { type DType, valueType } from "../base/dtype.ts";
import { invariant } from "../base/errors.ts";
import type { Body, Operand } from "../loops/body.ts";
import type { ScalarOps } from "../loops/scalar.ts";
import type { DeviceName } from "../loops/device.ts";
import type { Dim } from "../sym/expr.ts";
import type { OpApi } from "./generated.ts";
import { castTo, elementOf, isTensor } from "./promotion.ts";
import type { TensorLike } from "./tensor_like.ts";

/** A number of a call, where tensors are of type T. */
export type NumberOf<T> = number | T;

/** The operators of formulas over values of type X. */
interface Arithmetic<X> {
  constant(value: number): X;
  add(a: X, b: X): X;
  sub(a: X, b: X): X;
  mul(a: X, b: X): X;
  div(a: X, b: X): X;
  neg(a: X): X;
  sqrt(a: X): X;
}

/** A number computed from others. */
export type Formula<N extends readonly unknown[]> = <X>(
  m: Arithmetic<X>,
  ...numbers: { readonly [K in keyof N]: X }
) => X;

const ofLanguage: Arithmetic<number> = {
  constant: (value) => value,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  neg: (a) => -a,
  sqrt: Math.sqrt,
};

/** The operators of an object that has them as methods. */
const operatorsOf = <X>(o: Omit<Arithmetic<X>, "constant">): Omit<Arithmetic<X>, "constant"> => ({
  add: (a, b) => o.add(a, b),
  sub: (a, b) => o.sub(a, b),
  mul: (a, b) => o.mul(a, b),
  div: (a, b) => o.div(a, b),
  neg: (a) => o.neg(a),
  sqrt: (a) => o.sqrt(a),
});

const inKernel = <V>(o: ScalarOps<V>): Arithmetic<V> => ({
  ...operatorsOf(o),
  constant: (value) => o.constant(value, "float64"),
});

const inGraph = <T extends TensorLike>(o: OpApi<T>, { device }: TensorLike): Arithmetic<T> => ({
  ...operatorsOf<T>(o),
  constant: (value) => o.full([], value, { dtype: "float64", device }),
});

const areKnown = (numbers: readonly unknown[]): numbers is readonly number[] =>
  numbers.every((each) => typeof each === "number");

/** Returns what a formula gives for numbers, as a number of compositions and gradients. */
export function numberOf<T extends TensorLike, const N extends readonly NumberOf<T>[]>(
  o: OpApi<T>,
  numbers: N,
  formula: Formula<N>,
): NumberOf<T> {
  if (areKnown(numbers)) return applied(ofLanguage, numbers, formula);
  const like = numbers.find((each) => isTensor(each));
  invariant(like !== undefined && typeof like !== "number", "Expected a number of the graph");
  const m = inGraph(o, like);
  return applied(m, numbers.map((each) => typeof each === "number" ? m.constant(each) : each), formula);
}

/** A size as a number of formulas: a symbolic one is computed by each call, in float64. */
export const sizeAsNumber = <T extends TensorLike>(
  o: OpApi<T>,
  size: Dim,
  device: DeviceName | null,
): NumberOf<T> => typeof size === "number" ? size : o.full([], size, { dtype: "float64", device });

/** The quotient of a number and a size as a number for use beside elements of x, rounded to their type once. */
export function ratioOf<T extends TensorLike>(
  o: OpApi<T>,
  x: T,
  { over, by }: { readonly over: Dim; readonly by: Dim },
): NumberOf<T> {
  if (typeof over === "number" && typeof by === "number") return over / by;
  return o.div(o.full([], over, { dtype: valueType(x.dtype), device: x.device }), by);
}

/** Returns what a formula gives for numbers, as a value of type `dtype` in a kernel. */
export function valueOfNumbers<V, const N extends readonly NumberOf<Operand>[]>(
  o: Body<V>,
  dtype: DType,
  numbers: N,
  formula: Formula<N>,
): V {
  if (areKnown(numbers)) return o.constant(applied(ofLanguage, numbers, formula), dtype);
  const values = numbers.map((each) => elementOf(o, each, { index: [], dtype: "float64" }));
  return castTo(o, applied(inKernel(o), values, formula), valueType(dtype));
}

function applied<X, N extends readonly unknown[]>(
  m: Arithmetic<X>,
  values: readonly X[],
  formula: Formula<N>,
): X {
  return formula(m, ...values as { readonly [K in keyof N]: X });
}

/** A number of a call as a value of x's type. */
export function numberIn<V>(o: Body<V>, x: V, number: NumberOf<Operand>): V {
  const dtype = o.dtypeOf(x);
  return typeof number === "number" ? o.constant(number, dtype) : elementOf(o, number, { index: [], dtype });
}

/** A number as an operand beside x: it does not decide on the type of the result. */
export function beside<T extends TensorLike>(o: OpApi<T>, x: TensorLike, number: NumberOf<T>): NumberOf<T> {
  return typeof number === "number" || x.shape.length > 0 ? number : o.to(number, x.dtype);
}

/** x, or a number where x is below it; such elements, and those that equal it, have no gradient. */
export function atLeastNumber<T extends TensorLike>(o: OpApi<T>, x: T, number: NumberOf<T>): T {
  const bound = beside(o, x, number);
  // A bound that is a tensor would share the gradient of elements that equal it
  return typeof bound === "number"
    ? o.clampMin(x, bound)
    : o.where(o.gt(x, bound), x, o.clampMin(o.detach(x), bound));
}
