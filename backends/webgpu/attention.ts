/**
 * Attention in one kernel (Dao et al. 2022), float32. Input: a product that makes its weights on the way; output: its
 * shader. A workgroup makes a block of rows: for 64 keys after the other it computes their scores, shifts sums so far from
 * the maximum so far to the one with these keys, and adds the weighted values. Scores stay in registers, weights go through
 * workgroup memory once. Invariant: elements outside of the matrices count as zero and are never written.
 *
 * A thread makes four or eight rows of scores of four keys, and of results of four features, or of two times four. Operands are
 * staged 16 deep as vectors of four rows, keys or features. Weights are staged as vectors of four rows of a key, turned
 * from key to key, so that threads that put and threads that read neighbours use other banks of memory.
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
import { type Dim, product } from "../../lib/sym/expr.ts";
import { printElement } from "./nests.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { finished, openMain, placeThreads, POINT, type Shader } from "./print/entry.ts";
import { ShaderWriter } from "./print/statements.ts";
import { ATTENTION, attentionVectors } from "./target.ts";

const { keys: KEYS, depth: DEPTH } = ATTENTION;
/** Threads along the keys of a step, or along features, four of each. */
const ACROSS = KEYS / 4;
const FOUR = [0, 1, 2, 3], PARTS = ["x", "y", "z", "w"];
/** Vectors of a staged row, one more than are there, so that banks of memory differ. */
const WIDTH = ACROSS + 1;

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
  const stores = finish.body.some(({ kind }) => kind === "store");
  const inVectors = placement.aligned && !epilogue && !stores &&
    [queries, swapped(keys), values, out].every(isOfVectors);
  const bindings = new Bindings(program, [
    ...[queries, keys, values].map(({ buffer }) => load(buffer)),
    { kind: "store", buffer: out.buffer, index: 0, value: 0, mode: "set" },
    ...[score, factor, finish].flatMap((piece) => piece?.body ?? []),
    ...epilogue?.body ?? [],
  ], { placement, lanes: inVectors ? 4 : 1 });
  const threads = ATTENTION.threads, down = threads / ACROSS;
  const w = new ShaderWriter({ program, bindings, threads, cooperative: false });
  return new AttentionPrinter(w, {
    kernel,
    weights,
    bindings,
    values,
    out,
    features,
    inVectors,
    down,
    threads,
  }).print();
}

const load = (buffer: number): Statement => ({ kind: "load", id: 0, buffer, index: 0, dtype: "float32" });

/** The sum of the elements of a vector. */
const added = (v: string): string => `((${v}.x + ${v}.y) + (${v}.z + ${v}.w))`;

/** A matrix with its dimensions in the other order. */
const swapped = (view: BufferView): BufferView => ({
  ...view,
  shape: [...view.shape.slice(0, -2), ...view.shape.slice(-2).toReversed()],
  strides: [...view.strides.slice(0, -2), ...view.strides.slice(-2).toReversed()],
});

/** Whether rows are whole vectors. */
function isOfVectors({ offset, shape, strides }: BufferView): boolean {
  return strides.at(-1) === 1 && [shape.at(-1), offset, ...strides.slice(0, -1)].every((d) => isWhole(d, 4));
}

interface AttentionSetting {
  readonly kernel: ExternKernel;
  readonly weights: AttentionWeights;
  readonly bindings: Bindings;
  readonly values: BufferView;
  readonly out: BufferView;
  readonly features: number;
  /** Whether buffers are read and written by vectors. */
  readonly inVectors: boolean;
  /** Threads along rows. */
  readonly down: number;
  readonly threads: number;
}

/** An operand of scores whose vectors go along its rows. */
interface Transposed {
  readonly view: BufferView;
  readonly base: string;
  /** The first thread that stages it. */
  readonly from: number;
  /** Its vectors of four rows, of how many. */
  readonly groups: number;
  readonly side: number;
  readonly end: string;
}

/** Whether a size is known to be a multiple. */
const isWhole = (size: Dim | undefined, by: number): boolean => typeof size === "number" && size % by === 0;

class AttentionPrinter {
  /** Vectors of four rows: of a block, and those of a thread. */
  readonly #groups: number;
  readonly #own: readonly number[];
  /** Vectors of features of a thread, and vectors of staged ones. */
  readonly #columns: readonly number[];
  readonly #valueWidth: number;

  constructor(readonly w: ShaderWriter, readonly setting: AttentionSetting) {
    const { weights: { block }, down, features } = setting;
    this.#groups = block / 4;
    this.#own = Array.from({ length: this.#groups / down }, (_, half) => half);
    this.#columns = Array.from({ length: Math.ceil(features / KEYS) }, (_, part) => part);
    this.#valueWidth = this.#columns.length * ACROSS;
  }

