/**
 * The matrix product out[m, n] (+)= Σ a[m, k]·b[k, n] of float32 matrices with any strides, as WebAssembly functions.
 * Columns go in panels of 8, rows in strips of at most 6; the results of a tile stay in registers. a is packed in
 * blocks, b if it cannot be read in place. Invariant: every element is one chain of fused products in ascending k,
 * which starts at 0 or at the old value, whatever the blocks are. The job of the library is a list of products; its
 * units write disjoint memory.
 */
import { type ImportedFunction, type MemoryKind, ModuleWriter } from "./binary.ts";
import type { FunctionBody } from "./function_body.ts";
import {
  add,
  assign,
  atLeast,
  both,
  call,
  choose,
  div,
  each,
  int,
  keep,
  less,
  min,
  mul,
  ref,
  same,
  shl,
  shr,
  sub,
  type Term,
  when,
  withParams,
  word,
} from "./terms.ts";
import { JOB_PARAMS } from "./pool.ts";

/** Rows of a strip, columns of a panel. */
const ROWS = 6, COLUMNS = 8;
/** Rows and depth of a block of a: packed it takes 192 KiB, and a panel of b 8 KiB. */
const BLOCK_ROWS = 192, BLOCK_DEPTH = 256;
/** Maximum bytes of a row of b that is read in place: its panel then lies on few pages. */
const IN_PLACE_ROW_BYTES = 2048;

const TILE_BYTES = 256, PANEL_BYTES = 4 * BLOCK_DEPTH * COLUMNS;

/** Bytes of scratch memory that one product needs. */
export const GEMM_SCRATCH: number = TILE_BYTES + PANEL_BYTES + 4 * BLOCK_ROWS * BLOCK_DEPTH;
/** Bytes that a product may read beyond the end of a matrix. */
export const GEMM_SLACK = 64;

/** Parameters of the product, in order, all i32. Addresses and strides count bytes. */
export const GEMM_PARAMS = [
  "a",
  "b",
  "out",
  "m",
  "n",
  "k",
  "aRow",
  "aColumn",
  "bRow",
  "bColumn",
  "outRow",
  "outColumn",
  "scratch",
  "accumulate",
  /** Whether a is the output of `packAll`; its strides are ignored then. */
  "packed",
] as const;

/** Parameters of the function that packs a whole matrix a for several products, likewise. */
const PACK_PARAMS = ["a", "aRow", "aColumn", "m", "k", "to"] as const;

/** Numbers of the functions in a module. */
interface GemmFunctions {
  readonly gemm: number;
  readonly packAll: number;
}

/** The functions for modules that import them, which come first, and their numbers there. */
export const GEMM_IMPORTS: readonly ImportedFunction[] = [
  { name: "gemm", params: GEMM_PARAMS.length },
  { name: "packAll", params: PACK_PARAMS.length },
];
export const IMPORTED_GEMM: GemmFunctions = { gemm: 0, packAll: 1 };

/** Adds the product and the functions that it needs to a module. */
function addGemm(module: ModuleWriter): GemmFunctions {
  const tiles = Array.from({ length: ROWS }, (_, h) => module.add(tileFunction(h + 1)));
  const packRows = module.add(packRowsFunction());
  const packPanel = module.add(packPanelFunction());
  const copyTile = module.add(copyTileFunction());
  const packAll = module.add(packAllFunction(packRows));
  return { packAll, gemm: module.add(gemmFunction({ tiles, packRows, packPanel, copyTile })) };
}

