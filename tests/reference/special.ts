/**
 * Special functions in float64, for the reference interpreter. Input and output: numbers. Invariant: computed with 32
 * digits, so that results are the nearest double, or its neighbour, even near zeros and in tails; no method or
 * coefficient is shared with a printer. Formulas: NIST Digital Library of Mathematical Functions (DLMF).
 */
import {
  add,
  divide,
  exp,
  log,
  multiply,
  negate,
  type Pair,
  pair,
  PI,
  sinCosPi,
  square,
  subtract,
  toNumber,
} from "./double_double.ts";

/** The error function. */
export function erf(x: number): number {
  if (Number.isNaN(x)) return NaN;
  const size = Math.abs(x), sign = x < 0 ? -1 : 1;
  if (size > 6) return sign;
  // Near 0 two terms of the series are enough, and products would underflow
  if (size < 1e-20) return x * (2 / Math.sqrt(Math.PI));
  return sign * toNumber(size < 2 ? erfSeries(size) : subtract(pair(1), erfcTail(size)));
}

/** 1 − erf(x), without cancellation for large x. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x > 28) return 0;
  if (x < -6) return 2;
  if (x >= 2) return toNumber(erfcTail(x));
  const value = Math.abs(x) < 1e-20
    ? pair(0)
    : x < -2
    ? subtract(pair(1), erfcTail(-x))
    : erfSeries(Math.abs(x));
  return toNumber(x < 0 ? add(pair(1), value) : subtract(pair(1), value));
}

/** erf(x) = 2/√π · Σ (−1)ⁿ x^(2n+1) / (n! (2n+1)), for 0 < x < 2 (DLMF 7.6.1). */
function erfSeries(x: number): Pair {
  const by = negate(square(pair(x)));
  let power = pair(x), sum = power;
  for (let n = 1; n < 60; n++) {
    power = divide(multiply(power, by), pair(n));
    sum = add(sum, divide(power, pair(2 * n + 1)));
  }
  return multiply(TWO_OVER_ROOT_PI, sum);
}

/** 2/√π = 2·exp(−½·log π) */
const TWO_OVER_ROOT_PI: Pair = multiply(pair(2), exp(multiply(pair(-0.5), log(PI))));

/** Width of the steps of the trapezoidal rule: its error is e^(−π²/h²). */
const STEP = 0.375;

/**
 * erfc(x) for 2 ≤ x by the trapezoidal rule for erfc(x) = 2x·e^(−x²)/π · ∫₀^∞ e^(−t²)/(t² + x²) dt (DLMF 7.7.1), with
 * the residue of the pole at t = ix: Chiarella and Reichel, "On the evaluation of integrals related to the error
 * function", 1968.
 */
function erfcTail(x: number): Pair {
  const squared = square(pair(x)), ratio = exp(pair(-STEP * STEP)), ratio2 = square(ratio);
  let sum = divide(pair(0.5), squared), weight = pair(1), next = ratio;
  for (let k = 1; k * STEP < 9; k++) {
    // e^(−k²h²) = e^(−(k−1)²h²) · e^(−(2k−1)h²)
    weight = multiply(weight, next);
    next = multiply(next, ratio2);
    sum = add(sum, divide(weight, add(pair((k * STEP) ** 2), squared)));
  }
  const scaled = multiply(multiply(pair(2 * STEP * x), divide(sum, PI)), exp(negate(squared)));
  if (x >= Math.PI / STEP) return scaled;
  const pole = exp(multiply(pair(2 * x / STEP), PI));
  return subtract(scaled, divide(pair(2), subtract(pole, pair(1))));
}

/** Bernoulli's numbers B₂, B₄, … as fractions (DLMF 24.2.1). */
const BERNOULLI: readonly (readonly [number, number])[] = [
  [1, 6],
  [-1, 30],
  [1, 42],
  [-1, 30],
  [5, 66],
  [-691, 2730],
  [7, 6],
  [-3617, 510],
  [43867, 798],
  [-174611, 330],
  [854513, 138],
  [-236364091, 2730],
  [8553103, 6],
  [-23749461029, 870],
];

/** From here on asymptotic series have 32 digits. */
const FAR = 40;

/** log |Γ(x)|: Stirling's series (DLMF 5.11.1) after x(x + 1)…, reflection below 0 (DLMF 5.5.3). */
export function lgamma(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (!Number.isFinite(x) || (x <= 0 && Number.isInteger(x))) return Infinity;
  if (x === 1 || x === 2) return 0;
  if (Math.abs(x) < 1e-20) return -Math.log(Math.abs(x));
  if (x > 1e16) return x * (Math.log(x) - 1) - 0.5 * Math.log(x / (2 * Math.PI));
  if (x > 0) return toNumber(logGamma(pair(x)));
  const { sin } = sinCosPi(x - Math.round(x));
  const reflected = log(divide(PI, sin[0] < 0 ? negate(sin) : sin));
  return toNumber(subtract(reflected, logGamma(subtract(pair(1), pair(x)))));
}

function logGamma(x: Pair): Pair {
  let at = x, product = pair(1);
  for (; at[0] < FAR; at = add(at, pair(1))) product = multiply(product, at);
  const logarithm = log(at), by = divide(pair(1), square(at));
  let series = pair(0), power = divide(pair(1), at);
  BERNOULLI.forEach(([over, under], k) => {
    const term = divide(multiply(pair(over), power), pair(under * (2 * k + 2) * (2 * k + 1)));
    series = add(series, term);
    power = multiply(power, by);
  });
  const main = subtract(multiply(subtract(at, pair(0.5)), logarithm), at);
  return subtract(add(add(main, HALF_LOG_TWO_PI), series), log(product));
}

const HALF_LOG_TWO_PI: Pair = multiply(pair(0.5), log(multiply(pair(2), PI)));

/** ψ(x) = Γ′/Γ: its asymptotic series (DLMF 5.11.2) after 1/x + 1/(x + 1) + …; as PyTorch at the poles. */
export function digamma(x: number): number {
  if (Number.isNaN(x) || x === -Infinity) return NaN;
  if (x === Infinity) return Infinity;
  if (x === 0) return Object.is(x, -0) ? Infinity : -Infinity;
  if (x < 0 && Number.isInteger(x)) return NaN;
  if (Math.abs(x) < 1e-20) return -1 / x;
  if (x > 1e16) return Math.log(x);
  if (x > 0) return toNumber(psi(pair(x)));
  const { sin, cos } = sinCosPi(x - Math.round(x));
  return toNumber(subtract(psi(subtract(pair(1), pair(x))), multiply(PI, divide(cos, sin))));
}

function psi(x: Pair): Pair {
  let at = x, sum = pair(0);
  for (; at[0] < FAR; at = add(at, pair(1))) sum = add(sum, divide(pair(1), at));
  const by = divide(pair(1), square(at));
  let series = divide(pair(0.5), at), power = by;
  BERNOULLI.forEach(([over, under], k) => {
    series = add(series, divide(multiply(pair(over), power), pair(under * (2 * k + 2))));
    power = multiply(power, by);
  });
  return subtract(subtract(log(at), series), sum);
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
