/**
 * The shader of attention in one kernel (Dao et al. 2022), float32: a product that computes its weights on the fly. A
 * workgroup computes a block of rows: for each 64 keys it computes their scores, rescales the running sums to the new
 * maximum, and adds the weighted values. Scores stay in registers.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type {
  AttentionWeights,
  BufferView,
  ExternKernel,
  Piece,
  Program,
  Statement,
} from "../../lib/loops/ir.ts";
import { vec4Grid } from "../../lib/codegen/vec4.ts";
import { loopOver } from "../../lib/loops/nest.ts";
import { accessesOf } from "../../lib/loops/uses.ts";
import { ceilDiv, product } from "../../lib/sym/expr.ts";
import { type FourNest, printElement } from "./vec4.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { finished, openMain, POINT, type Shader } from "./print/entry.ts";
import { ShaderWriter } from "./print/statements.ts";
import {
  ACROSS,
  FOUR,
  isOfVectors,
  isWhole,
  PARTS,
  RowTiles,
  swapped,
  type TileOperand,
  type TileProduct,
  vectorOf,
} from "./row_tiles.ts";
import { ROW_TILES } from "./target.ts";

const { rows: ROWS, step: STEP, threads: THREADS } = ROW_TILES;

/** The shader of attention. */
export function printAttention(
  kernel: ExternKernel,
  weights: AttentionWeights,
  { program, placement }: { readonly program: Program; readonly placement: Placement },
): Shader {
  const [, values] = kernel.inputs, [out] = kernel.outputs;
  const features = Number(out?.shape.at(-1));
  if (!values || !out || !(features > 0)) {
    throw new InternalError("Expected values and a result of attention");
  }
  const { queries, keys, score, factor, finish } = weights, { epilogue } = kernel;
  const statements = [
    ...[queries, keys, values].map(({ buffer }) => load(buffer)),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" } as const,
    ...[score, factor, finish].flatMap((piece) => piece?.body ?? []),
    ...epilogue?.body ?? [],
  ];
  const fourRows = fourRowsOf(weights, out);
  // Stored rows are written element by element unless four adjacent rows are written together
  const kept = [...accessesOf(finish.body)].flatMap(({ kind, buffer }) => kind === "store" ? [buffer] : []);
  const single = fourRows ? {} : { single: new Set(kept) };
  const vectors = new Bindings(program, statements, { placement, lanes: 4, ...single });
  const inVectors = placement.aligned && !epilogue &&
    [queries, swapped(keys), values, out].every((view) => isOfVectors(view) && vectors.inFours(view.buffer));
  const bindings = inVectors ? vectors : new Bindings(program, statements, { placement, lanes: 1 });
  const w = new ShaderWriter({ program, bindings, threads: THREADS, cooperative: false });
  const tiles = new RowTiles(w, { bindings, features, together: ROW_TILES.weights, inVectors });
  const rows = inVectors ? fourRows : undefined;
  return new AttentionPrinter(w, tiles, { kernel, weights, values, out, features, fourRows: rows }).print();
}

/** Returns the loop that finishes four rows at once, if everything kept of them is adjacent. */
function fourRowsOf({ row, finish }: AttentionWeights, { shape }: BufferView): FourNest | undefined {
  const size = shape.at(-2) ?? 1, loop = loopOver({ symbol: row, size }, finish.body);
  return isWhole(size, 4) ? vec4Grid([{ ...loop, vector: true }], finish.body, []) : undefined;
}

/** A read of a buffer, for the kernel's list of bindings. */
export const load = (buffer: number): Statement => ({
  kind: "load",
  id: 0,
  buffer,
  index: 0,
  dtype: "float32",
});

/** The sum of the elements of a vector. */
const added = (v: string): string => `((${v}.x + ${v}.y) + (${v}.z + ${v}.w))`;

interface AttentionSetting {
  readonly kernel: ExternKernel;
  readonly weights: AttentionWeights;
  readonly values: BufferView;
  readonly out: BufferView;
  readonly features: number;
  /** Present if rows are finished four at a time. */
  readonly fourRows: FourNest | undefined;
}

class AttentionPrinter {
  readonly #product: TileProduct;
  readonly #values: TileOperand;
  readonly #out: TileOperand;

