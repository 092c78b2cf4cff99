/**
 * Splits tensors and numbers into real and imaginary parts, and builds complex tensors from them. Invariant: a real
 * operand gets no imaginary part if that would not change the result.
 */
import { type ComplexType, complexType, isComplex, partType } from "../../base/dtype.ts";
import type { Dim } from "../../sym/expr.ts";
import type { TensorLike } from "../definition.ts";
import type { OpApi } from "../generated.ts";
import type { Scalar } from "../params.ts";
import { isTensor, resultTypeOf } from "../promotion.ts";

/** A tensor or a real number. */
export type OperandOf<T> = T | Scalar | Dim;

/** A complex value by its parts. */
export interface Parts<T> {
  readonly re: T;
  readonly im: T;
}

/** The parts of a complex tensor, as views. */
export function partsOf<T extends TensorLike>(o: OpApi<T>, z: T): Parts<T> {
  const pairs = o.viewAsReal(z);
  return { re: o.select(pairs, -1, 0), im: o.select(pairs, -1, 1) };
}

/** The complex tensor of two real ones of one shape and type. */
export function joined<T extends TensorLike>(o: OpApi<T>, { re, im }: Parts<T>): T {
  return o.viewAsComplex(o.stack([re, im], -1));
}

/** The complex tensor over pairs, which are copied if they are not adjacent. */
export function overPairs<T extends TensorLike>(o: OpApi<T>, pairs: T): T {
  return o.viewAsComplex(o.contiguous(pairs));
}

/** The complex type of a result of these operands. */
export function complexResult(operands: readonly OperandOf<TensorLike>[]): ComplexType {
  return complexType(resultTypeOf(operands));
}

/** An operand as a tensor of a complex type, of its own shape. Numbers become tensors on the device of `like`. */
export function asComplex<T extends TensorLike>(
  o: OpApi<T>,
  operand: OperandOf<T>,
  { dtype, like }: { readonly dtype: ComplexType; readonly like: TensorLike },
): T {
  const part = partType(dtype);
  if (!isTensor(operand)) {
    const re = o.full([], operand, { dtype: part, device: like.device });
    return joined(o, { re, im: o.zerosLike(re) });
  }
  if (operand.dtype === dtype) return operand;
  if (isComplex(operand.dtype)) return o.viewAsComplex(o.to(o.viewAsReal(operand), part));
  const re = o.to(operand, part);
  return joined(o, { re, im: o.zerosLike(re) });
}

/** A real operand as a factor of pairs: converted to the type of parts, with an additional last dimension. */
export function factorOfPairs<T extends TensorLike>(
  o: OpApi<T>,
  factor: OperandOf<T>,
  dtype: ComplexType,
): OperandOf<T> {
  return isTensor(factor) ? o.unsqueeze(o.to(factor, partType(dtype)), -1) : factor;
}

/** Returns whether an operand is a complex tensor. */
export function isComplexTensor<T extends TensorLike>(value: OperandOf<T> | null): value is T {
  return value !== null && isTensor(value) && isComplex(value.dtype);
}