/** out[height, 8] (+)= Σ a[k][height]·b[k][8]: a packed, rows of b and out contiguous. */
function tileFunction(height: number): FunctionBody {
  const { body, at, local } = withParams(["a", "b", "bRow", "k", "out", "outRow", "accumulate"]);
  const sums = Array.from({ length: height }, () => [body.local("v128"), body.local("v128")] as const);
  const [low, high, factor] = [body.local("v128"), body.local("v128"), body.local("v128")];
  const row = body.local("i32");
  const eachRow = (visit: (left: number, right: number) => void) => {
    assign(body, row, at("out"));
    sums.forEach(([left, right], r) => {
      visit(left, right);
      if (r < height - 1) assign(body, row, add(ref(row), at("outRow")));
    });
  };
  when(body, at("accumulate"), () =>
    eachRow((left, right) => {
      body.get(row).simdMemory("load").set(left).get(row).simdMemory("load", 16).set(right);
    }));
  /** Unrolls several steps: the loop around them costs as much as one. */
  const steps = (many: number) => {
    for (let step = 0; step < many; step++) {
      body.get(local("b")).simdMemory("load").set(low).get(local("b")).simdMemory("load", 16).set(high);
      sums.forEach(([left, right], r) => {
        const offset = 4 * (height * step + r);
        body.get(local("a")).simdMemory("load32Splat", offset).tee(factor).get(low).get(left).simd("f32Madd");
        body.set(left).get(factor).get(high).get(right).simd("f32Madd").set(right);
      });
      assign(body, local("b"), add(at("b"), at("bRow")));
    }
    assign(body, local("a"), add(at("a"), int(4 * height * many)));
  };
  const count = keep(body, shr(at("k"), 2));
  body.times(count, () => steps(4));
  assign(body, count, both(at("k"), int(3)));
  body.times(count, () => steps(1));
  eachRow((left, right) => {
    body.get(row).get(left).simdMemory("store").get(row).get(right).simdMemory("store", 16);
  });
  return body;
}

/** The first row of a strip: rows are spread evenly, so that no strip is much lower than the others. */
const stripStart = (strip: Term, strips: Term, rows: Term): Term => div(mul(strip, rows), strips);
const stripsOf = (rows: Term): Term => div(add(rows, int(ROWS - 1)), int(ROWS));

/** Packs a[m, k] as strips of [k][height]. */
function packRowsFunction(): FunctionBody {
  const { body, at } = withParams(["a", "aRow", "aColumn", "m", "k", "to"]);
  const strips = keep(body, stripsOf(at("m")));
  each(body, { to: ref(strips) }, (strip) => {
    const start = keep(body, stripStart(strip, ref(strips), at("m")));
    const height = keep(body, sub(stripStart(add(strip, int(1)), ref(strips), at("m")), ref(start)));
    const base = keep(body, add(at("to"), shl(mul(ref(start), at("k")), 2)));
    each(body, { to: ref(height) }, (row) => {
      const from = keep(body, add(at("a"), mul(add(ref(start), row), at("aRow"))));
      const to = keep(body, add(ref(base), shl(row, 2)));
      const left = keep(body, at("k"));
      body.times(left, () => {
        body.get(to).get(from).memory("f32Load").memory("f32Store");
        assign(body, from, add(ref(from), at("aColumn")));
        assign(body, to, add(ref(to), shl(ref(height), 2)));
      });
    });
  });
  return body;
}

/** Packs every block of a whole matrix, in the order in which the product reads them. */
function packAllFunction(packRows: number): FunctionBody {
  const { body, at } = withParams(PACK_PARAMS);
  each(body, { to: at("m"), step: BLOCK_ROWS }, (i) => {
    const rows = keep(body, min(sub(at("m"), i), int(BLOCK_ROWS)));
    each(body, { to: at("k"), step: BLOCK_DEPTH }, (kk) =>
      call(body, packRows, [
        add(at("a"), mul(i, at("aRow")), mul(kk, at("aColumn"))),
        at("aRow"),
        at("aColumn"),
        ref(rows),
        min(sub(at("k"), kk), int(BLOCK_DEPTH)),
        add(at("to"), shl(add(mul(i, at("k")), mul(kk, ref(rows))), 2)),
      ]));
  });
  return body;
}