  constructor(readonly w: ShaderWriter, readonly tiles: RowTiles, readonly setting: AttentionSetting) {
    const { weights: { queries, keys }, values, out } = setting;
    this.#product = {
      rows: { view: queries, base: "base_q" },
      columns: { view: swapped(keys), base: "base_k" },
    };
    this.#values = { view: values, base: "base_v" };
    this.#out = { view: out, base: "base_out" };
  }

  print(): Shader {
    const { w, tiles } = this, { kernel, weights, features, out } = this.setting;
    const { keys } = weights, { rows: queries, columns } = this.#product;
    this.#functions();
    tiles.memory();
    w.line(`var<workgroup> of_rows: array<f32, ${2 * ROWS}>;`);
    openMain(w, THREADS);
    const batch = out.shape.length > 2 ? out.shape[0] ?? 1 : 1, rows = out.shape.at(-2) ?? 1;
    w.line(`let rows = ${w.index(rows)}; let columns = ${w.index(keys.shape.at(-1) ?? 1)};`);
    w.line(`let down = (rows + ${ROWS - 1}) / ${ROWS};`);
    w.line(`var point = i32(${POINT});`);
    w.line(`if (point >= down * ${w.index(batch)}) { return; }`);
    // Blocks with the most visible keys go first, over all matrices
    w.line(`let n0 = point % ${w.index(batch)}; point = point / ${w.index(batch)};`);
    w.line(`let row0 = (down - 1 - point) * ${ROWS};`);
    w.line(`let end = ${weights.causal ? `min(columns, row0 + ${ROWS})` : "columns"};`);
    tiles.places([queries, columns, this.#values, this.#out]);
    // The maximum so far of the row with the same number
    w.line(`var top = ${this.#lowest()};`);
    w.line("var sums = vec4f();");
    tiles.declareSums("o", features);
    tiles.fetchProduct(this.#product, "0", "0");
    w.line(`for (var first = 0; first < end; first = first + ${STEP}) {`);
    tiles.product(this.#product, { into: "s", next: () => tiles.fetchOperand(this.#values, "first") });
    this.#softmax();
    tiles.add(this.#values, {
      of: "s",
      into: "o",
      next: () => {
        w.line(`if (first + ${STEP} < end) {`);
        tiles.fetchProduct(this.#product, `(first + ${STEP})`, "0");
        w.line("}");
      },
    });
    w.line("}");
    this.#finish();
    w.line("}");
    return finished(w, kernel.name, { items: product([batch, ceilDiv(rows, ROWS)]), each: 1 });
  }

  #lowest(): string {
    return `(-${this.w.helpers.use("inf")}())`;
  }

  #functions(): void {
    const { w } = this,
      { score, factor, finish, matrix, row, key, product, maximum, sum } = this.setting.weights;
    const counters = [matrix, row, key].map((symbol) => `${w.counter(symbol)}: i32`);
    writeFunction(w, "score", [...counters, `${w.given(product, "float32")}: f32`], score);
    if (factor) writeFunction(w, "factor", counters, factor);
    const { fourRows } = this.setting;
    if (fourRows) this.#finishFour(fourRows);
    else {
      const found = [maximum, sum].map((id) => `${w.given(id, "float32")}: f32`);
      writeFunction(w, "finish_row", [...counters.slice(0, 2), ...found], finish);
    }
    // Errors of the built-in function grow only with the exponent, where the weight is negligible compared to the
    // maximum
    w.line("fn weight(below: f32) -> f32 { return select(exp(below), 0.0, below < -103.0); }");
    const { epilogue } = this.setting.kernel;
    if (epilogue) printElement(w, epilogue, { name: "finish" });
  }

  /** Writes the function that finishes four rows, whose maxima and sums are vectors. */
  #finishFour({ loops: [quarter], body: [four] }: FourNest): void {
    const { w } = this, { matrix, finish, maximum, sum } = this.setting.weights;
    if (!quarter || four?.kind !== "loop") throw new InternalError("Expected a loop over four rows");
    const counters = [matrix, quarter.axis.symbol].map((symbol) => `${w.counter(symbol)}: i32`);
    w.line(`fn finish_rows(${counters.join(", ")}, tops: vec4f, totals: vec4f) -> vec4f {`);
    for (const [id, vector] of [[maximum, "tops"], [sum, "totals"]] as const) {
      w.line(`let ${w.given(id, "float32")} = ${vector};`);
    }
    const made = w.four(four, [maximum, sum]);
    w.line(`return ${made(finish.value)};`);
    w.line("}");
  }

  /** Turns scores into weights, and rescales the sums and results so far to the new maximum. */
  #softmax(): void {
    const { w, tiles } = this, { features } = this.setting;
    const { factor, keys: keyView } = this.setting.weights;
    const lowest = this.#lowest(), [nan, isNan] = [w.helpers.use("nan"), w.helpers.use("is_nan")];
    const whole = isWhole(keyView.shape.at(-1), STEP);
    for (const row of FOUR) w.line(`let r${row} = row0 + ${tiles.rowOf(row)};`);
    for (const j of FOUR) w.line(`let key${j} = first + tx * 4 + ${j};`);
    const each = (row: number, element: (text: string, key: string) => string) =>
      vectorOf((part, j) => element(`s${row}.${part}`, `key${j}`));
    for (const row of FOUR) {
      const scores = each(row, (s, key) => {
        const text = `score(n0, r${row}, ${key}, ${s})`;
        return whole ? text : `select(${lowest}, ${text}, ${key} < columns)`;
      });
      w.line(`s${row} = ${scores};`);
    }
    const tops = FOUR.map((row) => `max(max(s${row}.x, s${row}.y), max(s${row}.z, s${row}.w))`);
    w.line(`stage[tx][ty] = vec4f(${tops.join(", ")});`);
    w.line("workgroupBarrier();");
    w.line(`if (lid < ${ROWS}) {`);
    w.line("let before = top;");
    // In pairs, since the other threads wait for it
    const highest = (from: number, to: number): string => {
      const half = (from + to) >> 1;
      return to - from === 1
        ? `stage[${from}][lid / 4][lid % 4]`
        : `max(${highest(from, half)}, ${highest(half, to)})`;
    };
    w.line(`top = max(top, ${highest(0, ACROSS)});`);
    w.line(`of_rows[lid] = select(top, 0.0, top == ${lowest});`);
    w.line(`of_rows[${ROWS} + lid] = select(weight(before - top), 1.0, before == ${lowest});`);
    w.line("}");
    w.line("workgroupBarrier();");
    const at = (from: number, row: number) => `of_rows[${from} + ${tiles.rowOf(row)}]`;
    w.line(`let faded = vec4f(${FOUR.map((row) => at(ROWS, row)).join(", ")});`);
    for (const row of FOUR) {
      w.line(`let top${row} = ${at(0, row)};`);
      w.line(`s${row} = s${row} - vec4f(top${row});`);
      w.line(`let below${row} = ${added(`s${row}`)};`);
      w.line(`s${row} = ${each(row, (s) => `weight(${s})`)};`);
    }
    const sums = FOUR.map((row) => `select(${added(`s${row}`)}, ${nan}(), ${isNan}(below${row}))`);
    w.line(`sums = sums * faded + vec4f(${sums.join(", ")});`);
    for (const row of FOUR) {
      for (const c of RowTiles.partsOf(features)) {
        w.line(`o${row}_${c} = o${row}_${c} * faded.${PARTS[row]};`);
      }
      if (factor) w.line(`s${row} = s${row} * ${each(row, (_, key) => `factor(n0, r${row}, ${key})`)};`);
    }
  }

  /** Combines sums, and writes results. */
  #finish(): void {
    const { w, tiles } = this, { kernel, out, fourRows } = this.setting;
    w.line("stage[tx][ty] = sums;");
    if (fourRows) w.line(`if (lid < ${ROWS}) { of_rows[${ROWS} + lid] = top; }`);
    w.line("workgroupBarrier();");
    const total = (zero: string, part: string) => {
      w.line(`var total = ${zero};`);
      w.line(`for (var t = 0; t < ${ACROSS}; t = t + 1) { total = total + stage[t]${part}; }`);
    };
    if (fourRows) {
      w.line(`if (lid < ${ROWS / 4} && row0 + lid * 4 < rows) {`);
      total("vec4f()", "[lid]");
      const tops = vectorOf((_, i) => `of_rows[${ROWS} + lid * 4 + ${i}]`);
      w.line(`let scales = finish_rows(n0, row0 / 4 + lid, ${tops}, total);`);
      PARTS.forEach((part, i) => w.line(`of_rows[lid * 4 + ${i}] = scales.${part};`));
    } else {
      w.line(`if (lid < ${ROWS} && row0 + lid < rows) {`);
      total("0.0", "[lid / 4][lid % 4]");
      w.line("of_rows[lid] = finish_row(n0, row0 + lid, top, total);");
    }
    w.line("}");
    w.line("workgroupBarrier();");
    const matrix = out.shape.length > 2 ? "n0, " : "";
    for (const row of FOUR) {
      w.line(`let r${row} = row0 + ${tiles.rowOf(row)}; if (r${row} < rows) {`);
      w.line(`let scale = of_rows[${tiles.rowOf(row)}];`);
      tiles.storeRow(this.#out, `r${row}`, {
        element: (c, part) => `o${row}_${c}.${part} * scale`,
        ...kernel.epilogue
          ? { after: (column: string) => w.line(`finish(${matrix}r${row}, ${column});`) }
          : {},
      });
      w.line("}");
    }
  }
}

/** Writes statements and their value as a function. */
export function writeFunction(
  w: ShaderWriter,
  name: string,
  parameters: readonly string[],
  { body, value }: Piece,
): void {
  w.line(`fn ${name}(${parameters.join(", ")}) -> f32 {`);
  w.statements(body);
  w.line(`return ${w.plain(value)};`);
  w.line("}");
}
