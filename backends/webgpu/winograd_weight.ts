/**
 * Gradients of 3 × 3 filters of stride-1 convolutions as products of transforms, the transpose of winograd.ts. A
 * workgroup computes the filters of 32 output channels by 32 input channels: it iterates over squares of 2 × 2 results,
 * transforms these and their 4 × 4 input squares, and multiplies them elementwise. Invariant: elements outside images
 * count as zero.
 */
import type { BufferView } from "../../lib/loops/ir.ts";
import { ceilDiv, mul } from "../../lib/sym/expr.ts";
import { openMain, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { WINOGRAD } from "./target.ts";
import type { TileResult } from "./tile_product.ts";
import { placeWorkgroup } from "./tiles.ts";
import {
  addProducts,
  declareStage,
  declareSums,
  FOUR,
  HALVES,
  ofImage,
  ofResults,
  openResults,
  PARTS,
  toTaps,
  transformSquare,
  WIDTH,
} from "./winograd_tiles.ts";

const { side: SIDE, step: STEP, threads: THREADS } = WINOGRAD;

/** The gradient of a filter. */
export interface WeightJob {
  readonly grad: BufferView;
  readonly input: BufferView;
  readonly padding: readonly [number, number];
  /** Number of parts into which sums are split. */
  readonly splits: number;
  readonly load: (view: BufferView, place: string) => string;
  /** Results by channel, and by channel of images and tap. */
  readonly result: TileResult;
}

/** Writes the whole shader of such a gradient. */
export function printWinogradWeight(w: ShaderWriter, job: WeightJob): WorkgroupCount {
  const { grad, input, padding, splits, load, result } = job;
  const [images = 1, channels = 1, height = 1, width = 1] = grad.shape, [, inputs = 1] = input.shape;
  const tall = ceilDiv(height, 2), wide = ceilDiv(width, 2), count = mul(images, mul(tall, wide));
  declareStage(w);
  openMain(w, THREADS);
  const sizes = { batch: [], rows: channels, columns: inputs, depth: count, splits, prepare() {} };
  const workgroups = placeWorkgroup(w, sizes, { rows: SIDE, columns: SIDE }, STEP);
  // A thread stages a square of one channel of the image, and the results of one channel that read it
  w.line(`let lid = i32(lane); let square = lid % ${STEP}; let channel = lid / ${STEP};`);
  const views = [
    { name: "e", view: input, channel: "column0 + channel", end: "columns", size: 4, lead: padding },
    { name: "g", view: grad, channel: "row0 + channel", end: "rows", size: 2, lead: [0, 0] },
  ] as const;
  for (const { name, view, channel, size } of views) {
    w.line(
      `let base_${name} = ${w.index(view.offset)} + (${channel}) * ${w.index(view.strides[1] ?? 0)};`,
    );
    for (const i of FOUR.slice(0, size)) {
      for (const j of FOUR.slice(0, size)) w.line(`var ${name}${i}${j} = 0.0;`);
    }
  }
  declareSums(w);
  const fetch = (from: string) => {
    w.line(`{ let at = ${from} + square; let line = at / ${w.index(wide)};`);
    w.line(`let image = line / ${w.index(tall)};`);
    w.line(`let y = line % ${w.index(tall)} * 2; let x = at % ${w.index(wide)} * 2;`);
    for (const { name, view, channel, end, size, lead: [py, px] } of views) {
      const [ofImage = 0, , line = 0, step = 0] = view.strides, [, , tall = 1, wide = 1] = view.shape;
      const places = FOUR.slice(0, size);
      w.line(`let y_${name} = y - ${py}; let x_${name} = x - ${px};`);
      w.line(
        `let at_${name} = base_${name} + image * ${w.index(ofImage)} + y_${name} * ${w.index(line)} + ` +
          `x_${name} * ${w.index(step)};`,
      );
      for (const i of places) {
        w.line(
          `let ${name}_y${i} = u32(y_${name} + ${i}) < u32(${w.index(tall)}) && at < to_depth && ` +
            `${channel} < ${end}; let ${name}_x${i} = u32(x_${name} + ${i}) < u32(${w.index(wide)});`,
        );
      }
      for (const i of places) {
        for (const j of places) {
          const text = load(view, `at_${name} + ${i} * ${w.index(line)} + ${j} * ${w.index(step)}`);
          w.line(`${name}${i}${j} = select(0.0, ${text}, ${name}_y${i} && ${name}_x${j});`);
        }
      }
    }
    w.line("}");
  };
  fetch("from_depth");
  w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${STEP}) {`);
  // Vectors are rotated from square to square, so that threads with neighbouring squares use different banks of memory
  w.line(`{ let vector = (channel / 4 + square) % ${WIDTH}; let part = channel % 4;`);
  const put = (name: string, line: string) => {
    for (const i of FOUR) {
      for (const j of FOUR) w.line(`staged[${4 * i + j}][${line}][vector][part] = ${name}${i}${j};`);
    }
  };
  transformSquare(w, "v", 4, { element: (i, j) => `e${i}${j}`, by: ofImage });
  put("v", "square");
  transformSquare(w, "d", 2, { element: (i, j) => `g${i}${j}`, by: ofResults });
  put("d", `${STEP} + square`);
  w.line("}");
  w.line("workgroupBarrier();");
  // The next elements are in flight while products of the previous ones are computed
  w.line(`if (k0 + ${STEP} < to_depth) {`);
  fetch(`(k0 + ${STEP})`);
  w.line("}");
  addProducts(w, (vector, half, k) => `(${vector} + ${(half * WIDTH / 2 + k) % WIDTH}) % ${WIDTH}`);
  w.line("workgroupBarrier();");
  w.line("}");
  w.line("let pair = column0 + lid % 16 * 2;");
  for (const half of HALVES) {
    const row = `r${half}`;
    w.line(`let ${row} = row0 + lid / 16 + ${half * SIDE / 2};`);
    openResults(w, half, `${row} < rows`);
    result.row(row, row);
    transformSquare(w, "o", 4, { element: (i, j) => `q${4 * i + j}`, by: toTaps });
    for (const c of HALVES) {
      w.line(`if (pair + ${c} < columns) {`);
      for (let tap = 0; tap < 9; tap++) {
        const column = `tap${tap}`, value = `o${Math.floor(tap / 3)}${tap % 3}.${PARTS[c]}`;
        w.line(`let ${column} = (pair + ${c}) * 9 + ${tap};`);
        result.column(column, column);
        result.store({ row, column, value });
      }
      w.line("}");
    }
    w.line("}");
  }
  w.line("}");
  return workgroups;
}
