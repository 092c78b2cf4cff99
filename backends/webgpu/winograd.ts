/**
 * Stride-1 convolutions of 3 × 3 filters as products of transforms (Winograd 1980, Lavin and Gray 2016: F(2×2, 3×3)):
 * four results of a channel take sixteen products instead of thirty-six. The filter is already transformed. A
 * workgroup computes 32 channels of 32 squares of 2 × 2 results: it transforms their 4 × 4 input squares, multiplies
 * sixteen pairs of matrices, one for each place of a square, and transforms the products back. Invariant: elements
 * outside images count as zero, and results outside are never written.
 */
import { ceilDiv, type Dim, mul } from "../../lib/sym/expr.ts";
import type { PatchJob } from "./patches.ts";
import { openMain, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { WINOGRAD } from "./target.ts";
import { placeWorkgroup } from "./tiles.ts";
import {
  addProducts,
  declareStage,
  declareSums,
  FOUR,
  HALVES,
  ofImage,
  openResults,
  PARTS,
  toResults,
  transformSquare,
  WIDTH,
} from "./winograd_tiles.ts";

const { side: SIDE, step: STEP, threads: THREADS } = WINOGRAD;
/** Vectors of filters that a thread stages at once. */
const FILTERS = Array.from({ length: 16 * STEP * WIDTH / THREADS }, (_, i) => i);

/** Writes the whole shader of such a convolution. */
export function printWinograd(w: ShaderWriter, job: PatchJob): WorkgroupCount {
  const { input, out, place, result } = job, { storeFour } = result;
  const [images = 1, channels = 1, height = 1, width = 1] = out.shape;
  // Two adjacent squares are written together: rows of squares are whole pairs
  const tall = ceilDiv(height, 2), wide = mul(ceilDiv(width, 4), 2);
  declareStage(w);
  openMain(w, THREADS);
  const count = mul(images, mul(tall, wide)), depth = input.shape[1] ?? 1;
  const grid = { batch: [], rows: count, columns: channels, depth, splits: 1, prepare() {} };
  const workgroups = placeWorkgroup(w, grid, { rows: SIDE, columns: SIDE }, STEP);
  w.line("let lid = i32(lane);");
  const stage = new Stage(w, job, { tall, wide });
  stage.prepare();
  declareSums(w);
  stage.fetch("from_depth");
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${STEP}) {`);
  stage.put();
  w.line("workgroupBarrier();");
  // The next elements are in flight while products of the previous ones are computed
  w.line(`if (k0 + ${STEP} < to_depth) {`);
  stage.fetch(`(k0 + ${STEP})`);
  w.line("}");
  addProducts(w, (vector, half) => `${vector} + ${half * WIDTH / 2}`);
  w.line("workgroupBarrier();");
  w.line("}");
  w.line("let pair = row0 + lid % 16 * 2;");
  w.line(`let x = (pair % ${w.index(wide)}) * 2; let line = pair / ${w.index(wide)};`);
  w.line(`let y = (line % ${w.index(tall)}) * 2; let image = line / ${w.index(tall)};`);
  const lanes = storeFour ? [0] : FOUR;
  for (const i of HALVES) {
    for (const j of lanes) place({ image: "image", y: `y + ${i}`, x: `x + ${j}` }, `c${i}${j}`);
  }
  for (const half of HALVES) {
    const row = `r${half}`;
    w.line(`let ${row} = column0 + lid / 16 + ${half * SIDE / 2};`);
    openResults(w, half, `${row} < columns && pair < rows`);
    result.row(row, row);
    transformSquare(w, "o", 4, { element: (i, j) => `q${4 * i + j}`, by: toResults });
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

/** Stages the operands of a workgroup's products: squares of images before vectors of filters, for each channel. */
class Stage {
  readonly #isWhole: boolean;

  constructor(
    readonly w: ShaderWriter,
    readonly job: PatchJob,
    readonly squares: { readonly tall: Dim; readonly wide: Dim },
  ) {
    const [, channels] = job.input.shape;
    this.#isWhole = typeof channels === "number" && channels % STEP === 0;
  }

  /** A thread stages a square of one channel of the image, and four vectors of filters. */
  prepare(): void {
    const { w, job: { input, weight, padding: [py, px] }, squares: { tall, wide } } = this;
    const [ofImage = 0, , line = 0, step = 0] = input.strides, [, , height = 1, width = 1] = input.shape;
    w.line(`let square = lid % ${SIDE}; let channel = lid / ${SIDE};`);
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
    w.line(`let first = column0 + lid % ${WIDTH} * 4; let inner = lid / ${WIDTH} % ${STEP};`);
    w.line(
      `let at_first = ${w.index(weight.offset)} + first + inner * ${w.index(of)} + ` +
        `lid / ${WIDTH * STEP} * ${w.index(place)};`,
    );
    for (const i of FILTERS) w.line(`var f${i} = vec4f();`);
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
    const isFull = typeof rows === "number" && rows % SIDE === 0;
    for (const i of FILTERS) {
      const at = `at_first + ${from} * ${w.index(of)} + ${i * THREADS / WIDTH / STEP} * ${w.index(place)}`;
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
    transformSquare(w, "v", 4, { element: (i, j) => `e${i}${j}`, by: ofImage });
    for (const i of FOUR) {
      for (const j of FOUR) w.line(`staged[${4 * i + j}][channel][square / 4][square % 4] = v${i}${j};`);
    }
    for (const i of FILTERS) {
      const place = `lid / ${WIDTH * STEP} + ${i * THREADS / WIDTH / STEP}`;
      w.line(`staged[${place}][${STEP} + inner][lid % ${WIDTH}] = f${i};`);
    }
    w.line("}");
  }
}
