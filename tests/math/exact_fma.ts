/**
 * a·b + c rounded once, for both float types (float32 numbers are passed as doubles). Invariant: exact even if the
 * product or the result overflows or is subnormal.
 */

const view = new DataView(new ArrayBuffer(8));

/**
 * For float32: the product is exact in float64; the sum is rounded to odd there, which leaves float32 the right choice
 * (Boldo and Melquiond, "Emulation of a FMA and Correctly-Rounded Sums", 2008).
 */
export function fmaSingle(a: number, b: number, c: number): number {
  const product = a * b, sum = product + c;
  if (!Number.isFinite(sum)) return Math.fround(sum);
  const ofC = sum - product, lost = (product - (sum - ofC)) + (c - ofC);
  if (lost === 0) return Math.fround(sum);
  view.setFloat64(0, sum);
  const bits = view.getBigInt64(0);
  if ((bits & 1n) === 0n) view.setBigInt64(0, bits + ((lost > 0) === (sum > 0) ? 1n : -1n));
  return Math.fround(view.getFloat64(0));
}

/** For float64: in integers. */
export function fmaDouble(a: number, b: number, c: number): number {
  const product = a * b;
  if (!Number.isFinite(a) || !Number.isFinite(b) || a === 0 || b === 0) return product + c;
  // The product may overflow where the sum with an infinity does not
  if (!Number.isFinite(c)) return c;
  const [x, xExponent] = parts(a), [y, yExponent] = parts(b), [z, zExponent] = parts(c);
  const exponent = xExponent + yExponent;
  if (z === 0n) return rounded(x * y, exponent);
  const least = Math.min(exponent, zExponent);
  const sum = (x * y << BigInt(exponent - least)) + (z << BigInt(zExponent - least));
  return sum === 0n ? 0 : rounded(sum, least);
}

/** x = mantissa·2^exponent. */
function parts(x: number): readonly [bigint, number] {
  view.setFloat64(0, x);
  const bits = view.getBigUint64(0), field = Number(bits >> 52n & 0x7ffn), fraction = bits & (1n << 52n) - 1n;
  const mantissa = field === 0 ? fraction : fraction | 1n << 52n;
  return [x < 0 ? -mantissa : mantissa, Math.max(field, 1) - 1075];
}

/** The float64 nearest to mantissa·2^exponent, half to even. */
function rounded(mantissa: bigint, exponent: number): number {
  const negative = mantissa < 0n, size = negative ? -mantissa : mantissa;
  const length = size.toString(2).length;
  const cut = Math.max(length - 53, -1074 - exponent);
  if (cut <= 0) return scaled(Number(mantissa), exponent);
  const by = BigInt(cut), kept = size >> by, rest = size - (kept << by), half = 1n << by - 1n;
  const up = rest > half || (rest === half && (kept & 1n) === 1n);
  const result = scaled(Number(up ? kept + 1n : kept), exponent + cut);
  return negative ? -result : result;
}

/** x·2^exponent where that is exact or overflows; in steps, as the power alone may not be a number. */
function scaled(x: number, exponent: number): number {
  let result = x, rest = exponent;
  for (; rest > 1000; rest -= 1000) result *= 2 ** 1000;
  for (; rest < -1000; rest += 1000) result *= 2 ** -1000;
  return result * 2 ** rest;
}
