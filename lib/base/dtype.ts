/**
 * Element types: their sizes, categories and promotion. Input: names as users write them; output: facts and
 * promoted types. Invariant: promotion follows PyTorch's lattice (bool < integers < floats; a category above
 * wins whatever the width).
 */

import { DynError } from "./errors.ts";

/** The element type of a tensor. */
export type DType = "float32" | "float64" | "int64" | "int32" | "uint8" | "bool";

/** Promotion category, in ascending order. */
export type DTypeCategory = "bool" | "integer" | "float";

interface DTypeInfo {
  readonly bytes: number;
  readonly category: DTypeCategory;
}

const INFO: Readonly<Record<DType, DTypeInfo>> = {
  float32: { bytes: 4, category: "float" },
  float64: { bytes: 8, category: "float" },
  int64: { bytes: 8, category: "integer" },
  int32: { bytes: 4, category: "integer" },
  uint8: { bytes: 1, category: "integer" },
  bool: { bytes: 1, category: "bool" },
};

/** All element types, in no particular order. */
export const DTYPES: readonly DType[] = ["float32", "float64", "int64", "int32", "uint8", "bool"];

/** Bytes of one element. */
export function itemSize(dtype: DType): number {
  return INFO[dtype].bytes;
}

/** The promotion category of an element type. */
export function categoryOf(dtype: DType): DTypeCategory {
  return INFO[dtype].category;
}

export function isFloat(dtype: DType): boolean {
  return INFO[dtype].category === "float";
}

export function isInteger(dtype: DType): boolean {
  return INFO[dtype].category === "integer";
}

/** Whether a value names an element type. */
export function isDType(value: unknown): value is DType {
  return typeof value === "string" && Object.hasOwn(INFO, value);
}

/** The smallest type that holds both, as `torch.promote_types`. */
export function promoteTypes(a: DType, b: DType): DType {
  if (a === b) return a;
  const rank: Record<DTypeCategory, number> = { bool: 0, integer: 1, float: 2 };
  const ca = rank[categoryOf(a)], cb = rank[categoryOf(b)];
  if (ca !== cb) return ca > cb ? a : b;
  return itemSize(a) >= itemSize(b) ? a : b;
}

/** The typed array that holds one element type in host memory (bool as 0 or 1 in bytes). */
export type HostArray = Float32Array | Float64Array | BigInt64Array | Int32Array | Uint8Array;

/** A part of a buffer; all of it unless told otherwise. */
export interface HostPart {
  readonly byteOffset?: number | undefined;
  /** In elements. */
  readonly length?: number;
}

/** A typed array of `dtype` over a buffer or a part of it. */
export function hostArray(dtype: DType, buffer: ArrayBufferLike, part: HostPart = {}): HostArray {
  const { byteOffset = 0, length } = part;
  switch (dtype) {
    case "float32":
      return new Float32Array(buffer, byteOffset, length);
    case "float64":
      return new Float64Array(buffer, byteOffset, length);
    case "int64":
      return new BigInt64Array(buffer, byteOffset, length);
    case "int32":
      return new Int32Array(buffer, byteOffset, length);
    case "uint8":
    case "bool":
      return new Uint8Array(buffer, byteOffset, length);
    default:
      return dtype satisfies never;
  }
}

let defaultFloat: "float32" | "float64" = "float32";

/** The floating type of numbers and of new tensors whose type is not given. */
export function getDefaultDtype(): "float32" | "float64" {
  return defaultFloat;
}

/** Changes it for the whole program, as `torch.set_default_dtype`. Throws where it is no floating type. */
export function setDefaultDtype(dtype: "float32" | "float64"): void {
  if (!isDType(dtype) || !isFloat(dtype)) {
    throw new DynError(`Expected a floating type as the default but found ${String(dtype)}`);
  }
  defaultFloat = dtype;
}
