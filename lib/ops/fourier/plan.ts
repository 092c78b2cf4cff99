/**
 * Fast discrete Fourier transforms on the host: unscaled, in place, on interleaved float64 pairs. Invariant: O(n log
 * n) for every length: lengths of small prime factors by the self-sorting algorithm of Stockham with mixed radices,
 * others as a convolution (Bluestein 1970). Tables are built once for each length.
 */

/** A transform of one length. */
export interface Plan {
  /** Transforms `n` pairs from `from` on. */
  run(pairs: Float64Array, from: number, inverse: boolean): void;
}

/** The largest factor that is transformed by the definition of the transform. */
const MOST_RADIX = 13;
/** Maximum number of cached plans; beyond it all are dropped, which only costs time. */
const PLAN_LIMIT = 64;

const plans = new Map<number, Plan>();

/** The plan of a length. */
export function planOf(n: number): Plan {
  const known = plans.get(n);
  if (known) return known;
  const radices = radicesOf(n);
  const made = n <= 1
    ? { run() {} }
    : radices.every((radix) => radix <= MOST_RADIX)
    ? new MixedRadix(n, radices)
    : new Convolution(n);
  if (plans.size >= PLAN_LIMIT) plans.clear();
  plans.set(n, made);
  return made;
}

/** Factors of a length: fours first, which need the fewest multiplications, then primes. */
function radicesOf(n: number): number[] {
  const found: number[] = [];
  let left = n;
  for (const radix of [4, 2, 3, 5, 7, 11, 13]) {
    while (left % radix === 0 && left > 1) {
      found.push(radix);
      left /= radix;
    }
  }
  if (left > 1) found.push(left);
  return found;
}

/**
 * cos and −sin of 2πk/n for all k, interleaved. Angles are reduced to the first octant, where both are exact to the
 * last bit.
 */
function rootsOf(n: number): Float64Array {
  const roots = new Float64Array(2 * n);
  for (let k = 0; k < n; k++) {
    const [cos, sin] = unitAt(k, n);
    roots[2 * k] = cos;
    roots[2 * k + 1] = -sin;
  }
  return roots;
}

/** cos and sin of 2πk/n. */
function unitAt(k: number, n: number): readonly [number, number] {
  const eighth = Math.floor(8 * k / n), angle = (x: number) => 2 * Math.PI * x / n;
  // Distances to the nearest multiple of a quarter turn are exact, since they are integers over 4n
  const toQuarter = (quarter: number) => 4 * k - quarter * n;
  const at = (quarter: number): readonly [number, number] => {
    const rest = angle(toQuarter(quarter) / 4);
    return [Math.cos(rest), Math.sin(rest)];
  };
  switch (eighth) {
    case 0:
      return at(0);
    case 1:
    case 2: {
      const [c, s] = at(1);
      return [-s, c];
    }
    case 3:
    case 4: {
      const [c, s] = at(2);
      return [-c, -s];
    }
    case 5:
    case 6: {
      const [c, s] = at(3);
      return [s, -c];
    }
    default: {
      const [c, s] = at(4);
      return [c, s];
    }
  }
}

/** Arrays of which one is read and the other written. */
interface Stage {
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** Offset of the vector in the source array. */
  readonly read: number;
  readonly write: number;
  /** Length of the remaining transforms, and the number of interleaved ones. */
  readonly length: number;
  readonly stride: number;
}

class MixedRadix implements Plan {
  readonly #roots: Float64Array;
  readonly #scratch: Float64Array;
  /** Terms of one sum by definition. */
  readonly #terms = new Float64Array(2 * MOST_RADIX);

  constructor(readonly n: number, readonly radices: readonly number[]) {
    this.#roots = rootsOf(n);
    this.#scratch = new Float64Array(2 * n);
  }

