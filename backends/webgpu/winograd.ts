/**
 * Stride-1 convolutions of 3 × 3 filters as products of transforms (Winograd 1980, Lavin and Gray 2016: F(2×2, 3×3)):
 * four results of a channel take sixteen products instead of thirty-six. The filter is already transformed. A
 * workgroup computes 32 or 64 channels of 32 squares of 2 × 2 results, in steps of eight input channels: it transforms
 * their 4 × 4 input squares, multiplies sixteen pairs of matrices, one for each place of a square, and transforms the
 * products back. Invariant: elements outside images count as zero, and results outside are never written.
 */
import { ceilDiv, type Dim, mul } from "../../lib/sym/expr.ts";
import type { PatchJob } from "./patches.ts";
import { openMain, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { WINOGRAD } from "./target.ts";
import { placeWorkgroup } from "./tiles.ts";

const { squares: SQUARES, step: STEP, threads: THREADS } = WINOGRAD;
const FOUR = [0, 1, 2, 3] as const, PARTS = ["x", "y", "z", "w"] as const, HALVES = [0, 1] as const;
/** Vectors of four squares. */
const WIDTH = SQUARES / 4;
/** Channels whose sums go through the workgroup's memory at once, four of each thread. */
const ROUND = 16;

/** Writes the whole shader of such a convolution, in workgroups of so many channels. */
export function printWinograd(w: ShaderWriter, job: PatchJob, channels: 32 | 64): WorkgroupCount {
  const { input, out, place, result } = job, { storeFour } = result, rounds = channels / ROUND;
  const [images = 1, all = 1, height = 1, width = 1] = out.shape;
  // Two adjacent squares are written together: rows of squares are whole pairs
  const tall = ceilDiv(height, 2), wide = mul(ceilDiv(width, 4), 2);
  const lines = STEP * (1 + channels / SQUARES);
  w.line(`var<workgroup> staged: array<array<array<vec4f, ${WIDTH}>, ${lines}>, 16>;`);
  openMain(w, THREADS);
  const count = mul(images, mul(tall, wide)), depth = input.shape[1] ?? 1;
  const grid = { batch: [], rows: count, columns: all, depth, splits: 1, prepare() {} };
  const workgroups = placeWorkgroup(w, grid, { rows: SQUARES, columns: channels }, STEP);
  w.line("let lid = i32(lane);");
  const stage = new Stage(w, job, { tall, wide, channels });
  stage.prepare();
  // 16 threads compute the products for one place of the square: pairs and fours of neighbours read the same vectors
  w.line("let at = lid / 16; let ty = lid / 2 % 4; let tx = lid % 2 + lid / 8 % 2 * 2;");
  const rows = Array.from({ length: channels / 4 }, (_, row) => row);
  for (const row of rows) for (const half of HALVES) w.line(`var s${row}_${half} = vec4f();`);
  stage.fetch("from_depth");
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${STEP}) {`);
  stage.put();
  w.line("workgroupBarrier();");
  // The next elements are in flight while products of the previous ones are computed
  w.line(`if (k0 + ${STEP} < to_depth) {`);
  stage.fetch(`(k0 + ${STEP})`);
  w.line("}");
  for (let k = 0; k < STEP; k++) {
    w.line("{");
    for (let round = 0; round < rounds; round++) {
      const line = STEP + k * channels / SQUARES + (round >> 1);
      w.line(`let a${round} = staged[at][${line}][ty + ${(round & 1) * WIDTH / 2}];`);
    }
    for (const half of HALVES) w.line(`let b${half} = staged[at][${k}][tx + ${half * WIDTH / 2}];`);
    for (const row of rows) {
      for (const half of HALVES) {
        const sum = `s${row}_${half}`;
        w.line(`${sum} = fma(vec4f(a${row >> 2}.${PARTS[row & 3]}), b${half}, ${sum});`);
      }
    }
    w.line("}");
  }
  w.line("workgroupBarrier();");
  w.line("}");
  w.line("let pair = row0 + lid % 16 * 2;");
  w.line(`let x = (pair % ${w.index(wide)}) * 2; let line = pair / ${w.index(wide)};`);
  w.line(`let y = (line % ${w.index(tall)}) * 2; let image = line / ${w.index(tall)};`);
  const lanes = storeFour ? [0] : FOUR;
  for (const i of HALVES) {
    for (const j of lanes) place({ image: "image", y: `y + ${i}`, x: `x + ${j}` }, `c${i}${j}`);
  }
  for (let round = 0; round < rounds; round++) {
    const row = `r${round}`;
    w.line(`let ${row} = column0 + lid / 16 + ${round * ROUND};`);
    openResults(w, round, `${row} < columns && pair < rows`);
    result.row(row, row);
    transformSquare(w, "o", { element: (i, j) => `q${4 * i + j}`, by: toResults });
    for (const i of HALVES) {
      w.line(`let o${i} = vec4f(o${i}0.x, o${i}1.x, o${i}0.y, o${i}1.y);`);
      w.line(`if (y + ${i} < ${w.index(height)}) {`);
      for (const j of lanes) {
        w.line(`if (x + ${j} < ${w.index(width)}) {`);
        const at = { row, column: `c${i}${j}` };
        if (storeFour) storeFour({ ...at, value: `o${i}` });
        else result.store({ ...at, value: `o${i}.${PARTS[j]}` });
        w.line("}");
      }
      w.line("}");
    }
    w.line("}");
  }
  w.line("}");
  return workgroups;
}

/**
 * Passes sums of all places to the threads that transform them, those of sixteen channels at a time, as memory allows:
 * q0 to q15 are those of channel lid / 16 and of two squares, from lid % 16 · 2 on. Ends with a condition that is still
 * open.
 */
function openResults(w: ShaderWriter, round: number, isInside: string): void {
  if (round > 0) w.line("workgroupBarrier();");
  for (const i of FOUR) {
    for (const half of HALVES) {
      w.line(`staged[at][ty * 4 + ${i}][tx + ${half * WIDTH / 2}] = s${4 * round + i}_${half};`);
    }
  }
  w.line("workgroupBarrier();");
  w.line(`if (${isInside}) {`);
  for (let p = 0; p < 16; p++) {
    w.line(`let v${p} = staged[${p}][lid / 16][lid % 16 / 2];`);
    w.line(`let q${p} = select(v${p}.xy, v${p}.zw, lid % 2 == 1);`);
  }
}

/** Transforms a square of 4 × 4, by columns and by rows; writes the results as `name`, row, column. */
function transformSquare(
  w: ShaderWriter,
  name: string,
  { element, by }: {
    readonly element: (line: number, column: number) => string;
    readonly by: (elements: readonly string[]) => readonly string[];
  },
): void {
  for (const j of FOUR) {
    by(FOUR.map((i) => element(i, j))).forEach((text, i) => w.line(`let ${name}t${i}${j} = ${text};`));
  }
  by(FOUR.map(String)).forEach((_, i) => {
    by(FOUR.map((j) => `${name}t${i}${j}`)).forEach((text, j) => w.line(`let ${name}${i}${j} = ${text};`));
  });
}

/** Transforms four elements of a row of an image. */
const ofImage = ([d0, d1, d2, d3]: readonly string[]): readonly string[] => [
  `${d0} - ${d2}`,
  `${d1} + ${d2}`,
  `${d2} - ${d1}`,
  `${d1} - ${d3}`,
];

/** Transforms four sums into two results. */
const toResults = ([m0, m1, m2, m3]: readonly string[]): readonly string[] => [
  `${m0} + ${m1} + ${m2}`,
  `${m1} - ${m2} - ${m3}`,
];

/** Stages the operands of a workgroup's products: squares of images before vectors of filters, for each channel. */
class Stage {
  readonly #isWhole: boolean;
  /** Vectors of four channels, and those of filters that a thread stages at once. */
  readonly #across: number;
  readonly #filters: readonly number[];

  constructor(
    readonly w: ShaderWriter,
    readonly job: PatchJob,
    readonly setting: { readonly tall: Dim; readonly wide: Dim; readonly channels: 32 | 64 },
  ) {
    const [, depth] = job.input.shape;
    this.#isWhole = typeof depth === "number" && depth % STEP === 0;
    this.#across = setting.channels / 4;
    this.#filters = Array.from({ length: 16 * STEP * this.#across / THREADS }, (_, i) => i);
  }

  /** How many places of a square lie between two vectors of filters that a thread stages. */
  get #apart(): number {
    return THREADS / this.#across / STEP;
  }

  /** A thread stages a square of one channel of the image, and some vectors of filters. */
  prepare(): void {
    const { w, job: { input, weight, padding: [py, px] }, setting: { tall, wide } } = this;
    const [ofImage = 0, , line = 0, step = 0] = input.strides, [, , height = 1, width = 1] = input.shape;
    w.line(`let square = lid % ${SQUARES}; let channel = lid / ${SQUARES};`);
    w.line(`let at_x = ((row0 + square) % ${w.index(wide)}) * 2 - ${px};`);
    w.line(`let at_line = (row0 + square) / ${w.index(wide)};`);
    w.line(`let at_y = (at_line % ${w.index(tall)}) * 2 - ${py};`);
    w.line(
      `let at_square = ${w.index(input.offset)} + at_line / ${w.index(tall)} * ${w.index(ofImage)} + ` +
        `at_y * ${w.index(line)} + at_x * ${w.index(step)};`,
    );
    for (const i of FOUR) {
      w.line(`let in_y${i} = u32(at_y + ${i}) < u32(${w.index(height)}) && row0 + square < rows;`);
      w.line(`let in_x${i} = u32(at_x + ${i}) < u32(${w.index(width)});`);
      for (const j of FOUR) w.line(`var e${i}${j} = 0.0;`);
    }
    const [, of = 0, , place = 0] = weight.strides;
    w.line(`let first = column0 + lid % ${this.#across} * 4; let inner = lid / ${this.#across} % ${STEP};`);
    w.line(
      `let at_first = ${w.index(weight.offset)} + first + inner * ${w.index(of)} + ` +
        `lid / ${this.#across * STEP} * ${w.index(place)};`,
    );
    for (const i of this.#filters) w.line(`var f${i} = vec4f();`);
  }

  fetch(from: string): void {
    const { w, job: { input, load } } = this;
    const [, plane = 0, line = 0, step = 0] = input.strides;
    w.line(`{ let base = at_square + (${from} + channel) * ${w.index(plane)};`);
    if (!this.#isWhole) w.line(`let isThere = ${from} + channel < to_depth;`);
    for (const i of FOUR) {
      for (const j of FOUR) {
        const inside = [`in_y${i}`, `in_x${j}`, ...this.#isWhole ? [] : ["isThere"]].join(" && ");
        const at = `base + ${i} * ${w.index(line)} + ${j} * ${w.index(step)}`;
        w.line(`e${i}${j} = select(0.0, ${load(input, at)}, ${inside});`);
      }
    }
    w.line("}");
    this.#fetchFilters(from);
  }

  #fetchFilters(from: string): void {
    const { w, job: { weight, load, loadFour } } = this;
    const [rows = 1] = weight.shape, [, of = 0, , place = 0] = weight.strides;
    const isFull = typeof rows === "number" && rows % this.setting.channels === 0;
    for (const i of this.#filters) {
      const at = `at_first + ${from} * ${w.index(of)} + ${i * this.#apart} * ${w.index(place)}`;
      const guarded = (text: string, zero: string, column: string) => {
        const inside = [
          ...isFull ? [] : [`${column} < columns`],
          ...this.#isWhole ? [] : [`${from} + inner < to_depth`],
        ];
        return inside.length === 0 ? text : `select(${zero}, ${text}, ${inside.join(" && ")})`;
      };
      if (loadFour) w.line(`f${i} = ${guarded(loadFour(weight, at), "vec4f()", "first")};`);
      else {
        const parts = FOUR.map((j) => guarded(load(weight, `${at} + ${j}`), "0.0", `first + ${j}`));
        w.line(`f${i} = vec4f(${parts.join(", ")});`);
      }
    }
  }

  /** Writes transforms of squares, and filters, to workgroup memory. */
  put(): void {
    const { w } = this;
    w.line("{");
    transformSquare(w, "v", { element: (i, j) => `e${i}${j}`, by: ofImage });
    for (const i of FOUR) {
      for (const j of FOUR) w.line(`staged[${4 * i + j}][channel][square / 4][square % 4] = v${i}${j};`);
    }
    const lines = this.setting.channels / SQUARES, across = this.#across;
    const line = `${STEP} + inner * ${lines} + lid % ${across} / ${WIDTH}`;
    for (const i of this.#filters) {
      const place = `lid / ${across * STEP} + ${i * this.#apart}`;
      w.line(`staged[${place}][${line}][lid % ${WIDTH}] = f${i};`);
    }
    w.line("}");
  }
}
