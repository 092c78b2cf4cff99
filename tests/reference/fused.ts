/**
 * a·b + c rounded once, computed exactly in integers of any length. Invariant: the result is that of IEEE 754's
 * fusedMultiplyAdd in the type, subnormal numbers included.
 */

const FORMATS = {
  float32: { digits: 24, least: -149 },
  float64: { digits: 53, least: -1074 },
} as const;

const view = new DataView(new ArrayBuffer(8));

/** a·b + c of finite or other numbers of the type. */
export function fma([a, b, c]: readonly [number, number, number], type: keyof typeof FORMATS): number {
  const product = a * b;
  if (!Number.isFinite(a) || !Number.isFinite(b) || !Number.isFinite(c)) return nonFinite(a, b, c);
  if (product === 0 && (a === 0 || b === 0)) return product + c;
  const [x, y, z] = [unpack(a), unpack(b), unpack(c)];
  const exponent = Math.min(x.exponent + y.exponent, z.exponent);
  const sum = ((x.whole * y.whole) << BigInt(x.exponent + y.exponent - exponent)) +
    (z.whole << BigInt(z.exponent - exponent));
  if (sum === 0n) return 0;
  return rounded(sum, exponent, FORMATS[type]);
}

/** With an infinity or NaN: the product is infinite only if a factor is. */
function nonFinite(a: number, b: number, c: number): number {
  return Number.isFinite(a) && Number.isFinite(b) ? c : a * b + c;
}

/** x = whole · 2^exponent */
function unpack(x: number): { readonly whole: bigint; readonly exponent: number } {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0),
    fraction = bits & (2n ** 52n - 1n),
    biased = Number((bits >> 52n) & 2047n);
  const whole = biased === 0 ? fraction : fraction | 2n ** 52n;
  return { whole: bits >> 63n ? -whole : whole, exponent: Math.max(biased, 1) - 1075 };
}

/** A number that is not 0, rounded half to even. */
function rounded(
  sum: bigint,
  exponent: number,
  { digits, least }: { readonly digits: number; readonly least: number },
): number {
  const size = sum < 0n ? -sum : sum, length = size.toString(2).length;
  const drop = Math.max(length - digits, least - exponent, 0), by = BigInt(drop);
  let kept = size >> by;
  const rest = size - (kept << by), half = drop === 0 ? 1n : 1n << (by - 1n);
  if (drop > 0 && (rest > half || (rest === half && (kept & 1n) === 1n))) kept++;
  const scale = exponent + drop;
  // In two steps, since 2^scale alone may be beyond the range
  const value = scale > 900 ? Number(kept) * 2 ** 900 * 2 ** (scale - 900) : Number(kept) * 2 ** scale;
  return sum < 0n ? -value : value;
}