/** Packs b[k, width] as [k][8], zeros beyond the width. */
function packPanelFunction(): FunctionBody {
  const { body, at } = withParams(["b", "bRow", "bColumn", "width", "k", "to"]);
  const [from, to, left] = [body.local("i32"), body.local("i32"), body.local("i32")];
  const step = () => {
    assign(body, from, add(ref(from), at("bRow")));
    assign(body, to, add(ref(to), int(4 * COLUMNS)));
  };
  assign(body, left, at("k"));
  assign(body, from, at("b"));
  assign(body, to, at("to"));
  const whole = both(same(at("bColumn"), int(4)), same(at("width"), int(COLUMNS)));
  when(body, whole, () =>
    body.times(left, () => {
      for (const half of [0, 16]) {
        body.get(to).get(from).simdMemory("load", half).simdMemory("store", half);
      }
      step();
    }), () =>
    each(body, { to: int(COLUMNS) }, (lane) => {
      assign(body, left, at("k"));
      assign(body, from, add(at("b"), mul(lane, at("bColumn"))));
      assign(body, to, add(at("to"), shl(lane, 2)));
      when(body, less(lane, at("width")), () =>
        body.times(left, () => {
          body.get(to).get(from).memory("f32Load").memory("f32Store");
          step();
        }), () =>
        body.times(left, () => {
          body.get(to).i32(0).memory("i32Store");
          assign(body, to, add(ref(to), int(4 * COLUMNS)));
        }));
    }));
  return body;
}

/** Copies a small matrix element by element. */
function copyTileFunction(): FunctionBody {
  const { body, at } = withParams(["from", "fromRow", "fromColumn", "to", "toRow", "toColumn", "m", "n"]);
  each(body, { to: at("m") }, (i) => {
    const from = keep(body, add(at("from"), mul(i, at("fromRow"))));
    const to = keep(body, add(at("to"), mul(i, at("toRow"))));
    const left = keep(body, at("n"));
    body.times(left, () => {
      body.get(to).get(from).memory("f32Load").memory("f32Store");
      assign(body, from, add(ref(from), at("fromColumn")));
      assign(body, to, add(ref(to), at("toColumn")));
    });
  });
  return body;
}

interface Parts {
  readonly tiles: readonly number[];
  readonly packRows: number;
  readonly packPanel: number;
  readonly copyTile: number;
}

function gemmFunction({ tiles, packRows, packPanel, copyTile }: Parts): FunctionBody {
  const { body, at } = withParams(GEMM_PARAMS);
  const tile = keep(body, at("scratch"));
  const panel = keep(body, add(at("scratch"), int(TILE_BYTES)));
  const packedA = keep(body, add(at("scratch"), int(TILE_BYTES + PANEL_BYTES)));
  const inPlace = keep(
    body,
    both(same(at("bColumn"), int(4)), less(at("bRow"), int(IN_PLACE_ROW_BYTES + 1))),
  );
  each(body, { to: at("m"), step: BLOCK_ROWS }, (i) => {
    const rows = keep(body, min(sub(at("m"), i), int(BLOCK_ROWS)));
    const strips = keep(body, stripsOf(ref(rows)));
    each(body, { to: at("k"), step: BLOCK_DEPTH }, (kk) => {
      const depth = keep(body, min(sub(at("k"), kk), int(BLOCK_DEPTH)));
      const block = body.local("i32");
      when(
        body,
        at("packed"),
        () => assign(body, block, add(at("a"), shl(add(mul(i, at("k")), mul(kk, ref(rows))), 2))),
        () => {
          const a = add(at("a"), mul(i, at("aRow")), mul(kk, at("aColumn")));
          call(body, packRows, [a, at("aRow"), at("aColumn"), ref(rows), ref(depth), ref(packedA)]);
          assign(body, block, ref(packedA));
        },
      );
      const keeps = keep(body, choose(kk, int(1), at("accumulate")));
      each(body, { to: at("n"), step: COLUMNS }, (j) => {
        const width = keep(body, min(sub(at("n"), j), int(COLUMNS)));
        const b = keep(body, add(at("b"), mul(kk, at("bRow")), mul(j, at("bColumn"))));
        const bRow = keep(body, choose(ref(inPlace), at("bRow"), int(4 * COLUMNS)));
        when(body, same(ref(inPlace), int(0)), () => {
          call(body, packPanel, [ref(b), at("bRow"), at("bColumn"), ref(width), ref(depth), ref(panel)]);
          assign(body, b, ref(panel));
        });
        const whole = keep(body, both(same(at("outColumn"), int(4)), atLeast(ref(width), int(COLUMNS))));
        const start = body.local("i32"), end = keep(body, int(0));
        each(body, { to: ref(strips) }, (strip) => {
          assign(body, start, ref(end));
          assign(body, end, stripStart(add(strip, int(1)), ref(strips), ref(rows)));
          const height = keep(body, sub(ref(end), ref(start)));
          const a = keep(body, add(ref(block), shl(mul(ref(start), ref(depth)), 2)));
          const out = keep(
            body,
            add(at("out"), mul(add(i, ref(start)), at("outRow")), mul(j, at("outColumn"))),
          );
          const run = (to: Term, toRow: Term) =>
            byHeight(
              body,
              height,
              (h) =>
                call(body, tiles[h - 1] ?? 0, [ref(a), ref(b), ref(bRow), ref(depth), to, toRow, ref(keeps)]),
            );
          when(body, ref(whole), () => run(ref(out), at("outRow")), () => {
            const outside = [ref(out), at("outRow"), at("outColumn")];
            const inside = [ref(tile), int(4 * COLUMNS), int(4)];
            when(
              body,
              ref(keeps),
              () => call(body, copyTile, [...outside, ...inside, ref(height), ref(width)]),
            );
            run(ref(tile), int(4 * COLUMNS));
            call(body, copyTile, [...inside, ...outside, ref(height), ref(width)]);
          });
        });
      });
    });
  });
  // A product of depth 0 is 0
  when(
    body,
    both(less(at("k"), int(1)), same(at("accumulate"), int(0))),
    () =>
      each(body, { to: at("m") }, (i) =>
        each(body, { to: at("n") }, (j) => {
          add(at("out"), mul(i, at("outRow")), mul(j, at("outColumn")))(body);
          body.i32(0).memory("i32Store");
        })),
  );
  return body;
}