  print(): Shader {
    const { w } = this, { kernel, weights, features, values, out, threads } = this.setting;
    const { block, queries, keys } = weights;
    const { stage, weights: weightVectors } = attentionVectors(block, features);
    this.#functions();
    // Arrays of arrays whose first index is known in products: the runtime checks the second one once for all depths
    w.line(`var<workgroup> stage: array<array<vec4f, ${WIDTH}>, ${stage / WIDTH}>;`);
    w.line(
      `var<workgroup> weights: array<array<array<vec4f, ${this.#groups}>, ${DEPTH}>, ${
        weightVectors / DEPTH / this.#groups
      }>;`,
    );
    w.line(`var<workgroup> of_rows: array<f32, ${2 * block}>;`);
    openMain(w, threads);
    const batch = out.shape.length > 2 ? out.shape[0] ?? 1 : 1, rows = out.shape.at(-2) ?? 1;
    w.line(`let rows = ${w.index(rows)}; let keys = ${w.index(keys.shape.at(-1) ?? 1)};`);
    w.line(`let depth = ${w.index(queries.shape.at(-1) ?? 1)};`);
    w.line(`let down = (rows + ${block - 1}) / ${block};`);
    w.line(`var point = i32(${POINT});`);
    w.line(`if (point >= down * ${w.index(batch)}) { return; }`);
    // Blocks that see the most keys go first, of all matrices
    w.line(`let n0 = point % ${w.index(batch)}; point = point / ${w.index(batch)};`);
    w.line(`let row0 = (down - 1 - point) * ${block};`);
    for (const [name, view] of Object.entries({ q: queries, k: keys, v: values, out })) {
      const matrix = view.strides.length > 2 ? ` + n0 * ${w.index(view.strides[0] ?? 0)}` : "";
      w.line(`let base_${name} = ${w.index(view.offset)}${matrix};`);
    }
    w.line(`let end = ${weights.causal ? `min(keys, row0 + ${block})` : "keys"};`);
    placeThreads(w, ACROSS);
    // Of the row of the same number: its maximum so far
    w.line(`var top = ${this.#lowest()};`);
    for (const half of this.#own) w.line(`var sum${half} = vec4f();`);
    for (const row of this.#rows()) for (const c of this.#columns) w.line(`var o${row}_${c} = vec4f();`);
    for (const i of FOUR) w.line(`var f${i} = vec4f();`);
    this.#fetchTransposed("0", "0");
    w.line(`for (var first = 0; first < end; first = first + ${KEYS}) {`);
    this.#scores();
    this.#softmax();
    this.#addValues();
    w.line("}");
    this.#finish();
    w.line("}");
    return finished(w, kernel.name, {
      items: product([batch, typeof rows === "number" ? Math.ceil(rows / block) : rows]),
      each: 1,
    });
  }

  #lowest(): string {
    return `(-${this.w.helpers.use("inf")}())`;
  }

  /** Rows of a thread. */
  #rows(): readonly number[] {
    return this.#own.flatMap((half) => FOUR.map((i) => 4 * half + i));
  }

