/**
 * Tiles of products whose first operands are computed by the workgroup that needs them (float32); shaders of attention
 * and its gradients are built from them. A workgroup computes a block of rows of results and iterates over the summed
 * dimension, 64 columns at a time: matrix products are computed 16 elements of depth at a time (`product`), and the
 * elements computed from them go through workgroup memory and are multiplied with an operand (`add`). Invariant:
 * elements outside of the matrices count as zero and are never written.
 *
 * A thread computes four rows of products of four columns, and of results of four or eight features: with more, there
 * are too few threads to hide latencies. Operands are staged 16 deep as vectors of four rows, columns or features.
 * Elements are staged as vectors of four rows of a column, rotated from column to column, so that threads that write
 * and threads that read neighbours use different banks of memory.
 */
import type { BufferView } from "../../lib/loops/ir.ts";
import type { Dim } from "../../lib/sym/expr.ts";
import type { Bindings } from "./print/bindings.ts";
import { placeThreads } from "./print/entry.ts";
import type { ShaderWriter } from "./print/statements.ts";
import { ROW_TILES, rowTileVectors } from "./target.ts";

const { rows: ROWS, step: STEP, depth: DEPTH, threads: THREADS } = ROW_TILES;
/** Threads along the columns of a step, or along features, four of each. */
export const ACROSS = STEP / 4;
/** Vectors of four rows of a block. */
const GROUPS = ROWS / 4;
/** Blocks of four by four elements of both operands of a product, at the staged depth. */
const STAGED = DEPTH / 4 * (GROUPS + ACROSS);
export const FOUR = [0, 1, 2, 3] as const, PARTS = ["x", "y", "z", "w"] as const;
/** Vectors of a staged row, including one for padding, so that banks of memory differ. */
const WIDTH = ACROSS + 1;

/** A matrix that a workgroup reads or writes, and the offset of the one of its batch. */
export interface TileOperand {
  readonly view: BufferView;
  readonly base: string;
}

/** A product that computes a tile: the depth is the second dimension of both operands. */
export interface TileProduct {
  /** Its rows are those of the block; those of the other operand are the columns of the iteration. */
  readonly rows: TileOperand;
  readonly columns: TileOperand;
}

interface RowTilesSetting {
  readonly bindings: Bindings;
  /** Maximum number of features of results. */
  readonly features: number;
  /** Columns of elements that go through workgroup memory together: 16, 32, or all. */
  readonly together: number;
  /** Whether buffers are read and written by vectors. */
  readonly inVectors: boolean;
}

/** Returns whether a size is a known multiple. */
export const isWhole = (size: Dim | undefined, by: number): boolean =>
  typeof size === "number" && size % by === 0;

/** A matrix with its dimensions transposed. */
export const swapped = (view: BufferView): BufferView => ({
  ...view,
  shape: [...view.shape.slice(0, -2), ...view.shape.slice(-2).toReversed()],
  strides: [...view.strides.slice(0, -2), ...view.strides.slice(-2).toReversed()],
});

/** Returns whether rows are whole vectors. */
export function isOfVectors({ offset, shape, strides }: BufferView): boolean {
  return strides.at(-1) === 1 && [shape.at(-1), offset, ...strides.slice(0, -1)].every((d) => isWhole(d, 4));
}

/** Four elements, as text: a vector. */
export const vectorOf = (element: (part: typeof PARTS[number], at: number) => string): string =>
  `vec4f(${PARTS.map(element).join(", ")})`;

/**
 * Prints the steps of such shaders, whose text has `row0` and `rows`: the first row of the block, and their number;
 * `first`, `end` and `columns`: the first column of the step, the end of the iteration, and the number of columns;
 * `n0`: the matrix.
 */
export class RowTiles {
  constructor(readonly w: ShaderWriter, readonly setting: RowTilesSetting) {}

  /** Declares workgroup memory. */
  memory(): void {
    const { w } = this, { features, together } = this.setting, { stage } = rowTileVectors(features, together);
    // Arrays of arrays whose first index is constant in products: the runtime checks the second one once for all depths
    w.line(`var<workgroup> stage: array<array<vec4f, ${WIDTH}>, ${stage / WIDTH}>;`);
    w.line(`var<workgroup> made: array<array<array<vec4f, ${GROUPS}>, ${DEPTH}>, ${together / DEPTH}>;`);
  }