  run(pairs: Float64Array, from: number, inverse: boolean): void {
    const { n, radices } = this, scratch = this.#scratch, start = 2 * from, sign = inverse ? -1 : 1;
    let length = n, stride = 1, isInScratch = false;
    for (const radix of radices) {
      const stage: Stage = isInScratch
        ? { from: scratch, to: pairs, read: 0, write: start, length, stride }
        : { from: pairs, to: scratch, read: start, write: 0, length, stride };
      if (radix === 4) this.#four(stage, sign);
      else if (radix === 2) this.#two(stage, sign);
      else this.#any(stage, radix, sign);
      length /= radix;
      stride *= radix;
      isInScratch = !isInScratch;
    }
    if (isInScratch) pairs.set(scratch, start);
  }

  #two({ from, to, read, write, length, stride }: Stage, sign: number): void {
    const half = length / 2, roots = this.#roots, step = 2 * half * stride;
    for (let p = 0; p < half; p++) {
      const wr = roots[2 * p * stride] ?? 1, wi = sign * (roots[2 * p * stride + 1] ?? 0);
      for (let q = 0; q < stride; q++) {
        const a = read + 2 * (q + stride * p), b = a + step, out = write + 2 * (q + stride * 2 * p);
        const ar = from[a] ?? 0, ai = from[a + 1] ?? 0, br = from[b] ?? 0, bi = from[b + 1] ?? 0;
        const dr = ar - br, di = ai - bi;
        to[out] = ar + br;
        to[out + 1] = ai + bi;
        to[out + 2 * stride] = dr * wr - di * wi;
        to[out + 2 * stride + 1] = dr * wi + di * wr;
      }
    }
  }

  #four({ from, to, read, write, length, stride }: Stage, sign: number): void {
    const quarter = length / 4, roots = this.#roots, step = 2 * quarter * stride, gap = 2 * stride;
    for (let p = 0; p < quarter; p++) {
      const at = 2 * p * stride;
      const ur = roots[at] ?? 1, ui = sign * (roots[at + 1] ?? 0);
      const vr = roots[2 * at] ?? 1, vi = sign * (roots[2 * at + 1] ?? 0);
      const wr = roots[3 * at] ?? 1, wi = sign * (roots[3 * at + 1] ?? 0);
      for (let q = 0; q < stride; q++) {
        const a = read + 2 * (q + stride * p), b = a + step, c = b + step, d = c + step;
        const ar = from[a] ?? 0, ai = from[a + 1] ?? 0, br = from[b] ?? 0, bi = from[b + 1] ?? 0;
        const cr = from[c] ?? 0, ci = from[c + 1] ?? 0, dr = from[d] ?? 0, di = from[d + 1] ?? 0;
        const er = ar + cr, ei = ai + ci, fr = ar - cr, fi = ai - ci, gr = br + dr, gi = bi + di;
        // −i times b − d, i for the inverse
        const hr = sign * (bi - di), hi = sign * (dr - br);
        const out = write + 2 * (q + stride * 4 * p);
        to[out] = er + gr;
        to[out + 1] = ei + gi;
        const xr = fr + hr, xi = fi + hi, yr = er - gr, yi = ei - gi, zr = fr - hr, zi = fi - hi;
        to[out + gap] = xr * ur - xi * ui;
        to[out + gap + 1] = xr * ui + xi * ur;
        to[out + 2 * gap] = yr * vr - yi * vi;
        to[out + 2 * gap + 1] = yr * vi + yi * vr;
        to[out + 3 * gap] = zr * wr - zi * wi;
        to[out + 3 * gap + 1] = zr * wi + zi * wr;
      }
    }
  }

  #any({ from, to, read, write, length, stride }: Stage, radix: number, sign: number): void {
    const part = length / radix, roots = this.#roots, terms = this.#terms, { n } = this;
    const turn = n / radix;
    for (let p = 0; p < part; p++) {
      for (let q = 0; q < stride; q++) {
        for (let k = 0; k < radix; k++) {
          const at = read + 2 * (q + stride * (p + k * part));
          terms[2 * k] = from[at] ?? 0;
          terms[2 * k + 1] = from[at + 1] ?? 0;
        }
        for (let j = 0; j < radix; j++) {
          let re = terms[0] ?? 0, im = terms[1] ?? 0;
          for (let k = 1; k < radix; k++) {
            const root = 2 * (j * k % radix) * turn,
              wr = roots[root] ?? 1,
              wi = sign * (roots[root + 1] ?? 0);
            const tr = terms[2 * k] ?? 0, ti = terms[2 * k + 1] ?? 0;
            re += tr * wr - ti * wi;
            im += tr * wi + ti * wr;
          }
          const root = 2 * j * p * stride, wr = roots[root] ?? 1, wi = sign * (roots[root + 1] ?? 0);
          const out = write + 2 * (q + stride * (radix * p + j));
          to[out] = re * wr - im * wi;
          to[out + 1] = re * wi + im * wr;
        }
      }
    }
  }
}

