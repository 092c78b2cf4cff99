/**
 * Special functions in float64, for the reference interpreter. Input and output: numbers. Invariant: relative
 * error of a few units in the last place of float64 wherever the function is well conditioned, so that results
 * rounded to float32 are right to the last bit or its neighbour.
 */

/** The error function: power series near 0, continued fraction of erfc elsewhere. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (Math.abs(x) < 2.5) return erfSeries(x);
  return x > 0 ? 1 - erfcFraction(x) : erfcFraction(-x) - 1;
}

/** 1 − erf(x), without cancellation for large x. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x < 0.5) return 1 - erf(x);
  return x < 2.5 ? erfcMiddle(x) : erfcFraction(x);
}

/** erf(x) = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, all terms of one sign (DLMF 7.6.2). */
function erfSeries(x: number): number {
  const square = x * x;
  let term = x, sum = x;
  for (let n = 1; n < 200; n++) {
    term *= 2 * square / (2 * n + 1);
    sum += term;
    if (Math.abs(term) < Math.abs(sum) * 1e-18) break;
  }
  return 2 / Math.sqrt(Math.PI) * Math.exp(-square) * sum;
}

/** erfc by Lentz's continued fraction (DLMF 7.9.1); converges for x ≥ 2.5 in some dozens of steps. */
function erfcFraction(x: number): number {
  return Math.exp(-x * x) / Math.sqrt(Math.PI) * tail(x, 200);
}

/** Between 0.5 and 2.5 the fraction needs more steps but does not cancel. */
function erfcMiddle(x: number): number {
  return Math.exp(-x * x) / Math.sqrt(Math.PI) * tail(x, 3000);
}

/** 1/(x + (1/2)/(x + 1/(x + (3/2)/(x + …)))), evaluated from the far end. */
function tail(x: number, steps: number): number {
  let value = x;
  for (let k = steps; k >= 1; k--) value = x + (k / 2) / value;
  return 1 / value;
}

const LANCZOS = [
  0.99999999999980993,
  676.5203681218851,
  -1259.1392167224028,
  771.32342877765313,
  -176.61502916214059,
  12.507343278686905,
  -0.13857109526572012,
  9.9843695780195716e-6,
  1.5056327351493116e-7,
];

/** log |Γ(x)|; Lanczos' approximation with g = 7, n = 9, and reflection below 1/2. */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (!Number.isFinite(x)) return Infinity;
  if (x <= 0 && Number.isInteger(x)) return Infinity;
  if (x === 1 || x === 2) return 0;
  if (x < 0.5) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - lgamma(1 - x);
  const z = x - 1;
  let sum = LANCZOS[0] ?? 0;
  for (let i = 1; i < LANCZOS.length; i++) sum += (LANCZOS[i] ?? 0) / (z + i);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/** ψ(x) = Γ′/Γ: recurrence up to x ≥ 10, then the asymptotic series; reflection below 0. As PyTorch at the poles. */
export function digamma(x: number): number {
  if (Number.isNaN(x) || x === -Infinity) return NaN;
  if (x === 0) return Object.is(x, -0) ? Infinity : -Infinity;
  if (x < 0) {
    if (Number.isInteger(x)) return NaN;
    return digamma(1 - x) - Math.PI / Math.tan(Math.PI * x);
  }
  let shift = 0, at = x;
  while (at < 10) shift -= 1 / at++;
  const r = 1 / (at * at);
  const series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132)))));
  return shift + Math.log(at) - 0.5 / at - series;
}

/** First word of Philox 4×32-10 with the counter in word 0 and two key words (Salmon et al., 2011). */
export function philox(key0: number, key1: number, counter: number): number {
  let c0 = counter >>> 0, c1 = 0, c2 = 0, c3 = 0;
  let k0 = key0 >>> 0, k1 = key1 >>> 0;
  for (let round = 0; round < 10; round++) {
    const p0 = BigInt(c0) * 0xD2511F53n, p1 = BigInt(c2) * 0xCD9E8D57n;
    const [hi0, lo0] = [Number(p0 >> 32n), Number(p0 & 0xffffffffn)];
    const [hi1, lo1] = [Number(p1 >> 32n), Number(p1 & 0xffffffffn)];
    [c0, c1, c2, c3] = [(hi1 ^ c1 ^ k0) >>> 0, lo1, (hi0 ^ c3 ^ k1) >>> 0, lo0];
    k0 = (k0 + 0x9E3779B9) >>> 0;
    k1 = (k1 + 0xBB67AE85) >>> 0;
  }
  return c0 | 0;
}

/** Rounds half to even. */
export function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest !== 0.5) return rest < 0.5 ? keepSign(floor, x) : keepSign(floor + 1, x);
  return keepSign(floor % 2 === 0 ? floor : floor + 1, x);
}

const keepSign = (value: number, of: number) => value === 0 && (of < 0 || Object.is(of, -0)) ? -0 : value;
