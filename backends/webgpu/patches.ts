/**
 * Convolutions with stride 1 as sums over patches of images: a workgroup stages patches of some channels with the
 * corresponding taps, and computes 64 output channels at eight runs of positions. A thread computes eight channels of
 * one run: for each row of taps it reads a run and its ends once. Invariant: elements outside images count as zero, and
 * results outside are never written.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { BufferView } from "../../lib/loops/ir.ts";
import { ceilDiv, type Dim, mul } from "../../lib/sym/expr.ts";
import { openMain, placeThreads, type WorkgroupCount } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { type Patch, PATCHES } from "./target.ts";
import type { TileResult } from "./tile_stage.ts";
import { placeWorkgroup } from "./tiles.ts";

const { rows: ROWS, runs: RUNS, run: RUN, threads: THREADS } = PATCHES;
/** Vectors of four channels of results. */
const WIDTH = ROWS / 4;
const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];
/** Channels of a thread, two times four, and halves of its run. */
const ROWS_OF_THREAD = [0, 1, 2, 3, 4, 5, 6, 7], HALVES = [0, 1];

/** A convolution whose filter is laid out by taps. */
export interface PatchJob {
  readonly input: BufferView;
  readonly weight: BufferView;
  readonly out: BufferView;
  readonly padding: readonly [number, number];
  readonly load: (view: BufferView, place: string) => string;
  /** Loads four elements from a multiple of four on; absent if filters are read one element at a time. */
  readonly loadFour?: ((view: BufferView, place: string) => string) | undefined;
  /** Declares a position of the results. */
  readonly place: (
    at: { readonly image: string; readonly y: string; readonly x: string },
    as: string,
  ) => void;
  readonly result: TileResult;
}

/** Writes the whole shader of such a convolution. */
export function printPatches(w: ShaderWriter, job: PatchJob, patch: Patch): WorkgroupCount {
  return new PatchPrinter(w, job, patch).print();
}

class PatchPrinter {
  readonly #channels: Dim;
  readonly #lines: number;
  readonly #steps: number;
  /** Rows of runs in a patch, and vectors of each including its ends. */
  readonly #staged: number;
  readonly #vectors: number;

  constructor(readonly w: ShaderWriter, readonly job: PatchJob, readonly patch: Patch) {
    const [, channels = 1, lines, steps] = job.weight.shape;
    if (typeof lines !== "number" || typeof steps !== "number") {
      throw new InternalError("Expected a filter whose taps are known");
    }
    this.#channels = channels;
    [this.#lines, this.#steps] = [lines, steps];
    this.#staged = (patch.down + lines - 1) * patch.across;
    this.#vectors = Math.ceil((RUN + steps - 1) / 4);
  }

  print(): WorkgroupCount {
    const { w, job, patch: { channels, across, down } } = this, [, rows = 1] = job.out.shape;
    const { count, tall, wide } = this.#tiles();
    w.line(
      `var<workgroup> places: array<array<array<vec4f, ${this.#vectors}>, ${this.#staged}>, ${channels}>;`,
    );
    w.line(`var<workgroup> taps: array<array<array<vec4f, ${WIDTH}>, ${this.#taps}>, ${channels}>;`);
    openMain(w, THREADS);
    const columns = mul(count, THREADS), side = { rows: ROWS, columns: THREADS };
    const depth = { depth: this.#channels, splits: 1, prepare() {} };
    const workgroups = placeWorkgroup(w, { ...depth, batch: [], rows, columns }, side, channels);
    placeThreads(w, RUNS);
    w.line(`var tile = column0 / ${THREADS};`);
    w.line(`let left = (tile % ${w.index(wide)}) * ${RUN * across}; tile = tile / ${w.index(wide)};`);
    w.line(`let top = (tile % ${w.index(tall)}) * ${down}; let image = tile / ${w.index(tall)};`);
    for (const row of ROWS_OF_THREAD) for (const half of HALVES) w.line(`var s${row}_${half} = vec4f();`);
    this.#prepare();
    this.#fetch("from_depth");
    w.line(`for (var k0 = from_depth; k0 < to_depth; k0 = k0 + ${channels}) {`);
    this.#put();
    w.line("workgroupBarrier();");
    // The next elements are in flight while products of the previous ones are computed
    w.line(`if (k0 + ${channels} < to_depth) {`);
    this.#fetch(`(k0 + ${channels})`);
    w.line("}");
    w.line(`for (var c = 0; c < ${channels}; c = c + 1) {`);
    this.#products();
    w.line("}");
    w.line("workgroupBarrier();");
    w.line("}");
    this.#store();
    w.line("}");
    return workgroups;
  }

  /** Patches of all images, vertically and horizontally. */
  #tiles(): { readonly count: Dim; readonly tall: Dim; readonly wide: Dim } {
    const { job: { out }, patch: { across, down } } = this, [images = 1, , height = 1, width = 1] = out.shape;
    const tall = ceilDiv(height, down), wide = ceilDiv(width, RUN * across);
    return { count: mul(images, mul(tall, wide)), tall, wide };
  }

  get #taps(): number {
    return this.#lines * this.#steps;
  }