/** A transform as a convolution with a chirp: jk = (j² + k² − (j − k)²) / 2. */
class Convolution implements Plan {
  readonly #length: number;
  readonly #chirp: Float64Array;
  /** The transform of the conjugate chirp, wrapped around. */
  readonly #filter: Float64Array;
  readonly #scratch: Float64Array;

  constructor(readonly n: number) {
    this.#length = 2 ** Math.ceil(Math.log2(2 * n - 1));
    const chirp = new Float64Array(2 * n), filter = new Float64Array(2 * this.#length);
    for (let k = 0; k < n; k++) {
      // exp(−πi·k²/n), whose period in k² is 2n
      const [cos, sin] = unitAt(Number(BigInt(k) * BigInt(k) % BigInt(2 * n)), 2 * n);
      chirp[2 * k] = cos;
      chirp[2 * k + 1] = -sin;
      for (const at of k === 0 ? [0] : [k, this.#length - k]) {
        filter[2 * at] = cos;
        filter[2 * at + 1] = sin;
      }
    }
    planOf(this.#length).run(filter, 0, false);
    this.#chirp = chirp;
    this.#filter = filter;
    this.#scratch = new Float64Array(2 * this.#length);
  }

  run(pairs: Float64Array, from: number, inverse: boolean): void {
    const { n } = this, chirp = this.#chirp, filter = this.#filter, scratch = this.#scratch;
    // The inverse is the transform of the conjugate, conjugated
    const start = 2 * from, sign = inverse ? -1 : 1, length = this.#length;
    scratch.fill(0);
    for (let k = 0; k < n; k++) {
      const re = pairs[start + 2 * k] ?? 0, im = sign * (pairs[start + 2 * k + 1] ?? 0);
      const cr = chirp[2 * k] ?? 1, ci = chirp[2 * k + 1] ?? 0;
      scratch[2 * k] = re * cr - im * ci;
      scratch[2 * k + 1] = re * ci + im * cr;
    }
    const inner = planOf(length);
    inner.run(scratch, 0, false);
    for (let k = 0; k < length; k++) {
      const re = scratch[2 * k] ?? 0, im = scratch[2 * k + 1] ?? 0;
      const fr = filter[2 * k] ?? 0, fi = filter[2 * k + 1] ?? 0;
      scratch[2 * k] = (re * fr - im * fi) / length;
      scratch[2 * k + 1] = (re * fi + im * fr) / length;
    }
    inner.run(scratch, 0, true);
    for (let k = 0; k < n; k++) {
      const re = scratch[2 * k] ?? 0, im = scratch[2 * k + 1] ?? 0;
      const cr = chirp[2 * k] ?? 1, ci = chirp[2 * k + 1] ?? 0;
      pairs[start + 2 * k] = re * cr - im * ci;
      pairs[start + 2 * k + 1] = sign * (re * ci + im * cr);
    }
  }
}