  /** Writes the offsets of matrices, and the position of a thread. */
  places(operands: readonly TileOperand[]): void {
    const { w } = this;
    for (const { view, base } of operands) {
      const matrix = view.strides.length > 2 ? ` + n0 * ${w.index(view.strides[0] ?? 0)}` : "";
      w.line(`let ${base} = ${w.index(view.offset)}${matrix};`);
    }
    placeThreads(w, ACROSS);
    const operand = DEPTH * RowTiles.partsOf(this.setting.features).length * ACROSS / THREADS;
    const count = Math.max(4 * Math.ceil(STAGED / THREADS), operand);
    for (let i = 0; i < count; i++) w.line(`var f${i} = vec4f();`);
  }

  /** The row of the block that corresponds to a thread's row. */
  rowOf(row: number): string {
    return `ty * 4 + ${row}`;
  }

  /** Vectors of features of a thread, for this many features. */
  static partsOf(features: number): readonly number[] {
    return Array.from({ length: Math.ceil(features / STEP) }, (_, part) => part);
  }

  /** Declares the rows of a result with this many features: o0_0, o0_1, … after a name. */
  declareSums(name: string, features: number): void {
    for (const row of FOUR) {
      for (const c of RowTiles.partsOf(features)) this.w.line(`var ${name}${row}_${c} = vec4f();`);
    }
  }

  /** Computes the rows of a product, s0, s1, … after a name; `next` fetches what is needed after it. */
  product(product: TileProduct, { into, next }: { readonly into: string; readonly next: () => void }): void {
    const { w } = this;
    const depth = w.index(product.rows.view.shape.at(-1) ?? 1);
    for (const row of FOUR) w.line(`var ${into}${row} = vec4f();`);
    w.line(`for (var k0 = 0; k0 < ${depth}; k0 = k0 + ${DEPTH}) {`);
    this.#putTransposed();
    w.line("workgroupBarrier();");
    // Prefetch the next step while products are computed
    w.line(`if (k0 + ${DEPTH} < ${depth}) {`);
    this.fetchProduct(product, "first", `(k0 + ${DEPTH})`);
    w.line("} else {");
    next();
    w.line("}");
    for (let k = 0; k < DEPTH; k++) {
      // Rows of the block precede the columns, two depths at a time
      w.line("{");
      w.line(`let a = stage[${Math.floor(k * GROUPS / ACROSS)}][${k * GROUPS % ACROSS} + ty];`);
      w.line(`let b = stage[${DEPTH * GROUPS / ACROSS + k}][tx];`);
      for (const row of FOUR) w.line(`${into}${row} = fma(vec4f(a.${PARTS[row]}), b, ${into}${row});`);
      w.line("}");
    }
    w.line("workgroupBarrier();");
    w.line("}");
  }

