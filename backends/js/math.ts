/**
 * Functions that generated JavaScript calls by name: those that Math lacks or defines otherwise than C. Input
 * and output: numbers (int64 as bigint). Invariant: results are good to a few units in the last place of double
 * precision, except digamma and lgamma near their zeros, where the absolute error is.
 */

const scratch = new DataView(new ArrayBuffer(8));

/** Half to even, as C's rint. */
export function roundEven(x: number): number {
  if (!(Math.abs(x) < 4503599627370496)) return x;
  const magic = x < 0 || Object.is(x, -0) ? -6755399441055744 : 6755399441055744;
  const rounded = (x + magic) - magic;
  return rounded === 0 ? (magic < 0 ? -0 : 0) : rounded;
}

/** Remainder with the sign of the divisor. */
export function floorMod(a: number, b: number): number {
  const r = a % b;
  return r !== 0 && (r < 0) !== (b < 0) ? r + b : r;
}

export function floorDivBig(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? q - 1n : q;
}

export function floorModBig(a: bigint, b: bigint): bigint {
  const r = a % b;
  return r !== 0n && (r < 0n) !== (b < 0n) ? r + b : r;
}

/** C's pow: 1 to any power and anything to the power 0 is 1, also for NaN. */
export function pow(a: number, b: number): number {
  if (a === 1 || b === 0) return 1;
  if (a === -1 && (b === Infinity || b === -Infinity)) return 1;
  return Math.pow(a, b);
}

