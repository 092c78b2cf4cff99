/**
 * The common part of transformed convolutions and gradients of their filters (Winograd 1980, Lavin and Gray 2016:
 * F(2×2, 3×3)): a workgroup computes sixteen matrix products of 32 × 32 results, one for each place of a 4 × 4 square,
 * in steps of eight along the summed dimension. Invariant: elements are staged as vectors of four columns, then of four
 * rows, for each position of the square and each of the eight steps.
 */
import type { ShaderWriter } from "./print/statements.ts";
import { WINOGRAD } from "./target.ts";

const { side: SIDE, step: STEP } = WINOGRAD;
export const FOUR = [0, 1, 2, 3] as const, PARTS = ["x", "y", "z", "w"] as const, HALVES = [0, 1] as const;
/** Vectors of four rows or columns. */
export const WIDTH = SIDE / 4;
/** Rows of a thread. */
const ROWS = [0, 1, 2, 3, 4, 5, 6, 7];

/** Declares the workgroup's memory. */
export function declareStage(w: ShaderWriter): void {
  w.line(`var<workgroup> staged: array<array<array<vec4f, ${WIDTH}>, ${2 * STEP}>, 16>;`);
}

/**
 * Declares a thread's position and sums. 16 threads compute the products for one position of the square, each of them 8
 * × 8: pairs and fours of neighbours read the same vectors.
 */
export function declareSums(w: ShaderWriter): void {
  w.line("let at = lid / 16; let ty = lid / 2 % 4; let tx = lid % 2 + lid / 8 % 2 * 2;");
  for (const row of ROWS) for (const half of HALVES) w.line(`var s${row}_${half} = vec4f();`);
}

/**
 * Accumulates the products of a step; the vectors of the k-th are at `place`, which counts from the start of the first
 * half.
 */
export function addProducts(
  w: ShaderWriter,
  place: (vector: string, half: 0 | 1, k: number) => string,
): void {
  for (let k = 0; k < STEP; k++) {
    w.line("{");
    for (const half of HALVES) {
      w.line(`let a${half} = staged[at][${STEP + k}][${place("ty", half, k)}];`);
      w.line(`let b${half} = staged[at][${k}][${place("tx", half, k)}];`);
    }
    for (const row of ROWS) {
      for (const half of HALVES) {
        const sum = `s${row}_${half}`;
        w.line(`${sum} = fma(vec4f(a${row >> 2}.${PARTS[row & 3]}), b${half}, ${sum});`);
      }
    }
    w.line("}");
  }
}

/**
 * Passes the sums of all positions to the threads that transform them, one half of the rows after the other, as memory
 * allows: q0 to q15 are those of a row, lid / 16 of the half, and of two columns, from lid % 16 · 2 on. Ends with a
 * condition that is still open.
 */
export function openResults(w: ShaderWriter, half: 0 | 1, isInside: string): void {
  if (half > 0) w.line("workgroupBarrier();");
  for (const i of FOUR) {
    for (const h of HALVES) {
      w.line(`staged[at][ty * 4 + ${i}][tx + ${h * WIDTH / 2}] = s${4 * half + i}_${h};`);
    }
  }
  w.line("workgroupBarrier();");
  w.line(`if (${isInside}) {`);
  for (let p = 0; p < 16; p++) {
    w.line(`let v${p} = staged[${p}][lid / 16][lid % 16 / 2];`);
    w.line(`let q${p} = select(v${p}.xy, v${p}.zw, lid % 2 == 1);`);
  }
}

/** Transforms a square with this many rows, by rows and by columns; writes the results as `name`, row, column. */
export function transformSquare(
  w: ShaderWriter,
  name: string,
  size: 2 | 4,
  { element, by }: {
    readonly element: (line: number, column: number) => string;
    readonly by: (elements: readonly string[]) => readonly string[];
  },
): void {
  const places = FOUR.slice(0, size);
  for (const j of places) {
    by(places.map((i) => element(i, j))).forEach((text, i) => w.line(`let ${name}t${i}${j} = ${text};`));
  }
  const made = by(places.map(String)).length;
  for (let i = 0; i < made; i++) {
    by(places.map((j) => `${name}t${i}${j}`)).forEach((text, j) => w.line(`let ${name}${i}${j} = ${text};`));
  }
}

/** Transforms four elements of a row of an image. */
export const ofImage = ([d0, d1, d2, d3]: readonly string[]): readonly string[] => [
  `${d0} - ${d2}`,
  `${d1} + ${d2}`,
  `${d2} - ${d1}`,
  `${d1} - ${d3}`,
];

/** Transforms four sums into two results. */
export const toResults = ([m0, m1, m2, m3]: readonly string[]): readonly string[] => [
  `${m0} + ${m1} + ${m2}`,
  `${m1} - ${m2} - ${m3}`,
];

/** Transforms the gradients of two results: the transpose of `toResults`. */
export const ofResults = ([d0, d1]: readonly string[]): readonly string[] => [
  `${d0}`,
  `${d0} + ${d1}`,
  `${d0} - ${d1}`,
  `-${d1}`,
];

/** Transforms four sums into the gradients of three taps. */
export const toTaps = ([u0, u1, u2, u3]: readonly string[]): readonly string[] => [
  `${u0} + (${u1} + ${u2}) * 0.5`,
  `(${u1} - ${u2}) * 0.5`,
  `(${u1} + ${u2}) * 0.5 + ${u3}`,
];