  /**
   * Assigns threads to blocks of a product's operands, rows of the block before columns: one block of each part that
   * all threads stage together.
   */
  #staged() {
    const rows = DEPTH / 4 * GROUPS;
    const operands = [
      { which: "rows", from: 0, to: rows, start: "row0", end: "rows", side: ROWS },
      { which: "columns", from: rows, to: STAGED, start: "", end: "columns", side: STEP },
    ] as const;
    return Array.from({ length: Math.ceil(STAGED / THREADS) }, (_, part) => part).flatMap((part) =>
      operands.flatMap((operand) => {
        const low = Math.max(operand.from - part * THREADS, 0);
        const high = Math.min(operand.to - part * THREADS, THREADS);
        const conditions = [...low > 0 ? [`lid >= ${low}`] : [], ...high < THREADS ? [`lid < ${high}`] : []];
        const item = `let item = lid + ${part * THREADS - operand.from};`;
        const open = conditions.length > 0 ? `if (${conditions.join(" && ")}) {` : "{";
        return low < high ? [{ ...operand, first: 4 * part, open: `${open} ${item}` }] : [];
      })
    );
  }

  /** Fetches this many elements of depth of the rows of the block, and of the columns of a step. */
  fetchProduct(product: TileProduct, column: string, depth: string): void {
    const { w } = this;
    for (const { which, first, open, start, end, side } of this.#staged()) {
      const { view, base } = product[which], [rows, columns] = view.shape.slice(-2);
      w.line(open);
      w.line(`let at = ${depth} + (item % ${DEPTH / 4}) * 4;`);
      w.line(`let start = ${start || column} + (item / ${DEPTH / 4}) * 4;`);
      for (const i of FOUR) {
        this.#fetch(`f${first + i}`, view, {
          base,
          row: `(start + ${i})`,
          column: "at",
          inside: [
            ...isWhole(rows, side) ? [] : [`start + ${i} < ${end}`],
            ...isWhole(columns, DEPTH) ? [] : [`at < ${w.index(columns ?? 1)}`],
          ],
        });
      }
      w.line("}");
    }
  }

  /** Writes them to workgroup memory, transposed four by four. */
  #putTransposed(): void {
    const { w } = this;
    for (const { which, first, open } of this.#staged()) {
      w.line(open);
      w.line(`let depth0 = (item % ${DEPTH / 4}) * 4; let vector = item / ${DEPTH / 4};`);
      PARTS.forEach((part, i) => {
        const turned = FOUR.map((row) => `f${first + row}.${part}`).join(", "), at = `(depth0 + ${i})`;
        const place = which === "columns"
          ? `[${DEPTH * GROUPS / ACROSS} + ${at}][vector]`
          : `[${at} * ${GROUPS} / ${ACROSS}][${at} * ${GROUPS} % ${ACROSS} + vector]`;
        w.line(`stage${place} = vec4f(${turned});`);
      });
      w.line("}");
    }
  }

  /** Vectors of an operand's rows that a thread stages at once. */
  #parts(operand: TileOperand): { readonly width: number; readonly parts: readonly number[] } {
    const width = RowTiles.partsOf(Number(operand.view.shape.at(-1))).length * ACROSS;
    return { width, parts: Array.from({ length: DEPTH * width / THREADS }, (_, part) => part) };
  }

  /** Fetches as many rows of the operand that elements are multiplied with. */
  fetchOperand(operand: TileOperand, first: string): void {
    const { w } = this, { view, base } = operand, { width, parts } = this.#parts(operand);
    for (const part of parts) {
      w.line("{");
      w.line(`let at = lid + ${part * THREADS}; let row = ${first} + at / ${width};`);
      w.line(`let column = (at % ${width}) * 4;`);
      const [rows, features] = view.shape.slice(-2);
      this.#fetch(`f${part}`, view, {
        base,
        row: "row",
        column: "column",
        inside: [
          ...isWhole(rows, STEP) ? [] : ["row < columns"],
          ...isWhole(features, STEP) ? [] : [`column < ${features}`],
        ],
      });
      w.line("}");
    }
  }

  /** Reads four elements of a row, zeros outside. */
  #fetch(
    into: string,
    view: BufferView,
    { base, row, column, inside }: {
      readonly base: string;
      readonly row: string;
      readonly column: string;
      readonly inside: readonly string[];
    },
  ): void {
    const { w } = this, { bindings, inVectors } = this.setting;
    const [down = 0, across = 0] = view.strides.slice(-2), { buffer } = view, count = view.shape.at(-1) ?? 1;
    const start = `${base} + ${row} * ${w.index(down)}`, isOfFours = isWhole(count, 4);
    const element = (i: number): string => {
      const text = bindings.load(buffer, `${start} + (${column} + ${i}) * ${w.index(across)}`);
      return isOfFours || i === 0 ? text : `select(0.0, ${text}, ${column} + ${i} < ${w.index(count)})`;
    };
    const four = inVectors
      ? bindings.loadFour(buffer, `${start} + ${column}`)
      : `vec4f(${FOUR.map(element).join(", ")})`;
    if (inside.length === 0) return w.line(`${into} = ${four};`);
    w.line(`${into} = vec4f(); if (${inside.join(" && ")}) { ${into} = ${four}; }`);
  }

  /** Writes the elements of the next columns, rows named after `from`, to workgroup memory. */
  #put(from: string): void {
    const { w } = this, { together } = this.setting;
    w.line(`if (t % ${together} == 0 && tx * 4 / ${together} == t / ${together}) {`);
    PARTS.forEach((part, j) => {
      const four = FOUR.map((row) => `${from}${row}.${part}`).join(", "), column = `(tx * 4 + ${j})`;
      const place = `((ty + tx) & ${GROUPS - 1})`;
      w.line(
        `made[${column} / ${DEPTH} % ${together / DEPTH}][${column} % ${DEPTH}][${place}] = vec4f(${four});`,
      );
    });
    w.line("}");
  }

  /**
   * Accumulates products of elements, rows named after `of`, with the rows of an operand; `next` fetches what is needed
   * after it.
   */
  add(
    operand: TileOperand,
    { of, into, next }: { readonly of: string; readonly into: string; readonly next: () => void },
  ): void {
    const { w } = this, { width, parts } = this.#parts(operand);
    const columns = RowTiles.partsOf(Number(operand.view.shape.at(-1))), { together } = this.setting;
    w.line(`for (var t = 0; t < ${STEP}; t = t + ${DEPTH}) {`);
    for (const part of parts) {
      w.line(`{ let at = lid + ${part * THREADS}; let row = at / ${width}; let column = at % ${width};`);
      w.line(`stage[column / ${ACROSS} * ${DEPTH} + row][column % ${ACROSS}] = f${part}; }`);
    }
    this.#put(of);
    w.line("workgroupBarrier();");
    w.line(`if (t + ${DEPTH} < ${STEP}) {`);
    this.fetchOperand(operand, `first + t + ${DEPTH}`);
    w.line("} else {");
    next();
    w.line("}");
    for (let k = 0; k < DEPTH; k++) {
      if (k % 4 === 0) w.line(`let at${k / 4} = ((ty + t / 4 + ${k / 4}) & ${GROUPS - 1});`);
      w.line("{");
      w.line(`let a = made[t / ${DEPTH} % ${together / DEPTH}][${k}][at${k >> 2}];`);
      for (const c of columns) w.line(`let b${c} = stage[${c * DEPTH + k}][tx];`);
      for (const row of FOUR) {
        for (const c of columns) {
          const sum = `${into}${row}_${c}`;
          w.line(`${sum} = fma(vec4f(a.${PARTS[row]}), b${c}, ${sum});`);
        }
      }
      w.line("}");
    }
    w.line("workgroupBarrier();");
    w.line("}");
  }

  /** Writes an existing row of a thread, element by element or by vectors; `after` follows each element. */
  storeRow(
    { view, base }: TileOperand,
    row: string,
    { element, after }: {
      readonly element: (part: number, of: typeof PARTS[number]) => string;
      readonly after?: (column: string) => void;
    },
  ): void {
    const { w } = this, { bindings, inVectors } = this.setting, features = Number(view.shape.at(-1));
    const [down = 0, across = 0] = view.strides.slice(-2), start = `${base} + ${row} * ${w.index(down)}`;
    for (const c of RowTiles.partsOf(features)) {
      const column = `(tx + ${c * ACROSS}) * 4`;
      if (inVectors && across === 1) {
        w.line(`if (${column} < ${features}) {`);
        w.line(bindings.storeFour(view.buffer, `${start} + ${column}`, vectorOf((part) => element(c, part))));
        w.line("}");
        continue;
      }
      PARTS.forEach((part, j) => {
        w.line(`if (${column} + ${j} < ${features}) {`);
        const place = `${start} + (${column} + ${j}) * ${w.index(across)}`;
        w.line(
          bindings.store(view.buffer, place, { text: element(c, part), mode: "set", helpers: w.helpers }),
        );
        after?.(`${column} + ${j}`);
        w.line("}");
      });
    }
  }

  /** Writes the rows of a result whose columns are adjacent in memory, by vectors of four rows. */
  storeTurned({ view, base }: TileOperand, from: string): void {
    const { w } = this, { bindings } = this.setting, features = Number(view.shape.at(-1));
    const across = view.strides.at(-1) ?? 0;
    w.line("{ let row = row0 + ty * 4; if (row < rows) {");
    for (const c of RowTiles.partsOf(features)) {
      PARTS.forEach((part, j) => {
        const column = `((tx + ${c * ACROSS}) * 4 + ${j})`;
        const four = vectorOf((_, row) => `${from}${row}_${c}.${part}`);
        w.line(`if (${column} < ${features}) {`);
        w.line(bindings.storeFour(view.buffer, `${base} + row + ${column} * ${w.index(across)}`, four));
        w.line("}");
      });
    }
    w.line("} }");
  }
}
