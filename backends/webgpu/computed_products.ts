/**
 * Shaders of products whose first operands are computed on the fly, as in gradients of attention (Dao et al. 2022),
 * float32. A workgroup computes a block of rows of one or two results: for each 64 columns it computes the products
 * that the elements depend on, then the elements, and adds their products with each result's operand. Results that sum
 * over rows have one row for each key, and iterate over rows.
 */
import { InternalError } from "../../lib/base/errors.ts";
import type { ComputedElements, ExternKernel, Program } from "../../lib/loops/ir.ts";
import { ceilDiv, product } from "../../lib/sym/expr.ts";
import { load, writeFunction } from "./attention.ts";
import { Bindings, type Placement } from "./print/bindings.ts";
import { finished, openMain, POINT, type Shader } from "./print/entry.ts";
import { ShaderWriter } from "./print/statements.ts";
import {
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

/** A result, and the operand that its elements are multiplied with. */
interface Result {
  readonly operand: TileOperand;
  readonly out: TileOperand;
  readonly features: number;
}

/** The shader of products whose first operands are computed on the fly. */
export function printComputedProducts(
  kernel: ExternKernel,
  computed: ComputedElements,
  { program, placement }: { readonly program: Program; readonly placement: Placement },
): Shader {
  const count = kernel.inputs.length / 2, kept = kernel.outputs[count];
  const results = kernel.outputs.slice(0, count).map((out, j): Result => {
    const view = kernel.inputs[2 * j + 1], features = Number(out.shape.at(-1));
    if (!view || !(features > 0)) throw new InternalError("Expected an operand and a result of a product");
    return { operand: { view, base: `base_z${j}` }, out: { view: out, base: `base_out${j}` }, features };
  });
  const products = computed.products.map(({ a, b }, i): TileProduct => {
    const [left, right] = [{ view: a, base: `base_a${i}` }, { view: swapped(b), base: `base_b${i}` }];
    return computed.over === "keys" ? { rows: left, columns: right } : { rows: right, columns: left };
  });
  const reads = [
    ...products.flatMap(({ rows, columns }) => [rows, columns]),
    ...results.map((r) => r.operand),
  ];
  const inVectors = placement.aligned && reads.every(({ view }) => isOfVectors(view)) &&
    results.every(({ out: { view } }) => isOfVectors(view) || isOfVectors(swapped(view))) &&
    (!kept || isOfVectors(kept));
  const bindings = new Bindings(program, [
    ...reads.map(({ view }) => load(view.buffer)),
    ...kernel.outputs.map(({ buffer }) =>
      ({ kind: "store", buffer, index: 0, value: 0, mode: "set" }) as const
    ),
    ...[...computed.ofRows, computed.elements].flatMap(({ body }) => body),
  ], { placement, lanes: inVectors ? 4 : 1 });
  const w = new ShaderWriter({
    program,
    bindings,
    threads: THREADS,
    cooperative: false,
    exponentials: "short",
  });
  const features = Math.max(...results.map((each) => each.features));
  const tiles = new RowTiles(w, { bindings, features, together: ROW_TILES.elements, inVectors });
  return new ComputedProductPrinter(w, tiles, {
    kernel,
    computed,
    products,
    results,
    kept: kept && { view: kept, base: "base_kept" },
    inVectors,
  }).print();
}

interface ComputedProductSetting {
  readonly kernel: ExternKernel;
  readonly computed: ComputedElements;
  readonly products: readonly TileProduct[];
  readonly results: readonly Result[];
  /** Destination of the elements that a kernel that sums over rows also stores: rows of queries, columns of keys. */
  readonly kept: TileOperand | undefined;
  readonly inVectors: boolean;
}

class ComputedProductPrinter {
  constructor(readonly w: ShaderWriter, readonly tiles: RowTiles, readonly setting: ComputedProductSetting) {}

  print(): Shader {
    const { w, tiles } = this, { kernel, computed, products, results, kept } = this.setting;
    const { over, causal } = computed, [result] = results, [first] = products;
    if (!result || !first) throw new InternalError("Expected products and results but found none");
    this.#functions();
    tiles.memory();
    openMain(w, THREADS);
    const { view: { shape } } = result.out, batch = shape.length > 2 ? shape[0] ?? 1 : 1;
    const rows = shape.at(-2) ?? 1;
    w.line(`let rows = ${w.index(rows)}; let columns = ${w.index(first.columns.view.shape.at(-2) ?? 1)};`);
    w.line(`let down = (rows + ${ROWS - 1}) / ${ROWS};`);
    w.line(`var point = i32(${POINT});`);
    w.line(`if (point >= down * ${w.index(batch)}) { return; }`);
    w.line(`let n0 = point % ${w.index(batch)}; point = point / ${w.index(batch)};`);
    // Blocks with the most visible columns go first, over all matrices
    w.line(`let row0 = ${over === "keys" ? "(down - 1 - point)" : "point"} * ${ROWS};`);
    const isCut = causal && over === "keys", begins = causal && over === "rows";
    w.line(`let end = ${isCut ? `min(columns, row0 + ${ROWS})` : "columns"};`);
    w.line(`let begin = ${begins ? `row0 / ${STEP} * ${STEP}` : "0"};`);
    tiles.places([
      ...products.flatMap(({ rows, columns }) => [rows, columns]),
      ...results.flatMap(({ operand, out }) => [operand, out]),
      ...kept ? [kept] : [],
    ]);
    results.forEach(({ features }, j) => tiles.declareSums(`o${j}_`, features));
    if (over === "keys") {
      for (const row of FOUR) this.#valuesOfRow(`${row}`, `row0 + ${tiles.rowOf(row)}`);
    }
    tiles.fetchProduct(first, "begin", "0");
    w.line(`for (var first = begin; first < end; first = first + ${STEP}) {`);
    for (const j of FOUR) w.line(`let c${j}_ = first + tx * 4 + ${j};`);
    // Prefetch while products are computed
    if (over === "rows") {
      for (const j of FOUR) this.#valuesOfRow(`${j}`, `c${j}_`);
    }
    products.forEach((product, i) => {
      const after = products[i + 1];
      const next = () =>
        after ? tiles.fetchProduct(after, "first", "0") : tiles.fetchOperand(result.operand, "first");
      tiles.product(product, { into: `s${i}_`, next });
    });
    this.#elements();
    if (kept) this.#keep(kept, `e${computed.stored}_`);
    results.forEach(({ operand }, j) => {
      const after = results[j + 1];
      const next = () => {
        if (after) return tiles.fetchOperand(after.operand, "first");
        w.line(`if (first + ${STEP} < end) {`);
        tiles.fetchProduct(first, `(first + ${STEP})`, "0");
        w.line("}");
      };
      tiles.add(operand, { of: `e${j}_`, into: `o${j}_`, next });
    });
    w.line("}");
    results.forEach((result, j) => this.#store(result, `o${j}_`));
    w.line("}");
    return finished(w, kernel.name, { items: product([batch, ceilDiv(rows, ROWS)]), each: 1 });
  }

  #functions(): void {
    const { w } = this, { matrix, row, key, ofRows, elements, products } = this.setting.computed;
    const counters = [matrix, row, key].map((symbol) => `${w.counter(symbol)}: i32`);
    ofRows.forEach((piece, k) => writeFunction(w, `of_row${k}`, counters.slice(0, 2), piece));
    const given = [...products, ...ofRows].map(({ value }) => `${w.given(value, "float32")}: f32`);
    const values = elements.values.map((id) => w.plain(id));
    w.line(`fn elements(${[...counters, ...given].join(", ")}) -> array<f32, ${values.length}> {`);
    w.statements(elements.body);
    w.line(`return array<f32, ${values.length}>(${values.join(", ")});`);
    w.line("}");
  }

  /** Computes the given values of a row, in variables with its name. */
  #valuesOfRow(name: string, row: string): void {
    this.setting.computed.ofRows.forEach((_, k) =>
      this.w.line(`let of${k}_${name} = of_row${k}(n0, ${row});`)
    );
  }

  /** Computes the elements of a step, zeros after the last column. */
  #elements(): void {
    const { w, tiles } = this, { computed: { over, ofRows, elements }, products } = this.setting;
    const columns = products[0]?.columns.view.shape.at(-2), whole = isWhole(columns, STEP);
    for (const row of FOUR) w.line(`let r${row} = row0 + ${tiles.rowOf(row)};`);
    for (const row of FOUR) {
      PARTS.forEach((part, j) => {
        const [at, name] = over === "keys" ? [`r${row}, c${j}_`, row] : [`c${j}_, r${row}`, j];
        const given = [
          ...products.map((_, i) => `s${i}_${row}.${part}`),
          ...ofRows.map((_, each) => `of${each}_${name}`),
        ];
        w.line(`let m${row}_${j} = elements(n0, ${[at, ...given].join(", ")});`);
      });
      elements.values.forEach((_, k) => {
        const computed = vectorOf((_, j) =>
          whole ? `m${row}_${j}[${k}]` : `select(0.0, m${row}_${j}[${k}], c${j}_ < columns)`
        );
        w.line(`let e${k}_${row} = ${computed};`);
      });
    }
  }

  /** Stores the elements of a step, whose columns are rows in memory. */
  #keep({ view, base }: TileOperand, from: string): void {
    const { w, tiles: { setting: { bindings } } } = this, { inVectors } = this.setting;
    const [down = "", across = ""] = view.strides.slice(-2).map((stride) => w.index(stride));
    PARTS.forEach((part, j) => {
      const start = `${base} + c${j}_ * ${down}`, four = FOUR.map((row) => `${from}${row}.${part}`);
      if (inVectors) {
        w.line(`if (r0 < rows && c${j}_ < columns) {`);
        w.line(bindings.storeFour(view.buffer, `${start} + r0`, `vec4(${four.join(", ")})`));
        return w.line("}");
      }
      four.forEach((text, row) => {
        const place = `${start} + r${row} * ${across}`;
        w.line(`if (r${row} < rows && c${j}_ < columns) {`);
        w.line(bindings.store(view.buffer, place, { text, mode: "set", helpers: w.helpers }));
        w.line("}");
      });
    });
  }

  #store({ out }: Result, from: string): void {
    const { w, tiles } = this, { inVectors } = this.setting, { view } = out;
    if (inVectors && view.strides.at(-1) !== 1) return tiles.storeTurned(out, from);
    for (const row of FOUR) {
      w.line(`{ let row = row0 + ${tiles.rowOf(row)}; if (row < rows) {`);
      tiles.storeRow(out, "row", { element: (c, part) => `${from}${row}_${c}.${part}` });
      w.line("} }");
    }
  }
}
