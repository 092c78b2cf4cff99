/**
 * Numbers of about 32 digits as unevaluated sums of two doubles, for the reference's special functions. Invariant:
 * the second part of a pair is at most half a unit in the last place of the first. Sums and products without error:
 * Dekker, "A floating-point technique for extending the available precision", 1971; Knuth, The Art of Computer
 * Programming, vol. 2.
 */

/** high + low. */
export type Pair = readonly [high: number, low: number];

/** a + b without error. */
function exactSum(a: number, b: number): Pair {
  const sum = a + b, ofB = sum - a;
  return [sum, (a - (sum - ofB)) + (b - ofB)];
}

/** a · b without error, as long as nothing over- or underflows. */
function exactProduct(a: number, b: number): Pair {
  const product = a * b, [a1, a2] = halves(a), [b1, b2] = halves(b);
  return [product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2];
}

/** A double as two numbers of 26 bits. */
function halves(a: number): Pair {
  const wide = 134217729 * a, high = wide - (wide - a);
  return [high, a - high];
}

/** A double as a pair. */
export const pair = (a: number): Pair => [a, 0];

export function add(a: Pair, b: Pair): Pair {
  const [high, low] = exactSum(a[0], b[0]), [middle, rest] = exactSum(a[1], b[1]);
  const [first, second] = exactSum(high, low + middle);
  return exactSum(first, second + rest);
}

export const negate = ([high, low]: Pair): Pair => [-high, -low];
export const subtract = (a: Pair, b: Pair): Pair => add(a, negate(b));

export function multiply(a: Pair, b: Pair): Pair {
  const [high, low] = exactProduct(a[0], b[0]);
  return exactSum(high, low + (a[0] * b[1] + a[1] * b[0]));
}

export function divide(a: Pair, b: Pair): Pair {
  const first = a[0] / b[0], left = subtract(a, multiply(pair(first), b));
  const second = left[0] / b[0], rest = subtract(left, multiply(pair(second), b));
  return add(exactSum(first, second), pair(rest[0] / b[0]));
}

export const square = (a: Pair): Pair => multiply(a, a);
export const toNumber = ([high, low]: Pair): number => high + low;

/** π and log 2. */
export const PI: Pair = [3.141592653589793, 1.2246467991473532e-16];
const LOG_2: Pair = [0.6931471805599453, 2.3190468138462996e-17];

/** Number of halvings of the argument of exp. */
const HALVINGS = 10;

/** e^x as m · 2^k with m near 1. */
export function exponential(x: Pair): { readonly factor: Pair; readonly power: number } {
  const power = Math.round(x[0] / LOG_2[0]);
  const reduced = subtract(x, multiply(pair(power), LOG_2)), scale = 2 ** -HALVINGS;
  const small: Pair = [reduced[0] * scale, reduced[1] * scale];
  // e^s − 1 by its series, then (e^2s − 1) = (e^s − 1)(e^s + 1)
  let term = small, less1 = small;
  for (let n = 2; n <= 10; n++) {
    term = divide(multiply(term, small), pair(n));
    less1 = add(less1, term);
  }
  for (let k = 0; k < HALVINGS; k++) less1 = multiply(less1, add(less1, pair(2)));
  return { factor: add(less1, pair(1)), power };
}

/** e^x. */
export function exp(x: Pair): Pair {
  const { factor: [high, low], power } = exponential(x);
  const half = 2 ** Math.trunc(power / 2), rest = 2 ** (power - Math.trunc(power / 2));
  return [high * half * rest, low * half * rest];
}

/** The natural logarithm of x > 0: one step of Newton's from the double's. */
export function log(x: Pair): Pair {
  const guess = Math.log(x[0]);
  return add(pair(guess), subtract(multiply(x, exp(pair(-guess))), pair(1)));
}

/** sin πx and cos πx for |x| ≤ ½, by their series. */
export function sinCosPi(x: number): { readonly sin: Pair; readonly cos: Pair } {
  const angle = multiply(PI, pair(x)), by = negate(square(angle));
  let sin = angle, cos = pair(1), odd = angle, even = pair(1);
  for (let n = 1; n <= 16; n++) {
    even = divide(multiply(even, by), pair((2 * n - 1) * 2 * n));
    odd = divide(multiply(odd, by), pair(2 * n * (2 * n + 1)));
    cos = add(cos, even);
    sin = add(sin, odd);
  }
  return { sin, cos };
}
