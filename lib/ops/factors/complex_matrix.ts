/**
 * Complex matrices in host memory, transformed in place by unitary maps. Invariant: a matrix without imaginary parts
 * keeps none under real maps.
 */
import type { DType } from "../../base/dtype.ts";
import type { HostTensor } from "../definition.ts";
import { hostTensor } from "../host.ts";

/** A complex number by its parts. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const ZERO: Complex = { re: 0, im: 0 };

/** A matrix by rows. */
export class ComplexMatrix {
  constructor(
    /** Number of rows. */
    readonly n: number,
    readonly columns: number = n,
    readonly re: Float64Array = new Float64Array(n * columns),
    readonly im: Float64Array = new Float64Array(n * columns),
  ) {}

  /** Ones on the diagonal. */
  static eye(n: number, columns: number = n): ComplexMatrix {
    const made = new ComplexMatrix(n, columns);
    for (let i = 0; i < Math.min(n, columns); i++) made.re[i * columns + i] = 1;
    return made;
  }

  at(row: number, column: number): Complex {
    const k = row * this.columns + column;
    return { re: this.re[k] ?? 0, im: this.im[k] ?? 0 };
  }

  set(row: number, column: number, { re, im }: Complex): void {
    const k = row * this.columns + column;
    this.re[k] = re;
    this.im[k] = im;
  }

  /** Conjugated and transposed. */
  adjoint(): ComplexMatrix {
    const made = new ComplexMatrix(this.columns, this.n);
    for (let i = 0; i < this.n; i++) {
      for (let j = 0; j < this.columns; j++) made.set(j, i, conjugate(this.at(i, j)));
    }
    return made;
  }

  column(at: number): Complex[] {
    return Array.from({ length: this.n }, (_, i) => this.at(i, at));
  }

  setColumn(at: number, values: readonly Complex[]): void {
    for (const [i, value] of values.entries()) this.set(i, at, value);
  }

  /** Adds a multiple of row b to row a, from a column on. */
  addRow(a: number, b: number, { re: fr, im: fi }: Complex, from: number): void {
    const { re, im, columns } = this;
    for (let j = from; j < columns; j++) {
      const x = re[b * columns + j] ?? 0, y = im[b * columns + j] ?? 0, k = a * columns + j;
      re[k] = (re[k] ?? 0) + fr * x - fi * y;
      im[k] = (im[k] ?? 0) + fr * y + fi * x;
    }
  }

  swapRows(a: number, b: number): void {
    if (a === b) return;
    for (const parts of [this.re, this.im]) {
      const kept = parts.slice(a * this.columns, (a + 1) * this.columns);
      parts.copyWithin(a * this.columns, b * this.columns, (b + 1) * this.columns);
      parts.set(kept, b * this.columns);
    }
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

/** The length of a vector. */
export const lengthOf = (vector: readonly Complex[]): number =>
  Math.hypot(...vector.map(({ re, im }) => Math.hypot(re, im)));

/** A vector of length 1 along one that is not 0, whose largest element is real and positive. */
export function normalized(vector: readonly Complex[]): readonly Complex[] {
  const sizes = vector.map(({ re, im }) => Math.hypot(re, im)), largest = Math.max(...sizes);
  const lead = vector[sizes.indexOf(largest)] ?? { re: 1, im: 0 };
  const length = largest * Math.hypot(...sizes.map((size) => size / largest));
  const turn = scaled(conjugate(lead), 1 / (largest * length));
  return vector.map((x) => times(x, turn));
}

/** The matrices of pairs of parts [..., rows, columns, 2], and the dimensions before them. */
export function complexMatricesOf(
  { shape, data }: HostTensor,
): { readonly lead: readonly number[]; readonly matrices: readonly ComplexMatrix[] } {
  const lead = shape.slice(0, -3), [rows = 1, columns = 1] = shape.slice(-3), size = rows * columns;
  const part = (from: number, offset: number) =>
    Float64Array.from({ length: size }, (_, k) => Number(data[2 * (from + k) + offset]));
  const matrices = Array.from(
    { length: lead.reduce((a, b) => a * b, 1) },
    (_, k) => new ComplexMatrix(rows, columns, part(k * size, 0), part(k * size, 1)),
  );
  return { lead, matrices };
}

/** Complex numbers as pairs of parts, in the last dimension. */
export function pairsTensor(
  shape: readonly number[],
  dtype: DType,
  parts: readonly { readonly re: ArrayLike<number>; readonly im: ArrayLike<number> }[],
): HostTensor {
  const pairs = new Float64Array(2 * shape.reduce((a, b) => a * b, 1));
  let at = 0;
  for (const { re, im } of parts) {
    for (let k = 0; k < re.length; k++) {
      pairs[at++] = re[k] ?? 0;
      pairs[at++] = im[k] ?? 0;
    }
  }
  return hostTensor([...shape, 2], dtype, pairs);
}

/** A turn in a plane: [[c, s], [−s̄, c]]. */
interface Turn {
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

/** Two rows or columns of a matrix. */
export interface Pair {
  readonly p: number;
  readonly q: number;
}

/** Turns two rows, from a column on. */
export function turnRows(
  { columns, re, im }: ComplexMatrix,
  { p, q }: Pair,
  { c, s }: Turn,
  from: number,
): void {
  for (let a = p * columns + from, b = q * columns + from; a < (p + 1) * columns; a++, b++) {
    const xr = re[a] ?? 0, xi = im[a] ?? 0, yr = re[b] ?? 0, yi = im[b] ?? 0;
    re[a] = c * xr + s.re * yr - s.im * yi;
    im[a] = c * xi + s.re * yi + s.im * yr;
    re[b] = c * yr - s.re * xr - s.im * xi;
    im[b] = c * yi - s.re * xi + s.im * xr;
  }
}

/** Rotates two columns by the inverse, so that both rotations together preserve eigenvalues, in rows up to `last`. */
export function turnColumns(
  { columns, re, im }: ComplexMatrix,
  { p, q }: Pair,
  { c, s }: Turn,
  last: number,
): void {
  for (let row = 0; row <= last; row++) {
    const a = row * columns + p, b = row * columns + q;
    const xr = re[a] ?? 0, xi = im[a] ?? 0, yr = re[b] ?? 0, yi = im[b] ?? 0;
    re[a] = c * xr + s.re * yr + s.im * yi;
    im[a] = c * xi + s.re * yi - s.im * yr;
    re[b] = c * yr - s.re * xr + s.im * xi;
    im[b] = c * yi - s.re * xi - s.im * xr;
  }
}

/** The turn of two columns that makes the Hermitian matrix [[first, between], [conj(between), second]] diagonal. */
export function jacobiTurn(first: number, second: number, between: Complex): Turn {
  const size = Math.hypot(between.re, between.im), tau = (second - first) / (2 * size);
  const tangent = (tau < 0 ? -1 : 1) / (Math.abs(tau) + Math.hypot(1, tau)), c = 1 / Math.hypot(1, tangent);
  return { c, s: scaled(between, -c * tangent / size) };
}