/** Runs the case for the height in a local; the greatest height is the most likely. */
function byHeight(body: FunctionBody, height: number, run: (height: number) => void): void {
  const from = (h: number): void => {
    if (h === 1) return run(1);
    when(body, same(ref(height), int(h)), () => run(h), () => from(h - 1));
  };
  from(ROWS);
}

/** The words of a list of products that apply to all of them, in order; each product's own words follow. */
export const PRODUCT_FIELDS = [
  "aRow",
  "aColumn",
  "bRow",
  "bColumn",
  "outRow",
  "outColumn",
  "k",
  "accumulate",
] as const;
/** The words of one product. */
export const UNIT_FIELDS = ["a", "b", "out", "m", "n"] as const;

/** The name of the exported function. */
export const PRODUCTS_JOB = "products";

/** The module of products, which exports functions for single matrices, too. */
export function productModule(memory: MemoryKind): Uint8Array<ArrayBuffer> {
  const module = new ModuleWriter(memory), { gemm, packAll } = addGemm(module);
  module.export(module.add(productsFunction(gemm)), PRODUCTS_JOB);
  module.export(gemm, "gemm");
  module.export(packAll, "packAll");
  return module.finish();
}

function productsFunction(gemm: number): FunctionBody {
  const { body, at } = withParams(JOB_PARAMS);
  const shared = new Map<string, Term>(
    PRODUCT_FIELDS.map((name, i) => [name, ref(keep(body, word(at("description"), 4 * i)))]),
  );
  each(body, { from: at("from"), to: at("to") }, (unit) => {
    const row = add(
      at("description"),
      int(4 * PRODUCT_FIELDS.length),
      mul(unit, int(4 * UNIT_FIELDS.length)),
    );
    const own = keep(body, row);
    const values = new Map<string, Term>([
      ...shared,
      ...UNIT_FIELDS.map((name, i) => [name, word(ref(own), 4 * i)] as const),
      ["scratch", at("scratch")],
      ["packed", int(0)],
    ]);
    call(body, gemm, GEMM_PARAMS.map((name) => values.get(name) ?? int(0)));
  });
  return body;
}
