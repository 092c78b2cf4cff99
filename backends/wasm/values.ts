/**
 * Values in lanes: groups of four elements. Invariants: elements of 32 bits take one vector, elements of 64 bits two,
 * low pair first; a bool is a mask of all ones or zeros. If all lanes of a value are equal, or only lane 0 is used,
 * both its vectors are the same local, so that it is computed once.
 */
import { itemSize, type ValueType } from "../../lib/base/dtype.ts";

/** The locals of a value's vectors. */
export type Parts = readonly number[];

/** A value. */
export interface LaneValue {
  /** Type of its lanes; an int64 value that fits may be int32 here (types.ts). */
  readonly type: ValueType;
  readonly parts: Parts;
  /** Whether all lanes are equal. */
  readonly equal: boolean;
  /** For a bool that was computed by comparing 64-bit lanes: the same as masks of that width. */
  readonly masks?: Parts;
  /** For a bool from an ordered comparison of floats: what was compared. */
  readonly order?: { readonly op: "lt" | "gt"; readonly operands: readonly [LaneValue, LaneValue] };
  /** The value, if it is constant. */
  readonly constant?: number | bigint | boolean;
}

/** Returns whether elements of a type have 64-bit lanes. */
export function isWide(type: ValueType): type is "float64" | "int64" {
  return itemSize(type) === 8;
}

/** Returns the number of vectors that hold four elements. */
export const vectorsOf = (type: ValueType): number => isWide(type) ? 2 : 1;

/** The local of a vector of a value; the only one if there is just one. */
export function partOf({ parts }: LaneValue, part: number): number {
  return parts[part] ?? parts[0] ?? -1;
}

/** Returns whether two values are the same locals. */
export const isSame = (a: LaneValue, b: LaneValue): boolean =>
  a.parts.length === b.parts.length && a.parts.every((local, part) => local === b.parts[part]);

/** Returns whether all bits of a value are known to be 0. */
export const isZero = ({ constant, type }: LaneValue): boolean =>
  constant !== undefined && constantBits(constant, type).every((word) => word === 0);

const view = new DataView(new ArrayBuffer(8));

/** The bits of a constant in a lane: low word, high word. Narrow lanes have the same word in both places. */
export function constantBits(value: number | bigint | boolean, dtype: ValueType): readonly [number, number] {
  switch (dtype) {
    case "float32":
      view.setFloat32(0, Number(value), true);
      view.setFloat32(4, Number(value), true);
      break;
    case "float64":
      view.setFloat64(0, Number(value), true);
      break;
    case "int64":
      view.setBigInt64(0, BigInt.asIntN(64, BigInt(value)), true);
      break;
    case "int32":
      view.setInt32(0, Number(value), true);
      view.setInt32(4, Number(value), true);
      break;
    case "bool":
      view.setBigInt64(0, value ? -1n : 0n, true);
      break;
    default:
      dtype satisfies never;
  }
  return [view.getInt32(0, true), view.getInt32(4, true)];
}