/** Integer power modulo 2³²; negative exponents give the truncated quotient. */
export function powInt(a: number, b: number): number {
  if (b < 0) return a === 1 ? 1 : a === -1 ? (b % 2 === 0 ? 1 : -1) : 0;
  let result = 1, base = a | 0, e = b;
  while (e > 0) {
    if (e & 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
    e >>= 1;
  }
  return result;
}

export function powBig(a: bigint, b: bigint): bigint {
  if (b < 0n) return a === 1n ? 1n : a === -1n ? (b % 2n === 0n ? 1n : -1n) : 0n;
  let result = 1n, base = a, e = b;
  while (e > 0n) {
    if (e & 1n) result = BigInt.asIntN(64, result * base);
    base = BigInt.asIntN(64, base * base);
    e >>= 1n;
  }
  return result;
}

/** Truncation to int64; what does not fit gives the least value, as on x86. */
export function toBig(x: number): bigint {
  if (!(x > -9223372036854775809 && x < 9223372036854775808)) return -9223372036854775808n;
  return BigInt(Math.trunc(x));
}

/** a·b + c with one rounding (Dekker's exact product; exact sum where no overflow occurs). */
export function fma(a: number, b: number, c: number): number {
  const p = a * b;
  if (!Number.isFinite(p) || Math.abs(p) > 1e300 || p === 0) return p + c;
  const ta = 134217729 * a, ha = ta - (ta - a), la = a - ha;
  const tb = 134217729 * b, hb = tb - (tb - b), lb = b - hb;
  const lost = ((ha * hb - p) + ha * lb + la * hb) + la * lb;
  const s = p + c, v = s - p;
  return s + (lost + ((p - (s - v)) + (c - v)));
}

export function bitsToFloat(bits: number): number {
  scratch.setInt32(0, bits);
  return scratch.getFloat32(0);
}

export function floatToBits(x: number): number {
  scratch.setFloat32(0, x);
  return scratch.getInt32(0);
}

/** First word of Philox 4×32-10 with counter (counter, 0, 0, 0). */
export function philox(key0: number, key1: number, counter: number): number {
  let c0 = counter, c1 = 0, c2 = 0, c3 = 0, k0 = key0, k1 = key1;
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(0xD2511F53, c0), low0 = Math.imul(0xD2511F53, c0);
    const high1 = mulHigh(0xCD9E8D57, c2), low1 = Math.imul(0xCD9E8D57, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = k0 + 0x9E3779B9 | 0;
    k1 = k1 + 0xBB67AE85 | 0;
  }
  return c0 | 0;
}

/** High word of the unsigned 32×32-bit product. */
function mulHigh(a: number, b: number): number {
  const al = a & 0xffff, ah = a >>> 16, bl = b & 0xffff, bh = b >>> 16;
  const low = al * bl, mid1 = ah * bl + (low >>> 16), mid2 = al * bh + (mid1 & 0xffff);
  return ah * bh + Math.floor(mid1 / 65536) + Math.floor(mid2 / 65536) | 0;
}

/** Error function: series near 0, continued fraction of erfc elsewhere. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (!(a < 6)) return Number.isNaN(x) ? NaN : Math.sign(x);
  return a < 2.5 ? erfSeries(x) : x > 0 ? 1 - erfcTail(a) : erfcTail(a) - 1;
}

/** Complementary error function, with full relative precision in the tail. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN;
  // From here on 1 − erf x would lose digits
  if (x < 0.5) return 1 - erf(x);
  return x > 27.3 ? 0 : erfcTail(x);
}

/** 2/√π · e^{−x²} · Σ 2ⁿ x^{2n+1} / (1·3·…·(2n+1)): all terms of one sign, hence no cancellation. */
function erfSeries(x: number): number {
  const square = x * x;
  let term = x, sum = x;
  for (let n = 1; n < 120; n++) {
    term *= 2 * square / (2 * n + 1);
    sum += term;
    if (Math.abs(term) < 1e-17 * Math.abs(sum)) break;
  }
  return 1.1283791670955126 * expOfSquare(x) * sum;
}

/** Lentz evaluation of the continued fraction erfc(x) = e^{−x²}/√π · 1/(x + ½/(x + 1/(x + 3/2/(x + …)))). */
function erfcTail(x: number): number {
  const terms = x < 1 ? 900 : x < 2 ? 400 : x < 3 ? 120 : 60;
  let fraction = x;
  for (let n = terms; n >= 1; n--) fraction = x + n / 2 / fraction;
  return expOfSquare(x) / (fraction * 1.772453850905516);
}

/** e^(−x²), the square taken without error. */
function expOfSquare(x: number): number {
  const high = Math.fround(x);
  return Math.exp(-high * high) * Math.exp(-(x - high) * (x + high));
}

/** (−1)ᵏ (ζ(k) − 1) / k from k = 2 on; before them 1 − γ: log Γ(2 + z) / z in powers of z (DLMF 5.7.3). */
const NEAR_TWO = [
  0.42278433509846713,
  0.3224670334241132,
  -0.0673523010531981,
  0.020580808427784546,
  -0.007385551028673986,
  0.0028905103307415234,
  -0.001192753911703261,
  0.0005096695247430425,
  -0.00022315475845357939,
  9.945751278180853e-05,
  -4.492623673813314e-05,
  2.050721277567069e-05,
  -9.439488275268397e-06,
  4.374866789907488e-06,
  -2.039215753801366e-06,
  9.55141213040742e-07,
  -4.492469198764566e-07,
  2.1207184805554665e-07,
  -1.0043224823968099e-07,
  4.7698101693639804e-08,
  -2.2711094608943164e-08,
  1.0838659214896955e-08,
  -5.183475041970047e-09,
  2.4836745438024785e-09,
  -1.1921401405860912e-09,
  5.731367241678862e-10,
  -2.7595228851242334e-10,
] as const;

/** log Γ(2 + z) for |z| ≤ ½; its zero at z = 0 is exact. */
function lgammaNearTwo(z: number): number {
  return z * NEAR_TWO.reduceRight((sum: number, c) => sum * z + c, 0);
}

/** log|Γ(x)|; +∞ at the poles. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (!Number.isFinite(x) || (x <= 0 && Number.isInteger(x))) return Infinity;
  if (x < 0) return Math.log(Math.PI / Math.abs(sinPi(x))) - lgamma(1 - x);
  if (x < 0.5) return lgammaNearTwo(x) - Math.log(x * (1 + x));
  if (x < 1.5) return lgammaNearTwo(x - 1) - Math.log1p(x - 1);
  if (x > 20) return stirling(x);
  let product = 1, at = x;
  while (at > 2.5) product *= --at;
  return lgammaNearTwo(at - 2) + Math.log(product);
}

function stirling(x: number): number {
  const i = 1 / x, i2 = i * i;
  const series = i * (1 / 12 - i2 * (1 / 360 - i2 * (1 / 1260 - i2 * (1 / 1680 - i2 / 1188))));
  return (x - 0.5) * Math.log(x) - x + 0.91893853320467274 + series;
}

/** sin(πx) without the error of multiplying by π first. */
function sinPi(x: number): number {
  const r = x - 2 * Math.round(x / 2);
  return Math.sin(Math.PI * (r > 0.5 ? 1 - r : r < -0.5 ? -1 - r : r));
}

/** ψ(x) = d/dx log Γ(x): recurrence up to 10, then the asymptotic series; ∓∞ at ±0, NaN at other poles. */
export function digamma(x: number): number {
  if (x === 0) return Object.is(x, -0) ? Infinity : -Infinity;
  if (x === -Infinity || (x < 0 && Number.isInteger(x))) return NaN;
  let shift = 0, y = x;
  if (y < 0) {
    const r = y - Math.round(y);
    shift = -Math.PI / Math.tan(Math.PI * r);
    y = 1 - y;
  }
  while (y < 10) {
    shift -= 1 / y;
    y++;
  }
  const i2 = 1 / (y * y);
  const series = i2 *
    (1 / 12 -
      i2 * (1 / 120 - i2 * (1 / 252 - i2 * (1 / 240 - i2 * (1 / 132 - i2 * (691 / 32760 - i2 / 12))))));
  return shift + Math.log(y) - 0.5 / y - series;
}
