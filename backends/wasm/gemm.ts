/**
 * The matrix product out[m, n] (+)= Σ a[m, k]·b[k, n] of float32 matrices with any strides, as one WebAssembly
 * function. Columns go in panels of 8, whose part of b is packed; rows go by 4; the 4×8 results of a tile stay in
 * registers. Invariant: the scratch memory holds at least 8·k floats; sums run in ascending k.
 */
import { FunctionBody } from "./binary.ts";

/** Names of the i32 parameters, in order. Addresses and strides count bytes. */
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
] as const;
type Param = (typeof GEMM_PARAMS)[number];

const ROWS = 4, COLUMNS = 8;

/** The function. */
export function gemmFunction(): FunctionBody {
  const body = new FunctionBody(GEMM_PARAMS.map(() => "i32"), []);
  const at = (name: Param) => GEMM_PARAMS.indexOf(name);
  const [j, i, kk, width, lane, pack, address, height] = Array.from({ length: 8 }, () => body.local("i32"));
  if (
    j === undefined || i === undefined || kk === undefined || width === undefined || lane === undefined ||
    pack === undefined || address === undefined || height === undefined
  ) throw new Error("Expected locals");
  const zero = () => body.i32(0);
  const smaller = (left: () => void, limit: number, into: number) => {
    left();
    body.i32(limit);
    left();
    body.i32(limit).op("i32LtS", "select").set(into);
  };
  body.loop(j, { from: zero, to: () => body.get(at("n")), step: COLUMNS }, () => {
    smaller(() => body.get(at("n")).get(j).op("i32Sub"), COLUMNS, width);
    // Packs b[:, j … j + 7] as [k][8], zeros beyond the last column
    body.get(at("scratch")).set(pack);
    body.loop(kk, { from: zero, to: () => body.get(at("k")), step: 1 }, () => {
      body.get(pack).splatConstant(0).simdMemory("store");
      body.get(pack).splatConstant(0).simdMemory("store", 16);
      body.get(at("b")).get(kk).get(at("bRow")).op("i32Mul", "i32Add");
      body.get(j).get(at("bColumn")).op("i32Mul", "i32Add").set(address);
      body.get(at("bColumn")).i32(4).op("i32Sub", "i32Eqz").get(width).i32(COLUMNS).op("i32GeS", "i32And");
      body.when(
        () => {
          body.get(pack).get(address).simdMemory("load").simdMemory("store");
          body.get(pack).get(address).simdMemory("load", 16).simdMemory("store", 16);
        },
        () => {
          body.loop(lane, { from: zero, to: () => body.get(width), step: 1 }, () => {
            body.get(pack).get(lane).i32(2).op("i32Shl", "i32Add").get(address).memory("f32Load").memory(
              "f32Store",
            );
            body.get(address).get(at("bColumn")).op("i32Add").set(address);
          });
        },
      );
      body.get(pack).i32(4 * COLUMNS).op("i32Add").set(pack);
    });
    body.loop(i, { from: zero, to: () => body.get(at("m")), step: ROWS }, () => {
      smaller(() => body.get(at("m")).get(i).op("i32Sub"), ROWS, height);
      tile(body, { at, j, i, kk, pack, width, height });
    });
  });
  return body;
}

interface TileLocals {
  readonly at: (name: Param) => number;
  readonly j: number;
  readonly i: number;
  readonly kk: number;
  readonly pack: number;
  readonly width: number;
  readonly height: number;
}

/** One tile of 4 rows and 8 columns; rows beyond the last repeat it and are not stored. */
function tile(body: FunctionBody, { at, j, i, kk, pack, width, height }: TileLocals): void {
  const rows = Array.from({ length: ROWS }, () => body.local("i32"));
  const sums = Array.from({ length: ROWS }, () => [body.local("v128"), body.local("v128")] as const);
  const [low, high, factor, out] = [
    body.local("v128"),
    body.local("v128"),
    body.local("v128"),
    body.local("i32"),
  ];
  rows.forEach((row, r) => {
    // min(r, height − 1) as a row number
    body.i32(r).get(height).i32(1).op("i32Sub").i32(r).get(height).op("i32LtS", "select");
    body.get(i).op("i32Add").get(at("aRow")).op("i32Mul").get(at("a")).op("i32Add").set(row);
  });
  for (const [left, right] of sums) body.splatConstant(0).tee(left).set(right);
  body.get(at("scratch")).set(pack);
  body.loop(kk, { from: () => body.i32(0), to: () => body.get(at("k")), step: 1 }, () => {
    body.get(pack).simdMemory("load").set(low).get(pack).simdMemory("load", 16).set(high);
    rows.forEach((row, r) => {
      const [left, right] = sums[r] ?? [0, 0];
      body.get(row).simdMemory("load32Splat").tee(factor).get(low).get(left).simd("f32Madd").set(left);
      body.get(factor).get(high).get(right).simd("f32Madd").set(right);
      body.get(row).get(at("aColumn")).op("i32Add").set(row);
    });
    body.get(pack).i32(4 * COLUMNS).op("i32Add").set(pack);
  });
  rows.forEach((_, r) => {
    const [left, right] = sums[r] ?? [0, 0];
    body.i32(r).get(height).op("i32LtS").when(() => {
      body.get(at("out")).get(i).i32(r).op("i32Add").get(at("outRow")).op("i32Mul", "i32Add");
      body.get(j).get(at("outColumn")).op("i32Mul", "i32Add").set(out);
      body.get(at("outColumn")).i32(4).op("i32Sub", "i32Eqz").get(width).i32(COLUMNS).op("i32GeS", "i32And");
      body.when(
        () => {
          [left, right].forEach((sum, half) => {
            body.get(at("accumulate")).when(() => {
              body.get(sum).get(out).simdMemory("load", 16 * half).simd("f32Add").set(sum);
            });
            body.get(out).get(sum).simdMemory("store", 16 * half);
          });
        },
        () => storeByElement(body, { at, sums: [left, right], out, width }),
      );
    });
  });
}

function storeByElement(
  body: FunctionBody,
  { at, sums, out, width }: {
    readonly at: (name: Param) => number;
    readonly sums: readonly [number, number];
    readonly out: number;
    readonly width: number;
  },
): void {
  const old = body.local("v128");
  for (let c = 0; c < COLUMNS; c++) {
    const sum = sums[c < 4 ? 0 : 1];
    body.i32(c).get(width).op("i32LtS").when(() => {
      body.splatConstant(0).set(old);
      body.get(at("accumulate")).when(() => void body.get(out).simdMemory("load32Splat").set(old));
      body.get(out).get(sum).get(old).simd("f32Add").lane("f32Extract", c % 4).memory("f32Store");
      body.get(out).get(at("outColumn")).op("i32Add").set(out);
    });
  }
}
