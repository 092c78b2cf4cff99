/**
 * Types of safetensors files that tensors do not support: 8-bit floats and unsigned integers. Each is read as the
 * narrowest type that holds all its values. Invariant: values stay exact, or reading fails.
 */
import type { HostArray, RealType } from "../base/dtype.ts";
import { DynError } from "../base/errors.ts";

/** A type of the format and the one that its elements are read as. */
export interface WiderType {
  /** The type that holds them. */
  readonly dtype: RealType;
  /** Bytes of an element in the file. */
  readonly size: number;
  /** Reads the elements into memory of their own. Throws DynError for one that the type does not hold. */
  readonly read: (memory: ArrayBuffer) => HostArray;
}

/** Decodes an 8-bit float with `mantissa` bits of fraction. */
function smallFloat(bits: number, mantissa: number, bias: number): number {
  const exponent = (bits & 0x7f) >> mantissa,
    rest = bits & ((1 << mantissa) - 1),
    sign = bits & 0x80 ? -1 : 1;
  const whole = exponent === 0 ? rest : rest + (1 << mantissa);
  return sign * whole * 2 ** (Math.max(exponent, 1) - bias - mantissa);
}

function floats(valueOf: (bits: number) => number): WiderType {
  return {
    dtype: "float32",
    size: 1,
    read(memory) {
      const values = Array.from({ length: 256 }, (_, bits) => valueOf(bits));
      return Float32Array.from(new Uint8Array(memory), (bits) => values[bits] ?? 0);
    },
  };
}

function signed(value: bigint): bigint {
  if (value < 2n ** 63n) return value;
  throw new DynError(`Expected integers below 2^63, which int64 holds, but found ${value}`);
}

/** The types by their names in files. */
export const WIDER_TYPES: ReadonlyMap<string, WiderType> = new Map<string, WiderType>([
  // No infinities, and one NaN of each sign
  ["F8_E4M3", floats((bits) => (bits & 0x7f) === 0x7f ? NaN : smallFloat(bits, 3, 7))],
  [
    "F8_E5M2",
    floats((bits) => {
      const value = smallFloat(bits, 2, 15), beyond = Math.abs(value) - 2 ** 16;
      return beyond < 0 ? value : beyond > 0 ? NaN : value * Infinity;
    }),
  ],
  // Powers of two, the scales of blocks
  ["F8_E8M0", floats((bits) => bits === 0xff ? NaN : 2 ** (bits - 127))],
  ["U16", { dtype: "int32", size: 2, read: (memory) => Int32Array.from(new Uint16Array(memory)) }],
  ["U32", {
    dtype: "int64",
    size: 4,
    read: (memory) => BigInt64Array.from(new Uint32Array(memory), BigInt),
  }],
  ["U64", {
    dtype: "int64",
    size: 8,
    read: (memory) => BigInt64Array.from(new BigUint64Array(memory), signed),
  }],
]);
