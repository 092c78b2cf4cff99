/** Records of tables.json (see make_tables.py), and the distance of results from them. */
import type { Definition } from "../../lib/loops/math/table.ts";

/** Types that tables have. */
export type FloatType = "float32" | "float64";

const view = new DataView(new ArrayBuffer(8));

/** Places of a type: digits of the hexadecimal text, bits of a mantissa, exponent of the least number. */
export const LAYOUT = {
  float32: { text: 8, digits: 24, least: -149 },
  float64: { text: 16, digits: 53, least: -1074 },
} as const;

/** The float with the bits of a hexadecimal text. */
export function fromHex(text: string, dtype: FloatType): number {
  if (dtype === "float32") {
    view.setUint32(0, parseInt(text, 16));
    return view.getFloat32(0);
  }
  view.setBigUint64(0, BigInt(`0x${text}`));
  return view.getFloat64(0);
}

/** 2^e of the last place of a finite number. */
export function unitOf(x: number, dtype: FloatType): number {
  const { digits, least } = LAYOUT[dtype];
  view.setFloat64(0, Math.abs(x));
  const exponent = Number(view.getBigUint64(0) >> 52n) - 1022;
  return 2 ** Math.max(exponent - digits, least);
}

/** One record. */
export interface Sample {
  readonly args: readonly number[];
  /** The value rounded to nearest, and how many units in the last place it lies above that. */
  readonly nearest: number;
  readonly above: number;
}

/** The records of a table (see make_tables.py). */
export function samplesOf(
  text: string,
  { arity, dtype }: { readonly arity: number; readonly dtype: FloatType },
): Sample[] {
  const size = LAYOUT[dtype].text, length = size * (arity + 1) + 2;
  const samples: Sample[] = [];
  for (let at = 0; at < text.length; at += length) {
    const floats = Array.from(
      { length: arity + 1 },
      (_, k) => fromHex(text.slice(at + k * size, at + (k + 1) * size), dtype),
    );
    const above = (parseInt(text.slice(at + length - 2, at + length), 16) - 128) / 254;
    samples.push({ args: floats.slice(0, -1), nearest: floats.at(-1) ?? NaN, above });
  }
  return samples;
}

/** Units in the last place between a result and the exact value; ∞ where one is special and the other is not it. */
export function error(result: number, { args, nearest, above }: Sample, { dtype, atLeast }: {
  readonly dtype: FloatType;
  readonly atLeast: Definition["atLeast"];
}): number {
  if (Object.is(result, nearest) && above === 0) return 0;
  if (!Number.isFinite(nearest) || !Number.isFinite(result)) return Object.is(result, nearest) ? 0 : Infinity;
  if (result === 0 && nearest === 0 && !Object.is(result, nearest)) return Infinity;
  const [argument = 0] = args, unit = unitOf(nearest, dtype);
  const floor = atLeast === undefined ? 0 : atLeast === "one" ? 1 : argument < 0 ? Math.max(1, -argument) : 0;
  return Math.abs((result - nearest) / unit - above) * Math.min(1, unit / unitOf(floor, dtype));
}
