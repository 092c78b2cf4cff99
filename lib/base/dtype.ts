/**
 * Element types: their sizes, categories and promotion. Invariant: promotion follows PyTorch's lattice (bool <
 * integers < floats < complex numbers; a higher category wins whatever the width, except that complex numbers get
 * parts as wide as the float operand).
 */

import { refuseChoice, refuseSurplus } from "./checked_input.ts";
import { DynError, InternalError } from "./errors.ts";

/** Types that exist only in memory: they are computed with as float32 or int32. */
export type SmallType = "float16" | "bfloat16" | "int16" | "int8" | "uint8";

/** Types of elements in computations. */
export type ValueType = "float32" | "float64" | "int64" | "int32" | "bool";

/** Pairs of floats: the real part, then the imaginary one. */
export type ComplexType = "complex64" | "complex128";

/** Types of real numbers, as loops use them. Complex elements are pairs of them there. */
export type RealType = ValueType | SmallType;

/** The element type of a tensor. */
export type DType = RealType | ComplexType;

/** The floating types. */
export type FloatType = "float32" | "float64" | "float16" | "bfloat16";

/** Promotion category, in ascending order. */
export type DTypeCategory = "bool" | "integer" | "float" | "complex";

interface DTypeInfo {
  readonly bytes: number;
  readonly category: DTypeCategory;
  /** The type of its elements as values; null for pairs. */
  readonly value: ValueType | null;
}

const INFO: Readonly<Record<DType, DTypeInfo>> = {
  float32: { bytes: 4, category: "float", value: "float32" },
  float64: { bytes: 8, category: "float", value: "float64" },
  float16: { bytes: 2, category: "float", value: "float32" },
  bfloat16: { bytes: 2, category: "float", value: "float32" },
  int64: { bytes: 8, category: "integer", value: "int64" },
  int32: { bytes: 4, category: "integer", value: "int32" },
  int16: { bytes: 2, category: "integer", value: "int32" },
  int8: { bytes: 1, category: "integer", value: "int32" },
  uint8: { bytes: 1, category: "integer", value: "int32" },
  bool: { bytes: 1, category: "bool", value: "bool" },
  complex64: { bytes: 8, category: "complex", value: null },
  complex128: { bytes: 16, category: "complex", value: null },
};

/** All types of real numbers, in no particular order. */
export const REAL_DTYPES: readonly RealType[] = [
  "float32",
  "float64",
  "float16",
  "bfloat16",
  "int64",
  "int32",
  "int16",
  "int8",
  "uint8",
  "bool",
];

/** All element types, in no particular order. */
export const DTYPES: readonly DType[] = [...REAL_DTYPES, "complex64", "complex128"];

const LIMITS: Readonly<Record<RealType, readonly [number | bigint | boolean, number | bigint | boolean]>> = {
  float32: [-Infinity, Infinity],
  float64: [-Infinity, Infinity],
  float16: [-Infinity, Infinity],
  bfloat16: [-Infinity, Infinity],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int8: [-(2 ** 7), 2 ** 7 - 1],
  uint8: [0, 255],
  bool: [false, true],
};

/** The least value of a type: the neutral element of max. */
export function lowest(dtype: DType): number | bigint | boolean {
  return LIMITS[realOnly(dtype)][0];
}

/** The greatest value of a type: the neutral element of min. */
export function highest(dtype: DType): number | bigint | boolean {
  return LIMITS[realOnly(dtype)][1];
}

/** Returns whether a number is an integer that int64 holds: numbers beyond are floats. */
export function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

/** The least and the greatest number that may become an element of an integer type. */
export function heldBounds(dtype: DType): readonly [number, number] {
  return [dtype === "uint8" ? -255 : Number(lowest(dtype)), Number(highest(dtype))];
}

/**
 * Returns whether a number can be an element of a type: integer types hold those between their limits, without a
 * fraction. Negative ones of unsigned types are counted from the end, as in PyTorch.
 */