  /** Elements of a patch that a thread stages for each channel, and vectors of taps for all channels. */
  get #elements(): readonly number[] {
    return Array.from({ length: Math.ceil(this.#staged * this.#vectors * 4 / THREADS) }, (_, i) => i);
  }

  get #filters(): readonly number[] {
    const { channels } = this.patch;
    return Array.from({ length: Math.ceil(channels * this.#taps * WIDTH / THREADS) }, (_, i) => i);
  }

  /** Writes the offsets of the elements, and conditions for them to be inside. */
  #prepare(): void {
    const { w, job: { input, padding: [py, px], weight }, patch: { across, channels } } = this;
    const [ofImage = 0, , line = 0, step = 0] = input.strides, [, , height = 1, width = 1] = input.shape;
    const wide = 4 * this.#vectors;
    for (const i of this.#elements) {
      w.line(`let slot${i} = lid + ${i * THREADS};`);
      w.line(`let line${i} = slot${i} / ${wide};`);
      w.line(`let y${i} = top + line${i} / ${across} - ${py};`);
      w.line(`let x${i} = left + (line${i} % ${across}) * ${RUN} + slot${i} % ${wide} - ${px};`);
      w.line(`let in${i} = u32(y${i}) < u32(${w.index(height)}) && u32(x${i}) < u32(${w.index(width)});`);
      w.line(
        `let at${i} = ${w.index(input.offset)} + image * ${w.index(ofImage)} + y${i} * ${w.index(line)} + ` +
          `x${i} * ${w.index(step)};`,
      );
      for (let c = 0; c < channels; c++) w.line(`var e${c}_${i} = 0.0;`);
    }
    w.line(`let first = row0 + (lid % ${WIDTH}) * 4;`);
    w.line(`let at_first = ${w.index(weight.offset)} + first;`);
    for (const i of this.#filters) w.line(`var f${i} = vec4f();`);
  }

  #fetch(from: string): void {
    const { w, job: { input, weight, load, loadFour }, patch: { channels } } = this;
    const isWhole = typeof this.#channels === "number" && this.#channels % channels === 0;
    const plane = w.index(input.strides[1] ?? 0);
    for (let c = 0; c < channels; c++) {
      w.line(`{ let base = (${from} + ${c}) * ${plane};`);
      for (const i of this.#elements) {
        const inside = [`in${i}`, ...isWhole ? [] : [`${from} + ${c} < to_depth`]].join(" && ");
        w.line(`e${c}_${i} = select(0.0, ${load(input, `at${i} + base`)}, ${inside});`);
      }
      w.line("}");
    }
    const rows = weight.shape[0] ?? 1, isFull = typeof rows === "number" && rows % ROWS === 0;
    for (const i of this.#filters) {
      w.line(
        `{ let k = lid / ${WIDTH} + ${
          i * THREADS / WIDTH
        }; let at = at_first + (${from} * ${this.#taps} + k) * ${w.index(rows)};`,
      );
      const deep = isWhole ? [] : [`${from} + k / ${this.#taps} < to_depth`];
      const last = (i + 1) * THREADS / WIDTH > channels * this.#taps ? [`k < ${channels * this.#taps}`] : [];
      const guarded = (text: string, zero: string, more: readonly string[]) => {
        const inside = [...last, ...deep, ...more];
        return inside.length === 0 ? text : `select(${zero}, ${text}, ${inside.join(" && ")})`;
      };
      if (loadFour) {
        w.line(`f${i} = ${guarded(loadFour(weight, "at"), "vec4f()", isFull ? [] : ["first < rows"])};`);
      } else {
        const parts = FOUR.map((j) =>
          guarded(load(weight, `at + ${j}`), "0.0", isFull ? [] : [`first + ${j} < rows`])
        );
        w.line(`f${i} = vec4f(${parts.join(", ")});`);
      }
      w.line("}");
    }
  }

  #put(): void {
    const { w, patch: { channels } } = this, wide = 4 * this.#vectors, slots = this.#staged * wide;
    for (const i of this.#elements) {
      const isPartly = (i + 1) * THREADS > slots;
      w.line(isPartly ? `if (slot${i} < ${slots}) {` : "{");
      w.line(`let column = slot${i} % ${wide};`);
      for (let c = 0; c < channels; c++) {
        w.line(`places[${c}][line${i}][column / 4][column % 4] = e${c}_${i};`);
      }
      w.line("}");
    }
    for (const i of this.#filters) {
      const isPartly = (i + 1) * THREADS / WIDTH > channels * this.#taps;
      w.line(`{ let k = lid / ${WIDTH} + ${i * THREADS / WIDTH};`);
      if (isPartly) w.line(`if (k < ${channels * this.#taps}) {`);
      w.line(`taps[k / ${this.#taps}][k % ${this.#taps}][lid % ${WIDTH}] = f${i};`);
      if (isPartly) w.line("}");
      w.line("}");
    }
  }

  /** Accumulates the products of one channel of the patch. */
  #products(): void {
    const { w, patch: { across } } = this;
    for (let line = 0; line < this.#lines; line++) {
      w.line("{");
      for (let v = 0; v < this.#vectors; v++) w.line(`let b${v} = places[c][tx + ${line * across}][${v}];`);
      for (let step = 0; step < this.#steps; step++) {
        const tap = line * this.#steps + step;
        const element = (j: number) => `b${(step + j) >> 2}.${PARTS[(step + j) & 3]}`;
        w.line("{");
        for (const half of HALVES) w.line(`let a${half} = taps[c][${tap}][ty + ${half * WIDTH / 2}];`);
        for (const half of HALVES) {
          w.line(`let w${half} = vec4f(${FOUR.map((j) => element(4 * half + j)).join(", ")});`);
        }
        for (const row of ROWS_OF_THREAD) {
          for (const half of HALVES) {
            const sum = `s${row}_${half}`;
            w.line(`${sum} = fma(vec4f(a${row >> 2}.${PARTS[row & 3]}), w${half}, ${sum});`);
          }
        }
        w.line("}");
      }
      w.line("}");
    }
  }

  #store(): void {
    const { w, job: { result, place, out }, patch: { across } } = this, { storeFour } = result;
    const [, , height = 1, width = 1] = out.shape;
    w.line(`let y = top + tx / ${across}; if (y < ${w.index(height)}) {`);
    w.line(`let x = left + (tx % ${across}) * ${RUN};`);
    const places = HALVES.flatMap((half) =>
      (storeFour ? [0] : FOUR).map((j) => ({ half, j, at: 4 * half + j, name: `c${4 * half + j}` }))
    );
    for (const { at, name } of places) place({ image: "image", y: "y", x: `x + ${at}` }, name);
    for (const row of ROWS_OF_THREAD) {
      const name = `r${row}`;
      w.line(`let ${name} = row0 + (ty + ${(row >> 2) * WIDTH / 2}) * 4 + ${row & 3}; if (${name} < rows) {`);
      result.row(name, name);
      for (const { half, j, at, name: column } of places) {
        w.line(`if (x + ${at} < ${w.index(width)}) {`);
        const value = `s${row}_${half}`;
        if (storeFour) storeFour({ row: name, column, value });
        else result.store({ row: name, column, value: `${value}.${PARTS[j]}` });
        w.line("}");
      }
      w.line("}");
    }
    w.line("}");
  }
}
