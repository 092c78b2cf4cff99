/**
 * Matrices in host memory for decompositions: float64 by rows, from the last two dimensions of tensors and back.
 * Invariant: a matrix owns its elements.
 */
import type { DType } from "../../base/dtype.ts";
import type { HostTensor } from "../definition.ts";
import { hostTensor } from "../host.ts";

/** A matrix by rows. */
export class Matrix {
  constructor(
    readonly rows: number,
    readonly columns: number,
    readonly data: Float64Array = new Float64Array(rows * columns),
  ) {}

  /** Ones on the diagonal. */
  static eye(rows: number, columns: number = rows): Matrix {
    const made = new Matrix(rows, columns);
    for (let i = 0; i < Math.min(rows, columns); i++) made.set(i, i, 1);
    return made;
  }

  at(row: number, column: number): number {
    return this.data[row * this.columns + column] ?? 0;
  }

  set(row: number, column: number, value: number): void {
    this.data[row * this.columns + column] = value;
  }

  add(row: number, column: number, value: number): void {
    this.data[row * this.columns + column] = this.at(row, column) + value;
  }

  swapRows(a: number, b: number): void {
    if (a === b) return;
    for (let j = 0; j < this.columns; j++) {
      const kept = this.at(a, j);
      this.set(a, j, this.at(b, j));
      this.set(b, j, kept);
    }
  }

  copy(): Matrix {
    return new Matrix(this.rows, this.columns, this.data.slice());
  }

  /** The elements for which `keep` holds, zeros elsewhere. */
  where(keep: (row: number, column: number) => boolean): Matrix {
    const made = new Matrix(this.rows, this.columns);
    for (let i = 0; i < this.rows; i++) {
      for (let j = 0; j < this.columns; j++) if (keep(i, j)) made.set(i, j, this.at(i, j));
    }
    return made;
  }

  times(other: Matrix): Matrix {
    const made = new Matrix(this.rows, other.columns);
    for (let i = 0; i < this.rows; i++) {
      for (let k = 0; k < this.columns; k++) {
        const factor = this.at(i, k);
        if (factor === 0) continue;
        for (let j = 0; j < other.columns; j++) made.add(i, j, factor * other.at(k, j));
      }
    }
    return made;
  }

  scaled(factor: number): Matrix {
    return new Matrix(this.rows, this.columns, this.data.map((x) => factor * x));
  }

  plus(other: Matrix): Matrix {
    return new Matrix(this.rows, this.columns, this.data.map((x, k) => x + (other.data[k] ?? 0)));
  }
}

/** The leading dimensions, and the matrices. */
export function matricesOf(
  { shape, data }: HostTensor,
): { readonly lead: readonly number[]; readonly matrices: readonly Matrix[] } {
  const lead = shape.slice(0, -2), [rows = 1, columns = 1] = shape.slice(-2), size = rows * columns;
  const count = lead.reduce((a, b) => a * b, 1);
  const matrices = Array.from({ length: count }, (_, k) =>
    new Matrix(
      rows,
      columns,
      Float64Array.from({ length: size }, (_x, at) => Number(data[k * size + at])),
    ));
  return { lead, matrices };
}

/** Matrices of one size as a tensor. */
export function matrixTensor(
  lead: readonly number[],
  dtype: DType,
  { matrices, rows, columns }: {
    readonly matrices: readonly Matrix[];
    readonly rows: number;
    readonly columns: number;
  },
): HostTensor {
  const size = rows * columns, all = new Float64Array(matrices.length * size);
  matrices.forEach((each, k) => all.set(each.data, k * size));
  return hostTensor([...lead, rows, columns], dtype, all);
}