export function holds(dtype: DType, value: number | bigint | boolean): boolean {
  if (typeof value === "boolean" || categoryOf(dtype) !== "integer") return true;
  const [low, high] = heldBounds(dtype);
  if (typeof value === "bigint") return BigInt.asIntN(64, value) === value && value >= low && value <= high;
  // Converted to a number, the greatest int64 is too large by one
  const whole = Math.trunc(value);
  return whole >= low && whole <= high && whole < 2 ** 63;
}

/** Bytes of one element. */
export function itemSize(dtype: DType): number {
  return INFO[dtype].bytes;
}

/** The promotion category of an element type. */
export function categoryOf(dtype: DType): DTypeCategory {
  return INFO[dtype].category;
}

/** Returns the type in which elements of a type are computed. */
export function valueType(dtype: DType): ValueType {
  const { value } = INFO[dtype];
  if (value === null) throw new InternalError(`Expected a type of real numbers but found ${dtype}`);
  return value;
}

/** Returns a type of real numbers unchanged. Throws InternalError for complex types, which must be pairs there. */
export function realOnly(dtype: DType): RealType {
  if (isComplex(dtype)) throw new InternalError(`Expected a type of real numbers but found ${dtype}`);
  return dtype;
}

/** Returns whether elements are pairs of floats. */
export function isComplex(dtype: DType): dtype is ComplexType {
  return INFO[dtype].category === "complex";
}

/** Returns whether elements of a type have gradients: not integers and booleans. */
export function isDifferentiable(dtype: DType): dtype is FloatType | ComplexType {
  return isFloat(dtype) || isComplex(dtype);
}

/** Throws DynError unless tensors of a type can require gradients. */
export function checkGradType(dtype: DType): void {
  if (isDifferentiable(dtype)) return;
  throw new DynError(
    `Expected a floating type for a tensor that requires grad but found ${dtype}; make it with dtype: "float32"`,
  );
}

/** Returns the type of the two parts of complex elements; other types are unchanged. */
export function partType(dtype: DType): RealType {
  if (dtype === "complex64") return "float32";
  return dtype === "complex128" ? "float64" : dtype;
}

/** Returns the complex type whose parts hold elements of a type, like `torch.result_type(x, 1j)`. */
export function complexType(dtype: DType): ComplexType {
  if (isComplex(dtype)) return dtype;
  return (isFloat(dtype) ? dtype : getDefaultDtype()) === "float64" ? "complex128" : "complex64";
}

export function isFloat(dtype: DType): dtype is FloatType {
  return INFO[dtype].category === "float";
}

export function isInteger(dtype: DType): boolean {
  return INFO[dtype].category === "integer";
}

/** Returns whether a type is a 16-bit floating type. */
export function isHalf(dtype: DType): dtype is "float16" | "bfloat16" {
  return dtype === "float16" || dtype === "bfloat16";
}

/** Returns whether a type exists only in memory. */
export function isSmall(dtype: DType): dtype is SmallType {
  return !isComplex(dtype) && dtype !== INFO[dtype].value;
}

/** Returns whether several elements share a 32-bit word. */
export function isNarrow(dtype: DType): boolean {
  return itemSize(dtype) < 4;
}

/** Returns whether a value names an element type. */
export function isDType(value: unknown): value is DType {
  return typeof value === "string" && Object.hasOwn(INFO, value);
}

/** Throws DynError unless a value names an element type; `owner` is what it was passed to. */
export function checkDType(value: unknown, owner: string): asserts value is DType {
  if (isDType(value)) return;
  refuseChoice(`the dtype of ${owner}`, DTYPES, value);
}

/** Categories in the order of promotion. */
export const CATEGORY_RANK: Readonly<Record<DTypeCategory, number>> = {
  bool: 0,
  integer: 1,
  float: 2,
  complex: 3,
};

