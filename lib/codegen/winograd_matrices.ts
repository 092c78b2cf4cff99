/**
 * Matrices of Winograd transforms (Winograd 1980, Lavin and Gray 2016) from the points at which polynomials are
 * evaluated: a line of pixels and one of factors are transformed, multiplied place by place, and the products become sums.
 */

/** Results of a square, across and down. */
export type Side = 2 | 4;

export const TAPS = 3;

/**
 * Where polynomials are evaluated, beside ∞, by the side of a square. With ±1/2 and ±1, or ±1 and ±2, errors of squares
 * of four would be three times as large.
 */
export const POINTS: Readonly<Record<Side, readonly number[]>> = {
  2: [0, 1, -1],
  4: [0, 5 / 8, -5 / 8, 3 / 2, -3 / 2],
};

/** Places of a line of a transformed square. */
export const placesOf = (side: Side): number => side + TAPS - 1;

export type Matrix = readonly (readonly number[])[];

/** The polynomials of this many coefficients, evaluated at the points and at ∞, where they are their last coefficient. */
const evaluated = (points: readonly number[], count: number): Matrix => [
  ...points.map((point) => Array.from({ length: count }, (_, k) => point ** k)),
  Array.from({ length: count }, (_, k) => k === count - 1 ? 1 : 0),
];

/** Coefficients of the polynomial with these roots. */
const withRoots = (roots: readonly number[]): readonly number[] =>
  roots.reduce<number[]>((made, root) => [0, ...made].map((each, k) => each - root * (made[k] ?? 0)), [1]);

const others = (points: readonly number[], point: number) => points.filter((each) => each !== point);

/** Transforms pixels of a line. */
export const ofPixels = (points: readonly number[]): Matrix => [
  ...points.map((point) => [...withRoots(others(points, point)), 0]),
  withRoots(points),
];

/** Transforms this many factors of a line of pixels. */
export const ofFactors = (points: readonly number[], count: number): Matrix =>
  evaluated(points, count).map((row, i) => {
    const point = points[i];
    if (point === undefined) return row;
    const apart = others(points, point).reduce((made, other) => made * (point - other), 1);
    return row.map((each) => each / apart);
  });

/** Transforms products of a line into this many sums. */
export function ofSums(points: readonly number[], count: number): Matrix {
  const rows = evaluated(points, count);
  return Array.from({ length: count }, (_, k) => rows.map((row) => row[k] ?? 0));
}
