/**
 * Operands of pointwise ops: their promoted type, and loads of single elements. Invariant: promotion is PyTorch's:
 * tensors with dimensions outrank 0-d tensors, which outrank numbers, within one category.
 */
import {
  categoryOf,
  complexType,
  type DType,
  getDefaultDtype,
  heldBounds,
  holds,
  isComplex,
  isDifferentiable,
  isFloat,
  isWhole,
  promoteTypes,
} from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";
import { isLess } from "../sym/decide.ts";
import { type Dim, Sym } from "../sym/expr.ts";
import type { Body, Operand } from "../loops/body.ts";
import type { ScalarOps } from "../loops/scalar.ts";
import type { Scalar } from "./params.ts";
import type { TensorLike } from "./definition.ts";
import { broadcastIndex } from "./shapes.ts";

/** Returns whether an operand is a tensor rather than a number. */
export function isTensor<T extends { readonly shape: readonly Dim[] }>(
  value: T | Scalar | Dim | null | undefined | readonly unknown[] | string,
): value is T {
  return typeof value === "object" && value !== null && !(value instanceof Sym) && !Array.isArray(value);
}

/** Returns whether a value is a number that a tensor can hold as an element. */
export function isScalar(value: unknown): value is Scalar | Dim {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean" ||
    value instanceof Sym;
}

/** Throws DynError for a number that a type cannot hold. */
export function checkHeld(value: unknown, dtype: DType): void {
  if (value instanceof Sym) {
    if (categoryOf(dtype) !== "integer") return;
    const [low, high] = heldBounds(dtype);
    if (!isLess(value, low) && !isLess(high, value)) return;
  } else if ((typeof value !== "number" && typeof value !== "bigint") || holds(dtype, value)) return;
  throw new DynError(`Expected a number that ${dtype} holds but found ${value}`);
}

/** Throws DynError unless the tensors of an op have one type. */
export function checkSameType(op: string, ...tensors: readonly { readonly dtype: DType }[]): void {
  const types = new Set(tensors.map((each) => each.dtype));
  if (types.size === 1) return;
  const hint = types.has("int64") ? '; tensor([2.0]) is int64 without dtype: "float32"' : "";
  throw new DynError(`Expected tensors of one dtype for ${op} but found ${[...types].join(" and ")}${hint}`);
}

/** The type of a number in promotion. */
export function typeOfNumber(value: Scalar | Dim): DType {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" && !isWhole(value)) return getDefaultDtype();
  return "int64";
}

/** The type of tensors and numbers together, as `torch.result_type`. */
export function resultTypeOf(
  operands: readonly (Pick<TensorLike, "shape" | "dtype"> | Scalar | Dim)[],
): DType {
  let dims: DType | undefined, zeroDims: DType | undefined, numbers: DType | undefined;
  const join = (a: DType | undefined, b: DType): DType => a === undefined ? b : promoteTypes(a, b);
  for (const operand of operands) {
    if (!isTensor(operand)) numbers = join(numbers, typeOfNumber(operand));
    else if (operand.shape.length > 0) dims = join(dims, operand.dtype);
    else zeroDims = join(zeroDims, operand.dtype);
  }
  return combine(dims, combine(zeroDims, numbers)) ?? getDefaultDtype();
}

/** The higher-ranking type decides unless the lower one is of a higher category. */
function combine(higher: DType | undefined, lower: DType | undefined): DType | undefined {
  if (higher === undefined || lower === undefined) return higher ?? lower;
  if (isComplex(higher)) return higher;
  if (isFloat(higher)) return isComplex(lower) ? complexType(higher) : higher;
  if (higher === "bool" || isDifferentiable(lower)) return promoteTypes(higher, lower);
  return higher;
}

/** `dtype` if it is floating, else the default type: the rule of `sin`, `div`, `mean`. */
export function floatTypeOf(dtype: DType): DType {
  return isFloat(dtype) ? dtype : getDefaultDtype();
}

/** A number as a value of type `dtype`. */
export function numberValue<V>(o: Body<V>, value: Scalar | Dim, dtype: DType): V {
  if (value instanceof Sym) {
    return isFloat(dtype) ? o.cast(o.index(value, "int64"), dtype) : o.index(value, dtype);
  }
  if (categoryOf(dtype) === "integer" && typeof value === "number") {
    return o.constant(Math.trunc(value), dtype);
  }
  return o.constant(value, dtype);
}

/** An element of a broadcast tensor, or a number, as a value of type `dtype`. */
export function elementOf<V>(
  o: Body<V>,
  operand: Operand | Scalar | Dim,
  at: { readonly index: readonly Dim[]; readonly dtype: DType },
): V {
  if (!isTensor(operand)) return numberValue(o, operand, at.dtype);
  return castTo(o, o.load(operand, broadcastIndex(operand.shape, at.index)), at.dtype);
}

/** A value converted to `dtype`, unless it has that type already. */
export function castTo<V>(o: ScalarOps<V>, value: V, dtype: DType): V {
  return o.dtypeOf(value) === dtype ? value : o.cast(value, dtype);
}