/** Returns the smallest type that holds both, like `torch.promote_types`. */
export function promoteTypes(a: DType, b: DType): DType {
  if (arguments.length > 2) refuseSurplus("promoteTypes", 2, arguments);
  if (a === b) return a;
  checkDType(a, "promoteTypes");
  checkDType(b, "promoteTypes");
  if (isComplex(a) || isComplex(b)) {
    return a === "complex128" || b === "complex128" || a === "float64" || b === "float64"
      ? "complex128"
      : "complex64";
  }
  const ca = CATEGORY_RANK[categoryOf(a)], cb = CATEGORY_RANK[categoryOf(b)];
  if (ca !== cb) return ca > cb ? a : b;
  // Neither holds the other: one has more digits and the other more range, or only one has a sign
  if (itemSize(a) === itemSize(b)) return isFloat(a) ? "float32" : "int16";
  return itemSize(a) > itemSize(b) ? a : b;
}

/** The typed array that holds one element type in host memory (bool as 0 or 1 in bytes, bfloat16 as its bits). */
export type HostArray =
  | Float32Array
  | Float64Array
  | Float16Array
  | BigInt64Array
  | Int32Array
  | Int16Array
  | Int8Array
  | Uint16Array
  | Uint8Array;

/** Returns the element type of an array, if it is unambiguous. */
export function dtypeOfArray(data: ArrayBufferView): DType | undefined {
  if (data instanceof Float32Array) return "float32";
  if (data instanceof Float64Array) return "float64";
  if (data instanceof BigInt64Array) return "int64";
  if (data instanceof Float16Array) return "float16";
  if (data instanceof Int32Array) return "int32";
  if (data instanceof Int16Array) return "int16";
  if (data instanceof Int8Array) return "int8";
  if (data instanceof Uint8Array) return "uint8";
  return undefined;
}

/** A part of a buffer; default: all of it. */
interface HostPart {
  readonly byteOffset?: number | undefined;
  /** In elements. */
  readonly length?: number;
}

/** Creates a typed array of `dtype` over a buffer or a part of it; complex elements take two entries each. */
export function hostArray(dtype: DType, buffer: ArrayBufferLike, part: HostPart = {}): HostArray {
  const { byteOffset = 0, length } = part;
  switch (dtype) {
    case "float32":
      return new Float32Array(buffer, byteOffset, length);
    case "float64":
      return new Float64Array(buffer, byteOffset, length);
    case "float16":
      return new Float16Array(buffer, byteOffset, length);
    case "bfloat16":
      return new Uint16Array(buffer, byteOffset, length);
    case "int64":
      return new BigInt64Array(buffer, byteOffset, length);
    case "int32":
      return new Int32Array(buffer, byteOffset, length);
    case "int16":
      return new Int16Array(buffer, byteOffset, length);
    case "int8":
      return new Int8Array(buffer, byteOffset, length);
    case "uint8":
    case "bool":
      return new Uint8Array(buffer, byteOffset, length);
    case "complex64":
      return new Float32Array(buffer, byteOffset, length === undefined ? undefined : 2 * length);
    case "complex128":
      return new Float64Array(buffer, byteOffset, length === undefined ? undefined : 2 * length);
    default:
      return dtype satisfies never;
  }
}

let defaultFloat: FloatType = "float32";

/** Returns the floating type of numbers and of new tensors without a given type. */
export function getDefaultDtype(): FloatType {
  if (arguments.length > 0) refuseSurplus("getDefaultDtype", 0, arguments);
  return defaultFloat;
}

/** Sets the program's default floating type, like `torch.set_default_dtype`. Throws for a type that is not floating. */
export function setDefaultDtype(dtype: FloatType): void {
  if (arguments.length > 1) refuseSurplus("setDefaultDtype", 1, arguments);
  if (!isDType(dtype) || !isFloat(dtype)) {
    throw new DynError(`Expected a floating type as the default but found ${String(dtype)}`);
  }
  defaultFloat = dtype;
}

/** The difference between 1 and the next larger number of a float type. */
export const EPSILON: Partial<Readonly<Record<DType, number>>> = {
  float64: 2 ** -52,
  float32: 2 ** -23,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
};