  /** The vector of four rows that a half of a thread's rows is. */
  #group(half: number): string {
    return half === 0 ? "ty" : `(ty + ${half * this.setting.down})`;
  }

  #functions(): void {
    const { w } = this,
      { score, factor, finish, matrix, row, key, product, maximum, sum } = this.setting.weights;
    const [m, r, k] = [matrix, row, key].map((symbol) => w.counter(symbol));
    const write = (name: string, parameters: readonly string[], { body, value }: Piece): void => {
      w.line(`fn ${name}(${parameters.join(", ")}) -> f32 {`);
      w.statements(body);
      w.line(`return ${w.plain(value)};`);
      w.line("}");
    };
    const counters = [m, r, k].map((name) => `${name}: i32`);
    write("score", [...counters, `${w.given(product, "float32")}: f32`], score);
    if (factor) write("factor", counters, factor);
    const found = [maximum, sum].map((id) => `${w.given(id, "float32")}: f32`);
    write("finish_row", [...counters.slice(0, 2), ...found], finish);
    // Errors of the language's function grow with the exponent only, and thereby fall against what the maximum weighs
    w.line("fn weight(below: f32) -> f32 { return select(exp(below), 0.0, below < -103.0); }");
    const { epilogue } = this.setting.kernel;
    if (epilogue) printElement(w, epilogue, { name: "finish" });
  }

  /** The product of the queries of the block and the keys of a step, in s0, s1, … by rows. */
  #scores(): void {
    const { w } = this;
    for (const row of this.#rows()) w.line(`var s${row} = vec4f();`);
    w.line(`for (var k0 = 0; k0 < depth; k0 = k0 + ${DEPTH}) {`);
    this.#putTransposed();
    w.line("workgroupBarrier();");
    // What comes next is on its way while products are made
    w.line(`if (k0 + ${DEPTH} < depth) {`);
    this.#fetchTransposed("first", `(k0 + ${DEPTH})`);
    w.line("} else {");
    this.#fetchValues("first");
    w.line("}");
    for (let k = 0; k < DEPTH; k++) {
      const [row, column] = this.#queryPlace(k);
      w.line("{");
      for (const half of this.#own) {
        w.line(`let a${half} = stage[${row}][${column} + ty + ${half * this.setting.down}];`);
      }
      w.line(`let b = stage[${this.#groups + k}][tx];`);
      for (const row of this.#rows()) {
        w.line(`s${row} = fma(vec4f(a${row >> 2}.${PARTS[row & 3]}), b, s${row});`);
      }
      w.line("}");
    }
    w.line("workgroupBarrier();");
    w.line("}");
  }

  /** Where queries of a depth begin, of which rows may hold several: before the keys, which have a row each. */
  #queryPlace(depth: number): readonly [number, number] {
    return [Math.floor(depth * this.#groups / ACROSS), depth * this.#groups % ACROSS];
  }

  /** Operands of scores, by blocks of four by four elements, of which a thread has one or none. */
  #transposed(): readonly Transposed[] {
    const { weights: { queries, keys, block } } = this.setting, behind = this.#groups * 4;
    return [
      { view: queries, base: "base_q", from: 0, groups: this.#groups, end: "rows", side: block },
      {
        view: swapped(keys),
        base: "base_k",
        from: behind,
        groups: ACROSS,
        end: "keys",
        side: KEYS,
      },
    ];
  }

  /** Fetches 16 columns of queries, and of the keys of a step. */
  #fetchTransposed(key: string, depth: string): void {
    const { w } = this;
    for (const { view, base, from, groups, end, side } of this.#transposed()) {
      w.line(`${from > 0 ? "else " : ""}if (lid < ${from + 4 * groups}) {`);
      w.line(`let part = lid - ${from}; let at = ${depth} + (part % 4) * 4;`);
      w.line(`let start = ${from > 0 ? key : "row0"} + (part / 4) * 4;`);
      const [rows, columns] = view.shape.slice(-2);
      for (const i of FOUR) {
        this.#fetch(`f${i}`, view, {
          base,
          row: `(start + ${i})`,
          column: "at",
          inside: [
            ...isWhole(rows, side) ? [] : [`start + ${i} < ${end}`],
            ...isWhole(columns, DEPTH) ? [] : ["at < depth"],
          ],
          columns: "depth",
        });
      }
      w.line("}");
    }
  }

  /** Puts them where all can see them, turned four by four. */
  #putTransposed(): void {
    const { w } = this;
    for (const { from, groups } of this.#transposed()) {
      w.line(`${from > 0 ? "else " : ""}if (lid < ${from + 4 * groups}) {`);
      w.line(`let part = lid - ${from}; let depth0 = (part % 4) * 4; let vector = part / 4;`);
      PARTS.forEach((part, i) => {
        const turned = FOUR.map((row) => `f${row}.${part}`).join(", "), at = `(depth0 + ${i})`;
        const place = from > 0
          ? `[${this.#groups} + ${at}][vector]`
          : `[${at} * ${groups} / ${ACROSS}][${at} * ${groups} % ${ACROSS} + vector]`;
        w.line(`stage${place} = vec4f(${turned});`);
      });
      w.line("}");
    }
  }

  /** Vectors of values that a thread stages at once. */
  #parts(): readonly number[] {
    return Array.from(
      { length: DEPTH * this.#valueWidth / this.setting.threads },
      (_, part) => part,
    );
  }

  /** Fetches the values of 16 keys. */
  #fetchValues(key: string): void {
    const { w } = this, { values, threads, features } = this.setting, width = this.#valueWidth;
    for (const part of this.#parts()) {
      w.line("{");
      w.line(`let at = lid + ${part * threads}; let key = ${key} + at / ${width};`);
      w.line(`let column = (at % ${width}) * 4;`);
      this.#fetch(`f${part}`, values, {
        base: "base_v",
        row: "key",
        column: "column",
        inside: [
          ...isWhole(values.shape.at(-2), KEYS) ? [] : ["key < keys"],
          ...isWhole(features, KEYS) ? [] : [`column < ${features}`],
        ],
        columns: `${features}`,
      });
      w.line("}");
    }
  }

  /** Reads four elements of a row, zeros where there are none. */
  #fetch(
    into: string,
    view: BufferView,
    { base, row, column, inside, columns }: {
      readonly base: string;
      readonly row: string;
      readonly column: string;
      readonly inside: readonly string[];
      readonly columns: string;
    },
  ): void {
    const { w } = this, { bindings, inVectors } = this.setting;
    const [down = 0, across = 0] = view.strides.slice(-2), { buffer } = view;
    const start = `${base} + ${row} * ${w.index(down)}`, isOfFours = isWhole(view.shape.at(-1), 4);
    const element = (i: number): string => {
      const text = bindings.load(buffer, `${start} + (${column} + ${i}) * ${w.index(across)}`);
      return isOfFours || i === 0 ? text : `select(0.0, ${text}, ${column} + ${i} < ${columns})`;
    };
    const four = inVectors
      ? bindings.loadFour(buffer, `${start} + ${column}`)
      : `vec4f(${FOUR.map(element).join(", ")})`;
    if (inside.length === 0) return w.line(`${into} = ${four};`);
    w.line(`${into} = vec4f(); if (${inside.join(" && ")}) { ${into} = ${four}; }`);
  }

  /** Scores become weights; sums and results so far move to the new maximum. */
  #softmax(): void {
    const { w } = this, { factor, block, keys: keyView } = this.setting.weights;
    const lowest = this.#lowest(), [nan, isNan] = [w.helpers.use("nan"), w.helpers.use("is_nan")];
    const count = keyView.shape.at(-1), whole = isWhole(count, KEYS);
    for (const row of this.#rows()) {
      w.line(`let r${row} = row0 + ${this.#group(row >> 2)} * 4 + ${row & 3};`);
    }
    for (const j of FOUR) w.line(`let key${j} = first + tx * 4 + ${j};`);
    const each = (row: number, element: (text: string, key: string) => string) =>
      `vec4f(${FOUR.map((j) => element(`s${row}.${PARTS[j]}`, `key${j}`)).join(", ")})`;
    for (const row of this.#rows()) {
      const scores = each(row, (s, key) => {
        const text = `score(n0, r${row}, ${key}, ${s})`;
        return whole ? text : `select(${lowest}, ${text}, ${key} < keys)`;
      });
      w.line(`s${row} = ${scores};`);
    }
    for (const half of this.#own) {
      const tops = FOUR.map((i) => {
        const s = `s${4 * half + i}`;
        return `max(max(${s}.x, ${s}.y), max(${s}.z, ${s}.w))`;
      });
      w.line(`stage[tx][${this.#group(half)}] = vec4f(${tops.join(", ")});`);
    }
    w.line("workgroupBarrier();");
    w.line(`if (lid < ${block}) {`);
    w.line("let before = top;");
    w.line(`for (var t = 0; t < ${ACROSS}; t = t + 1) {`);
    w.line("top = max(top, stage[t][lid / 4][lid % 4]);");
    w.line("}");
    w.line(`of_rows[lid] = select(top, 0.0, top == ${lowest});`);
    w.line(`of_rows[${block} + lid] = select(weight(before - top), 1.0, before == ${lowest});`);
    w.line("}");
    w.line("workgroupBarrier();");
    for (const half of this.#own) {
      const at = (from: number, i: number) => `of_rows[${from} + ${this.#group(half)} * 4 + ${i}]`;
      w.line(`let faded${half} = vec4f(${FOUR.map((i) => at(block, i)).join(", ")});`);
      for (const i of FOUR) {
        const row = 4 * half + i;
        w.line(`let top${row} = ${at(0, i)};`);
        w.line(`s${row} = s${row} - vec4f(top${row});`);
        w.line(`let below${row} = ${added(`s${row}`)};`);
        w.line(`s${row} = ${each(row, (s) => `weight(${s})`)};`);
      }
      const sums = FOUR.map((i) => {
        const row = 4 * half + i;
        return `select(${added(`s${row}`)}, ${nan}(), ${isNan}(below${row}))`;
      });
      w.line(`sum${half} = sum${half} * faded${half} + vec4f(${sums.join(", ")});`);
      for (const i of FOUR) {
        const row = 4 * half + i;
        for (const c of this.#columns) w.line(`o${row}_${c} = o${row}_${c} * faded${half}.${PARTS[i]};`);
        if (factor) w.line(`s${row} = s${row} * ${each(row, (_, key) => `factor(n0, r${row}, ${key})`)};`);
      }
      FOUR.forEach((j) => {
        const four = FOUR.map((i) => `s${4 * half + i}.${PARTS[j]}`).join(", ");
        const place = `((${this.#group(half)} + tx) & ${this.#groups - 1})`;
        w.line(`weights[tx / 4][(tx % 4) * 4 + ${j}][${place}] = vec4f(${four});`);
      });
    }
  }

  /** Adds the values of the keys of a step, times their weights. */
  #addValues(): void {
    const { w } = this, { threads } = this.setting, width = this.#valueWidth;
    w.line(`for (var t = 0; t < ${KEYS}; t = t + ${DEPTH}) {`);
    for (const part of this.#parts()) {
      w.line(`{ let at = lid + ${part * threads}; let key = at / ${width}; let column = at % ${width};`);
      w.line(`stage[column / ${ACROSS} * ${DEPTH} + key][column % ${ACROSS}] = f${part}; }`);
    }
    w.line("workgroupBarrier();");
    w.line(`if (t + ${DEPTH} < ${KEYS}) {`);
    this.#fetchValues(`first + t + ${DEPTH}`);
    w.line(`} else if (first + ${KEYS} < end) {`);
    this.#fetchTransposed(`(first + ${KEYS})`, "0");
    w.line("}");
    for (let k = 0; k < DEPTH; k++) {
      if (k % 4 === 0) {
        for (const half of this.#own) {
          const place = `((${this.#group(half)} + t / 4 + ${k / 4}) & ${this.#groups - 1})`;
          w.line(`let at${half}_${k / 4} = ${place};`);
        }
      }
      w.line("{");
      for (const half of this.#own) {
        w.line(`let a${half} = weights[t / ${DEPTH}][${k}][at${half}_${k >> 2}];`);
      }
      for (const c of this.#columns) w.line(`let b${c} = stage[${c * DEPTH + k}][tx];`);
      for (const row of this.#rows()) {
        for (const c of this.#columns) {
          w.line(`o${row}_${c} = fma(vec4f(a${row >> 2}.${PARTS[row & 3]}), b${c}, o${row}_${c});`);
        }
      }
      w.line("}");
    }
    w.line("workgroupBarrier();");
    w.line("}");
  }

  /** Adds sums up, and writes results. */
  #finish(): void {
    const { w } = this, { weights: { block }, kernel, bindings, out, features, inVectors } = this.setting;
    for (const half of this.#own) {
      w.line(`stage[tx][${this.#group(half)}] = sum${half};`);
    }
    w.line("workgroupBarrier();");
    w.line(`if (lid < ${block} && row0 + lid < rows) {`);
    w.line("var total = 0.0;");
    w.line(
      `for (var t = 0; t < ${ACROSS}; t = t + 1) { total = total + stage[t][lid / 4][lid % 4]; }`,
    );
    w.line("of_rows[lid] = finish_row(n0, row0 + lid, top, total);");
    w.line("}");
    w.line("workgroupBarrier();");
    const [down = 0, across = 0] = out.strides.slice(-2);
    for (const row of this.#rows()) {
      const own = `${this.#group(row >> 2)} * 4 + ${row & 3}`, at = `r${row}`;
      w.line(`let ${at} = row0 + ${own}; if (${at} < rows) {`);
      w.line(`let scale = of_rows[${own}];`);
      for (const c of this.#columns) {
        const column = `(tx + ${c * ACROSS}) * 4`, start = `base_out + ${at} * ${w.index(down)}`;
        if (inVectors) {
          const elements = PARTS.map((part) => `o${row}_${c}.${part} * scale`);
          w.line(`if (${column} < ${features}) {`);
          w.line(bindings.storeFour(out.buffer, `${start} + ${column}`, elements));
          w.line("}");
          continue;
        }
        PARTS.forEach((part, j) => {
          w.line(`if (${column} + ${j} < ${features}) {`);
          const place = `${start} + (${column} + ${j}) * ${w.index(across)}`;
          const text = `o${row}_${c}.${part} * scale`;
          w.line(bindings.store(out.buffer, place, { text, mode: "set", helpers: w.helpers }));
          if (kernel.epilogue) {
            const matrix = out.shape.length > 2 ? "n0, " : "";
            w.line(`finish(${matrix}${at}, ${column} + ${j});`);
          }
          w.line("}");
        });
      }
      w.line("}");
    }
  }
}
