/**
 * Limits of element types, and conversions between them, like `torch.finfo`, `torch.iinfo` and `torch.can_cast`.
 * Invariant: numbers are exact.
 */
import { refuseSurplus } from "./checked_input.ts";
import {
  CATEGORY_RANK,
  categoryOf,
  checkDType,
  type DType,
  EPSILON,
  getDefaultDtype,
  highest,
  isFloat,
  isInteger,
  itemSize,
  lowest,
} from "./dtype.ts";
import { DynError } from "./errors.ts";

/** Properties of a floating type. */
export interface FloatInfo {
  /** The type. */
  readonly dtype: DType;
  /** Bits of one element. */
  readonly bits: number;
  /** The difference between 1 and the next larger number. */
  readonly eps: number;
  /** The largest finite number. */
  readonly max: number;
  /** The lowest finite number. */
  readonly min: number;
  /** The smallest positive normal number. */
  readonly tiny: number;
  /** The same. */
  readonly smallestNormal: number;
  /** Decimal digits that are preserved. */
  readonly resolution: number;
}

/** Properties of an integer type; limits of int64 are bigints. */
export interface IntegerInfo {
  /** The type. */
  readonly dtype: DType;
  /** Bits of one element. */
  readonly bits: number;
  /** The largest number. */
  readonly max: number | bigint;
  /** The lowest number. */
  readonly min: number | bigint;
}

/** The largest exponent of each floating type. */
const EXPONENTS: Partial<Readonly<Record<DType, number>>> = {
  float64: 1023,
  float32: 127,
  float16: 15,
  bfloat16: 127,
};

/** Returns the limits of a floating type, by default of the default one. Throws DynError for another type. */
export function finfo(dtype: DType = getDefaultDtype()): FloatInfo {
  if (arguments.length > 1) refuseSurplus("finfo", 1, arguments);
  checkDType(dtype, "finfo");
  const eps = EPSILON[dtype], exponent = EXPONENTS[dtype];
  if (!isFloat(dtype) || eps === undefined || exponent === undefined) {
    throw new DynError(`Expected a floating type for finfo but found ${dtype}; see iinfo`);
  }
  const max = (2 - eps) * 2 ** exponent, tiny = 2 ** (1 - exponent);
  const resolution = Number(`1e${Math.ceil(Math.log10(eps))}`);
  return { dtype, bits: 8 * itemSize(dtype), eps, max, min: -max, tiny, smallestNormal: tiny, resolution };
}

/** Returns the limits of an integer type. Throws DynError for another type. */
export function iinfo(dtype: DType): IntegerInfo {
  if (arguments.length > 1) refuseSurplus("iinfo", 1, arguments);
  checkDType(dtype, "iinfo");
  const [min, max] = [lowest(dtype), highest(dtype)];
  if (!isInteger(dtype) || typeof min === "boolean" || typeof max === "boolean") {
    throw new DynError(`Expected an integer type for iinfo but found ${dtype}; see finfo`);
  }
  return { dtype, bits: 8 * itemSize(dtype), max, min };
}

/** Returns whether one type may be cast to another: of its category or a higher one. */
export function canCast(from: DType, to: DType): boolean {
  if (arguments.length > 2) refuseSurplus("canCast", 2, arguments);
  for (const dtype of [from, to]) checkDType(dtype, "canCast");
  return CATEGORY_RANK[categoryOf(from)] <= CATEGORY_RANK[categoryOf(to)];
}
