/**
 * Square complex matrices in host memory, transformed in place by unitary maps. Invariant: a matrix without imaginary
 * parts keeps none under real maps.
 */

/** A complex number by its parts. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

/** A square matrix by rows. */
export class ComplexMatrix {
  constructor(
    readonly n: number,
    readonly re: Float64Array = new Float64Array(n * n),
    readonly im: Float64Array = new Float64Array(n * n),
  ) {}

  /** Ones on the diagonal. */
  static eye(n: number): ComplexMatrix {
    const made = new ComplexMatrix(n);
    for (let i = 0; i < n; i++) made.re[i * n + i] = 1;
    return made;
  }

  at(row: number, column: number): Complex {
    const k = row * this.n + column;
    return { re: this.re[k] ?? 0, im: this.im[k] ?? 0 };
  }

  set(row: number, column: number, { re, im }: Complex): void {
    const k = row * this.n + column;
    this.re[k] = re;
    this.im[k] = im;
  }

  /** The magnitude of an element. */
  size(row: number, column: number): number {
    const { re, im } = this.at(row, column);
    return Math.hypot(re, im);
  }
}

export const sum = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });

export const difference = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });

export const times = (a: Complex, b: Complex): Complex => ({
  re: a.re * b.re - a.im * b.im,
  im: a.re * b.im + a.im * b.re,
});

export const conjugate = ({ re, im }: Complex): Complex => ({ re, im: im === 0 ? 0 : -im });

export const scaled = (a: Complex, factor: number): Complex => ({ re: a.re * factor, im: a.im * factor });

/** a / b, where neither overflows before the quotient does (Smith 1962). */
export function quotient(a: Complex, b: Complex): Complex {
  if (Math.abs(b.re) >= Math.abs(b.im)) {
    const ratio = b.im / b.re, under = b.re + b.im * ratio;
    return { re: (a.re + a.im * ratio) / under, im: (a.im - a.re * ratio) / under };
  }
  const ratio = b.re / b.im, under = b.re * ratio + b.im;
  return { re: (a.re * ratio + a.im) / under, im: (a.im * ratio - a.re) / under };
}

/** The square root whose real part is not negative. */
export function squareRoot({ re, im }: Complex): Complex {
  const size = Math.hypot(re, im);
  if (size === 0) return { re: 0, im: 0 };
  const larger = Math.sqrt((size + Math.abs(re)) / 2), smaller = Math.abs(im) / (2 * larger);
  const sign = im < 0 ? -1 : 1;
  return re >= 0 ? { re: larger, im: sign * smaller } : { re: smaller, im: sign * larger };
}

/** A turn in a plane: [[c, s], [−s̄, c]]. */
export interface Turn {
  readonly c: number;
  readonly s: Complex;
}

/** The turn that brings (a, b) to (r, 0). */
export function turnOf(a: Complex, b: Complex): Turn {
  const first = Math.hypot(a.re, a.im), second = Math.hypot(b.re, b.im), r = Math.hypot(first, second);
  if (r === 0) return { c: 1, s: { re: 0, im: 0 } };
  if (first === 0) return { c: 0, s: scaled(conjugate(b), 1 / second) };
  return { c: first / r, s: scaled(times(scaled(a, 1 / first), conjugate(b)), 1 / r) };
}

/** Turns rows k and k + 1, from a column on. */
export function turnRows(M: ComplexMatrix, k: number, { c, s }: Turn, from: number): void {
  const { n, re, im } = M;
  for (let a = k * n + from, b = a + n; a < (k + 1) * n; a++, b++) {
    const xr = re[a] ?? 0, xi = im[a] ?? 0, yr = re[b] ?? 0, yi = im[b] ?? 0;
    re[a] = c * xr + s.re * yr - s.im * yi;
    im[a] = c * xi + s.re * yi + s.im * yr;
    re[b] = c * yr - s.re * xr - s.im * xi;
    im[b] = c * yi - s.re * xi + s.im * xr;
  }
}

/** Rotates columns k and k + 1 by the inverse, so that both rotations together preserve eigenvalues, in rows up to `last`. */
export function turnColumns(M: ComplexMatrix, k: number, { c, s }: Turn, last: number): void {
  const { n, re, im } = M;
  for (let a = k; a <= last * n + k; a += n) {
    const b = a + 1, xr = re[a] ?? 0, xi = im[a] ?? 0, yr = re[b] ?? 0, yi = im[b] ?? 0;
    re[a] = c * xr + s.re * yr + s.im * yi;
    im[a] = c * xi + s.re * yi - s.im * yr;
    re[b] = c * yr - s.re * xr + s.im * xi;
    im[b] = c * yi - s.re * xi - s.im * xr;
  }
}
